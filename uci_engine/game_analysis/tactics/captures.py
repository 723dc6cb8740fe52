"""Why something can be taken or promoted: motifs in which the taken piece itself is attacked, pinned or trapped.

Each function gets a `Case` and returns its motif, or None where the motif is not there or does not decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess

from uci_engine.game_analysis.boards import PIECE_VALUES
from uci_engine.game_analysis.tactics.attacks import (
    KING_VALUE,
    capture_by,
    capture_gain,
    exchange,
    gain_of,
    is_trapped,
    mating_move,
    pins_of,
    value_at,
)
from uci_engine.game_analysis.tactics.line import Line, Win
from uci_engine.game_analysis.tactics.motif import Kind, Motif

SLIDERS = (chess.BISHOP, chess.ROOK, chess.QUEEN)


@dataclass(frozen=True, slots=True)
class Case:
    """Something that a line wins, and one of the moves before by which it may have come to that."""

    line: Line
    win: Win
    ply: int

    @property
    def move(self) -> chess.Move:
        return self.line.moves[self.ply]

    @property
    def before(self) -> chess.Board:
        """The position before the move."""
        return self.line.boards[self.ply]

    @property
    def after(self) -> chess.Board:
        """The position after the move, with the other side to move."""
        return self.line.boards[self.ply + 1]

    @property
    def reply(self) -> chess.Move:
        return self.line.moves[self.ply + 1]

    @property
    def capture(self) -> chess.Move:
        return self.line.moves[self.win.ply]

    @property
    def target(self) -> chess.Square:
        """Where the piece that is taken later stands after the move."""
        return self.line.where_was(self.win.square, self.win.ply, self.ply + 1)

    @property
    def taker(self) -> chess.Square:
        """Where the piece that takes it later stands after the move."""
        return self.line.where_was(self.capture.from_square, self.win.ply, self.ply + 1)

    @property
    def has_victim(self) -> bool:
        """Whether a piece of the other side is taken: a promotion may take nothing."""
        return self.after.color_at(self.target) == (not self.line.winner)

    def was_lost_before(self) -> bool:
        """Whether the piece could be taken before the move, at no less a profit."""
        square = self.line.where_was(self.win.square, self.win.ply, self.ply)
        return capture_gain(self.before, self.line.winner, square) >= self.win.worth

    def motif(
        self,
        kind: Kind,
        actor: chess.Square,
        targets: tuple[chess.Square, ...],
        others: tuple[chess.Square, ...] = (),
    ) -> Motif:
        return Motif(kind, self.ply, self.move, actor, targets, others, self.win.ply)


def fork(case: Case) -> Motif | None:
    """The piece that moved attacks two pieces or more at once, and takes one of them when another was saved.

    A king counts, and every piece that it could take at a profit; a pawn only where it is what is taken.
    """
    actor = case.move.to_square
    if case.taker != actor or case.was_lost_before():
        return None
    after = case.after
    attacked = []
    for square in after.attacks(actor) & chess.SquareSet(after.occupied_co[not case.line.winner]):
        is_king = after.piece_type_at(square) == chess.KING
        gain = 0 if is_king else capture_by(after, actor, square)
        if is_king or gain >= 2 or (gain == 1 and square == case.target):
            attacked.append(square)
    if case.target not in attacked or len(attacked) < 2:
        return None
    attacked.sort(key=lambda square: -value_at(after, square))
    # King and rook on one line are a skewer, rook and king a pin.
    if len(attacked) == 2 and skewer(case):
        return None
    return case.motif(Kind.FORK, actor, tuple(attacked))


def double_attack(case: Case) -> Motif | None:
    """The move threatens mate and attacks a piece. The mate is prevented, and the piece is taken."""
    if case.after.is_check() or case.was_lost_before() or not case.has_victim:
        return None
    winner, after = case.line.winner, case.after
    if capture_gain(after, winner, case.target) < 2 or mating_move(case.before, winner):
        return None
    if case.taker != case.move.to_square and case.target not in after.attacks(case.taker):
        return None
    if mating_move(after, winner) is None or case.line.moves[case.ply + 1].from_square == case.target:
        return None
    return case.motif(Kind.DOUBLE_ATTACK, case.taker, (case.target,))


def skewer(case: Case) -> Motif | None:
    """A piece attacks another on a line, that one leaves it, and the one behind is taken, which is worth no more."""
    actor, board = case.move.to_square, case.after
    front, back = case.reply.from_square, case.win.square
    if case.taker != actor or board.piece_type_at(actor) not in SLIDERS or case.target != back:
        return None
    if case.reply.to_square == back or not chess.between(actor, back) & chess.BB_SQUARES[front]:
        return None
    if value_at(board, front) < value_at(board, back) or value_at(board, back) < 1:
        return None
    if value_at(board, front) < KING_VALUE and capture_by(board, actor, front) < 1:
        return None
    return case.motif(Kind.SKEWER, actor, (front, back))


def x_ray(case: Case) -> Motif | None:
    """After two captures on one square a piece takes there that attacked it through the piece that took last."""
    line, last = case.line, case.win.ply + 2
    if case.ply != case.win.ply or last >= len(line.moves):
        return None
    again, answer = line.moves[last], line.moves[last - 1]
    if not (case.move.to_square == answer.to_square == again.to_square):
        return None
    if not chess.between(again.from_square, again.to_square) & chess.BB_SQUARES[answer.from_square]:
        return None
    return case.motif(Kind.X_RAY, again.from_square, (again.to_square,), (answer.from_square,))


def discovered_attack(case: Case) -> Motif | None:
    """A move opens the line of another piece, which then takes what it attacks: the move itself is a threat, too."""
    taker, target = case.taker, case.target
    if taker == case.move.to_square or case.before.is_castling(case.move) or case.was_lost_before():
        return None
    if case.after.piece_type_at(taker) not in SLIDERS or target not in case.after.attacks(taker):
        return None
    if not chess.between(taker, target) & chess.BB_SQUARES[case.move.from_square] or not case.has_victim:
        return None
    if target in case.before.attacks(taker) or not is_forcing(case):
        return None
    return case.motif(Kind.DISCOVERED_ATTACK, taker, (target,))


def is_forcing(case: Case) -> bool:
    """Whether the move gives check, takes something, or threatens to take or mate with the piece that moved."""
    after, winner = case.after, case.line.winner
    if after.is_check() or gain_of(case.before, case.move):
        return True
    mate = mating_move(after, winner)
    if mate is not None and mate.from_square == case.move.to_square:
        return True
    attacked = after.attacks(case.move.to_square) & chess.SquareSet(after.occupied_co[not winner])
    return any(capture_by(after, case.move.to_square, square) >= 1 for square in attacked if square != case.target)


def discovered_check(case: Case) -> Motif | None:
    """A move opens the line of another piece to the king, and the piece that moved takes something: now, or next.

    Where it gives check itself, too, only the king may move, and that is enough.
    """
    after, actor = case.after, case.move.to_square
    checkers = tuple(after.checkers())
    if not checkers or checkers == (actor,) or case.before.is_castling(case.move):
        return None
    if case.ply == case.win.ply:
        # What has no guard could be taken without the check.
        is_guarded = bool(case.before.attackers(not case.line.winner, actor))
        if not is_guarded or value_at(case.before, case.move.from_square) <= gain_of(case.before, case.move):
            return None
    if len(checkers) > 1:
        king = after.king(not case.line.winner)
        assert king is not None
        return case.motif(Kind.DOUBLE_CHECK, actor, (king,), checkers)
    takes_next = case.taker == actor and case.target in after.attacks(actor) and not case.was_lost_before()
    if case.ply < case.win.ply and not takes_next:
        return None
    return case.motif(Kind.DISCOVERED_CHECK, checkers[0], (case.target,))


def pin(case: Case) -> Motif | None:
    """A piece may not leave its line, because a king or something better stands behind it; it is attacked and taken."""
    board, square = case.after, case.win.square
    if case.win.ply > case.ply + 4 or case.target != square or not case.has_victim or case.was_lost_before():
        return None
    if capture_gain(board, case.line.winner, square) < 1 or board.piece_type_at(square) == chess.PAWN:
        return None
    for slider, back in pins_of(board, square):
        free = board.copy(stack=False)
        free.remove_piece_at(slider)
        if not is_trapped(free, square) and _can_leave(free, square):
            return case.motif(Kind.PIN, slider, (square,), (back,))
    return None


def _can_leave(board: chess.Board, square: chess.Square) -> bool:
    return any(move.from_square == square for move in board.generate_pseudo_legal_moves())


def trapped(case: Case) -> Motif | None:
    """A piece is attacked, and wherever it goes it is taken at a profit; it is taken, there or elsewhere."""
    square = case.target
    if not case.has_victim or not is_trapped(case.after, square):
        return None
    if case.was_lost_before() and case.ply > case.line.own_plies()[0]:
        return None
    return case.motif(Kind.TRAPPED, case.taker, (square,))


def hanging(case: Case) -> Motif | None:
    """A piece can be taken at once: it has no guard, too few, or is worth more than what takes it.

    Where it has just taken something itself, that was guarded.
    """
    line, move = case.line, case.capture
    if case.ply != case.win.ply or exchange(case.before, move) < 1:
        return None
    square, actor = case.win.square, move.to_square
    if case.before.color_at(square) in (None, line.winner):
        return None
    if case.ply > line.own_plies()[0] or _takes_back(case):
        return None
    if case.ply == 1 and line.moves[0].to_square == square and line.boards[0].is_capture(line.moves[0]):
        return case.motif(Kind.GUARDED, actor, (square,))
    if not case.before.attackers(not line.winner, square):
        return case.motif(Kind.HANGING, actor, (square,))
    return case.motif(Kind.UNDERDEFENDED, actor, (square,))


def _takes_back(case: Case) -> bool:
    """Whether the first move of the line takes what has just taken; without earlier moves, whether it looks like it."""
    board = case.before
    if case.ply:
        return False
    if not board.move_stack:
        return case.line.balance(0) == -case.win.worth
    earlier = board.copy()
    last = earlier.pop()
    return last.to_square == case.win.square and gain_of(earlier, last) > 0


def intermezzo(case: Case) -> Motif | None:
    """Instead of taking back at once, a move comes in between that must be answered; then the piece is taken."""
    line, square = case.line, case.win.square
    earlier = case.ply - 1
    if case.win.ply != case.ply + 2 or earlier < 0 or case.move.to_square == square:
        return None
    taking = line.moves[earlier]
    if taking.to_square != square or not gain_of(line.boards[earlier], taking) or case.target != square:
        return None
    at_once = capture_gain(case.before, line.winner, square)
    if at_once < -PIECE_VALUES[chess.QUEEN] or not is_forcing(case):
        return None
    if line.gain() <= line.balance(case.ply) - line.balance(0) + at_once:
        return None
    return case.motif(Kind.INTERMEZZO, case.move.to_square, (square,))
