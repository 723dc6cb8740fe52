"""What causes claim of the board, checked with python-chess and by rules of their own, not by those that found them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import chess

from uci_engine.game_analysis.causes import Cause, Why
from uci_engine.game_analysis.positional import Deed
from uci_engine.game_analysis.tactics import Kind, Line, Motif

PAWNS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def claims_of(cause: Cause) -> list[tuple[str, bool]]:
    """The name of each claim, and whether it is true."""
    line, motifs = cause.line, [*([cause.opened] if cause.opened else []), *cause.motifs]
    rules = (DEED_RULES[cause.why] if motif.kind is Kind.DEED else RULES[motif.kind] for motif in motifs)
    claims = [(motif.kind.name, is_true(Claim.of(line, motif))) for motif, is_true in zip(motifs, rules, strict=True)]
    if cause.threat:
        threat = cause.threat.line
        passed = line.boards[cause.end].copy(stack=False)
        passed.push(chess.Move.null())
        claims.append(("turn handed over", threat.boards[0].board_fen() == passed.board_fen()))
        won = balance(threat.boards[cause.threat.end], cause.winner) > balance(passed, cause.winner)
        claims.append(("threat", threat.end.is_checkmate() if cause.mate else won))
    elif cause.mate and line.end.is_checkmate():
        claims.append(("mate in so many", len(line.own_plies()) == cause.mate and line.end.turn != cause.winner))
    if cause.material:
        begun, shown = line.boards[:2], line.boards[cause.end]
        counted = sum(PAWNS[kind] * count for kind, count in enumerate(cause.material, start=1))
        gains = [balance(shown, cause.winner) - balance(board, cause.winner) for board in begun]
        claims.append(("material in the line shown", counted > 0 and counted in gains))
    if cause.is_threat:
        passed = line.boards[0].copy(stack=False)
        passed.push(chess.Move.null())
        claims.append(("reply legal before", not line.boards[0].is_check() and passed.is_legal(line.moves[1])))
    return claims


def balance(board: chess.Board, color: chess.Color) -> int:
    """In pawns."""
    return sum(PAWNS[piece.piece_type] * (1 if piece.color == color else -1) for piece in board.piece_map().values())


def sees(board: chess.Board, piece: chess.Square, square: chess.Square) -> bool:
    return square in board.attacks(piece)


def is_between(square: chess.Square, one: chess.Square, other: chess.Square) -> bool:
    return bool(chess.between(one, other) & chess.BB_SQUARES[square])


# Motifs --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claim:
    """A motif in its line: the boards around its move, that move, its target square, and the first of its targets.

    `other` is the first of its others, or the target where it has none; `mover` the side that moves.
    """

    line: Line
    motif: Motif
    before: chess.Board
    after: chess.Board
    move: chess.Move
    to: chess.Square
    target: chess.Square
    other: chess.Square
    mover: chess.Color

    @classmethod
    def of(cls, line: Line, motif: Motif) -> Claim:
        before, after, move = line.boards[motif.ply], line.boards[motif.ply + 1], motif.move
        target = motif.targets[0]
        other = motif.others[0] if motif.others else target
        return cls(line, motif, before, after, move, move.to_square, target, other, before.turn)

    def neighbour(self, plies: int) -> chess.Move:
        """The move of the line so many plies after that of the motif; a null move where there is none."""
        ply = self.motif.ply + plies
        return self.line.moves[ply] if 0 <= ply < len(self.line.moves) else chess.Move.null()

    def takes(self) -> bool:
        """The move takes an enemy piece on the target, where none is after it."""
        if self.before.is_en_passant(self.move):
            return True
        colors = [board.color_at(self.target) == (not self.mover) for board in (self.before, self.after)]
        return colors == [True, False] and self.before.is_capture(self.move)

    def attacks_all(self, attacker: chess.Square) -> bool:
        """The piece sees all targets, which are the enemy's."""
        enemies = chess.SquareSet(self.after.occupied_co[not self.mover])
        return all(at in enemies and sees(self.after, attacker, at) for at in self.motif.targets)

    def is_lined_up(self, board: chess.Board, middle: chess.Square, last: chess.Square) -> bool:
        """The actor sees the piece in the middle, which alone is between it and the last."""
        between = chess.between(self.motif.actor, last) & board.occupied
        return between == chess.BB_SQUARES[middle] and sees(board, self.motif.actor, middle)

    def draws_guard(self) -> bool:
        """A guard sees all targets, and then moves."""
        guarded = all(sees(self.before, self.other, at) for at in self.motif.targets if at != self.other)
        return guarded and self.neighbour(1).from_square == self.other

    def is_trapped(self) -> bool:
        """The target is attacked, and on every square that it can go to."""
        boards = [_after(self.after, move) for move in self.after.legal_moves if move.from_square == self.target]
        squares = [(self.after, self.target), *((board, board.peek().to_square) for board in boards)]
        return self.after.turn != self.mover and all(board.is_attacked_by(self.mover, at) for board, at in squares)

    def drives_king(self) -> bool:
        """The move gives check, and the king goes to the target."""
        goes = self.neighbour(1)
        is_king = self.after.piece_type_at(goes.from_square) == chess.KING
        return self.after.is_check() and is_king and goes.to_square == self.target

    def drives_piece(self) -> bool:
        """The move attacks another piece, which goes to the target and is there at the end."""
        seen, end = sees(self.after, self.to, self.other), self.line.end
        goes = self.neighbour(1) == chess.Move(self.other, self.target)
        return seen and goes and end.piece_at(self.target) == self.after.piece_at(self.other)

    def repeats(self) -> bool:
        """All moves of the side from this one on give check, and a position comes again, or by one more such move."""
        boards, end = self.line.boards[self.motif.ply :], self.line.end
        more = [_after(end, move) for move in end.legal_moves]
        seen = [board.epd() for board in boards]
        seen += [at.epd() for at in more if at.epd() in seen and (end.turn != self.mover or at.is_check())]
        return all(board.is_check() for board in boards[1::2]) and len({*seen}) < len(seen)


