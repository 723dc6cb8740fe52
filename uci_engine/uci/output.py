"""Everything that goes out: whole lines, sentences for the user, and the end of the process.

Invariants: two lines of output are never mixed. Once nobody can read the output, the process ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

from uci_engine.failures import print_failure
from uci_engine.search.info import Info
from uci_engine.uci.protocol import format_info


def leave() -> None:
    """End the process now, with exit code 0, because nobody reads the output."""
    os._exit(0)


class Writer:
    """The only way to the output: whole lines in ASCII, written and flushed at once, from any thread."""

    def __init__(self, stream: BinaryIO, on_closed: Callable[[], None] = leave) -> None:
        """`on_closed` is called when the stream takes no more lines."""
        self._stream = stream
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write a line, or several joined by newlines that belong together."""
        data = text.encode("ascii", errors="replace") + b"\n"
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream has been closed on our side
            self._on_closed()


def say(writer: Writer, *sentences: str) -> None:
    """Each sentence as an `info string`."""
    for sentence in sentences:
        writer.write(format_info(Info(string=sentence)))


def report_failure(writer: Writer, error: Exception) -> None:
    """An error in this program: one line for the user, and a traceback on stderr for its developers."""
    say(writer, f"error: {type(error).__name__}: {error}")
    print_failure(error)
