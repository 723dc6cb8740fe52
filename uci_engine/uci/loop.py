"""The UCI loop: one thread reads commands, one executes them, and each search reports from its own thread.

`run` is the program. The reader adds the time of arrival to each command and puts it into the `Inbox`. The `Dispatcher`
takes the commands out in order and executes them on the engine, also during a search. All output goes through the
`Writer`. Invariants:

- A command that needs an idle engine waits for the end of the search. Later commands that can be executed during a
  search (`stop`, `isready`) do not wait.
- A `go` stops the search before it, and so do many waiting commands. A `stop` behind a waiting `go` stops the search of
  that `go`.
- Every `go` is answered by one `bestmove`. An error in a command, ours or the GUI's, ends neither search nor program.
- At the end of the input all commands are finished first, and a search that ends by itself. `quit` stops every search,
  and ends the program even when its other threads are stuck.
- No event is lost. Lines from different threads are never mixed. Once nobody can read the output, the process ends.
- An error of the debug log closes it and is reported once.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, BinaryIO

import chess

from evaluation.files import reason_of
from uci_engine.board.game import Game, PositionError, any_move, display, legal_move, parse_searchmoves
from uci_engine.search.info import BestMove, Info
from uci_engine.text import Message, print_failure, quoted
from uci_engine.uci import protocol
from uci_engine.uci.debug_log import FROM_GUI, MAX_LINE_CHARACTERS, TO_GUI, DebugLog
from uci_engine.uci.protocol import (
    Command,
    Debug,
    Go,
    SetOption,
    SetPosition,
    Tool,
    Unknown,
    Word,
    format_best_move,
    format_info,
    format_message,
)

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

# The number of commands read and not yet executed at which the reader pauses.
UNREAD_LIMIT = 1024

# After `quit` the process ends when for this long no command has finished, as while nobody reads its output.
STUCK_SECONDS = 1.0

# So many commands may wait for the end of a search. Then it is stopped: the reader pauses at UNREAD_LIMIT, and a `stop`
# might never be read.
WAITING_LIMIT = UNREAD_LIMIT // 2

# The time after which a waiting thread gets the GIL. A `stop` passes through three threads, and in plain
# Python the search holds the GIL.
SWITCH_SECONDS = 0.001

# Executed at any time, even before commands that wait.
_ALWAYS = (Word.UCI, Word.IS_READY, Word.REGISTER, Word.HELP, Word.EMPTY)
# Executed at once for the running search. Behind a waiting `go` they wait for its search.
_TO_SEARCH = (Word.STOP, Word.PONDER_HIT)


# The output -------------------------------------------------------------------------------------------------------


class Writer:
    """Writes whole lines in ASCII and flushes them, from any thread. Nothing else writes to the output."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._log: DebugLog | None = None
        # A lock of its own: a command must not wait to be noted while nobody reads the output.
        self._log_lock = threading.Lock()

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
                problem = self._note(TO_GUI, text, time.time())
                if problem:
                    text = f"{problem}\n{text}"
                self._stream.write(text.encode("ascii", errors="replace") + b"\n")
                self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream has been closed on our side
            os._exit(0)

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
                reason = f"the debug log {quoted(log.path)} is closed, because of an error: {reason_of(error)}"
                return format_message(Message.error(reason))
        return ""


def say(writer: Writer, *messages: Message) -> None:
    """Write each message as an `info string`."""
    for message in messages:
        writer.write(format_message(message))


def report_failure(writer: Writer, error: Exception) -> None:
    """Report an error in this program: one line for the user, and a traceback on stderr for developers."""
    say(writer, Message.error(f"{type(error).__name__}: {error}"))
    print_failure(error)


# The inbox --------------------------------------------------------------------------------------------------------


class Mark(Enum):
    """What happens besides commands: the search has given its answer, or no more commands will come."""

    SEARCH_ENDED = 1
    END_OF_INPUT = 2


@dataclass(frozen=True, slots=True)
class Event:
    """A command or a mark, and the `time.perf_counter()` at which it came. `line` is for the debug log."""

    received_at: float
    what: Command | Mark
    line: str = ""


