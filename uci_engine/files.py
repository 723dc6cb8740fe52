"""Files that the user names: opened without the risk of blocking, and recognised again.

Invariant: nothing is written or created.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

Identity = tuple[int, int, int, int]
"""Two are equal for the same file, unchanged: device, inode, size and time of change."""


def identity(status: os.stat_result) -> Identity:
    """The identity of a file from its `os.stat`."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def open_plain_file(path: Path) -> int:
    """A descriptor for reading. Raises OSError, and ValueError for anything but a plain file, such as a pipe."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a plain file")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags)
