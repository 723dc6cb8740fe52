"""Running UCI engines: told what to do, listened to with the time of each line, and kept from game to game.

python-chess (`chess.engine`) starts the process, reads its pipes, takes its name and its options, sets these, and
writes `position` and `go`. The lines of a search are read here, for what python-chess does not offer: the time of each
line, the last exact score of the best line, illegal lines of moves as they are, `eval`, and searches asked for ahead.

Invariants: every wait has an end. Whatever fails names the engine and what it said on stderr. No process is left
behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import shlex
import signal
import threading
import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Self, TypeVar

import chess
import chess.engine

from toolkit.engines.spec import EngineSpec, digest_of_program
from toolkit.errors import ProgramError

T = TypeVar("T")

START_SECONDS = 30.0
QUIT_SECONDS = 2.0
# A process that ends closes its pipes a moment before its exit code and its last words are there.
END_SECONDS = 2.0
# A program that writes so much without the end of a line is no engine.
MAX_LINE_BYTES = 1 << 20
# Engines that wait for their next game; each holds the memory of its hash table.
MAX_WAITING = 12

# It complains of lines that are no UCI, and of all that comes on stderr.
logging.getLogger("chess.engine").setLevel(logging.CRITICAL)


class EngineError(ProgramError):
    """An engine that did not start, died, refused an option, or did not answer in time; the message names it."""


class EngineTimeoutError(EngineError):
    """An engine that did not answer in time."""


class EngineEndedError(EngineError):
    """An engine that can be talked to no more. code: its exit code, None if it lives on with its pipes closed."""

    def __init__(self, sentence: str, code: int | None) -> None:
        super().__init__(sentence)
        self.code = code


# ---- What an engine says ----


class Line(NamedTuple):
    """What the engine said, and when, by `time.perf_counter`."""

    arrived: float
    text: str


@dataclass(frozen=True, slots=True)
class Info:
    """What matters here of an `info` line about the best line of moves; None for what it does not say.

    depth in plies, mate in moves (negative: the engine is mated), is_exact: no bound; pv in UCI's notation.
    """

    depth: int | None = None
    nodes: int | None = None
    pv: tuple[str, ...] = ()
    centipawns: int | None = None
    mate: int | None = None
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one `go`: the legal move (None for anything else), the `bestmove` line, and what came before it.

    seconds: from `go` to `bestmove`. score and depth: of the last exact score of the best line, or of the last bound
    if no score was exact. nodes: the last number that it reported.
    """

    move: chess.Move | None
    text: str
    seconds: float
    score: chess.engine.PovScore | None = None
    depth: int | None = None
    nodes: int | None = None


def read_info(text: str) -> Info | None:
    """What an `info` line says; None for other lines, for free text and for lines of lesser moves."""
    words = text.partition(" string ")[0].split()
    if words[:1] != ["info"]:
        return None
    # The value of a word is the word behind it; the line of moves ends what can have a name.
    before = words.index("pv") if "pv" in words else len(words)
    named = dict(itertools.pairwise(words[1:before]))
    if named.get("multipv", "1") != "1":
        return None
    return Info(
        depth=_whole(named.get("depth")),
        nodes=_whole(named.get("nodes")),
        pv=tuple(words[before + 1 :]),
        centipawns=_whole(named.get("cp")),
        mate=_whole(named.get("mate")),
        is_exact="lowerbound" not in words and "upperbound" not in words,
    )


def _whole(word: str | None) -> int | None:
    try:
        return None if word is None else int(word)
    except ValueError:
        return None


def read_answer(board: chess.Board, lines: Sequence[Line], asked_at: float) -> Answer:
    """What the lines up to `bestmove` amount to."""
    infos = [info for line in lines[:-1] if (info := read_info(line.text)) is not None]
    scored = [info for info in infos if info.centipawns is not None or info.mate is not None]
    chosen = next((info for info in reversed(scored) if info.is_exact), scored[-1] if scored else None)
    counts = [info.nodes for info in infos if info.nodes is not None]
    last = lines[-1]
    answer = Answer(
        move=legal_move(board, last.text),
        text=last.text,
        seconds=last.arrived - asked_at,
        nodes=counts[-1] if counts else None,
    )
    if chosen is None:
        return answer
    score = chess.engine.Cp(chosen.centipawns or 0) if chosen.mate is None else chess.engine.Mate(chosen.mate)
    return replace(answer, score=chess.engine.PovScore(score, board.turn), depth=chosen.depth)


def legal_move(board: chess.Board, best_move: str) -> chess.Move | None:
    """The move of a `bestmove` line, if it is a legal one; a null move is none."""
    try:
        return board.parse_uci(best_move.split()[1]) or None
    except (IndexError, ValueError):
        return None


# ---- An engine that runs ----


