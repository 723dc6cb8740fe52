"""The searchers of an engine: the main one and one for each helper, all on one transposition table.

`engine` holds a `ThreadPool`, tells it how many threads to use and has it forget; `team_search` searches with it. What
must stay true: the main searcher and the table are the same objects for ever; everything that a search needs, threads
too, is there before it begins; and a pool that cannot grow stays as it was.
"""

from __future__ import annotations

import sys
from typing import Any

from uci_engine.core import Core
from uci_engine.memory import available_bytes
from uci_engine.search.deepening import new_searcher, new_searcher_on
from uci_engine.search.helper import Helper

# The searchers of helpers may take this share of the memory; the table may take half of it.
MEMORY_SHARE = 0.25


class ThreadPool:
    """One main searcher, and as many helpers as there are further threads."""

    def __init__(self, core: Core, hash_mib: int) -> None:
        """Begins with one thread and a table of `hash_mib` MiB. Raises MemoryError."""
        self._core = core
        self._values: dict[str, int] = {}
        self.main = new_searcher(core, hash_mib)
        self.table = self.main.table
        self.helpers: list[Helper] = []

    @property
    def can_grow(self) -> bool:
        """Whether more threads are of use: plain Python runs one at a time."""
        return self._core.name == "compiled"

    def resize(self, threads: int) -> None:
        """Search with so many threads, at least 1. Without memory or threads for them, raises MemoryError and leaves
        the pool as it was.
        """
        wanted = threads - 1 if self.can_grow else 0
        if wanted * searcher_bytes(self.main) > available_bytes() * MEMORY_SHARE:
            raise MemoryError
        new: list[Helper] = []
        try:
            while len(self.helpers) + len(new) < wanted:
                new.append(self._new_helper())
        except (MemoryError, RuntimeError) as error:
            self._dismiss(new)
            raise MemoryError from error
        self._dismiss(self.helpers[wanted:])
        self.helpers = self.helpers[:wanted] + new

    def forget(self) -> None:
        """A new game: empty the table and all histories."""
        self.table.clear()
        for searcher in self._searchers():
            searcher.forget()

    def configure(self, values: dict[str, int]) -> None:
        """Search with these parameters (see `core.parameters`), helpers to come too. Raises ValueError."""
        self._values = dict(values)
        for searcher in self._searchers():
            searcher.configure(values)

    def share_tablebases(self) -> None:
        """Let every searcher probe what the main one probes, and let go of the files before."""
        for helper in self.helpers:
            helper.search.searcher.prober.share(self.main.prober)

    def close(self) -> None:
        """End the helpers' threads."""
        self.resize(1)

    def _searchers(self) -> list[Any]:
        return [self.main, *(helper.search.searcher for helper in self.helpers)]

    def _new_helper(self) -> Helper:
        quiet = self._core.modules["uci_engine.search.quiet"]
        return Helper(quiet.QuietSearch(new_searcher_on(self.table, self._core, self._values)))

    @staticmethod
    def _dismiss(helpers: list[Helper]) -> None:
        for helper in helpers:
            helper.close()


def searcher_bytes(searcher: Any) -> int:
    """The memory that one compiled searcher takes, without the table."""
    evaluator = searcher.evaluator
    parts = (searcher, searcher.position, searcher.position.accumulator, searcher.picker, searcher.prober)
    return sum(map(sys.getsizeof, (*parts, evaluator, evaluator.features, evaluator.kpk)))
