"""Files from outside, opened and recognised again: nothing that blocks or never ends, nothing that was changed.

`book`, `tablebases` and `gaviota` open what the user names. What must stay true: nothing is written or created.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

Identity = tuple[int, int, int, int]
"""What tells a file from another, and from itself after a change."""


def identity(status: os.stat_result) -> Identity:
    """The identity of a file, by what `os.stat` says of it."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def open_plain_file(path: Path) -> int:
    """A descriptor of a plain file, for reading. Raises ValueError for what is none, such as a pipe, and OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a plain file")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags)
