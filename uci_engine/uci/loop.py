"""The UCI loop: one thread reads commands, one executes them, and each search reports from its own thread.

`run` is the program. The reader adds the time of arrival to each command and puts it into the `Inbox`. The `Dispatcher`
takes the commands out in order and executes them on the engine, also during a search. Invariants:

- A command that needs an idle engine waits for the end of the search. Later commands that can be executed during a
  search (`stop`, `isready`) do not wait.
- A `go` stops the search before it, and so do many waiting commands. A `stop` behind a waiting `go` stops the search of
  that `go`.
- Every `go` is answered by one `bestmove`. An error in a command, ours or the GUI's, ends neither search nor program.
- At the end of the input, a search that ends by itself is finished first. `quit` stops every search.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from uci_engine.search.info import BestMove, Info
from uci_engine.text import ERROR, parse_int, quoted
from uci_engine.time_management.limits import Limits
from uci_engine.uci import protocol
from uci_engine.uci.debug_log import MAX_LINE_CHARACTERS
from uci_engine.uci.inbox import UNREAD_LIMIT, Event, Inbox, Mark, Received, quit_on_signals
from uci_engine.uci.output import Writer, connect_debug_log, report_failure, say
from uci_engine.uci.protocol import Bench, Command, Debug, SetOption, SetPosition, Unknown, Word

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

AUTHOR = "the Secateur developers"

# So many commands may wait for the end of a search. Then it is stopped: the reader pauses at UNREAD_LIMIT, and a `stop`
# might never be read.
WAITING_LIMIT = UNREAD_LIMIT // 2

# Executed at any time, even before commands that wait.
_ALWAYS = (Word.UCI, Word.IS_READY, Word.REGISTER, Word.HELP, Word.EMPTY)
# Executed at once for the running search. Behind a waiting `go` they wait for its search.
_TO_SEARCH = (Word.STOP, Word.PONDER_HIT)


class Dispatcher:
    """Executes commands, one after the other, in the thread that calls `serve` or `execute_all`."""

    def __init__(self, engine: UciEngine, inbox: Inbox, writer: Writer) -> None:
        self._engine = engine
        self._inbox = inbox
        self._writer = writer
        self._waiting: deque[Received] = deque()
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

    def execute_all(self, lines: Sequence[str]) -> None:
        """Execute these lines, waiting for the end of each search. Only a signal stops one early."""
        for line in lines:
            running = self._handle(Received(time.perf_counter(), protocol.parse(line), line))
            while running and self._searching:
                running = self._handle(self._inbox.get())
            if not running:
                break
        self._close()

    def _handle(self, event: Event) -> bool:
        """Handle one event; False for `quit`."""
        if isinstance(event, Received):
            # Noted now, not when it was read, because an earlier `setoption` may open the log.
            self._writer.note_received(event.line, event.received_at)
        if event is Mark.SEARCH_ENDED:
            # The search's thread sends this event just before its `bestmove`, so wait for the thread to end.
            self._engine.wait()
            self._searching = False
            self._execute_waiting()
            return self._searching or not self._input_ended
        if event is Mark.END_OF_INPUT:
            self._writer.note_received("(end of input)", time.perf_counter())
            self._input_ended = True
            self._stop_if_endless()
            return self._searching
        if event.command is Word.QUIT:
            return False
        if self._may_execute(event.command):
            self._execute(event)
        else:
            self._wait(event)
        return True

    def _may_execute(self, command: Command) -> bool:
        if not self._searching or command in _ALWAYS or isinstance(command, Debug | Unknown):
            return True
        return command in _TO_SEARCH and not self._go_waits

    def _wait(self, received: Received) -> None:
        self._waiting.append(received)
        self._go_waits |= isinstance(received.command, Limits)
        if self._go_waits or len(self._waiting) >= WAITING_LIMIT:
            self._engine.stop()
        if self._debug:
            self._say(f"{received.line} waits for the end of the search")

    def _execute_waiting(self) -> None:
        """Execute the commands that waited for the end of the search. Behind the next search they wait again."""
        waiting, self._waiting = self._waiting, deque()
        self._go_waits = False
        for received in waiting:
            if self._may_execute(received.command):
                self._execute(received)
            else:
                self._wait(received)

    def _close(self) -> None:
        """Stop all searches, wait until every `go` is answered, and close the engine."""
        self._inbox.must_end = True
        self._engine.stop()
        while self._searching:
            event = self._inbox.get()
            if event is Mark.SEARCH_ENDED:
                self._handle(event)
        self._engine.close()
        self._inbox.closed.set()

    def _execute(self, received: Received) -> None:
        try:
            self._act(received)
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

    def _act(self, received: Received) -> None:
        match received.command:
            case Word.UCI:
                self._introduce()
            case Word.IS_READY:
                self._writer.write("readyok")
            case Word.NEW_GAME:
                self._engine.new_game()
            case SetOption(name, value):
                self._say(*self._engine.set_option(name, value))
            case SetPosition(fen, moves, error):
                self._set_position(fen, moves, error)
            case Limits():
                self._go(received.command, received.received_at)
            case Word.STOP:
                self._engine.stop()
            case Word.PONDER_HIT:
                self._engine.ponderhit(received.received_at)
            case Debug(on) if on is not None and on != self._debug:
                self._debug = on
                self._say(f"debug mode {'on' if on else 'off'}")
            case Word.DISPLAY:
                self._writer.write(self._engine.display_text())
            case Word.EVALUATE:
                self._writer.write(self._engine.evaluation_text())
            case Bench(words):
                self._bench(words)
            case Word.HELP:
                options = [option.description() for option in self._engine.options]
                self._writer.write("\n".join([protocol.HELP, "Options:", *options]))
            case Unknown(text):
                self._say(f"error: unknown command {quoted(text)}, help lists the known ones")
            case Word.REGISTER | Word.EMPTY | Word.QUIT:
                pass

    def _introduce(self) -> None:
        lines = [
            f"id name {self._engine.name}",
            f"id author {AUTHOR}",
            *(option.declaration() for option in self._engine.options),
        ]
        if self._engine.core.is_fallback:
            from uci_engine.tools.doctor import slow_core_warning

            lines.append(protocol.format_info(Info(string=f"warning: {slow_core_warning(self._engine.core)}")))
        if self._engine.problem:
            lines.append(protocol.format_info(Info(string=f"warning: {self._engine.problem}")))
        self._writer.write("\n".join([*lines, "uciok"]))

    def _set_position(self, fen: str | None, moves: Sequence[str], error: str | None) -> None:
        if error is None:
            self._say(*self._engine.set_position(fen, moves))
        else:
            # Handled like an illegal position. Otherwise the next `go` would search the previous position.
            self._engine.set_position("", ())
            self._say(f"error: {error}")

    def _go(self, limits: Limits, received_at: float) -> None:
        self._say(*limits.problems)
        if limits.perft is not None:
            self._perft(limits.perft)
            return
        try:
            self._engine.go(limits, received_at, self._on_info, self._on_best_move)
            self._searching = True
        except Exception as error:
            from uci_engine.engine import any_move

            report_failure(self._writer, error)
            self._writer.write(protocol.format_best_move(BestMove(any_move(self._engine.board))))

    def _perft(self, depth: int) -> None:
        from uci_engine.tools.perft import perft

        self._start(lambda is_stopped: perft(self._engine, depth, self._writer.write, is_stopped))

    def _bench(self, words: Sequence[str]) -> None:
        depth = parse_int(words[0]) if words else None
        if words and (depth is None or depth < 1):
            self._say("error: bench takes a depth, for example: bench 8")
            return
        if self._engine.problem:
            self._say(f"{ERROR}{self._engine.problem}")
            return
        from uci_engine.engine import UciEngine
        from uci_engine.tools.bench import bench

        def search(is_stopped: Callable[[], bool]) -> None:
            with closing(UciEngine(owns_process=False)) as engine:
                bench(engine, depth, self._writer.write, is_stopped)

        self._start(search)

    def _start(self, work: Callable[[Callable[[], bool]], None]) -> None:
        """Start a count or a benchmark in the search's thread. Its function is told whether it is stopped."""

        def guarded(is_stopped: Callable[[], bool]) -> None:
            try:
                work(is_stopped)
            except Exception as error:
                report_failure(self._writer, error)
            finally:
                self._inbox.put(Mark.SEARCH_ENDED)

        self._engine.start(guarded)
        self._searching = True

    # The engine calls these two from the search's thread, `_on_info` also from the timer's.

    def _on_info(self, info: Info) -> None:
        self._writer.write(protocol.format_info(info))

    def _on_best_move(self, best: BestMove) -> None:
        # SEARCH_ENDED comes first, so that it precedes any command that answers the move. No output overtakes
        # the move, because `_handle` waits for the end of this thread.
        self._inbox.put(Mark.SEARCH_ENDED)
        self._writer.write(protocol.format_best_move(best))

    def _say(self, *messages: str) -> None:
        self.has_refused |= any(message.startswith(ERROR) for message in messages)
        say(self._writer, *messages)


