"""The output: whole lines, messages as `info string`, and the end of the process when nobody reads them.

Invariants: lines from different threads are never mixed. Once nobody can read the output, the process ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

from uci_engine.failures import print_failure
from uci_engine.search.info import Info
from uci_engine.uci.protocol import format_info


def exit_now() -> None:
    """End the process at once, with exit code 0 and without any cleaning up."""
    os._exit(0)


class Writer:
    """Writes whole lines in ASCII and flushes them, from any thread. Nothing else writes to the output."""

    def __init__(self, stream: BinaryIO, on_closed: Callable[[], None] = exit_now) -> None:
        """`on_closed` is called when the stream cannot be written to any more."""
        self._stream = stream
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write a line, or several lines, joined by newlines, that must not be separated."""
        data = text.encode("ascii", errors="replace") + b"\n"
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream has been closed on our side
            self._on_closed()


def say(writer: Writer, *messages: str) -> None:
    """Write each message as an `info string`."""
    for message in messages:
        writer.write(format_info(Info(string=message)))


def report_failure(writer: Writer, error: Exception) -> None:
    """Report an error in this program: one line for the user, and a traceback on stderr for developers."""
    say(writer, f"error: {type(error).__name__}: {error}")
    print_failure(error)
