"""What the workers do in tests/scripts/test_toolkit.py: functions that can be found by name in another process."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from toolkit.errors import ProgramError


@dataclass(frozen=True)
class Work:
    """A number to square, a directory for traces, and what is to go wrong."""

    number: int
    folder: str
    fault: str = ""
    seconds: float = 0.0


def run(work: Work) -> int:
    """Leave a trace, misbehave as asked, and square the number."""
    trace = Path(work.folder) / str(work.number)
    with trace.open("a") as file:
        file.write(f"{os.getpid()}\n")
    if work.fault == "raises":
        raise ValueError(f"no square of {work.number}")
    if work.fault == "complains":
        raise ProgramError(f"{work.number} has no square")
    if work.fault == "dies":
        os._exit(1)
    time.sleep(work.seconds)
    return work.number**2