class Inbox(queue.SimpleQueue[Event]):
    """The queue of events from all threads."""

    def __init__(self) -> None:
        self._free_places = threading.Semaphore(UNREAD_LIMIT)
        self._done_count = 0
        self.closed = threading.Event()
        # Whether to end now: after `quit`, and when all is done. Until then a command or search may take its time.
        self.must_end = False

    def receive(self, command: Event) -> None:
        """Called by the reader: waits while UNREAD_LIMIT commands are received and not yet executed."""
        self._free_places.acquire()
        self.put(command)

    def tell(self, what: Command | Mark, line: str = "") -> None:
        """Put an event of now."""
        self.put(Event(time.perf_counter(), what, line))

    def task_done(self) -> None:
        """A command has been executed or refused."""
        self._done_count += 1
        self._free_places.release()

    def quit(self, line: str) -> None:
        """Put a `quit`, and return once all is closed. End the process when no command is finished in STUCK_SECONDS."""
        self.must_end = True
        self.tell(Word.QUIT, line)
        while True:
            done_before = self._done_count
            if self.closed.wait(STUCK_SECONDS):
                return
            if self._done_count == done_before:
                os._exit(0)


def quit_on_signals(inbox: Inbox) -> None:
    """SIGINT and SIGTERM mean `quit`.

    To be called from the main thread, where Python runs signal handlers. If a signal arrives just before that thread
    waits for an event, its handler would run only after the next event, which may never come. So another thread reads
    the signals from a pipe.
    """
    read_end, write_end = os.pipe()
    if os.name == "posix":
        os.set_blocking(write_end, False)

    def read_signals() -> None:
        # Python writes a byte for each signal as it arrives.
        os.read(read_end, 1)
        inbox.quit("(signal)")

    threading.Thread(target=read_signals, name="signals", daemon=True).start()
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)


# The commands -----------------------------------------------------------------------------------------------------


