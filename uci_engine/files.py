"""Whether a file is still the same."""

from __future__ import annotations

import os

# Device, inode, size and time of change. Two are equal for the same file, unchanged.
Identity = tuple[int, int, int, int]


def identity(status: os.stat_result) -> Identity:
    """The identity of a file, from its `os.stat`."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
