"""Files of users: opened without the risk of blocking, read to a bound, written as a whole and by one process."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


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


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write in place of another: afterwards it is all new, or all old when an exception comes (OSError).

    Its mode stays, and so does a link to it.
    """
    path = Path(os.path.realpath(path))
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    # Nobody may read it who may not read the old one, not even for a moment.
    created = 0o666 if mode is None else mode
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, created)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file as `replaced` does."""
    with replaced(path) as file:
        file.write(data)


@contextmanager
def locked(path: Path, patience_seconds: float = 0.0) -> Iterator[None]:
    """Hold a lock among processes. `path` is its file, which is there only meanwhile; a kill frees it, too.

    Raises BlockingIOError when another holds it and goes on to, and OSError when the file cannot be made.
    """
    end = time.monotonic() + patience_seconds
    while (descriptor := _lock(path)) is None:
        if time.monotonic() >= end:
            raise BlockingIOError(errno.EWOULDBLOCK, "another process is writing it", str(path))
        time.sleep(0.01)
    try:
        yield
    finally:
        if sys.platform != "win32":
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(path: Path) -> int | None:
    """A descriptor that holds the lock, None while another does."""
    try:
        # With the last flag Windows removes the file when it is closed, and opens none that is about to be removed.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_TEMPORARY", 0), 0o666)
    except PermissionError:
        if sys.platform != "win32":
            raise
        return None
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            is_held = True
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one who held it may have removed this file, and another made a new one.
            is_held = os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError, PermissionError):
        is_held = False
    except OSError:
        # A file system without locks.
        is_held = True
    if is_held:
        return descriptor
    os.close(descriptor)
    return None
