"""Tasks: work in a thread of its own, such as a search or perft, while the engine reads further commands.

`UciEngine` runs one task at a time in a `TaskThread` and passes `stop` and `ponderhit` on to it.

Invariant: a task works on a copy of the board.
Invariant: a stop before its start is not lost.
Invariant: its end is always reported.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

import chess

from uci_engine.failures import print_failure


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
                self._error = error
            self._done.set()


class Task:
    """Work that can be stopped. Subclasses do it in `run` and check `_stop_event`."""

    def __init__(self, name: str, board: chess.Board | None) -> None:
        self.name = name
        # Positions before the last capture or pawn move cannot be repeated. Copying their moves would take time.
        self._board = None if board is None else board.copy(stack=board.halfmove_clock)
        self._stop_event = threading.Event()

    def stop(self) -> None:
        self._stop_event.set()

    def ponderhit(self, received_at: float) -> None:
        """Only a search can ponder."""

    def run(self) -> None:
        """Do the work and report its end."""
        raise NotImplementedError


class TextTask(Task):
    """A task that returns lines of text. Subclasses do their work in `_work`."""

    def __init__(
        self, name: str, board: chess.Board | None, on_line: Callable[[str], None], on_done: Callable[[], None]
    ) -> None:
        """`on_line` and `on_done` are called from the thread, `on_done` once and last."""
        super().__init__(name, board)
        self._on_line = on_line
        self._on_done = on_done

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:
            print_failure(error)
            self._on_line(f"info string error: {type(error).__name__} in {self.name}: {error}")
        finally:
            self._on_done()

    def _work(self) -> None:
        raise NotImplementedError
