"""How long one move may take: `allocate` turns the words of `go` into a budget of milliseconds.

Called by `engine` when a search starts (and when a ponder search turns real); `deepening` starts no new iteration after
the share of the soft limit that `TimeParameters` finds worth spending, a timer aborts the search at the hard limit.
Pure arithmetic.

What must stay true, for every clock, sane or not:

    0 < soft <= hard <= max(time - overhead, FLOOR_MS); soft is infinite where all of the time is wanted
    more time never makes a limit smaller
    a game of MOVES_COVERED moves is not lost on time, even if every move takes all of its hard limit and then
    loses the whole overhead on the way, provided that its clock started with one overhead and RESERVE_FACTOR
    times what all the overheads cost and the increments do not pay

There is no minimum thinking time above FLOOR_MS: such minima lose games on short clocks.

The idea: a reserve is set aside for the overheads of the moves still to come. Above the reserve, a move gets
a share of the excess, a larger one the longer the game has lasted, and most of the increment that the overhead
leaves; its hard limit is a few times that. Shares of an excess never use it up, so the clock sinks towards the
reserve. Within the reserve, the clock is spread evenly over the moves to come. The reserve is also what a
loaded machine lives on when it wakes the timer late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from uci_engine.time_management.limits import Limits
from uci_engine.time_management.parameters import time_tunables
from uci_engine.tunable import defaults

FLOOR_MS = 1.0
"""The shortest budget: play the move at hand."""

WAKE_UP_MS = 5.0
"""Kept back on every clock, beyond the overhead, for the timer that ends the search."""

MOVES_COVERED = 200
"""The game is expected to last this many moves."""

LEAST_MOVES_TO_COME = 60
"""However long the game has lasted, so many moves are still expected."""

RESERVE_FACTOR = 3.0
"""The reserve in units of the unpaid overheads to come; the smallest with which the game above is safe."""

INCREMENT_CLOCK_SHARE = 0.1
"""The increment gives a move no more than this share of the clock: a buffer for lags longer than stated."""

HARD_SHARE = 0.4
"""The hard limit is at most this share of the clock; more just before a time control."""

STABILITY_SHARES = (1.5, 1.2, 1.0, 0.85, 0.75)
"""By how many depths the best move has stayed the same: the share of the soft limit that is spent."""

LEAST_STABILITY_SHARE = 0.2
"""However much a tuner makes of that."""

EFFORT_DEPTH = 7
"""Before this depth, how many nodes lie below the best move means nothing."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Milliseconds since the clock started: about `soft_ms` are worth spending, infinity for all; stop at `hard_ms`."""

    soft_ms: float
    hard_ms: float


UNLIMITED = Budget(math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class TimeParameters:
    """How freely time is spent: the parameters of `core.parameters.TIME_PARAMETERS`, which says what each decides.

    A share of the clock that grows with the length of the game gained 27 ± 31 Elo over one part in 28 throughout, in
    218 games at 2+0.02.
    """

    time_first_divisor: int
    time_plies_per_part: int
    time_last_divisor: int
    time_increment_percent: int
    time_hard_percent: int
    time_stability_percent: int
    time_effort_most_percent: int
    time_effort_slope_percent: int
    time_effort_least_percent: int
    time_drop_cp: int
    time_drop_percent: int

    def share(self, depth: int, stable_for: int, score_drop_cp: int, effort: float) -> float:
        """The share of the soft limit that is worth spending after a depth: the less is settled, the more.

        stable_for: for how many depths the best move has stayed. effort: the share of the last depth's nodes that lay
        below it, 0 to 1.
        """
        stability = STABILITY_SHARES[min(stable_for, len(STABILITY_SHARES) - 1)]
        share = max(1 + (stability - 1) * self.time_stability_percent / 100, LEAST_STABILITY_SHARE)
        if depth >= EFFORT_DEPTH:
            percent = self.time_effort_most_percent - self.time_effort_slope_percent * effort
            share *= max(self.time_effort_least_percent, percent) / 100
        return share * self.time_drop_percent / 100 if score_drop_cp > self.time_drop_cp else share


def time_parameters_of(core: str) -> TimeParameters:
    """The time_parameters of the core of this name."""
    return TimeParameters(**defaults(time_tunables(core)))


TIME_DEFAULTS = time_parameters_of("compiled")


def allocate(
    limits: Limits, white_to_move: bool, overhead_ms: int, ply: int, parameters: TimeParameters = TIME_DEFAULTS
) -> Budget:
    """The budget for a search with these limits.

    `overhead_ms` is lost on every move between our clock and the GUI's; `ply` counts half-moves since the
    start of the game. Without a clock and `movetime`, and with `infinite`, the budget is unlimited. If only
    the opponent's clock was sent, it counts as ours. `movetime` alone is spent to its end, as UCI asks ("exactly").
    """
    if limits.infinite:
        return UNLIMITED
    overhead = max(overhead_ms, 0)
    budget = _for_clock(limits, white_to_move, overhead, ply, parameters)
    if limits.movetime_ms is None:
        return budget
    move_time = max(limits.movetime_ms - overhead, FLOOR_MS)
    if budget == UNLIMITED:
        return Budget(math.inf, move_time)
    return Budget(min(budget.soft_ms, move_time), min(budget.hard_ms, move_time))


def _for_clock(limits: Limits, white_to_move: bool, overhead: float, ply: int, parameters: TimeParameters) -> Budget:
    ours, theirs = (limits.wtime_ms, limits.winc_ms), (limits.btime_ms, limits.binc_ms)
    if not white_to_move:
        ours, theirs = theirs, ours
    time, increment = theirs if ours[0] is None else ours
    if time is None:
        return UNLIMITED
    # The increment comes after the move, so this much must be there whatever it pays for.
    usable = max(time - overhead - WAKE_UP_MS, 0.0)
    gain = max(increment or 0, 0) - overhead

    moves_to_come = max(MOVES_COVERED - ply // 2, LEAST_MOVES_TO_COME)
    if limits.movestogo is None or limits.movestogo <= 0:  # zero moves to go make no sense
        spread, share = moves_to_come, HARD_SHARE
        divisor = parameters.time_first_divisor - ply / parameters.time_plies_per_part
        divisor = max(divisor, parameters.time_last_divisor)
    else:
        moves_to_come = min(limits.movestogo, moves_to_come)
        # Half of a short clock goes into thinking and half into overheads, down to the last move. With a long
        # one, the first moves of a period take more than their even share.
        spread, divisor = 2 * moves_to_come, 1.0 + 0.6 * moves_to_come
        share = HARD_SHARE + 0.4 / moves_to_come

    # Each move takes at least FLOOR_MS and its overhead; what increments do not pay comes out of the clock.
    reserve = RESERVE_FACTOR * moves_to_come * max(FLOOR_MS - gain, 0.0)
    excess = max(usable - reserve, 0.0)
    from_increment = min(parameters.time_increment_percent / 100 * max(gain, 0.0), INCREMENT_CLOCK_SHARE * usable)
    soft = max(usable / spread, excess / divisor) + from_increment
    soft = max(min(soft, share * usable), FLOOR_MS)
    hard = max(soft, min(parameters.time_hard_percent / 100 * soft, share * excess))
    return Budget(soft, hard)
