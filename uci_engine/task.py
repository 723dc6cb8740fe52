"""Something that an engine does in a thread of its own while it goes on listening: a search, or counting.

`engine` starts one at a time and passes `stop` and `ponderhit` on to it. What must stay true: a task works on its own
copy of the board, and a stop that comes before it begins is not lost.
"""

from __future__ import annotations

import threading

import chess


class Task(threading.Thread):
    """A thread that can be stopped; subclasses look at the stop event."""

    def __init__(self, name: str, board: chess.Board | None) -> None:
        super().__init__(name=name, daemon=True)
        # Older moves cannot repeat, and long games take long to copy.
        self._board = None if board is None else board.copy(stack=board.halfmove_clock)
        self._stop_event = threading.Event()

    def stop(self) -> None:
        """End soon."""
        self._stop_event.set()

    def ponderhit(self, received_at: float) -> None:
        """Only a search can ponder."""
