"""Everything that comes in: lines of the input, signals, and the news that a search has ended.

`loop` starts `read` in a thread of its own and takes the events out of the `Inbox` in order. Invariants: every event
arrives. No input, however long or malformed, raises or is stored without bound. The end of the input ends the program,
even when the rest of it is stuck.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from uci_engine.uci import protocol
from uci_engine.uci.output import Writer, leave, report_failure, say
from uci_engine.uci.protocol import Command, Empty, Quit

MAX_LINE_BYTES = 16 * 1024 * 1024
READ_BYTES = 1 << 16

# Commands read and not yet obeyed: the reader pauses at this number.
UNREAD_LIMIT = 1024

# After the end of the input, the reader ends the process when no command has been finished for this long. Only a
# blocked output, or a defect, holds the dispatcher up so long.
STUCK_SECONDS = 2.0
# Counted in short waits, because a machine that was suspended has not waited.
STUCK_WAITS = 8


class LineSplitter:
    """Cuts a stream of bytes into lines of text. The stream may arrive in any pieces.

    LF, CR and CRLF end a line. Blank lines are left out. Bytes that are not UTF-8 become U+FFFD. A line of more than
    `max_bytes` is not stored: None stands in its place.
    """

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> list[str | None]:
        """The lines that `data` completes."""
        first, *rest = data.replace(b"\r", b"\n").split(b"\n")
        self._keep(first)
        lines: list[str | None] = []
        for piece in rest:
            lines += self.finish()
            self._keep(piece)
        return lines

    def finish(self) -> list[str | None]:
        """The line that was begun and not ended, if there is one; the splitter is empty afterwards."""
        data, length = b"".join(self._pieces), self._length
        self._pieces, self._length = [], 0
        if length > self._max_bytes:
            return [None]
        line = data.decode("utf-8", errors="replace")
        return [line] if line.strip() else []

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._max_bytes:
            self._pieces = []
        else:
            self._pieces.append(piece)


def read_lines(descriptor: int) -> Iterator[tuple[float, str | None]]:
    """Each line with the `time.perf_counter()` at which its end arrived, until the input ends or fails.

    A line that was too long is None (see LineSplitter).
    """
    splitter = LineSplitter()
    while True:
        try:
            # Not through sys.stdin: a buffered reader would delay lines, and the clock starts here.
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:  # another program has left the terminal in non-blocking mode
            select.select([descriptor], [], [])
            continue
        except OSError:
            data = b""
        received_at = time.perf_counter()
        for line in splitter.feed(data) if data else splitter.finish():
            yield received_at, line
        if not data:
            return


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
    """Events from all threads, in order, until they are dealt with."""

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
    """Put the commands from `descriptor` into the inbox; at the end, wait until the program ends.

    The end of the input means `quit`, and so does a failure here: an engine that cannot read must not stay alive.
    """
    try:
        for received_at, line in read_lines(descriptor):
            if line is None:
                say(writer, f"error: a line of more than {MAX_LINE_BYTES} bytes is ignored")
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
    """After a `quit`: end the process if the dispatcher is stuck."""
    if not inbox.wait_until_closed_or_stuck():
        leave()


def quit_on_signals(inbox: Inbox) -> None:
    """SIGINT and SIGTERM mean `quit`; a second one does not wait for anything.

    To be called from the main thread, where Python runs its handlers. A signal that arrives just before that thread
    begins to wait would not be seen until it wakes, perhaps never. So a thread of its own reads the signals.
    """
    hearing, telling = os.pipe()
    if os.name == "posix":
        os.set_blocking(telling, False)
    threading.Thread(target=_hear_signals, args=(hearing, inbox), name="signals", daemon=True).start()
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)


def _hear_signals(descriptor: int, inbox: Inbox) -> None:
    """Read the pipe, into which Python writes a byte for each signal at once."""
    os.read(descriptor, 1)
    inbox.push(Received(time.perf_counter(), Quit()))
    threading.Thread(target=_see_out, args=(inbox,), name="see out", daemon=True).start()
    os.read(descriptor, 1)
    leave()
