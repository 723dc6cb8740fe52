"""The events of the UCI loop: commands from the input, signals, and the end of a search.

`loop` starts `read` in a thread of its own and takes the events out of the `Inbox` in order. Invariants: no event is
lost. No input, however long or malformed, raises or is stored without bound. `quit` ends the program, even when its
other threads are stuck. At the end of the input all commands are finished first, unless nobody reads the answers.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from uci_engine.uci import protocol
from uci_engine.uci.debug_log import shortened
from uci_engine.uci.output import Writer, exit_now, report_failure, say
from uci_engine.uci.protocol import Command, Word

MAX_LINE_BYTES = 16 * 1024 * 1024
READ_BYTES = 1 << 16

# The number of commands read and not yet executed at which the reader pauses.
UNREAD_LIMIT = 1024

# The reader ends the process when for this long no command has finished after `quit`, or the output is blocked after
# the end of the input.
STUCK_SECONDS = 2.0
# Counted in short waits, so that the time of a suspended machine does not count.
STUCK_WAITS = 8


class LineSplitter:
    """Cuts a stream of bytes into lines of text. The stream may arrive in any pieces.

    LF, CR and CRLF end a line. Blank lines are skipped. Bytes that are not UTF-8 become U+FFFD. A line of more than
    `max_bytes` is not stored, and None is returned in its place.
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
        """The last line, if it has no line end; the splitter is empty afterwards."""
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

    None stands for a line that is too long (see LineSplitter).
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
    """A command, and the `time.perf_counter()` at which its line was read. `line` is for the debug log."""

    received_at: float
    command: Command
    line: str = ""


@dataclass(frozen=True, slots=True)
class SearchEnded:
    """The search has given its answer."""


@dataclass(frozen=True, slots=True)
class EndOfInput:
    """No more commands will come."""


Event = Received | SearchEnded | EndOfInput


class Inbox:
    """The queue of events from all threads."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._free_places = threading.Semaphore(UNREAD_LIMIT)
        self._done_count = 0
        self._closed = threading.Event()
        # Whether to end now: after `quit`, and when all is done. Until then a command or search may take its time.
        self.must_end = False

    def receive(self, received: Received) -> None:
        """Called by the reader: waits while UNREAD_LIMIT commands are received and not yet executed."""
        self._free_places.acquire()
        self._events.put(received)

    def push(self, event: Event) -> None:
        """Called by any thread: never waits."""
        self._events.put(event)

    def get(self, timeout_seconds: float | None = None) -> Event:
        """The next event; raises queue.Empty after the timeout."""
        return self._events.get(timeout=timeout_seconds)

    def task_done(self) -> None:
        """A command has been executed or refused."""
        self._done_count += 1
        self._free_places.release()

    def close(self) -> None:
        """No more events will be taken out."""
        self._closed.set()

    def wait_until_closed_or_stuck(self, writer: Writer) -> bool:
        """True once closed. False when nobody can read the answers, or the output is blocked for STUCK_SECONDS.

        With `must_end`, also when no command was finished in that time.
        """
        while True:
            done_before, (begun_before, ended_before) = self._done_count, writer.progress
            for _ in range(STUCK_WAITS):
                if self._closed.wait(STUCK_SECONDS / STUCK_WAITS):
                    return True
                if not self.must_end and writer.has_lost_its_reader():
                    return False
            is_blocked = begun_before > ended_before == writer.progress[1]
            if self._done_count == done_before and (is_blocked or self.must_end):
                return False


def read(descriptor: int, inbox: Inbox, writer: Writer) -> None:
    """Put the commands from `descriptor` into the inbox. After the last, end the process if that is stuck.

    The end of the input is an event of its own. A failure here means `quit`: an engine that cannot read must not stay
    alive.
    """
    last: Event = Received(time.perf_counter(), Word.QUIT)
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
            received = Received(received_at, command, shortened(line))
            if command is Word.QUIT:
                last = received
                break
            if command is not Word.EMPTY:
                inbox.receive(received)
        else:
            last = EndOfInput()
    finally:
        if not isinstance(last, EndOfInput):
            inbox.must_end = True
        inbox.push(last)
    _exit_if_stuck(inbox, writer)


def _exit_if_stuck(inbox: Inbox, writer: Writer) -> None:
    """After a `quit` or the end of the input: end the process if the dispatcher is stuck."""
    if not inbox.wait_until_closed_or_stuck(writer):
        exit_now()


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
    inbox.push(Received(time.perf_counter(), Word.QUIT, "(signal)"))
    # Without a thread for the watch, a second signal still ends the process.
    with contextlib.suppress(RuntimeError):
        threading.Thread(target=_exit_if_stuck, args=(inbox, writer), name="exit if stuck", daemon=True).start()
    os.read(descriptor, 1)
    exit_now()
