"""The motif that decides a line: the one by which something is won, and without which it would not be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import chess

from uci_engine.game_analysis.tactics import captures, endings, guards
from uci_engine.game_analysis.tactics.attacks import king_of
from uci_engine.game_analysis.tactics.captures import Case
from uci_engine.game_analysis.tactics.line import Line, Win
from uci_engine.game_analysis.tactics.mates import mate_of
from uci_engine.game_analysis.tactics.motif import Kind, Motif

Detector = Callable[[Case], Motif | None]
# For the move that takes, in the order in which they are asked.
AT_ONCE: tuple[Detector, ...] = (
    captures.x_ray,
    captures.double_check,
    captures.discovered_check,
    guards.pinned_guard,
    captures.hanging,
)
# For a move before it.
PREPARED: tuple[Detector, ...] = (
    captures.double_check,
    captures.discovered_check,
    captures.skewer,
    captures.fork,
    captures.discovered_attack,
    captures.pin,
    captures.trapped,
    guards.lost_guard,
)
# For a mate: why it could not be met.
OF_MATE: tuple[Detector, ...] = (captures.double_check, guards.attraction, guards.clearance, guards.lost_guard)
# A motif works within so many plies.
MAX_DELAY = 6
# What is won later decides nothing.
LATE = 10
# The quiet moves beside that of the motif: with more it is far from deciding the first move.
MAX_QUIET = 1


def deciding_motifs(line: Line, expected: int = 0) -> tuple[Motif, ...]:
    """The motifs by which the side that profits mates, wins something or draws; none where no motif explains it.

    At most two, in the order of their moves: a second one has prepared the first. `expected`: what that side wins
    anyway, in pawns, below 0 where it has lost something before.
    """
    if not line.moves:
        return ()
    if line.end.is_checkmate():
        return _of_mate(line) if line.end.turn != line.winner else ()
    drawing = endings.stalemate(line) or endings.perpetual_check(line)
    if drawing:
        return (drawing,)
    wins = [win for win in line.wins() if win.ply < LATE]
    gain = line.gain() - expected
    for win in wins if gain >= 1 else []:
        if 2 * win.worth >= min(gain, wins[0].worth):
            found = _of_win(line, win)
            if found and _is_forced(line, found[-1]):
                return found
    ending = endings.outside_square(line) or endings.opposition(line)
    return (ending,) if ending and _is_forced(line, ending) else ()


def _is_forced(line: Line, motif: Motif) -> bool:
    """Whether at most one move up to the win, beside the motif's own, is quiet: more are no combination.

    A promotion needs no combination.
    """
    quiet = [ply for ply in line.quiet_plies(0, motif.wins) if ply != motif.ply]
    return len(quiet) <= MAX_QUIET or line.moves[motif.wins].promotion is not None


def _of_mate(line: Line) -> tuple[Motif, ...]:
    """The name of the mate, and what made it possible."""
    # Each own move as if it had won, the mating move first.
    moves = [Case(line, Win(ply, 0, line.moves[ply].to_square), ply) for ply in reversed(line.own_plies())]
    case, kind = moves[0], mate_of(line.end)
    if kind is Kind.MATE and (named := captures.double_check(case) or captures.discovered_check(case)):
        return (named,)
    helper = _first(OF_MATE, _before(case)) or _first([guards.pinned_guard], moves)
    mate = case.motif(kind, case.win.square, (king_of(line.end, not line.winner),))
    return (helper, mate) if helper else (mate,)


def _before(case: Case) -> list[Case]:
    """The moves before something is won, the last move first."""
    own = [ply for ply in case.line.own_plies() if case.win.ply - MAX_DELAY <= ply < case.win.ply]
    return [Case(case.line, case.win, ply) for ply in reversed(own)]


def _first(detectors: Sequence[Detector], cases: Iterable[Case]) -> Motif | None:
    """The first that any of these detectors finds in the first of these cases in which one does."""
    return next((motif for case in cases for detector in detectors if (motif := detector(case))), None)


def _of_win(line: Line, win: Win) -> tuple[Motif, ...]:
    """What explains something that is won, and what prepared it."""
    case, promotion = Case(line, win, win.ply), line.moves[win.ply].promotion
    if promotion and win.worth >= 2 and not line.is_taken_back(win.ply):
        kind = Kind.PROMOTION if promotion == chess.QUEEN else Kind.UNDERPROMOTION
        return (endings.outside_square(line) or case.motif(kind, case.move.to_square, (case.move.to_square,)),)
    before = _before(case)
    found = _first(AT_ONCE, [case]) or _first(PREPARED, [each for each in before if each.is_cause()])
    if found is None or found.kind is Kind.REMOVED_GUARD:
        found = _first([captures.underpromotion, captures.intermezzo], before) or found
    found = found or endings.zugzwang(line, win.ply) or _first([guards.attraction], before)
    if found is None:
        return ()
    earlier = [Case(line, win, found.ply - 2)] if found.ply >= 2 else []
    prepared = _first([guards.attraction, guards.clearance], earlier)
    return (prepared, found) if prepared else (found,)
