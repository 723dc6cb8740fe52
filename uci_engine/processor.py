"""Which instructions the processor has, for a kernel that was built for more than every x86-64 processor has.

setup.py reads this file too, before anything is built, so it imports nothing of the package.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from pathlib import Path

# What the build uses where the processor has all of it: Linux's name, then the compilers'. Processors have had it since
# 2013 (Intel) and 2015 (AMD). Fused multiply-add came with it and is left out: it rounds otherwise than plain Python.
FAST_INSTRUCTIONS = {"abm": "lzcnt", "avx2": "avx2", "bmi1": "bmi", "bmi2": "bmi2", "popcnt": "popcnt"}

CPUINFO = Path("/proc/cpuinfo")
# More than Linux says of one processor.
CPUINFO_BYTES = 16384


def instructions() -> frozenset[str]:
    """The processor's instruction sets by Linux's names. Empty on all but Linux with x86-64, where nothing is known."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return frozenset()
    try:
        with CPUINFO.open("rb", buffering=0) as file:
            lines = file.read(CPUINFO_BYTES).decode("ascii", "replace").splitlines()
    except OSError:
        return frozenset()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def has_fast_instructions() -> bool:
    """Whether the processor is known to have all FAST_INSTRUCTIONS."""
    return instructions() >= FAST_INSTRUCTIONS.keys()


def lacking(needed: Iterable[str]) -> list[str]:
    """Those of the instruction sets that the processor lacks, sorted; none where nothing is known."""
    known = instructions()
    return sorted(set(needed) - known) if known else []
