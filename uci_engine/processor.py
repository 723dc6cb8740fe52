"""The processors: how many there are, and their instruction sets. A build may use more than the x86-64 baseline.

The build imports this file too, before anything is compiled or installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

# What a build uses where the processor has all of it: Linux's name, then the compilers'. Intel's Core processors have
# had it since 2013, AMD's since 2015. Fused multiply-add is left out: it rounds differently from plain Python.
FAST_INSTRUCTIONS = {"abm": "lzcnt", "avx2": "avx2", "bmi1": "bmi", "bmi2": "bmi2", "popcnt": "popcnt"}

CPUINFO = Path("/proc/cpuinfo")
# One processor's part of the file is shorter.
CPUINFO_BYTES = 16384


def usable_processors() -> int:
    """The number of processors that this process may run on, at least 1."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def instructions() -> frozenset[str] | None:
    """The processor's instruction sets, by Linux's names. None where they cannot be read, and on other systems.

    Empty where the file lists none, as under an emulator that shows the file of its host.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return None
    try:
        with CPUINFO.open("rb", buffering=0) as file:
            lines = file.read(CPUINFO_BYTES).decode("ascii", "replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def has_fast_instructions() -> bool:
    """Whether the processor is known to have all FAST_INSTRUCTIONS."""
    return (instructions() or frozenset()) >= FAST_INSTRUCTIONS.keys()


def lacking(needed: Iterable[str]) -> list[str]:
    """Those of the instruction sets that the processor lacks, sorted. None is lacking where nothing is known of it:
    most likely the kernel was built there.
    """
    known = instructions()
    return [] if known is None else sorted(set(needed) - known)
