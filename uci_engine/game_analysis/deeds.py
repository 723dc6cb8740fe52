"""What one move does by itself, by the rules of chess alone, and what the move before did to allow it."""

from __future__ import annotations

from dataclasses import replace

import chess

from uci_engine.board.pieces import captured_square
from uci_engine.game_analysis.boards import (
    attacked_by_mover,
    board_after,
    capture_gain,
    exchange,
    gain_of,
    king_of,
    mating_move,
    pins_of,
    value_at,
    winning_captures,
)
from uci_engine.game_analysis.tactics import Case, Kind, Line, Motif
from uci_engine.game_analysis.thresholds import SOON

# What a reply does that may refute a move. An even trade or an offer refutes nothing by itself.
ACTIVE = (
    Kind.CAPTURE,
    Kind.ATTACK,
    Kind.PIN,
    Kind.MATE_THREAT,
    Kind.PROMOTION,
    Kind.MATE,
)


def deed_of(line: Line, ply: int) -> Motif | None:
    """What a move of a line does by itself, the most forcing first; None for nothing that has a name."""
    before, after, move = line.boards[ply], line.boards[ply + 1], line.moves[ply]
    to, color = move.to_square, before.turn

    def motif(kind: Kind, *targets: chess.Square) -> Motif:
        return Motif(kind, ply, move, to, targets, (), ply)

    king = king_of(after, not color)
    if after.is_checkmate():
        return motif(Kind.MATE, king)
    if move.promotion:
        return motif(Kind.PROMOTION, to)
    if gain_of(before, move) and (exchange(before, move) >= 1 or is_untouchable(after, color)):
        return motif(Kind.CAPTURE, captured_square(before, move))
    if mating_move(after, color) and not mating_move(before, color):
        return motif(Kind.MATE_THREAT, king)
    is_safe = capture_gain(after, not color, to) < 1
    attacked = _attacked_anew(before, after) if is_safe else []
    pieces = [square for square in attacked if after.piece_type_at(square) != chess.PAWN]
    if len(pieces) == 1:
        for slider, back in pins_of(after, pieces[0]):
            return Motif(Kind.PIN, ply, move, slider, (pieces[0],), (back,), ply)
    if pieces:
        return motif(Kind.ATTACK, *pieces)
    if before.is_capture(move):
        return motif(Kind.TRADE if exchange(before, move) == 0 else Kind.OFFER, to)
    return motif(Kind.ATTACK, *attacked) if attacked and not after.is_check() else None


def is_double(line: Line, deed: Motif) -> bool:
    """Whether a move attacks two pieces at once, of which only one can be saved."""
    return deed.kind is Kind.ATTACK and sum(value_at(line.boards[deed.ply], at) > 1 for at in deed.targets) > 1


def is_weighty(line: Line, deed: Motif) -> bool:
    """Whether what a move does may be why another costs so much."""
    board = line.boards[deed.ply]
    if deed.kind is Kind.ATTACK:
        # A piece that only moves away is no loss.
        captures = [ply for ply in line.own_plies()[1:] if line.boards[ply].is_capture(line.moves[ply])]
        taken = [line.where_was(line.moves[ply].to_square, ply, deed.ply + 1) for ply in captures]
        answer = line.moves[deed.ply + 1] if len(line.moves) > deed.ply + 1 else chess.Move.null()
        is_even = answer.from_square in deed.targets and line.boards[deed.ply + 1].is_capture(answer)
        return not is_even and any(square in taken and value_at(board, square) > 1 for square in deed.targets)
    # What is taken has to stay taken.
    is_kept = deed.kind is not Kind.CAPTURE or line.balance(min(deed.ply + SOON, line.searched)) > line.balance(0)
    return deed.kind not in (Kind.TRADE, Kind.OFFER) and is_kept


def is_by(line: Line, deed: Motif, win: Case) -> bool:
    """Whether a move is how something is won: it takes it, attacks it, or drives away what guards or hides it."""
    if deed.kind is Kind.CAPTURE:
        return deed.ply == win.ply
    if deed.kind is not Kind.ATTACK or is_double(line, deed):
        return True
    if line.where_was(win.square, win.ply, deed.ply + 1) in deed.targets:
        return True
    driven, capture = line.moves[deed.ply + 1].from_square, line.moves[win.ply]
    guards = line.boards[deed.ply + 1].attackers(not line.winner, win.square)
    was_in_the_way = driven in guards or chess.between(capture.from_square, win.square) & chess.BB_SQUARES[driven]
    return win.ply == deed.ply + 2 and driven in deed.targets and bool(was_in_the_way)


def tempo_of(line: Line, ply: int) -> Motif | None:
    """A move that attacks a piece which then moves away, takes nothing and gives no check; None for any other."""
    deed, after = deed_of(line, ply), line.boards[ply + 1]
    if deed is None or deed.kind is not Kind.ATTACK or len(line.moves) < ply + 2:
        return None
    answer = line.moves[ply + 1]
    is_quiet = not after.is_capture(answer) and not after.gives_check(answer)
    is_driven = answer.from_square in deed.targets and after.piece_type_at(answer.from_square) != chess.PAWN
    return replace(deed, kind=Kind.TEMPO, targets=(answer.from_square,)) if is_driven and is_quiet else None


def is_untouchable(after: chess.Board, color: chess.Color) -> bool:
    """Whether every move that takes the piece which has just moved allows mate."""
    to = after.peek().to_square
    takers = list(after.generate_legal_captures(to_mask=chess.BB_SQUARES[to]))
    return bool(takers) and all(mating_move(board_after(after, [taker]), color) for taker in takers)


def _attacked_anew(before: chess.Board, after: chess.Board) -> list[chess.Square]:
    """What the piece that moved could take next at a profit, and its side could not take before; the best first."""
    squares = attacked_by_mover(after) - winning_captures(before, before.turn).keys()
    return sorted(squares, key=lambda square: (-value_at(after, square), square))


def opened_by(line: Line, color: chess.Color, ply: int = 1) -> Motif | None:
    """What the first move of a line does for its reply: it leaves a guard, cuts one off, or opens a line.

    `color`: the side of the first move. `ply`: the reply, or a later capture of what stands there already.
    """
    before, after = line.boards[:2]
    move, reply = line.moves[0], line.moves[ply]
    square = reply.to_square
    if square == move.to_square or (ply > 1 and line.where_was(square, ply, 1) != square):
        return None

    def motif(kind: Kind, *others: chess.Square) -> Motif:
        return Motif(kind, 0, move, move.to_square, (square,), others)

    lost = before.attackers(color, square) - after.attackers(color, square)
    cut = [
        guard
        for guard in lost
        if guard != move.from_square and chess.between(guard, square) & chess.BB_SQUARES[move.to_square]
    ]
    if move.from_square in lost and move.to_square not in after.attackers(color, square):
        return motif(Kind.UNGUARDED)
    if cut:
        return motif(Kind.CUT_OFF, cut[0])
    if ply == 1 and chess.between(reply.from_square, square) & chess.BB_SQUARES[move.from_square]:
        return motif(Kind.OPENED, reply.from_square)
    return None
