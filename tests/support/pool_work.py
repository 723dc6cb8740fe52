"""What the workers do in tests/test_pool.py: functions that can be found by name in another process."""

from __future__ import annotations

import os
import signal
import struct
import time
from dataclasses import dataclass
from pathlib import Path

NUMBER = struct.Struct("<q")


@dataclass(frozen=True)
class Work:
    """A number to square, a directory for traces, and what is to go wrong."""

    number: int
    folder: str
    fault: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Done:
    """The result, of a class that a machine of a cluster does not know."""

    square: int


def run(work: Work) -> Done:
    """Leave a trace, misbehave as asked, and square the number."""
    trace = Path(work.folder) / str(work.number)
    already = trace.exists()
    with trace.open("a") as file:
        file.write(f"{os.getpid()}\n")
    if work.fault == "raises":
        raise ValueError(f"no square of {work.number}")
    if work.fault == "dies" or (work.fault == "dies once" and not already):
        os.kill(os.getpid(), signal.SIGKILL)
    if work.fault == "unpicklable":
        return (lambda: Done(0))  # type: ignore[return-value]
    time.sleep(work.seconds)
    (square,) = NUMBER.unpack(NUMBER.pack(work.number**2))
    return Done(square)


def sleep_and_tidy(work: Work) -> Done:
    """Sleep, and say in the trace that the task was left in good order."""
    trace = Path(work.folder) / str(work.number)
    try:
        trace.touch()
        time.sleep(work.seconds)
    finally:
        trace.write_text("tidied")
    return Done(0)
