"""What the kernel needs of `import cython` when it runs as plain Python and Cython is not installed.

`provide` must be called before an uncompiled kernel is imported, as `uci_engine.core.load` does. Cython is needed to
build Secateur, not to run it.

Invariant: every name that the running kernel takes from `cython` is here, and behaves as in Cython's own module for
uncompiled code. A test runs the kernel without Cython.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from types import ModuleType

NAMES = {"compiled": False, "nogil": contextlib.nullcontext()}


def provide() -> None:
    """Make `import cython` work in this process, whether or not Cython is installed."""
    if "cython" not in sys.modules and importlib.util.find_spec("cython") is None:
        stand_in = ModuleType("cython", "Stands in for Cython; see evaluation.plain_cython.")
        vars(stand_in).update(NAMES)
        sys.modules["cython"] = stand_in
