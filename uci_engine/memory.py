"""The memory of this process, and the largest transposition table that it may have.

Invariants: a table never takes more than half of the memory of the machine, of the control group (container), or of the
address space of this process. A system file that is missing or malformed is not an error.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

MIB = 1 << 20
# The maximum on any machine.
HASH_LIMIT_MIB = 65536
# The maximum that `Hash` declares, on every machine. Programs refuse a value above it, so a configuration that names a
# large table must not fail on a small machine. Stockfish declares the same.
HASH_DECLARED_MIB = 33554432

# The memory assumed where the system does not tell.
_ASSUMED_BYTES = 1024 * MIB


def hash_maximum_mib() -> int:
    """The largest table to make, in MiB: from 1 to HASH_LIMIT_MIB, and at most half of the memory."""
    return max(1, min(available_bytes() // 2 // MIB, HASH_LIMIT_MIB))


def available_bytes() -> int:
    """The memory of the machine, at most what this process may have of it; 1 GiB where the system does not tell."""
    limits = (control_group_limit_bytes(), address_space_limit_bytes())
    return min([physical_memory_bytes() or _ASSUMED_BYTES, *(limit for limit in limits if limit is not None)])


def physical_memory_bytes() -> int | None:
    """The memory of the machine, or None where the system does not tell."""
    if sys.platform == "win32":
        import ctypes

        class MemoryStatus(ctypes.Structure):
            _fields_ = (
                ("length", ctypes.c_ulong),
                ("load_percent", ctypes.c_ulong),
                ("total_physical", ctypes.c_ulonglong),
                ("rest", ctypes.c_ulonglong * 6),
            )

        status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
        is_told = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.total_physical) if is_told else None
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
    return size if size > 0 else None


def address_space_limit_bytes() -> int | None:
    """The limit of this process's address space (`ulimit -v`); None without a limit."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def control_group_limit_bytes(
    own_groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """The lowest memory limit of this process's control group (version 2, Linux) and its parents; None without one."""
    try:
        # The last line is 0::path. In a container the path is often that of the host and does not exist here. Then the
        # root has the limit.
        path = own_groups.read_text(encoding="utf-8", errors="replace").rpartition(":")[2].strip().strip("/")
    except OSError:
        return None
    folders = (root / path, *(root / path).parents)
    limits = (_read_limit(folder / "memory.max") for folder in folders if folder.is_relative_to(root))
    return min(filter(None, limits), default=None)


def _read_limit(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    # Without a limit it is `max`.
    return int(text) if text.isdecimal() and len(text) <= 20 else None
