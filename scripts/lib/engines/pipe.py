"""An engine at the end of a pipe: lines out, lines in with their times of arrival. Called by suite, speed and perft.

`engines.playing` plays games; this is for measuring, and for commands beyond UCI such as `go perft`. What must stay
true: every wait has an end, and whatever fails names the engine and what it said on stderr.
"""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import chess

from lib.engines.process import EngineProcess
from lib.engines.spec import EngineSpec

START_SECONDS = 30.0
QUIT_SECONDS = 2.0
REPORTED_ERROR_CHARACTERS = 1000


class PipeError(RuntimeError):
    """An engine that did not start, died, or did not answer in time; the message names it."""


class Line(NamedTuple):
    """What the engine said, and when, by `time.perf_counter`."""

    arrived: float
    text: str


@dataclass(frozen=True, slots=True)
class Info:
    """What matters here of an `info` line about the best line of moves; None for what it does not say.

    depth in plies, mate in moves (negative: the engine is mated), is_exact: no bound; move in UCI's notation.
    """

    depth: int | None = None
    nodes: int | None = None
    move: str | None = None
    mate: int | None = None
    is_exact: bool = True


def read_info(text: str) -> Info | None:
    """The facts of an `info` line; None for other lines, for free text and for lines of lesser moves."""
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
        move=words[before + 1] if before + 1 < len(words) else None,
        mate=_whole(named.get("mate")),
        is_exact="lowerbound" not in words and "upperbound" not in words,
    )


def _whole(word: str | None) -> int | None:
    try:
        return None if word is None else int(word)
    except ValueError:
        return None


class UciPipe:
    """A running engine whose options are set and which has said `readyok`. Use it as a context."""

    def __init__(self, spec: EngineSpec, extra_options: Iterable[tuple[str, str]] = ()) -> None:
        """Start it. `extra_options` are set if the engine has them; those of `spec` it must have. Raises PipeError."""
        self.name = spec.name
        self.title = spec.name
        self.declared: set[str] = set()
        # How many of its lines have been read.
        self._read = 0
        began = time.perf_counter()
        try:
            self._engine = EngineProcess(spec.command, spec.directory)
        except (OSError, ValueError) as error:
            raise PipeError(f"{spec.name}: cannot run {shlex.join(spec.command)}: {error}") from error
        try:
            self._introduce()
            self._set_options(spec.options, extra_options)
            self.synchronize(START_SECONDS)
        except BaseException:
            self.close()
            raise
        # From the start of the process to its first `readyok`.
        self.start_seconds = time.perf_counter() - began

    @property
    def session(self) -> int:
        """The number of the session that the process leads: it and all that it starts."""
        return self._engine.process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._engine.process.poll()

    def _introduce(self) -> None:
        self.send("uci")
        for _, text in self.read_until("uciok", START_SECONDS):
            if text.startswith("id name "):
                self.title = text.removeprefix("id name ")
            if text.startswith("option name "):
                self.declared.add(text.removeprefix("option name ").partition(" type ")[0].lower())

    def _set_options(self, wanted: Iterable[tuple[str, str]], extra: Iterable[tuple[str, str]]) -> None:
        for name, value in wanted:
            if name.lower() not in self.declared:
                raise PipeError(f"{self.name} has no option {name!r}")
            self.send(f"setoption name {name} value {value}")
        for name, value in extra:
            if name.lower() in self.declared:
                self.send(f"setoption name {name} value {value}")

    def send(self, *lines: str) -> float:
        """Send these lines in one write; returns the time after it. Raises PipeError."""
        sent = self._engine.send_bytes("".join(f"{line}\n" for line in lines).encode())
        if self._engine.ended:
            raise self._failure("takes no more commands")
        return sent

    def read(self, seconds: float) -> Line:
        """The next line. Raises PipeError when there is none within this time (or none is left), or no more at all."""
        if seconds <= 0:
            raise self._failure("did not finish in time")
        if not self._engine.wait_for_line("", self._read, seconds):
            raise self._failure("ended" if self._engine.ended else f"said nothing for {seconds:.3g} s")
        text = self._engine.lines[self._read].encode("latin-1").decode("utf-8", errors="replace").strip()
        line = Line(self._engine.arrivals[self._read], text)
        self._read += 1
        return line

    def read_until(self, word: str, seconds: float) -> list[Line]:
        """The lines up to one that begins with this word. Raises PipeError when it does not come in time."""
        deadline = time.perf_counter() + seconds
        lines: list[Line] = []
        while not lines or lines[-1].text.split()[:1] != [word]:
            remaining = deadline - time.perf_counter()
            if remaining <= 0:
                raise self._failure(f"did not say {word} within {seconds:.3g} s")
            lines.append(self.read(remaining))
        return lines

    def synchronize(self, seconds: float = START_SECONDS) -> None:
        """Wait until everything sent so far is done."""
        self.send("isready")
        self.read_until("readyok", seconds)

    def new_game(self) -> None:
        """Let the engine forget what it knows."""
        self.send("ucinewgame")
        self.synchronize()

    def set_position(self, board: chess.Board) -> None:
        """Tell it the position (without the moves before it)."""
        self.send(f"position fen {board.shredder_fen() if board.chess960 else board.fen()}")

    def _failure(self, what: str) -> PipeError:
        # The output of a process ends a moment before its exit code and its last words are there.
        code = self._engine.wait_for_exit(1.0) if self._engine.ended else self.exit_code
        ending = "" if code is None else f", exit code {code}"
        # On one line: reports take the last line of what a worker raises.
        said = " | ".join(self._engine.errors[-REPORTED_ERROR_CHARACTERS:].split("\n")).strip(" |")
        return PipeError(f"{self.name} {what}{ending}" + (f"; stderr: {said}" if said else ""))

    def close(self) -> None:
        """Ask the engine to leave, and end it, and what it started, if it does not."""
        self._engine.send_bytes(b"quit\n")
        self._engine.close_input()
        self._engine.wait_for_exit(QUIT_SECONDS)
        self._engine.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
