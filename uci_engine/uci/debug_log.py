"""The debug log: each line that the program reads or writes, with its time, in a file that the user names.

    2026-11-22 23:10:05.123 [4711] >> go depth 3

The number in brackets is the process, because two engines may share a file. `>>` marks a line from the GUI, `<<` a line
to it. Invariant: no file of another kind is changed. The log writes to the end of a new file, an empty one or an
earlier log.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

from uci_engine import __version__
from uci_engine.text import printable

FROM_GUI = ">>"
TO_GUI = "<<"

# A log begins with this, and no other file is taken for one.
HEADING = "# Secateur debug log"
# Only their owner may read new files: a game and the paths of the computer are nobody else's concern.
NEW_FILE_MODE = 0o600
# Longer lines are cut. The longest game that the engine accepts fits.
MAX_LINE_CHARACTERS = 1 << 17


class DebugLog:
    """Its methods raise OSError, or ValueError with the reason why the log may not be written."""

    def __init__(self, path: str) -> None:
        """Begin a log at the end of this file."""
        self.path = path
        with contextlib.suppress(FileNotFoundError):
            # Before it is opened, because a pipe or a device can act when it is opened.
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ValueError("it is not a plain file")
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(path, flags, NEW_FILE_MODE)
        start = f"{HEADING} (Secateur {__version__}, process {os.getpid()}, times are UTC{time.strftime('%z')})\n"
        try:
            # Not by its size: that of the system's own files, in /proc, is 0.
            if os.read(self._descriptor, len(HEADING)) not in (b"", HEADING.encode()):
                raise ValueError("it is no debug log")
            self._write(start.encode())
        except BaseException:
            self.close()
            raise

    def note(self, mark: str, text: str, at_seconds: float) -> None:
        """Note lines. `at_seconds`: the `time.time()` at which they were read or written."""
        date = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_seconds))
        for line in text.split("\n"):
            record = f"{date}.{int(at_seconds % 1 * 1000):03} [{os.getpid()}] {mark} {printable(line)}\n"
            self._write(record.encode())

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, data: bytes) -> None:
        """Write the bytes at once. A file has no buffer of this process, so that a killed engine leaves its log."""
        while data:
            data = data[os.write(self._descriptor, data) :]