def read(descriptor: int, inbox: Inbox, writer: Writer) -> None:
    """Put the commands from `descriptor` into the inbox. After the last, end the process if that is stuck.

    The end of the input is an event of its own. A failure here means `quit`: an engine that cannot read must not stay
    alive.
    """
    last: Event = Received(time.perf_counter(), Word.QUIT)
    try:
        for received_at, line in protocol.read_lines(descriptor):
            if line is None:
                say(writer, f"error: a line of more than {protocol.MAX_LINE_BYTES} bytes is ignored")
                continue
            received = Received(received_at, protocol.parse(line), line[:MAX_LINE_CHARACTERS])
            if received.command is Word.QUIT:
                last = received
                break
            if received.command is not Word.EMPTY:
                inbox.receive(received)
        else:
            last = Mark.END_OF_INPUT
    finally:
        if last is not Mark.END_OF_INPUT:
            inbox.must_end = True
        inbox.put(last)
        inbox.exit_if_stuck(writer)


def run(engine_factory: Callable[[], UciEngine], lines: Sequence[str] | None = None) -> int:
    """Speak UCI on standard input and output until `quit`. With `lines`, execute those and read no input.

    To be called once, from the main thread. Returns the exit code: 2 if one of the `lines` was refused with an error.
    Raises what `engine_factory` raises.
    """
    if sys.stdout is None:
        return 0
    inbox = Inbox()
    writer = Writer(sys.stdout.buffer)
    quit_on_signals(inbox, writer)
    engine = engine_factory()
    connect_debug_log(engine.options, writer)
    dispatcher = Dispatcher(engine, inbox, writer)
    if lines is None:
        descriptor = -1 if sys.stdin is None else sys.stdin.fileno()
        threading.Thread(target=read, args=(descriptor, inbox, writer), name="reader", daemon=True).start()
        dispatcher.serve()
    else:
        dispatcher.execute_all(lines)
    writer.set_log(None)
    return 2 if lines is not None and dispatcher.has_refused else 0
