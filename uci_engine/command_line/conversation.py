"""`secateur` without a command: UCI on standard input and output. It does without argparse, to start fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from uci_engine import __version__
from uci_engine.command_line.console import show, warn


def converse(core: str, tuning: bool) -> int:
    """Speak UCI until `quit`. Returns the exit code."""
    if sys.stdin is not None and sys.stdout is not None and sys.stdin.isatty() and sys.stdout.isatty():
        show(f"Secateur {__version__} waits for UCI commands: help lists them, quit ends the program.")
    return execute(None, core, tuning)


def execute(lines: Sequence[str] | None, core: str, tuning: bool) -> int:
    """Execute these UCI commands, or those of standard input for None. Returns the exit code."""
    from uci_engine.engine import UciEngine
    from uci_engine.uci import loop as uci

    return uci.run(lambda: UciEngine(core, tuning), lines)


def guarded(action: Callable[[], int]) -> int:
    """The exit code of the action. What is missing to run it is told in one sentence."""
    try:
        return action()
    except (ImportError, RuntimeError) as error:
        # The requested core, python-chess or a thread is missing.
        warn(f"secateur: {error}")
        return 1
    except MemoryError:
        warn("secateur: there is not enough memory")
        return 1
    except KeyboardInterrupt:
        return 130
