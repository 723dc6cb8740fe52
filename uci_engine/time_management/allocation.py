"""How long one move may take: `allocate` turns the limits of `go` into a soft and a hard limit in milliseconds.

The search starts no new iteration once the soft limit, times a factor, has passed. `TimeParameters.soft_factor`
computes the factor after each depth. A timer stops the search at the hard limit.

A reserve is kept for the overheads of the moves to come. A move gets a fraction of the clock above the reserve,
growing with the move number, and most of the increment. Its hard limit is a few times that. The clock approaches the
reserve but does not reach it this way. Within the reserve, a move takes a part of its overhead. The reserve also pays
for a loaded machine that wakes the timer late. There is no other minimum for a move, because such minima lose games on
short clocks: when the clock has almost run down, the first depth is played.

Invariants, for every clock:

- 0 < soft <= hard <= max(time - overhead, FLOOR_MS). The soft limit is infinite where all of the time is to be used.
- More time never makes a limit smaller.
- A game of MOVES_COVERED moves is not lost on time, even if every move uses its hard limit and the full overhead,
  provided the clock starts with one overhead plus the reserve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from uci_engine.time_management.limits import Limits
from uci_engine.time_management.parameters import TIME_DEFAULTS, TimeParameters

# The shortest hard limit: play the best move so far. It is also the shortest soft limit while the clock has it for
# MIN_MOVES_TO_COME moves. Then the soft limit may fall to LEAST_MS, with which a search ends after its first depth.
FLOOR_MS = 1.0
LEAST_MS = 0.01

# What a move takes at least, beside its overhead.
LEAST_TAKEN_MS = 0.7

# Kept back beyond the overhead, for the timer that ends the search.
WAKE_UP_MS = 5.0

# The game is expected to last this many moves.
MOVES_COVERED = 200

# Minimum number of moves still expected, however long the game.
MIN_MOVES_TO_COME = 60

# The reserve, in units of the overheads to come that no increment pays. Within it the soft limit is a part of one of
# them, the largest that keeps the last invariant.
RESERVE_FACTOR = 1.6
RESERVE_SHARE = 0.6

# Maximum part of the clock added for the increment: a buffer for lags longer than the overhead.
INCREMENT_CLOCK_SHARE = 0.1

# The hard limit is at most this part of the clock.
HARD_SHARE = 0.4

# `movestogo`: this much more, divided by the moves to go. The last move before a time control may use 0.8 of the clock.
HARD_SHARE_LAST_MOVE = 0.4

# `movestogo`: the clock above the reserve is divided by 1 + this * moves to go. So the first moves of a period take
# more than an even part.
DIVISOR_PER_MOVE_TO_GO = 0.6


@dataclass(frozen=True, slots=True)
class Budget:
    """The soft limit, infinite where all of the time is to be used, and the hard limit, since the clock started."""

    soft_ms: float
    hard_ms: float


UNLIMITED = Budget(math.inf, math.inf)


def allocate(
    limits: Limits, white_to_move: bool, overhead_ms: int, ply: int, parameters: TimeParameters = TIME_DEFAULTS
) -> Budget:
    """The budget for a search with these limits.

    `overhead_ms` is lost on every move between our clock and the GUI's. `ply` counts from the start of the game. The
    budget is unlimited with `infinite`, or with neither clock nor `movetime`. If only the opponent's clock was sent, it
    counts as ours. `movetime` alone is used to its end: UCI says "exactly".
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
    # The increment comes only after the move, so it does not count here.
    usable = max(time - overhead - WAKE_UP_MS, 0.0)
    gain = max(increment or 0, 0) - overhead

    moves_to_come = max(MOVES_COVERED - ply // 2, MIN_MOVES_TO_COME)
    if limits.movestogo is None or limits.movestogo <= 0:  # zero moves to go make no sense
        share = HARD_SHARE
        divisor = parameters.time_first_divisor - ply / parameters.time_plies_per_part
        divisor = max(divisor, parameters.time_last_divisor)
    else:
        moves_to_come = min(limits.movestogo, moves_to_come)
        divisor = 1.0 + DIVISOR_PER_MOVE_TO_GO * moves_to_come
        share = HARD_SHARE + HARD_SHARE_LAST_MOVE / moves_to_come

    # The clock pays what the increment does not.
    unpaid = max(LEAST_TAKEN_MS - gain, 0.0)
    reserve = RESERVE_FACTOR * moves_to_come * unpaid
    excess = max(usable - reserve, 0.0)
    from_increment = min(parameters.time_increment_percent / 100 * max(gain, 0.0), INCREMENT_CLOCK_SHARE * usable)
    within_reserve = min(max(RESERVE_SHARE * unpaid, FLOOR_MS), usable / MIN_MOVES_TO_COME)
    soft = min(excess / divisor + from_increment, share * usable)
    soft = max(soft, within_reserve, LEAST_MS)
    hard = max(soft, min(parameters.time_hard_percent / 100 * soft, share * excess), FLOOR_MS)
    return Budget(soft, hard)
