"""Work in a thread of its own, such as a search, while the engine reads further commands."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import traceback
from collections.abc import Callable


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


def print_failure(error: Exception) -> None:
    """Print the traceback of an error in this program on stderr, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # nobody may be reading stderr
            traceback.print_exception(error, file=sys.stderr)
