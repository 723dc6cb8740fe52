"""Errors in this program, reported on stderr by the thread in which they happen."""

from __future__ import annotations

import contextlib
import sys
import traceback


def print_failure(error: Exception) -> None:
    """Print the traceback on stderr, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # nobody may be reading stderr
            traceback.print_exception(error, file=sys.stderr)
