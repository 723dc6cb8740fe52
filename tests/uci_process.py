"""The real program in a process of its own, and a strict reader of what it says.

`UciProcess` sends lines and waits for answers, always with a time limit and never by sleeping. `read_search`
and `read_info` know the grammar of the output and raise AssertionError on anything else. When a block
`with UciProcess()` ends well, the whole conversation is audited: see `UciProcess.audit`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Self

import chess

import uci_engine
from uci_engine.protocol import Go, IsReady, Quit, parse
from uci_engine.terminal import LONGEST_LINE_BYTES

# The directory that the package under test was imported from: the process must run that one too.
PACKAGE_ROOT = Path(uci_engine.__file__).parents[1]

# How long any answer may take. Far more than needed: it ends a test that would hang, it measures nothing.
PATIENCE_SECONDS = 30.0

# The duty is to end within one second of being told to, on a machine that has time for it. Tests that may run
# on a busy one allow more, and still notice an engine that hangs.
EXIT_SECONDS = 5.0

MOVE = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?")
COUNTERS = ("depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "time", "currmovenumber")


@dataclass
class InfoLine:
    """An `info` line, taken apart. `score` is e.g. ("cp", 31) or ("mate", -2)."""

    numbers: dict[str, int] = field(default_factory=dict)
    score: tuple[str, int] | None = None
    bound: str | None = None
    wdl: tuple[int, int, int] | None = None
    pv: list[str] | None = None
    currmove: str | None = None
    string: str | None = None


@dataclass
class Search:
    """What one `go` was answered: every line, its `info` lines taken apart, and the answer."""

    lines: list[str]
    infos: list[InfoLine]
    best: str
    ponder: str | None

    @property
    def last_pv(self) -> InfoLine:
        """The last best line that was reported."""
        return [info for info in self.infos if info.pv and info.numbers.get("multipv", 1) == 1][-1]

    @property
    def strings(self) -> list[str]:
        return [info.string for info in self.infos if info.string is not None]


def read_info(line: str) -> InfoLine:
    """Take an `info` line apart; AssertionError unless it is exactly as the UCI text has it."""
    assert_clean(line)
    info = InfoLine()
    head, separator, text = line.partition(" string ")
    if separator:
        info.string = text
        assert text, line
    words = head.split(" ")
    assert words.pop(0) == "info", line
    assert words or separator, line
    seen: set[str] = set()
    while words:
        key = words.pop(0)
        assert key not in seen, f"{key} twice: {line}"
        seen.add(key)
        if key in COUNTERS:
            word = words.pop(0)
            assert re.fullmatch(r"0|[1-9][0-9]{0,17}", word), line
            info.numbers[key] = int(word)
        elif key == "score":
            kind, word = words.pop(0), words.pop(0)
            assert kind in ("cp", "mate"), line
            assert re.fullmatch(r"0|-?[1-9][0-9]{0,4}", word), line
            info.score = (kind, int(word))
            if words and words[0] in ("lowerbound", "upperbound"):
                info.bound = words.pop(0)
        elif key == "wdl":
            win, draw, loss = (int(words.pop(0)) for _ in range(3))
            assert win + draw + loss == 1000, line
            assert min(win, draw, loss) >= 0, line
            info.wdl = (win, draw, loss)
        elif key == "currmove":
            info.currmove = words.pop(0)
            assert MOVE.fullmatch(info.currmove), line
        elif key == "pv":
            info.pv, words = words, []
            assert info.pv, line
            assert all(MOVE.fullmatch(move) for move in info.pv), line
        else:
            raise AssertionError(f"{key!r} in {line!r}")
    numbers = info.numbers
    assert "depth" in numbers or "seldepth" not in numbers, line
    assert numbers.get("hashfull", 0) <= 1000, line
    assert numbers.get("multipv", 1) >= 1, line
    assert numbers.get("currmovenumber", 1) >= 1, line
    if info.pv is not None:
        assert info.score is not None, f"a line without a score: {line}"
        assert "depth" in numbers, f"a line without a depth: {line}"
    return info


def read_search(lines: Sequence[str]) -> Search:
    """The lines from `go` to `bestmove`; AssertionError unless they are a proper answer."""
    *before, last = lines
    infos = [read_info(line) for line in before if line.startswith("info")]
    others = [line for line in before if not line.startswith("info")]
    assert set(others) <= {"readyok"}, f"neither info nor readyok: {others}"
    words = last.split(" ")
    assert words[0] == "bestmove", last
    if last == "bestmove (none)":
        return Search(list(lines), infos, "(none)", None)
    assert len(words) == 2 or (len(words) == 4 and words[2] == "ponder"), last
    moves = words[1::2]
    assert all(MOVE.fullmatch(move) for move in moves), last
    search = Search(list(lines), infos, moves[0], moves[1] if len(moves) == 2 else None)
    pv = search.last_pv.pv
    assert pv is not None
    assert pv[0] == search.best, f"the last pv begins with {pv[0]}, but {last}"
    reports = [info for info in infos if info.string is None]
    assert reports[-1].pv is not None, f"the last report before {last} has no pv"
    return search


def assert_clean(line: str) -> None:
    """Printable ASCII, single blanks outside of free text, none at the end."""
    assert line.isascii(), repr(line)
    assert line == line.rstrip(), repr(line)
    assert line.isprintable(), repr(line)
    assert "  " not in line.partition(" string ")[0], repr(line)


def assert_legal(search: Search, board: chess.Board) -> None:
    """The answer, and every line that was reported, can be played on this board."""
    assert chess.Move.from_uci(search.best) in board.legal_moves, search.best
    for info in search.infos:
        position = board.copy(stack=False)
        for word in info.pv or ():
            move = position.parse_uci(word)
            assert position.uci(move) == word, f"{word} should be written {position.uci(move)}"
            position.push(move)
    if search.ponder is not None:
        position = board.copy(stack=False)
        position.push_uci(search.best)
        position.push_uci(search.ponder)


class UciProcess:
    """`python -m uci_engine`, with its output read as it comes."""

    def __init__(self, *arguments: str, core: str | None = None) -> None:
        """`core`: the value for SECATEUR_CORE; None leaves the environment as it is."""
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}
        if core is not None:
            environment["SECATEUR_CORE"] = core
        self._sent: list[bytes] = []
        self.lines: list[str] = []
        self._arrivals: list[float] = []
        self._taken = 0
        self._news = threading.Condition()
        self._ended = False
        self._errors = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            arrival = time.perf_counter()
            with self._news:
                self.lines.append(raw.decode("latin-1").removesuffix("\n"))
                self._arrivals.append(arrival)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for raw in self.process.stderr:
            self._errors += raw

    @property
    def errors(self) -> str:
        """What has arrived on stderr so far; all of it once the process has ended."""
        return self._errors.decode("utf-8", errors="replace")

    def send(self, *lines: str) -> float:
        """Send these lines in one write; returns the time at which it was done."""
        return self.send_bytes("".join(f"{line}\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> float:
        """Send these bytes; a process that has ended takes them too."""
        assert self.process.stdin is not None
        self._sent.append(data)
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            with self._news:
                self._ended = True
        return time.perf_counter()

    @property
    def sent(self) -> list[str]:
        """The lines sent so far."""
        return re.split(r"[\r\n]", b"".join(self._sent).decode("utf-8", errors="replace"))

    def close_input(self) -> None:
        """Tell the process that no more will come."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_for(self, wanted: str | Callable[[str], bool], seconds: float = PATIENCE_SECONDS) -> list[str]:
        """The lines up to one that is `wanted`, or begins with it as a word. A line is given out once."""

        def matches(line: str) -> bool:
            if isinstance(wanted, str):
                return line == wanted or line.startswith(wanted + " ")
            return wanted(line)

        deadline = time.monotonic() + seconds
        position = self._taken
        with self._news:
            while True:
                while position < len(self.lines):
                    position += 1
                    if matches(self.lines[position - 1]):
                        result = self.lines[self._taken : position]
                        self._taken = position
                        return result
                remaining = deadline - time.monotonic()
                if self._ended or remaining <= 0:
                    state = "ended" if self._ended else f"did not say it in {seconds:g} s"
                    raise AssertionError(
                        f"waited for {wanted!r}, the process {state}; last said {self.lines[-5:]}, "
                        f"last heard {[line[:200] for line in self.sent[-5:]]}; stderr: {self.errors[-2000:]}"
                    )
                self._news.wait(remaining)

    def arrived_at(self) -> float:
        """When the last line that `wait_for` returned came in, as `time.perf_counter()` counts."""
        return self._arrivals[self._taken - 1]

    def sync(self) -> list[str]:
        """The lines said until now, as far as nobody has taken them: ends with an isready and its answer."""
        self.send("isready")
        return self.wait_for("readyok")[:-1]

    def search(self, go: str, board: chess.Board | None = None) -> Search:
        """Send `go` and read the answer; with a board, every move in it must be legal there."""
        self.send(go)
        return self.answer(board)

    def answer(self, board: chess.Board | None = None) -> Search:
        """Read up to the next `bestmove`."""
        search = read_search(self.wait_for("bestmove"))
        if board is not None:
            assert_legal(search, board)
        return search

    def wait_for_exit(self, seconds: float = PATIENCE_SECONDS) -> int:
        """The exit code, once the process has ended and all it said has been read."""
        code = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        return code

    def quit(self) -> None:
        """Send `quit` and check that the process obeys."""
        self.send("quit")
        assert self.wait_for_exit() == 0

    def kill(self) -> None:
        """Free everything, whatever state the process is in."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue

    def audit(self) -> None:
        """What holds for every conversation, once it has ended.

        One `bestmove` for each `go` and one `readyok` for each `isready`, up to the `quit`; output in the
        format that UCI asks for; nothing on stderr.
        """
        assert self.errors == ""
        lines = (line for line in self.sent if len(line) <= LONGEST_LINE_BYTES)
        commands = list(takewhile(lambda command: command != Quit(), map(parse, lines)))
        goes = sum(isinstance(command, Go) and command.limits.perft is None for command in commands)
        best_moves = [line for line in self.lines if line.startswith("bestmove")]
        assert len(best_moves) == goes, f"{goes} go, {len(best_moves)} bestmove"
        assert self.lines.count("readyok") == commands.count(IsReady())
        for line in self.lines:
            assert_clean_or_text(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                if self.process.poll() is None:
                    self.quit()
                self.audit()
        finally:
            self.kill()


def assert_clean_or_text(line: str) -> None:
    """An `info` line by its grammar; anything else at least in ASCII."""
    if line.startswith("info"):
        read_info(line)
    assert line.isascii(), repr(line)
    assert line == line.rstrip(), repr(line)
