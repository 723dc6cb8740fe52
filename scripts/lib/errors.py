"""What ends a program with one sentence for the user."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

# What the programs import of the extra `tools` and its dependencies.
LIBRARIES = frozenset({"chess", "cloudpickle", "cython", "distributed", "matplotlib", "numpy", "rich", "scipy"})


class ProgramError(Exception):
    """Something that cannot be used, or cannot go on; the message says what and why."""


def missing_library(name: str) -> str:
    """A sentence about a library that is not installed, with the command that installs it."""
    root = Path(__file__).resolve().parents[2]
    command = shlex.join([sys.executable, "-m", "pip", "install", "-e", f"{root}[tools]"])
    return f"{name} is not installed; this command installs what the programs need: {command}"
