"""A running UCI engine: told what to do, and listened to with the time at which each line came.

Invariant: every wait has an end, and whatever fails names the engine and what it said on stderr.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import chess
import chess.engine

from toolkit.engines.answer import Answer, Line, read_answer
from toolkit.engines.identity import digest_of_program
from toolkit.engines.process import EngineProcess
from toolkit.engines.spec import EngineSpec, Identity, go_words
from toolkit.errors import ProgramError

START_SECONDS = 30.0
QUIT_SECONDS = 2.0
# A process that ends closes its pipes a moment before its exit code and its last words are there.
END_SECONDS = 2.0
REPORTED_ERROR_CHARACTERS = 1000

DECLARATION = re.compile(
    r"option name (?P<name>.+?) type (?P<kind>check|spin|combo|button|string)(?: default ?(?P<default>.*?))?"
    r"(?: min (?P<min>-?\d+))?(?: max (?P<max>-?\d+))?(?P<choices>(?: var .+)*)"
)


class EngineError(ProgramError):
    """An engine that did not start, died, refused an option, or did not answer in time; the message names it."""


class EngineTimeoutError(EngineError):
    """An engine that did not answer in time."""


class EngineEndedError(EngineError):
    """An engine that can be talked to no more. code: its exit code, None if it lives on with its pipes closed."""

    def __init__(self, sentence: str, code: int | None, last_words: str) -> None:
        super().__init__(sentence)
        self.code = code
        # The last line that it said on stderr.
        self.last_words = last_words


@dataclass(frozen=True)
class EngineOption:
    """An option as an engine declares it."""

    name: str
    kind: str
    default: str
    minimum: int
    maximum: int
    choices: tuple[str, ...]

    @classmethod
    def read(cls, line: str) -> EngineOption | None:
        """From its `option` line; None if that cannot be read."""
        match = DECLARATION.fullmatch(line)
        if match is None:
            return None
        choices = tuple(filter(None, (match["choices"] or "").split(" var ")))
        bounds = int(match["min"] or 0), int(match["max"] or 0)
        return cls(match["name"], match["kind"], match["default"] or "", *bounds, choices)

    def allows(self, value: str) -> bool:
        """Whether the option can have this value."""
        if self.kind == "spin":
            return re.fullmatch(r"-?\d{1,18}", value) is not None and self.minimum <= int(value) <= self.maximum
        if self.kind == "check":
            return value.lower() in ("true", "false")
        return self.kind != "combo" or value in self.choices


class Engine:
    """A running engine whose options are set and which has said `readyok`. Use it as a context."""

    def __init__(
        self, spec: EngineSpec, extra_options: Iterable[tuple[str, str]] = (), start_seconds: float = START_SECONDS
    ) -> None:
        """Start it. The options of `spec` it must have; `extra_options` are set if it has them. Raises EngineError."""
        self.spec = spec
        self.name = spec.name
        self.id_name = ""
        self.options: dict[str, EngineOption] = {}
        # When the running search was asked for; None when the engine is idle.
        self.asked_at: float | None = None
        self._values: dict[str, str] = {}
        self._chess960 = False
        began = time.perf_counter()
        try:
            self._process = EngineProcess(spec.command, spec.directory)
        except (OSError, ValueError) as error:
            raise EngineError(f"{spec.name}: cannot run {shlex.join(spec.command)}: {error}") from None
        _running.add(self)
        try:
            self.send("uci")
            for _, text in self.read_until("uciok", start_seconds):
                if option := EngineOption.read(text):
                    self.options[option.name.lower()] = option
                if text.startswith("id name "):
                    self.id_name = text.removeprefix("id name ")
            if spec.identity is not None:
                self._require_identity(spec.identity)
            self.configure(spec.options)
            self.configure(pair for pair in extra_options if pair[0].lower() in self.options)
            self.synchronize(start_seconds)
        except BaseException:
            self.kill()
            raise
        # From the start of the process to its first `readyok`.
        self.start_seconds = time.perf_counter() - began

    @property
    def process_id(self) -> int:
        """Of the process that was started."""
        return self._process.process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.process.poll()

    @property
    def has_ended(self) -> bool:
        """Whether the engine can be talked to no more."""
        return self._process.ended or self.exit_code is not None

    def identity(self) -> Identity:
        """What was started. Raises ProgramError, OSError."""
        return Identity(self.id_name, digest_of_program(self.spec, self.id_name))

    def _require_identity(self, wanted: Identity) -> None:
        found = self.identity()
        if found != wanted:
            raise EngineError(f"{self.name} is not the program that the run began with: {found}, instead of {wanted}")

    def configure(self, options: Iterable[tuple[str, str]]) -> None:
        """Set options, those that have another value already. Raises EngineError for what the engine does not offer."""
        for name, value in options:
            option = self.options.get(name.lower())
            if option is None:
                raise EngineError(f"{self.name} has no option {name!r}")
            if not option.allows(value):
                raise EngineError(f"{self.name}: {name} cannot be {value!r}")
            if self._values.get(name.lower()) != value:
                self.send(f"setoption name {option.name}" + ("" if option.kind == "button" else f" value {value}"))
                self._values[name.lower()] = value

    def send(self, *lines: str) -> float:
        """Send these lines in one write; returns the time after it. Raises EngineError."""
        sent = self._process.send_bytes("".join(f"{line}\n" for line in lines).encode())
        if self._process.ended:
            raise self._failure()
        return sent

    def read(self, seconds: float) -> Line:
        """The next line. Raises EngineError when there is none within this time, or no more at all."""
        found = self._process.take_line(max(seconds, 0.0))
        if found is None:
            if self._process.ended:
                raise self._failure()
            raise EngineTimeoutError(f"{self.name} said nothing for {max(seconds, 0.0):.3g} s")
        text, arrived = found
        return Line(arrived, text.encode("latin-1").decode("utf-8", errors="replace").strip())

    def read_until(self, word: str, seconds: float) -> list[Line]:
        """The lines up to one that begins with this word. Raises EngineError when it does not come in time."""
        deadline = time.perf_counter() + seconds
        lines: list[Line] = []
        while not lines or lines[-1].text.split()[:1] != [word]:
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                raise EngineTimeoutError(f"{self.name} did not say {word} within {seconds:.3g} s")
            lines.append(self.read(remaining))
        return lines

    def synchronize(self, seconds: float = START_SECONDS) -> None:
        """Wait until everything sent so far is done."""
        self.send("isready")
        self.read_until("readyok", seconds)

    def new_game(self, seconds: float = START_SECONDS) -> None:
        """Let the engine forget what it knows. One that does not answer is killed."""
        self.send("ucinewgame")
        try:
            self.synchronize(seconds)
        except EngineTimeoutError:
            self.kill()
            raise

    def set_position(self, board: chess.Board) -> None:
        """Tell it the position (without the moves before it)."""
        self.send(f"position fen {board.shredder_fen() if board.chess960 else board.fen()}")

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """Ask for a move, and wait so long for it.

        The engine is told the moves that led to the position. One that does not answer is killed. Raises EngineError.
        """
        self.send(self._position(board))
        self.asked_at = time.perf_counter()
        self.send(f"go {go_words(limit)}")
        try:
            lines = self.read_until("bestmove", seconds)
        except EngineTimeoutError:
            self.kill()
            raise
        answer = read_answer(board, lines, self.asked_at)
        self.asked_at = None
        return answer

    def play_each(
        self, boards: Sequence[chess.Board], limit: chess.engine.Limit, seconds: float, ahead: int = 1
    ) -> Iterator[Answer]:
        """The answers to positions, each in a new game, waiting so long for each. Raises EngineError.

        `ahead`: so many are sent before the first is answered, so that the engine need not wait for the next. UCI does
        not say that an engine reads `position` while it searches. Stockfish does. `Answer.seconds` begins with the
        first of them.
        """
        if ahead == 1:
            for board in boards:
                self.new_game()
                yield self.play(board, limit, seconds)
            return
        go = f"go {go_words(limit)}"
        for first in range(0, len(boards), ahead):
            group = boards[first : first + ahead]
            asked_at = self.send(*(line for board in group for line in ("ucinewgame", self._position(board), go)))
            for board in group:
                try:
                    yield read_answer(board, self.read_until("bestmove", seconds), asked_at)
                except EngineTimeoutError:
                    self.kill()
                    raise

    def _position(self, board: chess.Board) -> str:
        if board.chess960 != self._chess960:
            self.configure([("UCI_Chess960", str(board.chess960).lower())])
            self._chess960 = board.chess960
        return position_line(board)

    def _failure(self) -> EngineEndedError:
        """What to raise when a pipe is closed. It does not matter which one was noticed first."""
        code = self._process.wait_for_exit(END_SECONDS)
        what = "has closed its pipes" if code is None else "ended"
        ending = "" if code is None else f", exit code {code}"
        words = self._process.errors[-REPORTED_ERROR_CHARACTERS:].strip().split("\n")
        # On one line: reports take the last line of what a worker raises.
        sentence = f"{self.name} {what}{ending}" + (f"; stderr: {' | '.join(words)}" if words[0] else "")
        return EngineEndedError(sentence, code, words[-1])

    def leave(self) -> None:
        """Ask the engine to end, without waiting."""
        self._process.send_bytes(b"quit\n")

    def kill(self) -> None:
        """End the process and what it started, at once."""
        self._process.kill()
        _running.discard(self)

    def close(self, seconds: float | None = None) -> bool:
        """Ask the engine to leave; whether it did so by itself within this time. It is gone in any case."""
        self.leave()
        obeyed = self._process.wait_for_exit(QUIT_SECONDS if seconds is None else seconds) is not None
        self.kill()
        return obeyed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


# The engines of this process that have not been ended.
_running: set[Engine] = set()


def end_engines(engines: Iterable[Engine]) -> None:
    """End engines together: those that are idle are asked to leave first."""
    ending = list(engines)
    for engine in ending:
        if engine.asked_at is None:
            engine.leave()
        else:
            engine.kill()
    deadline = time.monotonic() + QUIT_SECONDS
    while any(engine.exit_code is None for engine in ending) and time.monotonic() < deadline:
        time.sleep(0.01)
    for engine in ending:
        engine.kill()


def end_all_engines() -> None:
    """End every engine of this process, whatever it is doing."""
    end_engines(_running)


def identified(specs: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """The engines with their identities. Each is started, so that a mistake costs no results. Raises ProgramError."""
    found: dict[object, Identity] = {}
    engines = []
    for spec in specs:
        key = (spec.command, spec.directory, spec.options)
        if key not in found:
            with Engine(spec) as engine:
                found[key] = engine.identity()
        engines.append(replace(spec, identity=found[key]))
    return tuple(engines)


def position_line(board: chess.Board) -> str:
    """The `position` command, with the moves that led to the position."""
    fen = board.root().fen(shredder=board.chess960, en_passant="fen")
    moves = ["moves", *(move.uci() for move in board.move_stack)] if board.move_stack else []
    return " ".join(["position", "startpos" if fen == chess.STARTING_FEN else f"fen {fen}", *moves])
