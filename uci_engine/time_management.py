"""Time management: the limits of a search, how long a move may take, and the clock that ends the search.

`Limits` is what `go` asks for. `allocate` turns it into a `Budget`: a soft and a hard limit in milliseconds. The search
starts no new iteration once the soft limit, times a factor, has passed. `TimeParameters.soft_factor` computes the
factor after each depth. Every search has a `Clock`, which it reads between iterations. The `Timer` waits for the hard
limit in a thread of its own, so that nothing the search does can delay the end.

A reserve is kept for the overheads of the moves to come. A move gets a fraction of the clock above the reserve,
growing with the move number, and most of the increment. Its hard limit is a few times that. The clock approaches the
reserve but does not reach it this way. Within the reserve, a move takes a part of its overhead. The reserve also pays
for a loaded machine that wakes the timer late. There is no other minimum for a move, because such minima lose games on
short clocks: when the clock has almost run down, the first depth is played.

Invariants, for every clock:

- 0 < hard <= max(time - overhead, FLOOR_MS). The soft limit is no more than that, or infinite where all of the time is
  to be used.
- More time never makes a limit smaller.
- A game of MOVES_COVERED moves is not lost on time, even if every move uses its hard limit and the full overhead,
  provided the clock starts with one overhead plus the reserve.
- After `Timer.end`, the search is not touched.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uci_engine.text import print_failure
from uci_engine.tunable import tunable

if TYPE_CHECKING:
    import chess

# The shortest hard limit: play the best move so far. It is also the shortest soft limit while the clock has it for
# SHORT_CLOCK_MOVES moves. Then the soft limit may fall to LEAST_MS, with which a search ends after its first depth.
FLOOR_MS = 1.0
LEAST_MS = 0.01

# What a move takes at least, beside its overhead.
LEAST_TAKEN_MS = 0.7

# Kept back beyond the overhead, for the timer that ends the search.
WAKE_UP_MS = 5.0

# The game is expected to last this many moves.
MOVES_COVERED = 100

# Minimum number of moves still expected, however long the game.
MIN_MOVES_TO_COME = 40

# On a clock shorter than the reserve a move takes one part in so many: a loaded machine takes more than is asked.
SHORT_CLOCK_MOVES = 60

# The reserve: this factor, times the moves to come, times the part of the overhead above the increment. With no more
# than the reserve left, the soft limit is a share of that part, the largest that keeps the last invariant.
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


# The factor on the soft limit, by the number of depths that the best move has stayed the same.
STABILITY_FACTORS = (1.5, 1.2, 1.0, 0.85, 0.75)

# Lower limit of that factor, whatever the tuned parameters are.
MIN_STABILITY_FACTOR = 0.2

# From this depth on, the nodes below the best move count.
EFFORT_DEPTH = 7

REPORT_AFTER_SECONDS = 3.0
REPORT_EVERY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search is asked for. A field is None where nothing was asked, so a clock of 0 ms differs from no clock.

    Clocks and increments are milliseconds as sent and may be negative; `movestogo` is as sent. `depth` is in plies,
    `mate` in our own moves; they and `nodes` are at least 1. `movetime_ms` is at least 0. `searchmoves` are legal. With
    `infinite` the answer waits for `stop`, and nothing bounds the search.
    """

    wtime_ms: int | None = None
    btime_ms: int | None = None
    winc_ms: int | None = None
    binc_ms: int | None = None
    movestogo: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime_ms: int | None = None
    searchmoves: tuple[chess.Move, ...] | None = None
    infinite: bool = False
    ponder: bool = False

    @property
    def is_endless(self) -> bool:
        """Whether only `stop` ends it. One clock alone, whosever it is, is a bound: the search keeps to it."""
        bounds = (self.wtime_ms, self.btime_ms, self.movetime_ms, self.depth, self.nodes, self.mate)
        return all(bound is None for bound in bounds)


@dataclass(frozen=True, slots=True)
class TimeParameters:
    """The parameters, which `--tuning` offers as options."""

    time_first_divisor: int = tunable(24, 8, 60, "sudden death: divisor of the clock at a game's first move")
    time_plies_per_part: int = tunable(10, 1, 60, "sudden death: half-moves after which the divisor is one less")
    time_last_divisor: int = tunable(13, 5, 40, "sudden death: minimum divisor")
    time_increment_percent: int = tunable(75, 0, 100, "share of the increment, less overhead, added to the soft limit")
    time_hard_percent: int = tunable(500, 100, 1000, "hard limit, in percent of the soft limit")
    time_stability_percent: int = tunable(100, 0, 200, "weight of the best move's stability")
    time_effort_max_percent: int = tunable(200, 100, 400, "effort: factor on the soft limit if no node is the best's")
    time_effort_slope_percent: int = tunable(160, 0, 400, "effort: part of it taken off if all nodes are the best's")
    time_effort_min_percent: int = tunable(50, 10, 100, "effort: minimum factor on the soft limit")
    time_drop_cp: int = tunable(30, 5, 200, "score drop: minimum fall that gives more time")
    time_drop_percent: int = tunable(130, 100, 300, "score drop: factor on the soft limit after such a fall")

    def soft_factor(self, depth: int, stable_for: int, score_drop_cp: int, effort: float) -> float:
        """The factor on the soft limit after a depth: more while the best move is in doubt.

        stable_for: the number of depths that the best move has stayed the same. effort: the share of the last depth's
        nodes below it, 0 to 1.
        """
        stability = STABILITY_FACTORS[min(stable_for, len(STABILITY_FACTORS) - 1)]
        factor = max(1 + (stability - 1) * self.time_stability_percent / 100, MIN_STABILITY_FACTOR)
        if depth >= EFFORT_DEPTH:
            percent = self.time_effort_max_percent - self.time_effort_slope_percent * effort
            factor *= max(self.time_effort_min_percent, percent) / 100
        return factor * self.time_drop_percent / 100 if score_drop_cp > self.time_drop_cp else factor