def _after(board: chess.Board, move: chess.Move) -> chess.Board:
    after = board.copy(stack=False)
    after.push(move)
    return after


RULES: dict[Kind, Callable[[Claim], bool]] = {
    **{kind: lambda it: it.after.is_checkmate() for kind in Kind if kind.is_mate},
    Kind.CAPTURE: Claim.takes,
    Kind.DEFLECTION: Claim.draws_guard,
    Kind.OVERLOADED: lambda it: all(sees(it.after, it.other, at) for at in it.motif.targets),
    Kind.ATTACK: lambda it: it.attacks_all(it.to),
    Kind.FORK: lambda it: it.attacks_all(it.to) and len(it.motif.targets) > 1,
    Kind.PIN: lambda it: it.is_lined_up(it.after, it.target, it.other),
    Kind.PINNED_GUARD: lambda it: it.is_lined_up(it.before, it.other, it.motif.others[1]),
    Kind.SKEWER: lambda it: it.is_lined_up(it.after, it.target, it.motif.targets[1]),
    Kind.DISCOVERED_ATTACK: lambda it: (
        it.attacks_all(it.motif.actor) and it.motif.actor != it.to and not sees(it.before, it.motif.actor, it.target)
    ),
    Kind.DISCOVERED_CHECK: lambda it: list(it.after.checkers()) == [it.motif.actor] and it.motif.actor != it.to,
    Kind.DOUBLE_CHECK: lambda it: set(it.after.checkers()) == set(it.motif.others) and len(it.motif.others) == 2,
    Kind.TRAPPED: Claim.is_trapped,
    Kind.REMOVED_GUARD: lambda it: it.before.is_capture(it.move) and sees(it.before, it.to, it.target),
    Kind.INTERFERENCE: lambda it: (
        is_between(it.motif.actor, it.other, it.target) and sees(it.before, it.other, it.target)
    ),
    Kind.ATTRACTION: lambda it: (it.neighbour(1).from_square, it.neighbour(1).to_square) == (it.other, it.target),
    Kind.CLEARANCE: lambda it: it.move.from_square == it.target,
    Kind.PERPETUAL_CHECK: Claim.repeats,
    Kind.STALEMATE: lambda it: it.line.end.is_stalemate(),
    Kind.PROMOTION: lambda it: it.move.promotion is not None,
    Kind.UNGUARDED: lambda it: sees(it.before, it.move.from_square, it.target) and not sees(it.after, it.to, it.target),
    Kind.OPENED: lambda it: is_between(it.move.from_square, it.other, it.target),
}
DEED_RULES: dict[Why | Deed, Callable[[Claim], bool]] = {
    Deed.KING_DRIVEN: Claim.drives_king,
    Deed.CASTLING_LOST: lambda it: (
        [board.has_castling_rights(not it.line.winner) for board in (it.before, it.after)] == [True, False]
    ),
    Deed.BISHOP_PAIR: lambda it: it.before.is_capture(it.move) and it.neighbour(1).to_square == it.target,
    Deed.PIECE_DRIVEN: Claim.drives_piece,
    Deed.GONE_BACK: lambda it: it.to == it.target == it.line.moves[0].from_square,
}
