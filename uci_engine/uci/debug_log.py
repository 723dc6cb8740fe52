"""The debug log: each line that the program reads or writes, with its time, in a file that the user names.

    2026-11-22 23:10:05.123 [4711] >> go depth 3

The number in brackets is the process, because two engines may share a file. `>>` marks a line from the GUI, `<<` a line
to it. Invariants:

- A thread of its own writes the file, so that a slow disc delays neither the search nor an answer.
- An error of the file closes the log and is reported once.
- No file of another kind is changed: the log writes to the end of a new file, an empty one or an earlier log.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import stat
import threading
import time
from collections.abc import Callable

from evaluation.files import reason_of
from uci_engine import __version__
from uci_engine.text import quoted

FROM_GUI = ">>"
TO_GUI = "<<"
ABOUT_LOG = "--"

# A log begins with this, and no other file is taken for one.
HEADING = b"# Secateur debug log"
# Only their owner may read new files: a game and the paths of the computer are nobody else's concern.
NEW_FILE_MODE = 0o600
MAX_FILE_BYTES = 1 << 30
# The maximum number of characters of a line. The longest game that the engine accepts fits.
MAX_LINE_CHARACTERS = 1 << 16
# The maximum number of lines that wait to be written. More are left out.
MAX_WAITING = 10_000
# How long `close` waits for the last lines to be written.
CLOSING_SECONDS = 0.3

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def shortened(line: str) -> str:
    """The line as the log shows it: cut if it is long."""
    more = len(line) - MAX_LINE_CHARACTERS
    return line if more <= 0 else f"{line[:MAX_LINE_CHARACTERS]}... ({more} more characters)"


class DebugLogError(Exception):
    """A file cannot be the log. The text is the reason."""


class DebugLog:
    def __init__(self, path: str, report: Callable[[str], None]) -> None:
        """Begin a log at the end of this file. Raises DebugLogError.

        `report` is called from another thread, at most once, with the sentence that the file cannot be written.
        """
        self._path = path
        self._report = report
        # Mark, line and `time.time()`. None: close the file.
        self._waiting: queue.SimpleQueue[tuple[str, str, float] | None] = queue.SimpleQueue()
        self._loses_lines = False
        self._failed = False
        self._thread = threading.Thread(target=self._write_waiting, name="debug log", daemon=True)
        try:
            self._descriptor = _open_for_appending(path)
        except (OSError, ValueError) as error:
            raise DebugLogError(reason_of(error)) from None
        try:
            self._bytes = os.fstat(self._descriptor).st_size
            zone = time.strftime("%z")
            self._write(HEADING + f" (Secateur {__version__}, process {os.getpid()}, times are UTC{zone})\n".encode())
            self._thread.start()
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: there can be no further thread
            os.close(self._descriptor)
            raise DebugLogError(reason_of(error)) from None

    def received(self, line: str, received_at: float) -> None:
        """Note a line from the GUI. `received_at`: the `time.perf_counter()` at which it was read."""
        self._note(FROM_GUI, line, time.time() - (time.perf_counter() - received_at))

    def sent(self, text: str) -> None:
        for line in text.split("\n"):
            self._note(TO_GUI, line, time.time())

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join(CLOSING_SECONDS)

    def _note(self, mark: str, line: str, at_seconds: float) -> None:
        """Let the thread write this line. Never waits."""
        if self._failed:
            return
        if self._waiting.qsize() < MAX_WAITING:
            self._loses_lines = False
            self._waiting.put((mark, line, at_seconds))
        elif not self._loses_lines:
            self._loses_lines = True
            self._waiting.put((ABOUT_LOG, "lines are missing here, because the disc was too slow", at_seconds))

    def _write_waiting(self) -> None:
        try:
            while (record := self._waiting.get()) is not None:
                self._write(_as_bytes(*record))
        except (OSError, ValueError) as error:
            self._failed = True
            reason = reason_of(error)
            self._report(f"error: the debug log {quoted(self._path)} is closed, because of an error: {reason}")
        finally:
            os.close(self._descriptor)

    def _write(self, data: bytes) -> None:
        """Write the bytes at once. A file has no buffer of this process, so that a killed engine leaves its log."""
        self._bytes += len(data)
        if self._bytes > MAX_FILE_BYTES:
            raise ValueError(f"it has reached {MAX_FILE_BYTES >> 20} MiB")
        while data:
            data = data[os.write(self._descriptor, data) :]


def _open_for_appending(path: str) -> int:
    """A descriptor. Raises OSError, or ValueError with the reason why the log may not be written there."""
    with contextlib.suppress(FileNotFoundError):
        # Before it is opened, because a pipe or a device can act when it is opened.
        _require_plain(os.stat(path))
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, NEW_FILE_MODE)
    try:
        _require_plain(os.fstat(descriptor))
        # Not by its size: that of the system's own files, in /proc, is 0.
        if os.read(descriptor, len(HEADING)) not in (b"", HEADING):
            raise ValueError("it is no debug log")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_plain(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a plain file")


def _as_bytes(mark: str, line: str, at_seconds: float) -> bytes:
    """A line of the log. Control characters are escaped, so that nobody's terminal obeys them."""
    line = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", line)
    date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_seconds))
    milliseconds = int(at_seconds % 1 * 1000)
    return f"{date}.{milliseconds:03} [{os.getpid()}] {mark} {line}\n".encode("utf-8", errors="replace")
