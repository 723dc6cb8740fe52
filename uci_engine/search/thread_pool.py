"""The thread pool: workers on one transposition table, and one search by all of them.

The threads share the table and nothing else (lazy SMP): what one has found out the others need not search.
`ThreadPool` keeps the workers from search to search. `PoolSearch` is one search: it starts the workers, stops them,
counts their nodes and holds the vote. Worker 0 runs in the thread of the `go`; each other worker has a thread here.

Invariant: worker 0 waits for no other worker before its own end.
Invariant: when `PoolSearch.run` returns every worker is at rest, so that counts are exact.
Invariant: a pool that cannot grow stays as it was.
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
from uci_engine.search.request import Request
from uci_engine.search.search_manager import SearchManager
from uci_engine.search.voting import vote
from uci_engine.time_management.clock import Clock

# Workers 1 and up may take this share of the memory; the table may take half of it.
MEMORY_SHARE = 0.25

# The other workers begin when worker 0 comes to this depth. The depths before take a millisecond, and give a sound move
# even where the threads are far too many for the machine.
FIRST_SHARED_DEPTH = 5


@dataclass(frozen=True, slots=True)
class SkipPattern:
    """Which depths a worker searches: `size` of them, then none of as many; `phase` shifts the pattern down."""

    size: int
    phase: int


# Threads that search the same depths at the same time repeat each other. With these each is some plies ahead of
# worker 0 at one moment and behind it at another (Stockfish's idea, in versions 7 to 10).
SKIP_PATTERNS = tuple(SkipPattern(size, phase) for size in range(1, 5) for phase in range(2 * size))


class WorkerThread:
    """A worker and a thread that waits for work with it: creating threads for each move would take too long."""

    def __init__(self, worker: Any) -> None:
        """Raises RuntimeError when the system has no thread to give."""
        self.worker = worker
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="worker", daemon=True).start()

    def begin(self, work: Callable[[], None]) -> None:
        """Have the thread do this; returns at once. The work before must be done."""
        self._done.clear()
        self._error = None
        self._work.put(work)

    def wait(self) -> Exception | None:
        """Wait until the work is done; returns the exception that ended it, if any."""
        self._done.wait()
        return self._error

    def close(self) -> None:
        """End the thread, after its work."""
        self._work.put(None)

    def _run(self) -> None:
        for work in iter(self._work.get, None):
            try:
                work()
            except Exception as error:
                self._error = error
            self._done.set()


class ThreadPool:
    """Worker 0 (`main`), and a thread with a worker for each further thread. `main` and `table` never change."""

    def __init__(self, core: Core, hash_mib: int) -> None:
        """Begins with one thread and a table of `hash_mib` MiB. Raises MemoryError."""
        self._core = core
        self._values: dict[str, int] = {}
        self.main = new_worker(core, new_searcher(core, hash_mib))
        self.table = self.main.searcher.table
        self.threads: list[WorkerThread] = []

    @property
    def can_grow(self) -> bool:
        """Whether more threads are of use: plain Python runs one at a time."""
        return self._core.name == "compiled"

    def resize(self, threads: int) -> None:
        """Search with so many threads, at least 1. Without memory or threads for them, raises MemoryError and leaves
        the pool as it was.
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
        """A new game: empty the table and all histories."""
        self.table.clear()
        for searcher in self._searchers():
            searcher.forget()

    def configure(self, values: dict[str, int]) -> None:
        """Search with these parameters (see `search.parameters`), those of later workers too. Raises ValueError."""
        self._values = dict(values)
        for searcher in self._searchers():
            searcher.configure(values)

    def share_tablebases(self) -> None:
        """Let every worker probe what the main one probes, and let go of the files before."""
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

    `manager` tells what was found, and reports it.
    """

    def __init__(self, pool: ThreadPool, request: Request, clock: Clock, on_info: Callable[[Info], None]) -> None:
        """As for a `SearchManager`. To prove a mate, every reply is tried, by the main worker alone."""
        self._request = request
        self._on_info = on_info
        threads = pool.threads if request.mate is None else []
        self._threads = tuple(threads[: request.nodes - 1] if request.nodes else threads)
        # Each worker has its share of the nodes, so that the sum is exact without a common counter.
        self._shares = _node_shares(request.nodes, 1 + len(self._threads))
        for thread in self._threads:
            thread.worker.clear()
        self.workers = (pool.main, *(thread.worker for thread in self._threads))
        self._stop_wanted = False
        # How many threads have been woken.
        self._woken = 0
        self._root_order: list[int] = []
        main_request = replace(request, nodes=self._shares[0])
        self.manager = SearchManager(pool.main, main_request, clock, on_info, self.workers[1:])

    @property
    def nodes(self) -> int:
        """Positions searched so far, by all workers."""
        return self.manager.nodes

    def stop(self) -> None:
        """End the search soon."""
        self._stop_wanted = True
        for worker in self.workers:
            worker.stop()

    def run(self) -> None:
        """Search until the request is fulfilled, the clock says enough, or `stop`; then vote."""
        manager = self.manager
        share = self._shares[0]
        at_once = True
        try:
            if self._threads and not share:
                manager.run(FIRST_SHARED_DEPTH - 1)
            if not manager.is_done:
                self._root_order = manager.root_order
                self._wake(0)
                manager.run()
            # After its share of the nodes worker 0 waits for the others. When it ends otherwise, the search is over.
            at_once = not share or self.workers[0].searcher.nodes < share
        finally:
            self._finish(at_once)
        # Of several lines each has its place, and a depth that was asked for is the main search's to answer.
        if self._request.multipv == 1 and self._request.depth is None:
            found = [manager.found_by(thread.worker) for thread in self._threads[: self._woken]]
            manager.adopt(vote([manager.root_move, *found]))
            manager.adopt_analysis()

    def _wake(self, number: int) -> None:
        """Wake a thread. Each wakes the next, for hundreds at once would keep the GIL from the threads that listen."""
        if number < len(self._threads):
            self._woken = number + 1
            self._threads[number].begin(partial(self._run_worker, number))

    def _run_worker(self, number: int) -> None:
        """Run the worker of a thread, in that thread."""
        main, worker = self.workers[0], self._threads[number].worker
        root_order = self._root_order
        worker.set_up(self._request.board, self._shares[number + 1] or 0)
        worker.searcher.prober.share(main.searcher.prober)
        self._request.set_probing(worker.searcher)
        worker.searcher.set_root(root_order)
        # `set_up` has cleared the worker's stop flag, and only then is `_stop_wanted` read. `stop` sets `_stop_wanted`
        # first and the flag afterwards. So one of the two sees the other.
        if self._stop_wanted:
            return
        self._wake(number + 1)
        analysis = self.manager.analysis
        if analysis is not None and number == 0:
            analysis.run(worker, math.inf)
            worker.searcher.set_root(root_order)
        # Of several lines the main search is at the first.
        line = (number + 1) % min(self._request.multipv, len(root_order))
        worker.set_lines(line, [-scores.INFINITE], [len(root_order)])
        pattern = SKIP_PATTERNS[number % len(SKIP_PATTERNS)]
        worker.run(FIRST_SHARED_DEPTH, scores.DEEPEST, pattern.size, pattern.phase)

    def _finish(self, at_once: bool) -> None:
        """Wait for the end of all threads' work, after stopping it if it is to be `at_once`."""
        if at_once:
            self.stop()
        number = 0
        # A thread whose work has ended has woken the next before, or never will.
        while number < self._woken:
            error = self._threads[number].wait()
            number += 1
            if error is not None:
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in a worker thread: {error}"))


def worker_bytes(worker: Any) -> int:
    """The memory that one compiled worker takes, without the table."""
    searcher = worker.searcher
    evaluator = searcher.evaluator
    position = searcher.position
    parts = (worker, searcher, position, position.accumulator, searcher.stack, searcher.histories, searcher.picker)
    others = (searcher.correction_history, searcher.prober, evaluator, *evaluator.parts())
    return sum(map(sys.getsizeof, (*parts, *others)))


def _node_shares(nodes: int | None, count: int) -> list[int | None]:
    """A number of nodes divided among workers as evenly as it goes, the first with the most; None is no limit."""
    if not nodes:
        return [nodes] * count
    return [nodes // count + (number < nodes % count) for number in range(count)]
