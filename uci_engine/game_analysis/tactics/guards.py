"""Why a guard does not guard: it is pinned, taken, overloaded, drawn away or cut off; and pieces drawn into a trap.

The square that matters is where something is taken, or where a mating move goes.
"""

from __future__ import annotations

import chess

from uci_engine.game_analysis.tactics.attacks import exchange, gain_of, pins_of, value_at
from uci_engine.game_analysis.tactics.captures import Case, is_forcing
from uci_engine.game_analysis.tactics.motif import Kind, Motif


def _is_mate(case: Case) -> bool:
    return case.line.boards[case.win.ply + 1].is_checkmate()


def _recaptures(case: Case) -> list[chess.Move]:
    """The moves that take back what has just moved."""
    return list(case.after.generate_legal_captures(to_mask=chess.BB_SQUARES[case.move.to_square]))


def pinned_guard(case: Case) -> Motif | None:
    """The only guard of what is taken is pinned and may not take back; what takes is worth more than is taken."""
    board, square = case.before, case.capture.to_square
    if value_at(board, case.capture.from_square) <= gain_of(board, case.capture):
        return None
    able = {move.from_square for move in _recaptures(case)}
    for guard in board.attackers(not case.winner, square):
        for slider, back in pins_of(board, guard) if able <= {guard} else ():
            off_line = not chess.ray(slider, guard) & chess.BB_SQUARES[square]
            if off_line and slider != case.capture.from_square:
                return case.motif(Kind.PINNED_GUARD, slider, (square,), (guard, back))
    return None


def lost_guard(case: Case) -> Motif | None:
    """The move or its answer takes, draws away or cuts off a guard; what it guarded is taken, or mate follows."""
    to, square, last = case.move.to_square, case.capture.to_square, case.line.boards[case.win.ply]
    if case.target != case.win.square and not _is_mate(case):
        return None
    for guard in case.before.attackers(not case.winner, square):
        if square in last.attacks(guard) and last.piece_at(guard) == case.before.piece_at(guard):
            continue
        if guard == to:
            return case.motif(Kind.REMOVED_GUARD, to, (square,), (guard,))
        if guard == case.reply.from_square and _is_drawn_away(case):
            is_taken_back = case.reply.to_square == to and gain_of(case.before, case.move)
            if is_taken_back and exchange(case.before, case.move) >= 0 and len(_recaptures(case)) == 1:
                return case.motif(Kind.OVERLOADED, to, (to, square), (guard,))
            return case.motif(Kind.DEFLECTION, to, (square,), (guard,))
        # What answers a check may cut a guard off, too, if something is taken then.
        is_answer = case.after.is_check() and guard != case.reply.from_square and last.is_capture(case.capture)
        for cut in (to, case.reply.to_square) if is_answer else (to,):
            if chess.between(guard, square) & chess.BB_SQUARES[cut]:
                return case.motif(Kind.INTERFERENCE, cut, (square,), (guard,))
    return None


def _is_drawn_away(case: Case) -> bool:
    """Whether the guard alone can take an offer, or answers a check, and no longer sees what it guarded.

    The move has to be forcing, and no quiet move may follow before the capture. What goes to the square itself is not
    drawn away. A king that a mate hunts is no guard.
    """
    reply, square = case.reply, case.capture.to_square
    if not is_forcing(case) or case.line.quiet_plies(case.ply + 1, case.win.ply):
        return False
    takers = {move.from_square for move in _recaptures(case)}
    is_forced = takers == {reply.from_square} if reply.to_square == case.move.to_square else case.after.is_check()
    is_hunted = _is_mate(case) and case.after.piece_type_at(reply.from_square) == chess.KING
    still_sees = square == reply.to_square or square in case.line.boards[case.ply + 2].attacks(reply.to_square)
    return is_forced and not is_hunted and not still_sees


def attraction(case: Case) -> Motif | None:
    """A piece is offered, and what takes it is checked, attacked or taken where it now stands."""
    line, square = case.line, case.move.to_square
    if case.ply + 2 >= len(line.moves) or case.reply.to_square != square or exchange(case.before, case.move) >= 0:
        return None
    drawn = case.after.piece_type_at(case.reply.from_square)
    following, after = line.moves[case.ply + 2], line.boards[case.ply + 3]
    if drawn == chess.KING:
        profits = after.is_check()
    else:
        taken = line.where_was(case.win.square, case.win.ply, case.ply + 2) == square
        profits = taken and (following.to_square == square or square in after.attacks(following.to_square))
    if not profits or drawn not in (chess.KING, chess.QUEEN, chess.ROOK):
        return None
    return case.motif(Kind.ATTRACTION, following.to_square, (square,), (case.reply.from_square,))


def clearance(case: Case) -> Motif | None:
    """A piece leaves a square with a threat, and the next move puts another one there, or mates beyond it.

    A piece that trades itself or wins something, or that goes on along the line, has another aim.
    """
    square, to = case.move.from_square, case.move.to_square
    if not is_forcing(case) or (case.before.is_capture(case.move) and exchange(case.before, case.move) >= 0):
        return None
    for move in case.line.moves[case.ply + 2 : case.ply + 3]:
        way = chess.SquareSet.between(move.from_square, move.to_square) | {move.to_square}
        is_cleared = square == move.to_square or case.line.boards[case.ply + 3].is_checkmate()
        if is_cleared and square in way and to not in way | {move.from_square}:
            return Motif(Kind.CLEARANCE, case.ply, case.move, square, (square,), (), case.ply + 2)
    return None
