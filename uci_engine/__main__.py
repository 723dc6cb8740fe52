"""The start and the end of the program. `command_line.program` does the work.

This module imports little, so that an interrupt in the first moments already finds its handler.
"""

import os
import signal
import sys


def program() -> None:
    """Run the program with the arguments of the process, and end the process at once.

    Python's own ending waits for daemon threads, and aborts when one of them cannot end for lack of memory.
    """
    # Python's own handler would print a traceback. The UCI loop installs its handlers later.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from contextlib import suppress

    try:
        from uci_engine.command_line.program import run

        code = run(sys.argv[1:])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody may be reading it
            if stream is not None:
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    program()
