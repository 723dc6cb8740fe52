"""The clock of one search, and the thread that ends the search at its hard limit.

Every `go` gets a `Clock`. The search reads it between iterations, and the `Timer` waits for the hard limit in a thread
of its own, so that nothing the search does can delay the end. Invariant: after `Timer.end`, the search is not touched.

Nodestime counts time in nodes, so that a game does not depend on the machine or its load. It serves to tune time
management with many games at once. The engine holds an `AvailableNodes` while the option NodesTime of `--tuning` is
set, and a search with a clock gets a `NodesClock`. The GUI's clock must be ample, because only its first reading in a
game and the increment count. Invariant: with one thread, the budgets of such a game depend on its moves, its first
clock and the increment alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from uci_engine.task import print_failure
from uci_engine.time_management.allocation import UNLIMITED, Budget
from uci_engine.time_management.limits import Limits

# More nodes than any search counts.
MAX_NODES = 1 << 62

REPORT_AFTER_SECONDS = 3.0
REPORT_EVERY_SECONDS = 1.0


class Clock:
    """When a search began, and its budget. Times are `time.perf_counter()` seconds; durations are milliseconds."""

    def __init__(self, started_at: float, budget: Budget = UNLIMITED) -> None:
        self.started_at = started_at
        self.budget = budget
        self.hard_from = started_at
        # The hard limit in nodes, for nodestime.
        self.hard_nodes: int | None = None

    def set_budget(self, budget: Budget, now: float) -> None:
        """Set the budget at `ponderhit`. The hard limit counts from `now`, the soft one from the start of search."""
        self.hard_from = now
        self.budget = budget

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started_at) * 1000

    @property
    def may_end_early(self) -> bool:
        return self.budget.soft_ms < math.inf

    @property
    def deadline(self) -> float:
        """The moment of the hard limit; infinite when there is none."""
        return self.hard_from + self.budget.hard_ms / 1000

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit, or the hard limit, has passed."""
        now = time.perf_counter()
        return (now - self.started_at) * 1000 >= self.budget.soft_ms * factor or now >= self.deadline


class NodesClock(Clock):
    """A clock that counts nodes. The hard limit is `hard_nodes`, which the search keeps by its own limit of nodes."""

    def __init__(self, started_at: float, budget: Budget, nodes_per_ms: int, nodes: Callable[[], int]) -> None:
        """`budget` is finite; `nodes` returns how many have been searched so far."""
        super().__init__(started_at, Budget(budget.soft_ms, math.inf))
        self._nodes_per_ms = nodes_per_ms
        self._nodes = nodes
        self.hard_nodes = min(int(budget.hard_ms * nodes_per_ms), MAX_NODES)

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit has been searched."""
        return self._nodes() >= self.budget.soft_ms * factor * self._nodes_per_ms


class AvailableNodes:
    """The engine's own clocks in nodes for one game, one for each colour that it plays."""

    def __init__(self, nodes_per_ms: int) -> None:
        """`nodes_per_ms`: the nodes in a millisecond, at least 1."""
        self.nodes_per_ms = nodes_per_ms
        self._left: dict[bool, int] = {}

    def adjust(self, limits: Limits, white: bool) -> Limits | None:
        """The limits with our clock replaced by the nodes left, in milliseconds; None without a clock of ours.

        The first clock of a colour sets its nodes. Later calls add the increment.
        """
        time_ms, increment_ms = (limits.wtime_ms, limits.winc_ms) if white else (limits.btime_ms, limits.binc_ms)
        if time_ms is None or limits.infinite or limits.ponder:
            return None
        earned = self.nodes_per_ms * ((increment_ms or 0) if white in self._left else time_ms)
        self._left[white] = self._left.get(white, 0) + earned
        left_ms = self._left[white] // self.nodes_per_ms
        return replace(limits, wtime_ms=left_ms) if white else replace(limits, btime_ms=left_ms)

    def spend(self, white: bool, nodes: int) -> None:
        """Take the nodes of a finished search off this colour's clock."""
        self._left[white] -= nodes


class Timer:
    """A thread that ends one search at a time at its deadline, and makes a long one report now and then."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._clock: Clock | None = None
        self._on_deadline: Callable[[], None] = lambda: None
        self._on_report: Callable[[], None] = lambda: None
        self._next_report = math.inf
        self._calling = False
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
        with self._condition:
            self._clock = None
            self._condition.wait_for(lambda: not self._calling)

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _run(self) -> None:
        with self._condition:
            while not self._closed:
                if self._clock is None:
                    self._condition.wait()
                    continue
                now = time.perf_counter()
                if now >= self._clock.deadline:
                    self._clock = None
                    self._call(self._on_deadline)
                elif now >= self._next_report:
                    self._next_report = now + REPORT_EVERY_SECONDS
                    self._call(self._on_report)
                else:
                    self._condition.wait(min(self._clock.deadline, self._next_report) - now)

    def _call(self, function: Callable[[], None]) -> None:
        """Call a search's function without the lock, which the UCI thread takes at `ponderhit`. An error in it must not
        end this thread, which later searches need.
        """
        self._calling = True
        self._condition.release()
        try:
            function()
        except Exception as error:
            print_failure(error)
        finally:
            self._condition.acquire()
            self._calling = False
            self._condition.notify_all()
