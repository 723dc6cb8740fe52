"""Lines for people on standard output and standard error."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

# On Windows a pipe without a reader is an invalid argument.
NOBODY_READS = (errno.EPIPE, errno.EINVAL)


def show(text: str) -> None:
    """Print a line at once. May be called from any thread. When nobody can read it, the process ends."""
    try:
        print(text, flush=True)
    except OSError as error:
        if error.errno in NOBODY_READS:
            os._exit(0)
        warn(f"secateur: the output cannot be written: {error.strerror}")
        os._exit(1)


def warn(text: str) -> None:
    """Print a line on standard error, if there is one."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def has_colour() -> bool:
    """Whether the standard output is a terminal that shows colours, and the user has not refused them."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.stdout is None:
        return False
    return os.name == "posix" and sys.stdout.isatty()
