"""Everything that comes in: commands from the input, signals, and the news that a search has ended.

`uci` starts `read` in a thread of its own and takes the events out of the `Inbox` in order. What must stay
true: every event arrives; no flood of input is stored without bound; the end of the input ends the program,
even when the rest of it is stuck.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from dataclasses import dataclass

from uci_engine.failures import print_failure
from uci_engine.search.info import Info
from uci_engine.uci import protocol
from uci_engine.uci.output import LONGEST_LINE_BYTES, Writer, leave, read_lines
from uci_engine.uci.protocol import Command, Empty, Quit

# Commands read and not yet obeyed: the reader pauses at this number.
UNREAD_LIMIT = 1024

# After the end of the input: how long nothing at all may happen before the process is ended from here. Only
# an output that is blocked, or a defect, holds the dispatcher up for so long.
STUCK_SECONDS = 2.0
# Counted in short waits: a machine that stands still for a while has not waited.
STUCK_WAITS = 8


@dataclass(frozen=True, slots=True)
class Received:
    """A command, and the `time.perf_counter()` at which its line was read."""

    received_at: float
    command: Command


@dataclass(frozen=True, slots=True)
class SearchEnded:
    """The search has given its answer."""


Event = Received | SearchEnded


class Inbox:
    """What is yet to be dealt with, from all threads, in order."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._places = threading.Semaphore(UNREAD_LIMIT)
        self._obeyed = 0
        self._closed = threading.Event()

    def receive(self, received: Received) -> None:
        """From the reader: waits while UNREAD_LIMIT commands have been received and not obeyed."""
        self._places.acquire()
        self._events.put(received)

    def push(self, event: Event) -> None:
        """From anywhere: never waits."""
        self._events.put(event)

    def get(self, timeout_seconds: float | None = None) -> Event:
        """The next event; raises queue.Empty after the timeout."""
        return self._events.get(timeout=timeout_seconds)

    def obeyed(self) -> None:
        """A command has been dealt with."""
        self._obeyed += 1
        self._places.release()

    def close(self) -> None:
        """Nothing more will be taken out."""
        self._closed.set()

    def wait_until_closed_or_stuck(self) -> bool:
        """True once closed; False when no command has come to its end within STUCK_SECONDS."""
        obeyed_before = -1
        while obeyed_before != self._obeyed:
            obeyed_before = self._obeyed
            if any(self._closed.wait(STUCK_SECONDS / STUCK_WAITS) for _ in range(STUCK_WAITS)):
                return True
        return False


def read(descriptor: int, inbox: Inbox, writer: Writer) -> None:
    """Put the commands that come in through `descriptor` into the inbox; at the end, see the program out.

    The end of the input means `quit`, and so does a failure here: an engine that cannot hear must not live.
    """
    try:
        for received_at, line in read_lines(descriptor):
            if line is None:
                say(writer, f"error: a line of more than {LONGEST_LINE_BYTES} bytes is ignored")
                continue
            try:
                command = protocol.parse(line)
            except Exception as error:
                report_failure(writer, error)
                continue
            if isinstance(command, Quit):
                break
            if not isinstance(command, Empty):
                inbox.receive(Received(received_at, command))
    finally:
        inbox.push(Received(time.perf_counter(), Quit()))
    _see_out(inbox)


def _see_out(inbox: Inbox) -> None:
    """After a `quit`: end the process from here should the dispatcher be stuck."""
    if not inbox.wait_until_closed_or_stuck():
        leave()


def quit_on_signals(inbox: Inbox) -> None:
    """SIGINT and SIGTERM mean `quit`; a second one does not wait for anything.

    To be called from the main thread. Python runs its handlers there, and a signal that comes just before that
    thread begins to wait is not seen until it wakes, which may be never: so a thread of their own hears of them.
    """
    hearing, telling = os.pipe()
    if os.name == "posix":
        os.set_blocking(telling, False)
    threading.Thread(target=_hear_signals, args=(hearing, inbox), name="signals", daemon=True).start()
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)


def _hear_signals(descriptor: int, inbox: Inbox) -> None:
    """Read what Python writes into the pipe: a byte for each signal, at once."""
    os.read(descriptor, 1)
    inbox.push(Received(time.perf_counter(), Quit()))
    threading.Thread(target=_see_out, args=(inbox,), name="see out", daemon=True).start()
    os.read(descriptor, 1)
    leave()


def say(writer: Writer, *sentences: str) -> None:
    """Each sentence as an `info string`."""
    for sentence in sentences:
        writer.write(protocol.format_info(Info(string=sentence)))


def report_failure(writer: Writer, error: Exception) -> None:
    """A mistake of this program: one line for the user, and where it happened for its developers."""
    say(writer, f"error: {type(error).__name__}: {error}")
    print_failure(error)
