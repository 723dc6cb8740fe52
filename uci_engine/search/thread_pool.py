"""The thread pool: the workers and their threads, which are kept between searches.

Worker 0 has no thread here: it runs in the thread of `SearchTask`. Each other worker (a helper) has its own
`WorkerThread`. `Engine` sets the pool up, and `ParallelSearch` searches with it. The workers share only the
transposition table.

Invariant: a pool that cannot grow is left unchanged.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from uci_engine.core import Core
from uci_engine.memory import available_bytes
from uci_engine.search.factory import new_searcher, new_searcher_on, new_worker

# Maximum share of the available memory for workers 1 and up.
MEMORY_SHARE = 0.25


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

    def clear(self) -> None:
        """Clear the table and all histories, for a new game."""
        self.table.clear()
        for searcher in self._searchers():
            searcher.clear()

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


def worker_bytes(worker: Any) -> int:
    """The memory in bytes of one compiled worker, without the table."""
    searcher = worker.searcher
    evaluator = searcher.evaluator
    position = searcher.position
    parts = (worker, searcher, position, position.accumulator, searcher.stack, searcher.histories, searcher.picker)
    others = (searcher.correction_history, searcher.prober, evaluator, *evaluator.parts())
    return sum(map(sys.getsizeof, (*parts, *others)))
