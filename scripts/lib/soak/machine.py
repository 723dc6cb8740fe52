"""Load: processes that do nothing but keep the processors busy, and what a process uses of the machine.

Used by `soak`. What must stay true: no busy process outlives the one that started it, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Looks up now and then whether its parent, whose number it is given, is still there: a killed parent cannot end it.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))\n"


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep so many processes busy while the block runs."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    busy = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process holds at one moment: resident memory in MiB, threads, open files."""

    memory_mib: float
    threads: int
    files: int


def usage_of(process_id: int) -> Usage | None:
    """What this process holds; None where the system does not tell (other than Linux), or once it has ended."""
    folder = Path("/proc", str(process_id))
    try:
        pages = int((folder / "statm").read_text().split()[1])
        threads = sum(1 for _ in (folder / "task").iterdir())
        files = sum(1 for _ in (folder / "fd").iterdir())
    except (OSError, IndexError, ValueError):
        return None
    return Usage(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, threads, files)