TIME_DEFAULTS = TimeParameters()


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
    budget is unlimited with neither clock nor `movetime`. If only the opponent's clock was sent, it counts as ours.
    `movetime` alone is used to its end: UCI says "exactly".
    """
    budget = _for_clock(limits, white_to_move, overhead_ms, ply, parameters)
    if limits.movetime_ms is None:
        return budget
    move_time = max(limits.movetime_ms - overhead_ms, FLOOR_MS)
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
    within_reserve = min(max(RESERVE_SHARE * unpaid, FLOOR_MS), usable / SHORT_CLOCK_MOVES)
    soft = min(excess / divisor + from_increment, share * usable)
    soft = max(soft, within_reserve, LEAST_MS)
    hard = max(soft, min(parameters.time_hard_percent / 100 * soft, share * excess), FLOOR_MS)
    return Budget(soft, hard)


# The clock ------------------------------------------------------------------------------------------------------------


class Clock:
    """When a search began, and its budget. Times are `time.perf_counter()` seconds; durations are milliseconds."""

    def __init__(self, started_at: float, budget: Budget = UNLIMITED, is_pondering: bool = False) -> None:
        self.started_at = started_at
        self.hard_from = started_at
        self.is_pondering = is_pondering
        self._budget = budget

    @property
    def budget(self) -> Budget:
        """The limits now: none while pondering."""
        return UNLIMITED if self.is_pondering else self._budget

    def ponderhit(self, now: float) -> None:
        """The hard limit counts from `now`, the soft one from the start of the search."""
        self.hard_from = now
        self.is_pondering = False

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started_at) * 1000

    @property
    def may_end_early(self) -> bool:
        return self.budget.soft_ms < math.inf

    @property
    def deadline(self) -> float:
        """The moment of the hard limit; infinite when there is none."""
        return self.hard_from + self.budget.hard_ms / 1000

    def hard_reached(self, share: float = 1.0) -> bool:
        """Whether this share of the time to the hard limit has passed."""
        return time.perf_counter() >= self.hard_from + share * self.budget.hard_ms / 1000

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit, or the hard limit, has passed."""
        return self.elapsed_ms() >= self.budget.soft_ms * factor or self.hard_reached()


class Timer:
    """A thread that ends one search at a time at its deadline, and makes a long one report now and then."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._clock: Clock | None = None
        self._on_deadline: Callable[[], None] = lambda: None
        self._on_report: Callable[[], None] = lambda: None
        self._next_report = math.inf
        # Held during a call.
        self._calls = threading.Lock()
        self._closed = False
        threading.Thread(target=self._run, name="timer", daemon=True).start()

    def begin(self, clock: Clock, on_deadline: Callable[[], None], on_report: Callable[[], None]) -> None:
        """Watch a search. Both functions are called from the timer's thread. `on_deadline` must be quick. A report may
        block, because it writes to stdout: then it delays the deadline and `end`, and nothing else.
        """
        with self._condition:
            self._clock = clock
            self._on_deadline = on_deadline
            self._on_report = on_report
            self._next_report = time.perf_counter() + REPORT_AFTER_SECONDS
            self._condition.notify_all()

    def clock_changed(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def end(self) -> None:
        """Stop watching the search, and wait for a call. Neither function is called after this returns."""
        with self._calls:
            self._clock = None

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _run(self) -> None:
        while not self._closed:
            with self._condition:
                clock, now = self._clock, time.perf_counter()
                if clock is None:
                    self._condition.wait()
                    continue
                is_over = now >= clock.deadline
                if not is_over and now < self._next_report:
                    self._condition.wait(min(clock.deadline, self._next_report) - now)
                    continue
                self._next_report = now + REPORT_EVERY_SECONDS
            # Not under the condition, which the UCI thread takes at `ponderhit`.
            with self._calls:
                if self._clock is clock:
                    self._call(self._on_deadline if is_over else self._on_report)
                    if is_over:
                        self._clock = None

    def _call(self, function: Callable[[], None]) -> None:
        """Call a search's function. An error in it must not end this thread, which later searches need."""
        try:
            function()
        except Exception as error:
            print_failure(error)
