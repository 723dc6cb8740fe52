"""The thread pool: workers on one transposition table, and one search by all of them.

The threads share only the table (lazy SMP): the results of one thread speed up the others. `ThreadPool` keeps the
workers between searches. `PoolSearch` is one search: it starts and stops the workers, counts their nodes and chooses
the best move by thread voting. Worker 0 runs in the thread of `SearchTask`. Every other worker has its own thread.

Invariant: worker 0 never waits for another worker until it has finished.
Invariant: when `PoolSearch.run` returns, every worker has stopped, so the counts are exact.
Invariant: a pool that cannot grow is left unchanged.
"""

from __future__ import annotations

import math
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from uci_engine import score as scores
from uci_engine.core import Core
from uci_engine.failures import print_failure
from uci_engine.memory import available_bytes
from uci_engine.search.factory import new_searcher, new_searcher_on, new_worker
from uci_engine.search.info import Info
from uci_engine.search.parameters import FIRST_SHARED_DEPTH
from uci_engine.search.request import Request
from uci_engine.search.search_manager import SearchManager
from uci_engine.search.voting import vote
from uci_engine.time_management.clock import Clock

# Maximum share of the available memory for workers 1 and up.
MEMORY_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class SkipPattern:
    """Which depths a worker searches: it searches `size` depths, then skips as many. `phase` is the offset."""

    size: int
    phase: int


# Threads that search the same depth at the same time repeat each other's work. With these patterns each thread is
# sometimes ahead of worker 0 and sometimes behind it (an idea of Stockfish, versions 7 to 10).
SKIP_PATTERNS = tuple(SkipPattern(size, phase) for size in range(1, 5) for phase in range(2 * size))


class WorkerThread:
    """A worker and its own thread, which waits for work. Creating threads for each move would take too long."""

    def __init__(self, worker: Any) -> None:
        """Raises RuntimeError if the system cannot create a thread."""
        self.worker = worker
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="worker", daemon=True).start()

    def begin(self, work: Callable[[], None]) -> None:
        """Start `work` in the thread and return at once. The previous work must have finished."""
        self._done.clear()
        self._error = None
        self._work.put(work)

    def wait(self) -> Exception | None:
        """Wait until the work has finished. Returns the exception that ended it, if any."""
        self._done.wait()
        return self._error

    def close(self) -> None:
        """End the thread after its current work."""
        self._work.put(None)

    def _run(self) -> None:
        for work in iter(self._work.get, None):
            try:
                work()
            except Exception as error:
                self._error = error
            self._done.set()


class ThreadPool:
    """Worker 0 (`main`) and the threads of the other workers. `main` and `table` are never replaced."""

    def __init__(self, core: Core, hash_mib: int) -> None:
        """A pool of one thread, with a table of `hash_mib` MiB. Raises MemoryError."""
        self._core = core
        self._values: dict[str, int] = {}
        self.main = new_worker(core, new_searcher(core, hash_mib))
        self.table = self.main.searcher.table
        self.threads: list[WorkerThread] = []

    @property
    def can_grow(self) -> bool:
        """Whether more threads are of use. In plain Python only one thread runs at a time."""
        return self._core.name == "compiled"

    def resize(self, threads: int) -> None:
        """Set the number of threads, at least 1.

        Raises MemoryError and leaves the pool unchanged if there are not enough memory or threads.
        """
        wanted = threads - 1 if self.can_grow else 0
        if wanted * worker_bytes(self.main) > available_bytes() * MEMORY_SHARE:
            raise MemoryError
        new: list[WorkerThread] = []
        try:
            while len(self.threads) + len(new) < wanted:
                new.append(self._new_thread())
        except (MemoryError, RuntimeError) as error:
            self._dismiss(new)
            raise MemoryError from error
        self._dismiss(self.threads[wanted:])
        self.threads = self.threads[:wanted] + new

    def forget(self) -> None:
        """Clear the table and all histories, for a new game."""
        self.table.clear()
        for searcher in self._searchers():
            searcher.forget()

    def configure(self, values: dict[str, int]) -> None:
        """Set the search parameters (see `search.parameters`) of all workers, later ones too. Raises ValueError."""
        self._values = dict(values)
        for searcher in self._searchers():
            searcher.configure(values)

    def share_tablebases(self) -> None:
        """Give every worker the tablebases of worker 0. The old files are released."""
        for thread in self.threads:
            thread.worker.searcher.prober.share(self.main.searcher.prober)

    def close(self) -> None:
        """End all threads."""
        self.resize(1)

    def _searchers(self) -> list[Any]:
        return [self.main.searcher, *(thread.worker.searcher for thread in self.threads)]

    def _new_thread(self) -> WorkerThread:
        return WorkerThread(new_worker(self._core, new_searcher_on(self.table, self._core, self._values)))

    @staticmethod
    def _dismiss(threads: list[WorkerThread]) -> None:
        for thread in threads:
            thread.close()


