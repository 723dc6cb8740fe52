"""The processor time that an engine has used, with all its threads and processes. Called by speed.

What must stay true: the time of threads and children that have ended counts too. Only Linux tells it of other
processes without further help: elsewhere ProgramError says so, and nothing is guessed.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from lib.errors import ProgramError

# Fields of /proc/PID/stat behind the name in brackets, counted from 0 (see proc(5)).
SESSION, USER_TICKS, SYSTEM_TICKS, CHILDREN_USER_TICKS, CHILDREN_SYSTEM_TICKS = 3, 11, 12, 13, 14


def require_cpu_time() -> None:
    """Raise ProgramError where `session_cpu_seconds` cannot work."""
    if not sys.platform.startswith("linux") or not Path("/proc/self/stat").is_file():
        raise ProgramError(
            "the processor time of another process is read from /proc, which only Linux has; "
            "run this on Linux (a container or WSL will do)"
        )


def session_cpu_seconds(session: int) -> float:
    """The processor seconds of all processes of a session, by its leader's process id; 0.0 if there is none.

    A program started with `start_new_session=True` leads a session of its own, which holds all that it starts.
    Precise to about a microsecond for living processes, to a clock tick (10 ms) for those that have ended.
    """
    ticks_each_second = os.sysconf("SC_CLK_TCK")
    seconds = 0.0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text("latin-1")
        except OSError:
            continue  # it has just ended
        fields = text.rpartition(")")[2].split()
        if int(fields[SESSION]) != session:
            continue
        own = _precise_seconds(int(folder.name))
        if own is None:
            own = (int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])) / ticks_each_second
        ended = (int(fields[CHILDREN_USER_TICKS]) + int(fields[CHILDREN_SYSTEM_TICKS])) / ticks_each_second
        seconds += own + ended
    return seconds


def _precise_seconds(process: int) -> float | None:
    """What the process's own clock says, which counts in nanoseconds; None if it has none (any more)."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(process, ctypes.byref(clock)) != 0:
        return None
    try:
        return time.clock_gettime(clock.value)
    except OSError:
        return None
