"""One search by a pool: the main search as if it were alone, helpers beside it, and a vote at the end.

`engine` makes a `TeamSearch` for each `go`. The threads share the table and nothing else ("lazy SMP"): what one has
found out the others need not search. In analysis the first helper looks for the main search's scout. What must stay
true: with one thread there is nothing but the main search; the main search never waits for a helper before its own end;
when `run` returns every helper has ended, so that counts are exact and the table is at rest; and the line chosen in the
end is the one reported last and played.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import chess

from uci_engine.failures import print_failure
from uci_engine.search.deepening import Deepening, Request
from uci_engine.search.helper import RHYTHMS, Helper
from uci_engine.search.info import Bound, Info
from uci_engine.search.root_moves import Line
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.search.voting import elect
from uci_engine.time_management.clock import Clock

# The helpers come in at this depth of the main search, and begin with it. The depths before take a millisecond, and
# give a sound move even where the threads are far too many for the machine.
FIRST_HELPED_DEPTH = 5


class TeamSearch:
    """One search from the first iteration to the vote. `run` blocks; `stop` may be called from any thread."""

    def __init__(self, pool: ThreadPool, request: Request, clock: Clock, on_info: Callable[[Info], None]) -> None:
        """As for a `Deepening`. Proving a mate, every answer tried, is left to the main search alone."""
        self._pool = pool
        self._request = request
        self._on_info = on_info
        self._helpers: list[Helper] = pool.helpers if request.mate is None else []
        if request.nodes:
            self._helpers = self._helpers[: request.nodes - 1]
        # Each has its share of the nodes, so that the sum is exact without a common counter.
        self._shares = _shares(request.nodes, 1 + len(self._helpers))
        self._stop_wanted = False
        # Each helper wakes the next when it is about to search, for hundreds that wake at once would keep Python's
        # global lock from the threads that listen. So many have been woken.
        self._woken = 0
        self._root_moves: list[int] = []
        # The helpers' searchers that have begun to count.
        self._beside: list[Any] = []
        own = replace(request, nodes=self._shares[0])
        self._main = Deepening(pool.main, own, clock, on_info, self._beside, self._on_depth, not self._helpers)

    @property
    def best(self) -> chess.Move:
        """The best move so far, by the vote once `run` has returned; always legal."""
        return self._main.best

    @property
    def ponder(self) -> chess.Move | None:
        """The reply expected to the best move, if there is one. Not while `run` is running."""
        return self._main.ponder

    @property
    def nodes(self) -> int:
        """Positions looked at so far, by all threads."""
        return self._main.all_nodes

    def stop(self) -> None:
        """End the search soon."""
        self._stop_wanted = True
        self._main.stop()
        for searcher in self._beside:
            searcher.stop()

    def is_enough(self) -> bool:
        """Whether the search need not go on, by its last depth and the clock as it is now."""
        return self._main.is_enough()

    def report(self) -> None:
        """Report the best line as it stands now, with the counts of all threads."""
        self._main.report()

    def report_current_move(self) -> None:
        """Say which root move the main search looks at. Called while `run` runs, from another thread."""
        self._main.report_current_move()

    def run(self) -> None:
        """Search until the request is fulfilled, the clock says enough, or `stop`; then elect the best line."""
        at_once = True
        try:
            if self._request.nodes:
                self._begin()
            self._main.run()
            # After its share of the nodes the main search waits for the others'; any other end is the end for all.
            at_once = not self._shares[0] or self._main.nodes < self._shares[0]
        finally:
            self._finish(at_once)
        # Of several lines each has its place, and a depth that was asked for is the main search's to answer.
        if self._request.lines == 1 and self._request.depth is None:
            beside = [_line(helper.search) for helper in self._helpers[: self._woken]]
            self._main.adopt(elect([self._main.line, *beside]))
            self._main.adopt_find()

    def _on_depth(self, depth: int) -> None:
        """The main search is about to begin a depth."""
        if depth == FIRST_HELPED_DEPTH and not self._woken:
            self._begin()

    def _begin(self) -> None:
        """Set the helpers to work."""
        self._root_moves = self._main.candidates
        self._wake(0)

    def _wake(self, number: int) -> None:
        if number < len(self._helpers):
            self._woken = number + 1
            self._helpers[number].begin(partial(self._help, number))

    def _help(self, number: int) -> None:
        """The work of a helper, in its thread."""
        search = self._helpers[number].search
        searcher = search.searcher
        # Of several lines the main search is at the first.
        line = (number + 1) % min(self._request.lines, len(self._root_moves))
        search.set_up(self._request.board, self._root_moves, line, self._shares[number + 1] or 0)
        searcher.prober.share(self._pool.main.prober)
        self._request.set_probing(searcher)
        self._beside.append(searcher)
        # Here one first tells and then looks, and so does `stop`: one of the two sees the other.
        if self._stop_wanted:
            return
        self._wake(number + 1)
        scout = self._main.scout
        if scout is not None and number == 0:
            scout.look(searcher, math.inf)
            searcher.set_root(self._root_moves)
        rhythm = RHYTHMS[number % len(RHYTHMS)]
        search.run(FIRST_HELPED_DEPTH, rhythm.stretch, rhythm.shift)

    def _finish(self, at_once: bool) -> None:
        """Wait for the end of all helpers, after telling them to if it is to be `at_once`."""
        if at_once:
            self.stop()
        number = 0
        # Whoever has ended has woken the next before, if ever it will.
        while number < self._woken:
            error = self._helpers[number].wait()
            number += 1
            if error is not None:
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in a helper's search: {error}"))


def _line(search: Any) -> Line:
    """What a `QuietSearch` has found."""
    bound = Bound.LOWER if search.is_bound else Bound.EXACT
    return Line(search.line(), search.score, search.depth, search.seldepth, bound)


def _shares(nodes: int | None, count: int) -> list[int | None]:
    """A number of nodes divided among searches as evenly as it goes, the first with the most; None is no limit."""
    if not nodes:
        return [nodes] * count
    return [nodes // count + (number < nodes % count) for number in range(count)]
