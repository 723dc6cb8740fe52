"""The real program in a process of its own, and a strict reader of what it says.

`UciProcess` sends lines and waits for answers, always with a time limit and never by sleeping. It knows the grammar of
the output, by the letter of the UCI text, and raises on anything else. Moves are words there: whether they are legal,
only the position tells. When a block `with UciProcess()` ends well, the whole conversation is audited: see
`UciProcess.audit`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from types import TracebackType
from typing import Self

import chess
import chess.engine

from tests.support import ENVIRONMENT, PATIENCE_SECONDS
from uci_engine.uci.protocol import MAX_LINE_BYTES, Go, Word, parse

# The duty is to end within one second of being told to, on a machine that has time for it. Tests that may run
# on a busy one allow more, and still notice an engine that hangs.
EXIT_SECONDS = 5.0


_MOVE = r"[a-h][1-8][a-h][1-8][nbrq]?"
_WHOLE = r"(?:0|[1-9][0-9]{0,17})"
_FIELD = re.compile(
    rf" (?P<key>depth|seldepth|multipv|nodes|nps|hashfull|tbhits|cpuload|time|currmovenumber) (?P<number>{_WHOLE})"
    rf"| (?P<score>score) (?P<unit>cp|mate) (?P<value>-?{_WHOLE})(?: (?P<bound>lowerbound|upperbound))?"
    rf"| (?P<wdl>wdl) (?P<permille>{_WHOLE} {_WHOLE} {_WHOLE})"
    rf"| (?P<currmove>currmove) (?P<move>{_MOVE})"
    rf"| (?P<pv>pv) (?P<moves>{_MOVE}(?: {_MOVE})*)"
    r"| (?P<string>string) (?P<text>[!-~](?:[ -~]*[!-~])?)$"
)
_OPTION = re.compile(
    r"option name (?P<name>\S+(?: \S+)*?) type (?P<type>button|check|spin|string)"
    r"(?:(?<=button)|(?<=check) default (?:true|false)|(?<=string) default \S+(?: \S+)*"
    r"|(?<=spin) default -?[0-9]+ min (?P<min>-?[0-9]+) max (?P<max>-?[0-9]+))"
)
_BEST_MOVE = re.compile(rf"bestmove (?P<move>{_MOVE}|\(none\))(?: ponder (?P<ponder>{_MOVE}))?")

MAX_CP = 99_999
"""Far above any evaluation, and below what a counter gone astray would give."""
MAX_MATE_MOVES = 1_000


@dataclass
class InfoLine:
    """An `info` line. `score` is, for example, ("cp", 31) or ("mate", -2); `wdl` is in permille."""

    numbers: dict[str, int] = field(default_factory=dict)
    score: tuple[str, int] | None = None
    bound: str | None = None
    wdl: tuple[int, ...] | None = None
    pv: list[str] | None = None
    currmove: str | None = None
    string: str | None = None


def read_info(line: str) -> InfoLine:
    """Take an `info` line apart."""
    info = InfoLine()
    seen: set[str] = set()
    place = len("info")
    while line.startswith("info") and (match := _FIELD.match(line, place)):
        place = match.end()
        key = match["key"] or next(name for name in ("score", "wdl", "currmove", "pv", "string") if match[name])
        if key in seen:
            raise ValueError(f"{key} twice: {line!r}")
        seen.add(key)
        if match["key"]:
            info.numbers[key] = int(match["number"])
        elif match["score"]:
            info.score, info.bound = (match["unit"], int(match["value"])), match["bound"]
        elif match["wdl"]:
            info.wdl = tuple(map(int, match["permille"].split()))
        elif match["pv"]:
            info.pv = match["moves"].split()
        else:
            info.currmove, info.string = match["move"] or info.currmove, match["text"]
    if not seen or place != len(line):
        raise ValueError(f"no info of UCI at {line[place : place + 50]!r}: {line!r}")
    if problem := _problem(info):
        raise ValueError(f"{problem}: {line!r}")
    return info


def _problem(info: InfoLine) -> str | None:
    """What does not go together."""
    numbers = info.numbers
    if "depth" not in numbers and ("seldepth" in numbers or info.pv):
        return "no depth"
    if info.pv and info.score is None:
        return "a line of moves without a score"
    if max(numbers.get("hashfull", 0), numbers.get("cpuload", 0)) > 1000:
        return "more than 1000 permille"
    if min(numbers.get("multipv", 1), numbers.get("currmovenumber", 1)) < 1:
        return "multipv and currmovenumber count from 1"
    if info.wdl is not None and sum(info.wdl) != 1000:
        return "wdl does not add up to 1000"
    if info.score is not None and abs(info.score[1]) > {"cp": MAX_CP, "mate": MAX_MATE_MOVES}[info.score[0]]:
        return "an impossible score"
    return None


def read_best_move(line: str) -> tuple[str, str | None]:
    """The move of a `bestmove` line, or "(none)", and the reply to ponder on."""
    match = _BEST_MOVE.fullmatch(line)
    if match is None or (match["move"] == "(none)" and match["ponder"]):
        raise ValueError(f"neither a move nor a move and a reply: {line!r}")
    return match["move"], match["ponder"]


def read_option(line: str) -> chess.engine.Option:
    """The declaration of an option, without its default."""
    found = _OPTION.fullmatch(line)
    if found is None:
        raise ValueError(f"no option of UCI: {line!r}")
    lowest, highest = (None if found[name] is None else int(found[name]) for name in ("min", "max"))
    return chess.engine.Option(found["name"], found["type"], None, lowest, highest, [])


def play(board: chess.Board, words: Sequence[str]) -> None:
    """Check that these moves can be played from here, one after the other, and are written as UCI has it."""
    position = board.copy(stack=False)
    for word in words:
        move = position.parse_uci(word)
        assert move
        assert position.uci(move) == word, f"{word} should be written {position.uci(move)}"
        position.push(move)


class UciProcess:
    """`python -m uci_engine`, with its output read as it comes.

    `lines` and `arrivals` (as `time.perf_counter` counts) only grow; a line is complete once it has its arrival.
    Leaving the block ends the process.
    """

    def __init__(self, *arguments: str, core: str | None = None, reads_output: bool = True) -> None:
        """`core`: the value for SECATEUR_CORE; None leaves the environment as it is. `reads_output`: False where a test
        reads `output` itself; then nothing is audited but stderr.
        """
        self.lines: list[str] = []
        self.arrivals: list[float] = []
        self._news = threading.Condition()
        self._has_ended = False
        self._sent: list[bytes] = []
        self._taken = 0
        # What has arrived on stderr so far.
        self.errors = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *arguments],
            env=ENVIRONMENT if core is None else {**ENVIRONMENT, "SECATEUR_CORE": core},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A session of its own: an interrupt of the tests is not meant for it.
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.reads_output = reads_output
        targets = [self._read_errors, self._read] if reads_output else [self._read_errors]
        self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        for raw in self.output:
            arrival = time.perf_counter()
            with self._news:
                self.lines.append(raw.decode("latin-1").removesuffix("\n").removesuffix("\r"))
                self.arrivals.append(arrival)
                self._news.notify_all()
        with self._news:
            self._has_ended = True
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for raw in self.process.stderr:
            self.errors += raw.decode("utf-8", errors="replace")

    def send(self, *lines: str) -> float:
        """Send these lines in one write; returns the time at which it was done."""
        return self.send_bytes("".join(f"{line}\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> float:
        """Send these bytes; a process that has ended takes them too."""
        assert self.process.stdin is not None
        self._sent.append(data)
        with suppress(OSError):  # nobody reads
            self.process.stdin.write(data)
            self.process.stdin.flush()
        return time.perf_counter()

    def close_input(self) -> None:
        """Tell the process that no more will come."""
        assert self.process.stdin is not None
        with suppress(OSError):  # what is left cannot be written, because nobody reads
            self.process.stdin.close()

    @property
    def sent(self) -> list[str]:
        """The lines sent so far."""
        return re.split(r"[\r\n]", b"".join(self._sent).decode("utf-8", errors="replace"))

    def wait_for(self, wanted: str | Callable[[str], bool]) -> list[str]:
        """The lines up to one that is `wanted`, or begins with it as a word. A line is given out once."""

        def matches(line: str) -> bool:
            if isinstance(wanted, str):
                return line == wanted or line.startswith(wanted + " ")
            return wanted(line)

        deadline = time.monotonic() + PATIENCE_SECONDS
        position = self._taken
        while self.wait_for_line(position, deadline - time.monotonic()):
            position += 1
            if matches(self.lines[position - 1]):
                result = self.lines[self._taken : position]
                self._taken = position
                return result
        raise AssertionError(
            f"waited for {wanted!r}, exit code {self.process.poll()}; last said {self.lines[-5:]}, "
            f"last heard {[line[:200] for line in self.sent[-5:]]}; stderr: {self.errors[-2000:]}"
        )

    def wait_for_line(self, number: int, seconds: float) -> bool:
        """Wait for the line of this number; False if it does not come in this time, or the output ends before."""
        with self._news:
            self._news.wait_for(lambda: number < len(self.arrivals) or self._has_ended, max(seconds, 0.0))
            return number < len(self.arrivals)

    def arrived_at(self) -> float:
        """When the last line that `wait_for` returned came in, as `time.perf_counter()` counts."""
        return self.arrivals[self._taken - 1]

    def sync(self) -> list[str]:
        """The lines said until now, as far as nobody has taken them: ends with an isready and its answer."""
        self.send("isready")
        return self.wait_for("readyok")[:-1]

    def search(self, go: str, board: chess.Board | None = None) -> tuple[str, list[InfoLine]]:
        """Send `go` and read the answer, as `answer` does."""
        self.send(go)
        return self.answer(board)

    def answer(self, board: chess.Board | None = None) -> tuple[str, list[InfoLine]]:
        """Read up to the next `bestmove`: the move, and the reports before it, the last of which begins with the move.

        With a board, every move must be legal there.
        """
        *before, last = self.wait_for("bestmove")
        infos = [read_info(line) for line in before if line != "readyok"]
        best, reply = read_best_move(last)
        reports = [info.pv for info in infos if info.pv and info.numbers.get("multipv", 1) == 1]
        assert best == "(none)" or reports[-1][0] == best
        if board is not None:
            for line in [[best] if reply is None else [best, reply], *reports]:
                play(board, line)
        return best, infos

    def wait_for_exit(self, seconds: float = PATIENCE_SECONDS) -> int:
        """The exit code, once the process has ended and all it said has been read."""
        code = self.process.wait(seconds)
        for thread in self._threads:
            thread.join()
        return code

    def quit(self) -> None:
        """Send `quit` and check that the process obeys."""
        self.send("quit")
        assert self.wait_for_exit() == 0

    def audit(self) -> None:
        """What holds for every conversation, once it has ended.

        One `bestmove` for each `go` and one `readyok` for each `isready`, up to the `quit`; output in the
        format that UCI asks for; nothing on stderr.
        """
        assert self.errors == ""
        if not self.reads_output:
            return
        lines = (line for line in self.sent if len(line) <= MAX_LINE_BYTES)
        commands = list(takewhile(lambda command: command is not Word.QUIT, map(parse, lines)))
        goes = sum(isinstance(command, Go) and command.perft is None for command in commands)
        best_moves = [line for line in self.lines if line.startswith("bestmove")]
        assert len(best_moves) == goes, f"{goes} go, {len(best_moves)} bestmove"
        assert self.lines.count("readyok") == commands.count(Word.IS_READY)
        for line in self.lines:
            assert line.isascii(), repr(line)
            assert line == line.rstrip(), repr(line)
            if line.startswith("info"):
                read_info(line)

    def kill(self) -> None:
        """End the process, and free everything."""
        self.process.kill()
        self.wait_for_exit()
        self.close_input()
        self.output.close()
        assert self.process.stderr is not None
        self.process.stderr.close()

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
