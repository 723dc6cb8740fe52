"""Mistakes of this program, told to its developers.

A leaf: whatever runs in a thread of its own reports what ended it here.
"""

from __future__ import annotations

import contextlib
import sys
import traceback


def print_failure(error: Exception) -> None:
    """Tell the developers where a mistake of this program happened: on the error output, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # as with the output, nobody may be listening there
            traceback.print_exception(error, file=sys.stderr)