class PoolSearch:
    """One search from the first depth to the vote. `run` blocks; `stop` may be called from any thread.

    The result is in `manager`, which also sends the reports.
    """

    def __init__(self, pool: ThreadPool, request: Request, clock: Clock, on_info: Callable[[Info], None]) -> None:
        """The arguments are those of `SearchManager`. `go mate` and limited strength run in worker 0 only."""
        self._request = request
        self._on_info = on_info
        threads = pool.threads if request.mate is None and request.strength is None else []
        self._threads = tuple(threads[: request.nodes - 1] if request.nodes else threads)
        # Each worker gets a share of the nodes, so the total is exact without a shared counter.
        self._shares = _node_shares(request.nodes, 1 + len(self._threads))
        for thread in self._threads:
            thread.worker.clear()
        self.workers = (pool.main, *(thread.worker for thread in self._threads))
        self._stop_wanted = False
        # The number of threads that have been woken.
        self._woken = 0
        self._root_order: list[int] = []
        main_request = replace(request, nodes=self._shares[0])
        self.manager = SearchManager(pool.main, main_request, clock, on_info, self.workers[1:])

    @property
    def nodes(self) -> int:
        """The nodes of all workers so far."""
        return self.manager.nodes

    def stop(self) -> None:
        """End the search soon."""
        self._stop_wanted = True
        for worker in self.workers:
            worker.stop()

    def run(self) -> None:
        """Search until a limit is reached, time is up, or `stop`. Then vote."""
        manager = self.manager
        share = self._shares[0]
        at_once = True
        try:
            # With a node limit the others start at once: they must search their shares whatever worker 0 does.
            if self._threads and not share:
                manager.run(FIRST_SHARED_DEPTH - 1)
            if not manager.is_done:
                self._root_order = manager.root_order
                self._wake(0)
                manager.run()
            # If worker 0 has used up its share of the nodes, the others finish theirs. Any other end stops them.
            at_once = not share or self.workers[0].searcher.nodes < share
        finally:
            self._finish(at_once)
        # No vote with MultiPV, nor for `go depth`: there the result of worker 0 counts.
        if self._request.lines == 1 and self._request.depth is None:
            found = [manager.found_by(thread.worker) for thread in self._threads[: self._woken]]
            manager.adopt(vote([manager.root_move, *found]))
            manager.adopt_analysis()
        manager.adopt_choice()

    def _wake(self, index: int) -> None:
        """Wake a thread. Each wakes the next one: waking hundreds at once would block the UCI thread."""
        if index < len(self._threads):
            self._woken = index + 1
            self._threads[index].begin(partial(self._run_worker, index))

    def _run_worker(self, index: int) -> None:
        """Run the worker of a thread, in that thread."""
        main, worker = self.workers[0], self._threads[index].worker
        root_order = self._root_order
        worker.set_up(self._request.board, self._shares[index + 1] or 0)
        worker.searcher.prober.share(main.searcher.prober)
        self._request.set_probing(worker.searcher)
        worker.searcher.set_root(root_order)
        # `set_up` has cleared the worker's stop flag, and only then is `_stop_wanted` read. `stop` sets `_stop_wanted`
        # first and the flag afterwards. So one of the two sees the other.
        if self._stop_wanted:
            return
        self._wake(index + 1)
        analysis = self.manager.analysis
        if analysis is not None and index == 0:
            analysis.run(worker, math.inf)
            worker.searcher.set_root(root_order)
        # With MultiPV worker 0 begins with line 0, so the others take the next lines.
        pv_index = (index + 1) % min(self._request.multipv, len(root_order))
        worker.set_multipv(pv_index, [-scores.INFINITE], [len(root_order)])
        pattern = SKIP_PATTERNS[index % len(SKIP_PATTERNS)]
        worker.run(FIRST_SHARED_DEPTH, scores.MAX_DEPTH, pattern.size, pattern.phase)

    def _finish(self, at_once: bool) -> None:
        """Wait until all threads have finished. `at_once`: stop them first."""
        if at_once:
            self.stop()
        index = 0
        # `_woken` may still grow. A thread wakes the next one before it finishes, or not at all. So when the last woken
        # thread has finished, no other can follow.
        while index < self._woken:
            error = self._threads[index].wait()
            index += 1
            if error is not None:
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in a worker thread: {error}"))


def worker_bytes(worker: Any) -> int:
    """The memory in bytes of one compiled worker, without the table."""
    searcher = worker.searcher
    evaluator = searcher.evaluator
    position = searcher.position
    parts = (worker, searcher, position, position.accumulator, searcher.stack, searcher.histories, searcher.picker)
    others = (searcher.correction_history, searcher.prober, evaluator, *evaluator.parts())
    return sum(map(sys.getsizeof, (*parts, *others)))


def _node_shares(nodes: int | None, count: int) -> list[int | None]:
    """Divide a number of nodes evenly among workers. The first ones get one more each if there is a remainder."""
    if not nodes:
        return [nodes] * count
    return [nodes // count + (index < nodes % count) for index in range(count)]
