"""How a program begins and ends."""

from lib.console import INTERRUPTED, run_program

__all__ = ["INTERRUPTED", "run_program"]