class Dispatcher:
    """Executes commands, one after the other, in the thread that calls `serve` or `execute_line`."""

    def __init__(self, engine: UciEngine, inbox: Inbox, writer: Writer, game: Game) -> None:
        """`game`: with the first position."""
        self._engine = engine
        self._game = game
        self._inbox = inbox
        self._writer = writer
        self._waiting: list[Event] = []
        self._go_waits = False
        self._searching = False
        self._input_ended = False
        self._debug = False
        # Whether a command was refused with an error.
        self.has_refused = False

    def serve(self) -> None:
        """Execute the commands of the inbox until `quit`."""
        while self._handle(self._inbox.get()):
            pass
        self._close()

    def execute_line(self, line: str) -> None:
        """Execute this line, and wait for the end of its search. Only a signal stops that early."""
        running = self._handle(Event(time.perf_counter(), protocol.parse(line), line))
        while running and self._searching:
            running = self._handle(self._inbox.get())
        self._close()

    def _handle(self, event: Event) -> bool:
        """Handle one event; False for the last one."""
        if event.line:
            # Noted now, not when it was read, because an earlier `setoption` may open the log.
            self._writer.note_received(event.line, event.received_at)
        match event.what:
            case Word.QUIT:
                return False
            case Mark.SEARCH_ENDED:
                # The search's thread sends this event just before its `bestmove`, so wait for the thread to end.
                self._engine.wait()
                self._searching = False
                gc.enable()
                self._execute_waiting()
                return self._searching or not self._input_ended
            case Mark.END_OF_INPUT:
                self._input_ended = True
                self._stop_if_endless()
                return self._searching
        self._execute_or_wait(event)
        return True

    def _execute_or_wait(self, event: Event) -> None:
        is_for_search = event.what in _TO_SEARCH and not self._go_waits
        is_for_any_time = event.what in _ALWAYS or isinstance(event.what, Debug | Unknown)
        if is_for_search or is_for_any_time or not self._searching:
            self._execute(event)
            return
        self._waiting.append(event)
        self._go_waits |= isinstance(event.what, Go)
        if self._go_waits or len(self._waiting) >= WAITING_LIMIT:
            self._engine.stop()
        if self._debug:
            self._say(Message(f"{quoted(event.line)} waits for the end of the search"))

    def _execute_waiting(self) -> None:
        """Execute the commands that waited for the end of the search. Behind the next search they wait again."""
        waiting, self._waiting = self._waiting, []
        self._go_waits = False
        for event in waiting:
            self._execute_or_wait(event)

    def _close(self) -> None:
        """Stop all searches, wait until every `go` is answered, and close the engine."""
        self._inbox.must_end = True
        self._engine.stop()
        while self._searching:
            event = self._inbox.get()
            if event.what is Mark.SEARCH_ENDED:
                self._handle(event)
        self._engine.close()
        self._inbox.closed.set()

    def _execute(self, event: Event) -> None:
        try:
            self._act(event)
        except PositionError as refusal:
            self._say(Message.error(refusal))
        except Exception as error:
            report_failure(self._writer, error)
        finally:
            self._inbox.task_done()
        # After `quit`, stop at once a search that a waiting command has started.
        if self._inbox.must_end:
            self._engine.stop()
        elif self._input_ended:
            self._stop_if_endless()

    def _stop_if_endless(self) -> None:
        """After the end of the input: stop a search that only a command can end."""
        if self._searching and self._engine.is_endless:
            self._engine.stop()

    def _act(self, event: Event) -> None:
        match event.what:
            case Word.UCI:
                self._introduce()
            case Word.IS_READY:
                self._writer.write("readyok")
            case Word.NEW_GAME:
                self._engine.new_game()
                self._game = Game()
            case SetOption(name, value):
                self._say(*self._engine.options.set(name, value))
            case SetPosition(fen, moves, error):
                self._set_position(fen, moves, error)
            case Go() as go:
                self._go(go, event.received_at)
            case Word.STOP:
                self._engine.stop()
            case Word.PONDER_HIT:
                self._engine.ponderhit(event.received_at)
            case Debug(on) if on is not None and on != self._debug:
                self._debug = on
                self._say(Message(f"debug mode {'on' if on else 'off'}"))
            case Word.DISPLAY:
                self._writer.write(display(self._game.position))
            case Word.EVALUATE:
                self._writer.write(str(self._engine.explain_evaluation(self._game.position)))
            case Tool(error=str(error)):
                self._say(Message.error(error))
            case Tool(name, words):
                self._run_tool(name, words)
            case Word.HELP:
                options = [option.description() for option in self._engine.options]
                self._writer.write("\n".join([protocol.HELP, "Options:", *options]))
            case Unknown(text):
                self._say(Message.error(f"unknown command {quoted(text)}, {self._hint(text)}"))

    def _hint(self, text: str) -> str:
        """What to type instead of an unknown command, which may be a move."""
        try:
            board = self._game.position
            moves = [move.uci() for move in (*board.move_stack, legal_move(board, text))]
        except PositionError:
            return "help lists the known ones"
        start = board.root().fen()
        start = "startpos" if start == chess.STARTING_FEN else f"fen {start}"
        return f"a move: play it with secateur board, or in UCI with: position {start} moves {' '.join(moves)}"

    def _introduce(self) -> None:
        lines = [
            *(f"id {name} {text}" for name, text in self._engine.id.items()),
            *(option.declaration() for option in self._engine.options),
        ]
        if self._engine.core.is_fallback:
            from uci_engine.tools.doctor import slow_core_warning

            lines.append(format_message(Message(f"warning: {slow_core_warning(self._engine.core)}")))
        self._writer.write("\n".join([*lines, "uciok"]))

    def _set_position(self, fen: str | None, moves: Sequence[str], error: str | None) -> None:
        if error is not None:
            # Handled like an illegal position. Otherwise the next `go` would search the previous position.
            self._game.board = None
            raise PositionError(error)
        self._say(*map(Message, self._game.set(fen, moves, self._engine.options.chess960.value)))

    def _go(self, go: Go, received_at: float) -> None:
        board, limits = self._game.board, go.limits
        self._say(*go.problems)
        if go.perft is not None:
            self._perft(go.perft)
            return
        if go.searchmoves is not None and board is not None:
            moves, problems = parse_searchmoves(board, go.searchmoves)
            limits = replace(limits, searchmoves=tuple(moves))
            self._say(*problems)
        try:
            self._engine.go(board, limits, received_at, self._on_info, self._on_best_move)
            self._searching = True
            # It would cost time on the clock.
            gc.disable()
        except Exception as error:
            report_failure(self._writer, error)
            self._writer.write(format_best_move(BestMove(any_move(board))))

    def _perft(self, depth: int) -> None:
        from uci_engine.tools.perft import MAX_DEPTH, perft

        board = self._game.position
        if depth > MAX_DEPTH:
            self._say(Message.error(f"perft counts to depth {MAX_DEPTH} at most, not to {depth}"))
        else:
            self._start(lambda is_stopped: perft(self._engine, board, depth, self._writer.write, is_stopped))

    def _run_tool(self, name: str, words: Sequence[str]) -> None:
        from uci_engine.engine import UciEngine
        from uci_engine.tools import bench, openings

        def work(is_stopped: Callable[[], bool]) -> None:
            with closing(UciEngine()) as engine:
                try:
                    match name:
                        case "bench":
                            bench.bench(engine, int(words[0]) if words else None, self._writer.write, is_stopped)
                        case "speedtest":
                            bench.speedtest(engine, [*map(int, words)], self._writer.write, is_stopped)
                        case _:
                            openings.genfens(engine, words, self._writer.write, is_stopped)
                except ValueError as error:
                    self._say(Message.error(error))

        self._start(work)

    def _start(self, work: Callable[[Callable[[], bool]], None]) -> None:
        """Start a count or a benchmark in the search's thread. Its function is told whether it is stopped."""

        def guarded(is_stopped: Callable[[], bool]) -> None:
            try:
                work(is_stopped)
            except Exception as error:
                report_failure(self._writer, error)
            finally:
                self._inbox.tell(Mark.SEARCH_ENDED)

        self._engine.start(guarded)
        self._searching = True

    # The engine calls these two from the search's thread, `_on_info` also from the timer's.

    def _on_info(self, info: Info) -> None:
        self._writer.write(format_info(info))

    def _on_best_move(self, best: BestMove) -> None:
        # SEARCH_ENDED comes first, so that it precedes any command that answers the move. No output overtakes
        # the move, because `_handle` waits for the end of this thread.
        self._inbox.tell(Mark.SEARCH_ENDED)
        self._writer.write(format_best_move(best))

    def _say(self, *messages: Message) -> None:
        self.has_refused |= any(message.is_error for message in messages)
        say(self._writer, *messages)