class _Protocol(chess.engine.UciProtocol):
    """python-chess's, which keeps every line with its arrival."""

    def __init__(self) -> None:
        super().__init__()
        # None: no more will come.
        self.lines: SimpleQueue[Line | None] = SimpleQueue()
        # The last line on stderr.
        self.last_words = ""
        self._arrived = 0.0

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        self._arrived = time.perf_counter()
        super().pipe_data_received(fd, data)
        if len(self.buffer[fd]) > MAX_LINE_BYTES:
            self.buffer[fd].clear()

    def line_received(self, line: str) -> None:
        self.lines.put(Line(self._arrived, line.strip()))

    def error_line_received(self, line: str) -> None:
        self.last_words = line

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.lines.put(None)

    async def say(self, lines: Sequence[str]) -> float:
        """Send these lines in one write; returns the time before it."""
        began = time.perf_counter()
        self.send_line("\n".join(lines))
        return began

    async def set_option(self, name: str, value: str) -> None:
        """Set an option that has another value. Raises chess.engine.EngineError."""
        option = self.options.get(name)
        if option is not None and option.type == "check" and value.lower() not in ("true", "false"):
            raise chess.engine.EngineError(f"{name} cannot be {value!r}")
        self._setoption(option.name if option else name, value.lower() if option and option.type == "check" else value)

    async def set_board(self, board: chess.Board) -> None:
        """Tell the position, with the moves that led to it. Raises chess.engine.EngineError."""
        self._position(board)

    async def search(self, board: chess.Board, limit: chess.engine.Limit) -> float:
        """Ask for a move; returns the time of `go`. Raises chess.engine.EngineError."""
        self._position(board)
        began = time.perf_counter()
        self._go(limit)
        return began


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The one that reads what all engines of this process say, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="engines", daemon=True).start()
    return loop


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()


