"""The output: whole lines, messages as `info string`, and the end of the process when nobody reads them.

Invariants: lines from different threads are never mixed. Once nobody can read the output, the process ends. An error of
the debug log closes it and is reported once.
"""

from __future__ import annotations

import os
import select
import threading
import time
from typing import BinaryIO

from evaluation.files import reason_of
from uci_engine.options import Options
from uci_engine.search.info import Info
from uci_engine.task import print_failure
from uci_engine.text import quoted
from uci_engine.uci.debug_log import FROM_GUI, TO_GUI, DebugLog
from uci_engine.uci.protocol import format_info


def exit_now() -> None:
    """End the process at once, with exit code 0 and without any cleaning up."""
    os._exit(0)


class Writer:
    """Writes whole lines in ASCII and flushes them, from any thread. Nothing else writes to the output."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._log: DebugLog | None = None
        # A lock of its own: a command must not wait to be noted while nobody reads the output.
        self._log_lock = threading.Lock()
        # For the watch on a blocked output: the number of writes that have begun, and of those that have ended.
        self.begun = 0
        self.ended = 0

    def has_lost_its_reader(self) -> bool:
        """Whether the other end of the pipe is known to be closed. Only POSIX systems tell without a write."""
        if os.name != "posix":
            return False
        poll = select.poll()
        try:
            poll.register(self._stream.fileno(), 0)
            return any(event & select.POLLERR for _, event in poll.poll(0))
        except (OSError, ValueError):
            return False

    def set_log(self, log: DebugLog | None) -> None:
        """Close the log, if there is one, and begin this one."""
        with self._log_lock:
            before, self._log = self._log, log
            if before is not None:
                before.close()

    def note_received(self, line: str, received_at: float) -> None:
        """Note a line from the GUI in the log. `received_at`: the `time.perf_counter()` at which it was read."""
        problem = self._note(FROM_GUI, line, time.time() - (time.perf_counter() - received_at))
        if problem:
            self.write(problem)

    def write(self, text: str) -> None:
        """Write a line, or several lines, joined by newlines, that must not be separated."""
        try:
            with self._lock:
                self.begun += 1
                problem = self._note(TO_GUI, text, time.time())
                if problem:
                    text = f"{problem}\n{text}"
                self._stream.write(text.encode("ascii", errors="replace") + b"\n")
                self._stream.flush()
                self.ended += 1
        except (OSError, ValueError):  # ValueError: the stream has been closed on our side
            exit_now()

    def _note(self, mark: str, text: str, at_seconds: float) -> str:
        """Note lines in the log. After an error it is closed; the result is the line that says so, "" for no error."""
        with self._log_lock:
            if (log := self._log) is None:
                return ""
            try:
                log.note(mark, text, at_seconds)
            except (OSError, ValueError) as error:
                self._log = None
                log.close()
                problem = f"error: the debug log {quoted(log.path)} is closed, because of an error: {reason_of(error)}"
                return format_info(Info(string=problem))
        return ""


def say(writer: Writer, *messages: str) -> None:
    """Write each message as an `info string`."""
    for message in messages:
        writer.write(format_info(Info(string=message)))


def report_failure(writer: Writer, error: Exception) -> None:
    """Report an error in this program: one line for the user, and a traceback on stderr for developers."""
    say(writer, f"error: {type(error).__name__}: {error}")
    print_failure(error)


def connect_debug_log(options: Options, writer: Writer) -> None:
    """Let the option `Debug Log File` open and close the log. The command line may have set it already."""
    option = options.debug_log_file
    option.on_set = lambda: writer.set_log(DebugLog(option.value) if option.value else None)
    if option.value:
        say(writer, *options.set(option.name, option.value))
