"""Bytes to lines and lines to bytes: how text comes in from a chess program, and how it goes out to one.

Called by `uci` and `inbox`, and by `engine` for its failures. Nothing here knows UCI or chess. What must stay true: no
input, however long or malformed, raises or is stored without bound; no two lines of output are ever mixed; once nobody
can read the output, the process ends.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

LONGEST_LINE_BYTES = 16 * 1024 * 1024
READ_BYTES = 1 << 16


class LineSplitter:
    """Cuts a stream of bytes into lines of text, wherever the stream happened to be cut into pieces.

    LF, CR and CRLF end a line. Blank lines are left out. Bytes that are not UTF-8 become U+FFFD. A line of
    more than `longest_bytes` is not stored: None stands in its place.
    """

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self._longest_bytes = longest_bytes
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> list[str | None]:
        """The lines that `data` completes."""
        first, *rest = data.replace(b"\r", b"\n").split(b"\n")
        self._keep(first)
        lines: list[str | None] = []
        for piece in rest:
            lines += self.finish()
            self._keep(piece)
        return lines

    def finish(self) -> list[str | None]:
        """The line begun and not ended, if there is one; afterwards the splitter is as new."""
        raw, length = b"".join(self._pieces), self._length
        self._pieces, self._length = [], 0
        if length > self._longest_bytes:
            return [None]
        line = raw.decode("utf-8", errors="replace")
        return [line] if line.strip() else []

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._longest_bytes:
            self._pieces = []
        else:
            self._pieces.append(piece)


def read_lines(descriptor: int) -> Iterator[tuple[float, str | None]]:
    """Each line with the `time.perf_counter()` at which its end arrived, until the input ends or fails.

    None instead of a line: it was too long (see LineSplitter).
    """
    splitter = LineSplitter()
    while True:
        try:
            # Not through sys.stdin: a buffered reader would hold lines back, and the clock starts here.
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:  # some program before us has left our terminal in non-blocking mode
            select.select([descriptor], [], [])
            continue
        except OSError:
            data = b""
        received_at = time.perf_counter()
        for line in splitter.feed(data) if data else splitter.finish():
            yield received_at, line
        if not data:
            return


def leave() -> None:
    """End the process now, as a success: there is nobody left to talk to."""
    os._exit(0)


class Writer:
    """The only way to the output: whole lines, ASCII, each written and flushed at once, from any thread."""

    def __init__(self, stream: BinaryIO, on_closed: Callable[[], None] = leave) -> None:
        """`on_closed` is called when the stream does not take a line; a broken pipe stays broken."""
        self._stream = stream
        self._on_closed = on_closed
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        """Write a line, or several separated by newlines that must not be torn apart."""
        data = text.encode("ascii", errors="replace") + b"\n"
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream has been closed on our side
            self._on_closed()
