"""The thread pool: the workers and their threads, which are kept between searches.

Worker 0 has no thread here: it runs in the engine's own `TaskThread`. Each other worker has a `WorkerThread`. The
workers share the transposition table, the network's weights and the tablebases.

Invariant: if `resize` fails, the pool is unchanged.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evaluation.network.file import Network
from evaluation.weights import Weights, default_weights
from uci_engine.core import Core
from uci_engine.memory import available_bytes
from uci_engine.text import print_failure

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher
    from uci_engine.search.worker import Worker

# Maximum share of the available memory for workers 1 and up.
MEMORY_SHARE = 0.25


class TaskThread:
    """A thread that waits for work. It is kept, so that work can start when the system has no more threads."""

    def __init__(self, name: str) -> None:
        """Raises RuntimeError if the system cannot create a thread."""
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._done.set()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_working(self) -> bool:
        return not self._done.is_set()

    def begin(self, work: Callable[[], None]) -> None:
        """Start `work` in the thread and return at once. The previous work must have finished."""
        self._done.clear()
        self._error = None
        self._work.put(work)

    def wait(self, timeout_seconds: float | None = None) -> Exception | None:
        """Wait until the work has finished, or for this long. Returns the exception that ended it, if any."""
        self._done.wait(timeout_seconds)
        return self._error

    def dismiss(self) -> None:
        """Let the thread end after its current work. No more work may begin."""
        self._work.put(None)

    def join(self) -> None:
        """Wait until a thread that was dismissed has ended."""
        self._thread.join()

    def _run(self) -> None:
        for work in iter(self._work.get, None):
            try:
                work()
            except Exception as error:
                print_failure(error)
                self._error = error
            self._done.set()


class WorkerThread(TaskThread):
    """A worker and its own thread, which waits for work. Creating threads for each move would take too long."""

    def __init__(self, worker: Worker) -> None:
        """Raises RuntimeError if the system cannot create a thread."""
        super().__init__("worker")
        self.worker = worker


class ThreadPool:
    """Worker 0 (`main`) and the threads of the other workers. `main` and `table` are never replaced."""

    def __init__(self, core: Core, hash_mib: int, network: Network | None = None) -> None:
        """A pool of one thread, with a table of `hash_mib` MiB. Raises MemoryError.

        `network`: None: it is off.
        """
        self._core = core
        self._values: dict[str, int] = {}
        self.weights = default_weights()
        self.network = network
        self._network_weights = self._core.network_weights(network)
        self.table = core.table_class(hash_mib)
        self.main = self._new_worker()
        self.threads: list[WorkerThread] = []
        # With how much contempt, from White's view, the table was filled; None when it is clear.
        self._white_contempt_cp: int | None = None

    def resize(self, threads: int) -> None:
        """Set the number of threads, at least 1, and 1 in plain Python.

        Raises MemoryError and leaves the pool unchanged if there are not enough memory or threads.
        """
        wanted = threads - 1
        if wanted * worker_bytes(self.main) > available_bytes() * MEMORY_SHARE:
            raise MemoryError
        new: list[WorkerThread] = []
        try:
            while len(self.threads) + len(new) < wanted:
                new.append(WorkerThread(self._new_worker()))
        except (MemoryError, RuntimeError) as error:
            self._dismiss(new)
            raise MemoryError from error
        self._dismiss(self.threads[wanted:])
        self.threads = self.threads[:wanted] + new

    def clear(self) -> None:
        """Clear the table and all histories, for a new game."""
        self._white_contempt_cp = None
        self.clear_table()
        for searcher in self._searchers():
            searcher.clear()

    def clear_table(self) -> None:
        """Clear the table, each thread a part of it: for many gigabytes one alone would take long."""
        parts = 1 + len(self.threads)
        for part, thread in enumerate(self.threads, start=1):
            thread.begin(partial(self.table.clear_part, part, parts))
        self.table.clear_part(0, parts)
        for thread in self.threads:
            thread.wait()

    def set_contempt(self, white_cp: int) -> None:
        """The contempt of the next search, from White's view: what a draw is worse than 0. A change clears table and
        histories, because their scores are of another value.
        """
        if self._white_contempt_cp not in (None, white_cp):
            self.clear()
        self._white_contempt_cp = white_cp

    def configure(self, values: dict[str, int]) -> None:
        """Set the search parameters (see `search.parameters`) of all workers, later ones too."""
        self._values = dict(values)
        for searcher in self._searchers():
            searcher.configure(values)

    def set_evaluation(self, weights: Weights, network: Network | None) -> None:
        """Evaluate with other weights, and with a network or None, in all workers, later ones too. Forget all scores
        and histories.

        Raises MemoryError, and then nothing has changed.
        """
        from evaluation.evaluator import Evaluator

        network_weights = self._network_weights if network is self.network else self._core.network_weights(network)
        searchers = self._searchers()
        evaluators = [Evaluator(weights, network_weights) for _ in searchers]
        for searcher, evaluator in zip(searchers, evaluators, strict=True):
            searcher.evaluator = evaluator
            searcher.position.piece_square = weights.piece_square()
            searcher.position.refresh()
        self.weights = weights
        self.network = network
        self._network_weights = network_weights
        self.clear()

    def close(self) -> None:
        self.resize(1)

    def _searchers(self) -> list[Searcher]:
        return [self.main.searcher, *(thread.worker.searcher for thread in self.threads)]

    def _new_worker(self) -> Worker:
        core = self._core
        return core.worker(core.searcher(self.table, self._values, self.weights, self._network_weights))

    @staticmethod
    def _dismiss(threads: list[WorkerThread]) -> None:
        for thread in threads:
            thread.dismiss()
        # A thread that has not ended yet takes the place of a new one.
        for thread in threads:
            thread.join()


def worker_bytes(worker: Worker) -> int:
    """The memory in bytes of one compiled worker, without the table."""
    searcher = worker.searcher
    evaluator = searcher.evaluator
    position = searcher.position
    parts = (worker, searcher, position, searcher.stack, searcher.histories, searcher.picker)
    others = (searcher.correction_history, searcher.prober, evaluator, evaluator.context, evaluator.kpk)
    return sum(map(sys.getsizeof, (*parts, *others, evaluator.network)))
