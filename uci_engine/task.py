"""Tasks: work in a thread of its own, such as a search or perft, while the engine reads further commands.

`Engine` runs one task at a time and passes `stop` and `ponderhit` on to it.

Invariant: a task works on a copy of the board.
Invariant: a stop before its start is not lost.
Invariant: its end is always reported.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import chess

from uci_engine.failures import print_failure


class Task(threading.Thread):
    """A thread that can be stopped. Subclasses check `_stop_event`."""

    def __init__(self, name: str, board: chess.Board | None) -> None:
        super().__init__(name=name, daemon=True)
        # Positions before the last capture or pawn move cannot be repeated. Copying their moves would take time.
        self._board = None if board is None else board.copy(stack=board.halfmove_clock)
        self._stop_event = threading.Event()

    def stop(self) -> None:
        """End soon."""
        self._stop_event.set()

    def ponderhit(self, received_at: float) -> None:
        """Only a search can ponder."""


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
