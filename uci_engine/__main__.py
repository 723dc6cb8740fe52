"""The start and the end of the program. `command_line.program` does the work.

This module imports little, so that an interrupt in the first moments already finds its handler.
"""

from __future__ import annotations

import os
import sys

try:
    # The slowest part of the start before there is a handler.
    import signal
except KeyboardInterrupt:
    os._exit(130)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, by default those of the process. Returns the exit code.

    Raises SystemExit after `--help`, `--version` and wrong usage.
    """
    from uci_engine.command_line.program import run

    return run(sys.argv[1:] if arguments is None else arguments)


def program() -> NoReturn:
    """Run `main` and end the process at once.

    Python's own ending waits for daemon threads, and aborts when one of them cannot end for lack of memory.
    """
    from contextlib import suppress

    # Python's own handler would print a traceback. The UCI loop installs its handlers later.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        code = main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody may be reading it
            if stream is not None:
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    program()