class Engine:
    """A running engine whose options are set and which has said `readyok`. Use it as a context."""

    def __init__(self, spec: EngineSpec, start_seconds: float = START_SECONDS) -> None:
        """Start it. Raises EngineError."""
        self.spec = spec
        self.name = spec.name
        try:
            # A session of its own: what it starts ends with it, and an interrupt of the tool is not meant for it.
            started = _Protocol.popen(list(spec.command), cwd=spec.directory, start_new_session=True)
            self._transport, self._protocol = _run(started)
        except (OSError, ValueError) as error:
            raise EngineError(f"{spec.name}: cannot run {shlex.join(spec.command)}: {error}") from None
        self.process_id = self._transport.get_pid()
        _running.add(self)
        try:
            try:
                self._ask(asyncio.wait_for(self._protocol.initialize(), start_seconds))
            except TimeoutError:
                raise EngineTimeoutError(f"{self.name} did not say uciok within {start_seconds:.3g} s") from None
            self.options = self._protocol.options
            self.id_name = self._protocol.id.get("name", "")
            if spec.identity is not None and spec.identity != (found := self.identity()):
                raise EngineError(f"{self.name} is not the program that the run began with, but {found}")
            self.configure(spec.options)
            self.synchronize(start_seconds)
        except BaseException:
            self.kill()
            raise

    def _ask(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Have the protocol do something. Raises EngineError for what python-chess complains of."""
        try:
            return _run(coroutine)
        except chess.engine.EngineTerminatedError:
            raise self._failure() from None
        except chess.engine.EngineError as error:
            raise EngineError(f"{self.name}: {error}") from None

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._transport.get_returncode()

    def identity(self) -> str:
        """Of what was started. Raises ProgramError, OSError."""
        return f"{self.id_name} ({digest_of_program(self.spec, self.id_name)})"

    def configure(self, options: Iterable[tuple[str, str]]) -> None:
        """Set options, those that have another value. Raises EngineError for what the engine does not offer."""
        for name, value in options:
            self._ask(self._protocol.set_option(name, value))

    def send(self, *lines: str) -> float:
        """Send these lines in one write; returns the time before it. An engine that has ended takes them too."""
        return self._ask(self._protocol.say(lines))

    def read_until(self, word: str, seconds: float) -> list[Line]:
        """The lines up to one that begins with this word. One that does not come in time is waited for no more: the
        engine is killed. Raises EngineError.
        """
        deadline = time.perf_counter() + seconds
        lines: list[Line] = []
        while (remaining := deadline - time.perf_counter()) > 0:
            with contextlib.suppress(Empty):
                line = self._protocol.lines.get(timeout=remaining)
                if line is None:
                    self._protocol.lines.put(None)
                    raise self._failure()
                lines.append(line)
                if line.text.split()[:1] == [word]:
                    return lines
        self.kill()
        raise EngineTimeoutError(f"{self.name} did not say {word} within {seconds:.3g} s")

    def synchronize(self, seconds: float = START_SECONDS) -> None:
        """Wait until everything sent so far is done. Raises EngineError."""
        self.send("isready")
        self.read_until("readyok", seconds)

    def new_game(self) -> None:
        """Let the engine forget what it knows. Raises EngineError."""
        self.send("ucinewgame")
        self.synchronize()

    def set_position(self, board: chess.Board) -> None:
        """Tell it the position, with the moves that led to it. Raises EngineError."""
        self._ask(self._protocol.set_board(board))

    def search(self, board: chess.Board, limit: chess.engine.Limit) -> float:
        """Ask for a move in a position; returns the time of `go`. Raises EngineError."""
        return self._ask(self._protocol.search(board, limit))

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """Ask for a move, and wait so long for it. Raises EngineError."""
        asked_at = self.search(board, limit)
        return read_answer(board, self.read_until("bestmove", seconds), asked_at)

    def play_each(
        self, boards: Sequence[chess.Board], limit: chess.engine.Limit, seconds: float, ahead: int = 1
    ) -> Iterator[Answer]:
        """The answers to positions, each in a new game, waiting so long for each. Raises EngineError.

        `ahead`: so many are sent before the first is answered, so that the engine need not wait for the next. UCI does
        not say that an engine reads `position` while it searches. Stockfish does.
        """
        for first in range(0, len(boards), ahead):
            group = boards[first : first + ahead]
            asked_at = []
            for board in group:
                self.send("ucinewgame")
                if ahead == 1:
                    self.synchronize()
                asked_at.append(self.search(board, limit))
            for board, began in zip(group, asked_at, strict=True):
                yield read_answer(board, self.read_until("bestmove", seconds), began)

    def _failure(self) -> EngineEndedError:
        """What to raise when no more will come."""
        self._wait_for_exit(END_SECONDS)
        code, words = self.exit_code, self._protocol.last_words
        what = "has closed its pipes" if code is None else f"ended, exit code {code}"
        return EngineEndedError(f"{self.name} {what}" + (f"; stderr: {words}" if words else ""), code)

    def _wait_for_exit(self, seconds: float) -> None:
        """Wait until the process has ended and all that it said has been read, but not longer."""
        with contextlib.suppress(TimeoutError):
            _run(asyncio.wait_for(asyncio.shield(self._protocol.returncode), seconds))

    def kill(self) -> None:
        """End the process and what it started, at once."""
        if self not in _running:
            return
        _running.discard(self)
        if hasattr(os, "killpg"):
            # PermissionError: all that is left of the session waits to be buried, on some systems.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process_id, signal.SIGKILL)
        _loop().call_soon_threadsafe(self._transport.close)
        self._wait_for_exit(END_SECONDS)

    def close(self, seconds: float = QUIT_SECONDS) -> None:
        """Ask the engine to leave. It is gone after this time in any case."""
        self.send("quit")
        self._wait_for_exit(seconds)
        self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


# The engines of this process that have not been ended.
_running: set[Engine] = set()


def end_engines(engines: Iterable[Engine]) -> None:
    """End engines, asked to leave all at once."""
    ending = list(engines)
    for engine in ending:
        engine.send("quit")
    deadline = time.monotonic() + QUIT_SECONDS
    for engine in ending:
        engine.close(max(0.0, deadline - time.monotonic()))


def end_all_engines() -> None:
    """End every engine of this process, whatever it is doing."""
    end_engines(_running)


def identified(specs: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """The engines with their identities. Each is started, so that a mistake costs no results. Raises ProgramError."""
    engines = []
    for spec in specs:
        with Engine(spec) as engine:
            engines.append(replace(spec, identity=engine.identity()))
    return tuple(engines)


# ---- Engines that are kept ----


class EngineCache:
    """Running engines by name. Use it as a context.

    Invariant: an engine that died or broke a rule is replaced before its next game.
    """

    def __init__(self) -> None:
        # The one that was used last stands last.
        self._engines: dict[str, Engine] = {}

    def engine(self, spec: EngineSpec) -> Engine:
        """The engine with these options, started if it does not run. Raises EngineError when it cannot be started."""
        engine = self._engines.pop(spec.name, None)
        if engine is not None and (engine.exit_code is not None or not _differ_in_values_only(engine.spec, spec)):
            engine.close()
            engine = None
        engine = self._engines[spec.name] = engine or Engine(spec)
        engine.spec = spec
        engine.configure(spec.options)
        while len(self._engines) > MAX_WAITING:
            self.dismiss(next(iter(self._engines.values())).spec)
        return engine

    def dismiss(self, spec: EngineSpec) -> None:
        """End this engine, so that the next game starts a fresh one."""
        engine = self._engines.pop(spec.name, None)
        if engine is not None:
            engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        end_engines(self._engines.values())


def _differ_in_values_only(one: EngineSpec, other: EngineSpec) -> bool:
    """Whether a process of the one can play for the other after `setoption`."""
    return (one.command, one.directory) == (other.command, other.directory) and (
        {name for name, _ in one.options} == {name for name, _ in other.options}
    )


# The one of a process of ours, which does one task at a time and ends its engines when it ends (toolkit.pool). There is
# none on a cluster, whose workers outlive the program.
_kept: list[EngineCache] = []


def keep_engines() -> None:
    """From now on `running_engines` keeps its engines from task to task, for the life of this process."""
    _kept.append(EngineCache())


@contextmanager
def running_engines() -> Iterator[EngineCache]:
    """A cache for one task."""
    if _kept:
        yield _kept[0]
    else:
        with EngineCache() as cache:
            yield cache
