"""Why a guard does not guard: it is pinned, taken, overloaded, drawn away or cut off; and pieces drawn into a trap.

The square that matters is where something is taken, or where a mating move goes.
"""

from __future__ import annotations

from collections.abc import Iterator

import chess

from uci_engine.game_analysis.tactics.attacks import (
    capture_gain,
    exchange,
    gain_of,
    mating_move,
    pins_of,
    value_at,
    winning_captures,
)
from uci_engine.game_analysis.tactics.captures import Case
from uci_engine.game_analysis.tactics.motif import Kind, Motif


def pinned_guard(case: Case) -> Motif | None:
    """The only guard of what is taken is pinned and may not take back; what takes is worth more than is taken."""
    if case.ply != case.win.ply:
        return None
    board, square = case.before, case.capture.to_square
    loser = not case.line.winner
    all_guards = board.attackers(loser, square)
    if value_at(board, case.capture.from_square) <= gain_of(board, case.capture) and not _is_mate(case):
        return None
    for guard in all_guards:
        if any(other != guard and _may_take(case, other) for other in all_guards):
            continue
        for slider, back in pins_of(board, guard):
            is_king = board.piece_type_at(back) == chess.KING
            off_line = not chess.ray(slider, guard) & chess.BB_SQUARES[square]
            if off_line and slider != case.capture.from_square and (is_king or not _is_mate(case)):
                return case.motif(Kind.PINNED_GUARD, slider, (square,), (guard, back))
    return None


def _is_mate(case: Case) -> bool:
    return case.line.boards[case.win.ply + 1].is_checkmate()


def _may_take(case: Case, guard: chess.Square) -> bool:
    """Whether a guard may take back after the capture."""
    after = case.line.boards[case.win.ply + 1]
    move = case.capture.to_square
    return any(after.generate_legal_captures(chess.BB_SQUARES[guard], chess.BB_SQUARES[move]))


def lost_guard(case: Case) -> Motif | None:
    """The move takes a guard, draws it away or cuts it off; then what it guarded is taken, or mate follows."""
    to, square = case.move.to_square, case.capture.to_square
    for guard in _lost_guards(case):
        if guard == to:
            return case.motif(Kind.REMOVED_GUARD, to, (square,), (guard,))
        if guard == case.reply.from_square and _is_drawn_away(case):
            if case.reply.to_square == to and gain_of(case.before, case.move) and not _is_sacrifice(case):
                return case.motif(Kind.OVERLOADED, to, (to, square), (guard,))
            return case.motif(Kind.DEFLECTION, to, (square,), (guard,))
        if chess.between(guard, square) & chess.BB_SQUARES[to]:
            return case.motif(Kind.INTERFERENCE, to, (square,), (guard,))
    return None


def _lost_guards(case: Case) -> Iterator[chess.Square]:
    """The guards of the square that matters, where they stood before the move, if nothing could be won there then."""
    line, square = case.line, case.capture.to_square
    if not _is_mate(case):
        if case.target != case.win.square or not case.has_victim:
            return
        if capture_gain(case.before, line.winner, case.win.square) >= case.win.worth:
            return
    last = line.boards[case.win.ply]
    at_last = last.attackers(not line.winner, square)
    for guard in case.before.attackers(not line.winner, square):
        if guard not in at_last or last.piece_at(guard) != case.before.piece_at(guard):
            yield guard


def _is_drawn_away(case: Case) -> bool:
    """Whether the guard takes an offer or answers a check, and no longer sees what it guarded.

    What goes to the square itself is not drawn away. A king that a mate hunts is no guard.
    """
    guard, to, square = case.reply.from_square, case.reply.to_square, case.capture.to_square
    if case.ply + 1 >= case.win.ply or not (to == case.move.to_square or case.after.is_check()):
        return False
    if _is_mate(case) and case.after.piece_type_at(guard) == chess.KING:
        return False
    return to != square and square not in case.line.boards[case.ply + 2].attacks(to)


def _is_sacrifice(case: Case) -> bool:
    """Whether the move gives more than it takes."""
    return exchange(case.before, case.move) < 0


def overloaded(case: Case) -> Motif | None:
    """What is taken has a guard, but one that guards something else, too, or stands before it: it may not take back."""
    if case.ply != case.win.ply or not gain_of(case.before, case.move):
        return None
    board, winner, square = case.before, case.line.winner, case.capture.to_square
    if exchange(board, case.move) >= 1 or case.after.is_check():
        return None
    recaptures = list(case.after.generate_legal_captures(to_mask=chess.BB_SQUARES[square]))
    motif = None
    for recapture in recaptures:
        guard = recapture.from_square
        taken_back = case.after.copy(stack=False)
        taken_back.push(recapture)
        duties = [
            other
            for other, gain in winning_captures(taken_back, winner).items()
            if gain >= 2 and other != square and guard in case.after.attackers(not winner, other)
        ]
        mate = mating_move(taken_back, winner)
        if mate is not None and guard in case.after.attackers(not winner, mate.to_square):
            duties.append(mate.to_square)
        if not duties:
            return None
        motif = case.motif(Kind.OVERLOADED, square, (square, duties[-1]), (guard,))
    return motif


def attraction(case: Case) -> Motif | None:
    """A piece is offered, and what takes it is checked, attacked or taken where it now stands."""
    line, square = case.line, case.move.to_square
    if case.ply + 2 >= len(line.moves) or case.reply.to_square != square or not _is_sacrifice(case):
        return None
    board = line.boards[case.ply + 2]
    drawn, next_board = board.piece_type_at(square), line.boards[case.ply + 3]
    if drawn not in (chess.KING, chess.QUEEN, chess.ROOK):
        return None
    following = line.moves[case.ply + 2]
    if drawn == chess.KING:
        profits = next_board.is_check()
    else:
        taken = line.where_was(case.win.square, case.win.ply, case.ply + 2) == square
        profits = taken and (following.to_square == square or square in next_board.attacks(following.to_square))
    others = (case.reply.from_square,)
    return case.motif(Kind.ATTRACTION, following.to_square, (square,), others) if profits else None
