"""A thread that searches beside the main one, what it searches with, and which depths.

`pool` keeps the helpers, `team_search` gives them work. What must stay true: a helper takes one piece of work at a time
and says when it is done, whatever comes of it; and while it waits it costs nothing.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LONGEST_STRETCH = 4


class Helper:
    """A `QuietSearch`, and a thread that waits for work with it: creating threads for each move would take too long."""

    def __init__(self, search: Any) -> None:
        """Raises RuntimeError when the system has no thread to give."""
        self.search = search
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="helper", daemon=True).start()

    def begin(self, work: Callable[[], None]) -> None:
        """Have the thread do this; returns at once. The work before must be done."""
        self._done.clear()
        self._error = None
        self._work.put(work)

    def wait(self) -> Exception | None:
        """Wait until the work is done; returns the mistake that ended it, if one did."""
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


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Which depths a helper searches: `stretch` of them, then none of as many; `shift` moves the pattern down."""

    stretch: int
    shift: int


# Threads that search the same depths at the same time repeat each other. These are spread over the depths, each some
# plies ahead of the main search at one moment and behind it at another (Stockfish's idea, in versions 7 to 10).
RHYTHMS = tuple(Rhythm(stretch, shift) for stretch in range(1, LONGEST_STRETCH + 1) for shift in range(2 * stretch))
