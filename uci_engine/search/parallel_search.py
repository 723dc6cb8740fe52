"""One search by all workers of the pool: it starts and stops them, counts the nodes and votes for the best move.

`SearchTask` runs it. `MainSearch` is the part of worker 0, in the same thread. The other workers search in their own
threads, by `Worker.run`. The threads share only the transposition table (lazy SMP): the results of one thread speed up
the others.

Invariant: worker 0 never waits for another worker until it has finished.
Invariant: when `run` returns, every worker has stopped, so the node counts are final.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from uci_engine import score as scores
from uci_engine.failures import print_failure
from uci_engine.search.info import Info
from uci_engine.search.main_search import MainSearch
from uci_engine.search.parameters import FIRST_SHARED_DEPTH
from uci_engine.search.request import SearchRequest
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.search.voting import vote
from uci_engine.time_management.clock import Clock


@dataclass(frozen=True, slots=True)
class SkipPattern:
    """Which depths a worker searches: it searches `size` depths, then skips as many. `phase` is the offset."""

    size: int
    phase: int


# Threads that search the same depth at the same time repeat each other's work. With these patterns each thread is
# sometimes ahead of worker 0 and sometimes behind it (an idea of Stockfish, versions 7 to 10).
SKIP_PATTERNS = tuple(SkipPattern(size, phase) for size in range(1, 5) for phase in range(2 * size))


class ParallelSearch:
    """One search from the first depth to the vote. `run` blocks; `stop` may be called from any thread.

    `main` has the result and sends the reports.
    """

    def __init__(self, pool: ThreadPool, request: SearchRequest, clock: Clock, on_info: Callable[[Info], None]) -> None:
        """The arguments are those of `MainSearch`. `go mate` and limited strength run in worker 0 only.

        The constructor clears all stop flags, so a `stop` after it is never lost.
        """
        self._request = request
        self._on_info = on_info
        threads = pool.threads if request.mate is None and request.strength is None else []
        self._threads = tuple(threads[: request.nodes - 1] if request.nodes else threads)
        # Each worker gets a share of the nodes, so the total is exact without a shared counter.
        self._main_share, *shares = _node_shares(request.nodes, 1 + len(self._threads))
        for thread, share in zip(self._threads, shares, strict=True):
            thread.worker.reset(share or 0)
        others = [thread.worker for thread in self._threads]
        self.workers = (pool.main, *others)
        self.main = MainSearch(pool.main, replace(request, nodes=self._main_share), clock, on_info, others)
        # How many of them have been started, and the root moves that they begin with.
        self._started = 0
        self._root_order: list[int] = []

    @property
    def nodes(self) -> int:
        """The nodes of all workers so far."""
        return self.main.nodes

    def stop(self) -> None:
        """End the search soon: set the stop flag of every worker."""
        for worker in self.workers:
            worker.stop()

    def run(self) -> None:
        """Search until a limit is reached, time is up, or `stop`. Then vote."""
        share = self._main_share
        has_nodes_left = True
        try:
            # With a node limit the other workers start at once, because each must search its own share.
            if self._threads and not share:
                self.main.run(FIRST_SHARED_DEPTH - 1)
            if not self.main.is_done:
                self._root_order = self.main.root_order
                self._start_worker(0)
                self.main.run()
            has_nodes_left = not share or self.workers[0].searcher.nodes < share
        finally:
            # If worker 0 has used up its share of the nodes, the other workers finish theirs. Any other end stops them.
            if has_nodes_left:
                self.stop()
            self._wait_for_workers()
        # No vote with MultiPV, nor for `go depth`: there the result of worker 0 counts.
        if self._request.lines == 1 and self._request.depth is None:
            found = [self.main.found_by(thread.worker) for thread in self._threads[: self._started]]
            self.main.set_best(vote([self.main.root_move, *found]))
            self.main.apply_analysis()
        self.main.apply_strength()

    def _start_worker(self, index: int) -> None:
        """Start another worker. Each starts the next: starting hundreds in one loop would block the UCI thread."""
        if index < len(self._threads):
            self._started = index + 1
            self._threads[index].begin(partial(self._run_worker, index))

    def _run_worker(self, index: int) -> None:
        """Search with a worker, in its thread."""
        worker = self._threads[index].worker
        searcher = worker.searcher
        if searcher.stop_requested:
            return
        searcher.position.set_board(self._request.board)
        searcher.prober.share(self.workers[0].searcher.prober)
        self._request.prepare(searcher)
        searcher.set_root(self._root_order)
        self._start_worker(index + 1)
        if self.main.analysis is not None and index == 0:
            self.main.analysis.run(worker, math.inf)
        # With MultiPV, worker 0 starts at line 0 and the n-th other one at line n, modulo the number of lines.
        pv_index = (index + 1) % min(self._request.multipv, len(self._root_order))
        pattern = SKIP_PATTERNS[index % len(SKIP_PATTERNS)]
        worker.run(FIRST_SHARED_DEPTH, scores.MAX_DEPTH, pv_index, pattern.size, pattern.phase)

    def _wait_for_workers(self) -> None:
        """Wait until all other workers have finished."""
        index = 0
        # `_started` may still grow, but a worker starts the next one before it finishes.
        while index < self._started:
            error = self._threads[index].wait()
            index += 1
            if error is not None:
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in a worker thread: {error}"))


def _node_shares(nodes: int | None, count: int) -> list[int | None]:
    """Divide a number of nodes evenly among workers. The first ones get one more each if there is a remainder."""
    if not nodes:
        return [nodes] * count
    return [nodes // count + (index < nodes % count) for index in range(count)]
