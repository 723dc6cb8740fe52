"""The inbox of the UCI loop: commands, signals, and the end of a search, in the order in which they came.

Invariants: no event is lost. `quit` ends the program, even when its other threads are stuck. At the end of the input
all commands are finished first, unless nobody reads the answers.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from dataclasses import dataclass
from enum import Enum

from uci_engine.uci.output import Writer, exit_now
from uci_engine.uci.protocol import Command, Word

# The number of commands read and not yet executed at which the reader pauses.
UNREAD_LIMIT = 1024

# The reader ends the process when this long after `quit` no command has finished, or when after the end of the input
# the output is blocked for this long.
STUCK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Received:
    """A command, and the `time.perf_counter()` at which its line was read. `line` is for the debug log."""

    received_at: float
    command: Command
    line: str = ""


class Mark(Enum):
    """An event without more to say: the search has given its answer, or no more commands will come."""

    SEARCH_ENDED = 1
    END_OF_INPUT = 2


Event = Received | Mark


class Inbox(queue.SimpleQueue[Event]):
    """The queue of events from all threads."""

    def __init__(self) -> None:
        self._free_places = threading.Semaphore(UNREAD_LIMIT)
        self._done_count = 0
        self.closed = threading.Event()
        # Whether to end now: after `quit`, and when all is done. Until then a command or search may take its time.
        self.must_end = False

    def receive(self, received: Received) -> None:
        """Called by the reader: waits while UNREAD_LIMIT commands are received and not yet executed."""
        self._free_places.acquire()
        self.put(received)

    def task_done(self) -> None:
        """A command has been executed or refused."""
        self._done_count += 1
        self._free_places.release()

    def exit_if_stuck(self, writer: Writer) -> None:
        """After a `quit` or the end of the input: return once closed. End the process when nobody can read the answers,
        or the output is blocked for STUCK_SECONDS. With `must_end`, also when no command was finished in that time.
        """
        while True:
            done_before, begun_before, ended_before = self._done_count, writer.begun, writer.ended
            if self.closed.wait(STUCK_SECONDS):
                return
            is_blocked = begun_before > ended_before == writer.ended
            is_stuck = self._done_count == done_before and (is_blocked or self.must_end)
            if is_stuck or (not self.must_end and writer.has_lost_its_reader()):
                exit_now()
                return


def quit_on_signals(inbox: Inbox, writer: Writer) -> None:
    """SIGINT and SIGTERM mean `quit`; a second one ends the process at once.

    To be called from the main thread, where Python runs signal handlers. If a signal arrives just before that thread
    waits for an event, its handler would run only after the next event, which may never come. So another thread reads
    the signals from a pipe.
    """
    read_end, write_end = os.pipe()
    if os.name == "posix":
        os.set_blocking(write_end, False)
    threading.Thread(target=_read_signals, args=(read_end, inbox, writer), name="signals", daemon=True).start()
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)


def _read_signals(descriptor: int, inbox: Inbox, writer: Writer) -> None:
    """Read the pipe, into which Python writes a byte for each signal as it arrives."""
    os.read(descriptor, 1)
    inbox.must_end = True
    inbox.put(Received(time.perf_counter(), Word.QUIT, "(signal)"))
    # Without a thread for the watch, a second signal still ends the process.
    with contextlib.suppress(RuntimeError):
        threading.Thread(target=inbox.exit_if_stuck, args=(writer,), name="exit if stuck", daemon=True).start()
    os.read(descriptor, 1)
    exit_now()