def read(descriptor: int, inbox: Inbox, writer: Writer, parse: Callable[[str], Command] = protocol.parse) -> None:
    """Put the commands from `descriptor` into the inbox. A failure here counts as the end of the input."""
    try:
        for received_at, line in protocol.read_lines(descriptor):
            if line is None:
                say(writer, Message.error(f"a line of more than {protocol.MAX_LINE_BYTES} bytes is ignored"))
                continue
            event = Event(received_at, parse(line), line[:MAX_LINE_CHARACTERS])
            if event.what is Word.QUIT:
                inbox.quit(event.line)
                break
            inbox.receive(event)
    finally:
        inbox.tell(Mark.END_OF_INPUT, "(end of input)")


def run(begin: Callable[[], tuple[UciEngine, Game]], line: str | None = None, *, is_typed: bool = False) -> int:
    """Speak UCI on standard input and output until `quit`. With a `line`, execute that and read no input.

    To be called once, from the main thread. `begin` makes the engine and the game with the first position. `is_typed`:
    a person types the commands. Returns the exit code: 2 if the `line` was refused with an error. Raises what `begin`
    raises.
    """
    if sys.stdout is None:
        return 0
    inbox = Inbox()
    writer = Writer(sys.stdout.buffer)
    quit_on_signals(inbox)
    engine, game = begin()
    sys.setswitchinterval(SWITCH_SECONDS)
    # What there is now lives until the end, so the garbage collector can ignore it.
    gc.collect()
    gc.freeze()
    log_file = engine.options.debug_log_file
    log_file.on_set = lambda: writer.set_log(DebugLog(log_file.value) if log_file.value else None)
    # The command line may have set it already.
    if log_file.value:
        say(writer, *engine.options.set(log_file.name, log_file.value))
    dispatcher = Dispatcher(engine, inbox, writer, game)
    if line is None:
        descriptor = -1 if sys.stdin is None else sys.stdin.fileno()
        parse = protocol.parse_typed if is_typed else protocol.parse
        threading.Thread(target=read, args=(descriptor, inbox, writer, parse), name="reader", daemon=True).start()
        dispatcher.serve()
    else:
        dispatcher.execute_line(line)
    writer.set_log(None)
    return 2 if line is not None and dispatcher.has_refused else 0
