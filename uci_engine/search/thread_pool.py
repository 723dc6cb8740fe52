"""The thread pool: the searchers and their threads, which are kept between searches.

The main searcher has no thread here: it runs in the engine's own `TaskThread`. The searchers share the transposition
table, the network's weights and the tablebases.

Invariant: if `resize` fails, the pool is unchanged.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evaluation import network_weights
from evaluation.network.file import Network
from evaluation.weights import Weights, default_weights
from uci_engine.core import Core
from uci_engine.memory import available_bytes
from uci_engine.text import print_failure

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher
    from uci_engine.search.transposition_table import TranspositionTable

# Maximum share of the available memory for the other searchers.
MEMORY_SHARE = 0.25


class TaskThread:
    """A thread that waits for work. It is kept, so work starts at once, also when the system has no more threads."""

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
        self._work.put(work)

    def wait(self, timeout_seconds: float | None = None) -> Exception | None:
        """Wait until the work has finished, or for this long. Returns the exception that ended it, once."""
        self._done.wait(timeout_seconds)
        error, self._error = self._error, None
        return error

    def close(self) -> None:
        """End the thread after its current work, and wait for that. No more work may begin."""
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        for work in iter(self._work.get, None):
            try:
                work()
            except Exception as error:
                print_failure(error)
                self._error = error
            self._done.set()


class ThreadPool:
    """The searchers, and the threads of all but the first of them (`main`). `main` and `table` are never replaced."""

    def __init__(self, core: Core, hash_mib: int, network: Network | None = None) -> None:
        """A pool of one thread, with a table of `hash_mib` MiB. Raises MemoryError.

        `network`: None: it is off.
        """
        from uci_engine.search.transposition_table import TranspositionTable

        self._core = core
        self._values: dict[str, int] = {}
        self.weights = default_weights()
        self.network = network
        self.table = TranspositionTable(hash_mib)
        self.main = self.new_searcher(self.table)
        self.searchers = [self.main]
        self.threads: list[TaskThread] = []
        # With how much contempt, from White's view, the table was filled; None when it is clear.
        self._white_contempt_cp: int | None = None

    def new_searcher(self, table: TranspositionTable) -> Searcher:
        """A searcher that evaluates as the others, on their table or on another. Raises MemoryError."""
        from evaluation.evaluator import Evaluator
        from uci_engine.search.search import Searcher

        evaluator = Evaluator(self.weights, network_weights(self.network))
        return Searcher(self._core.position_class(self.weights.piece_square), evaluator, table, self._values)

    def resize(self, threads: int) -> None:
        """Set the number of threads, at least 1, and 1 in plain Python.

        Raises MemoryError and leaves the pool unchanged if there are not enough memory or threads.
        """
        wanted = threads - 1
        if wanted * searcher_bytes(self.main) > available_bytes() * MEMORY_SHARE:
            raise MemoryError
        new: list[TaskThread] = []
        try:
            searchers = [self.new_searcher(self.table) for _ in range(len(self.threads), wanted)]
            for _ in searchers:
                new.append(TaskThread("worker"))
        except (MemoryError, RuntimeError) as error:
            for thread in new:
                thread.close()
            raise MemoryError from error
        # A thread that has not ended yet takes the place of a new one.
        for thread in self.threads[wanted:]:
            thread.close()
        self.threads = self.threads[:wanted] + new
        self.searchers = self.searchers[:threads] + searchers

    def clear(self) -> None:
        """Clear the table and all histories, for a new game."""
        self._white_contempt_cp = None
        self.clear_table()
        for searcher in self.searchers:
            searcher.histories.clear()

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
        """Set the search parameters (see `search.parameters`) of all searchers, later ones too."""
        self._values = dict(values)
        for searcher in self.searchers:
            searcher.configure(values)

    def set_evaluation(self, weights: Weights, network: Network | None) -> None:
        """Evaluate with other weights, and with a network or None, in all searchers, later ones too. Forget all
        scores and histories.

        Raises MemoryError, and then nothing has changed.
        """
        from evaluation.evaluator import Evaluator

        evaluators = [Evaluator(weights, network_weights(network)) for _ in self.searchers]
        for searcher, evaluator in zip(self.searchers, evaluators, strict=True):
            searcher.evaluator = evaluator
            searcher.position.piece_square = weights.piece_square
            searcher.position.refresh()
        self.weights = weights
        self.network = network
        self.clear()

    def close(self) -> None:
        self.resize(1)


def searcher_bytes(searcher: Searcher) -> int:
    """The memory in bytes of one compiled searcher, without the table."""
    evaluator = searcher.evaluator
    parts = (searcher, searcher.position, searcher.stack, searcher.histories, searcher.picker, searcher.prober)
    return sum(map(sys.getsizeof, (*parts, evaluator, evaluator.context, evaluator.kpk, evaluator.network)))
