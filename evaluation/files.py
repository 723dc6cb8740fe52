"""Files named by the user: opened without the risk of blocking, read no further than a bound, written as a whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def open_plain_file(path: Path) -> int:
    """A descriptor for reading. Raises OSError, or ValueError if it is not a plain file (a pipe, for example)."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a plain file")
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, flags)


def reason_of(error: Exception) -> str:
    """Why a file cannot be read or written, without its name."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def read_start(path: str | Path, size: int, error_class: type[ValueError]) -> bytes:
    """The first bytes of a plain file, at most `size`. Raises `error_class` with the reason."""
    try:
        with open(open_plain_file(Path(path)), "rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise error_class(f"{Path(path).name[:40]!r} cannot be read: {reason_of(error)}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Write a file: afterwards it is all new, or all old. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
