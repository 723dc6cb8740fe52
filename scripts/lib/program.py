"""How a program begins and ends: it names the library that is missing, and leaves with its exit code.

Every program imports this module before anything that does not come with Python. On import it takes over the report of
exceptions that nobody catches.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from lib.errors import LIBRARIES, missing_library

# The exit code of a program that was interrupted, as shells have it.
INTERRUPTED = 130


def report_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """One sentence for a library of the extra `tools` that is not installed, a traceback for anything else."""
    name = error.name.partition(".")[0] if isinstance(error, ModuleNotFoundError) and error.name else ""
    if name in LIBRARIES:
        print(f"error: {missing_library(name)}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = report_exception


def run_program(main: Callable[[], int]) -> NoReturn:
    """Run a program and leave with its exit code; an interrupt from the keyboard needs no traceback."""
    try:
        code = main()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)
