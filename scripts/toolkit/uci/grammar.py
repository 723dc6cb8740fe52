"""What an engine says, taken apart by the letter of the UCI text.

Pure functions over single lines. Anything that is not exactly as UCI has it raises a `Violation`. Moves are words here;
whether they are legal is for those who know the position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolkit.uci.oracles import Violation

MOVE = re.compile(r"[a-h][1-8][a-h][1-8][nbrq]?")
NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
SIGNED = re.compile(r"0|-?[1-9][0-9]{0,17}")
COUNTERS = frozenset(
    ("depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "sbhits", "cpuload", "time")
) | {"currmovenumber"}
PERMILLES = ("hashfull", "cpuload")
MOVE_LISTS = ("pv", "refutation", "currline")

MAX_CP = 99_999
"""Far above any evaluation, and below anything that a counter gone astray would give."""
MAX_MATE_MOVES = 1_000

NO_MOVE = ("(none)", "0000")
"""What engines say when there is nothing to play."""


@dataclass
class InfoLine:
    """An `info` line, taken apart. `score` is e.g. ("cp", 31) or ("mate", -2); `wdl` is in permille."""

    numbers: dict[str, int] = field(default_factory=dict)
    score: tuple[str, int] | None = None
    bound: str | None = None
    wdl: tuple[int, int, int] | None = None
    pv: list[str] | None = None
    currmove: str | None = None
    string: str | None = None


@dataclass(frozen=True)
class BestMoveLine:
    """A `bestmove` line; `move` may be one of NO_MOVE."""

    move: str
    ponder: str | None = None


def check_clean(line: str) -> None:
    """Printable ASCII, single blanks outside of free text, none at the end."""
    if not line.isascii():
        raise Violation("clean-line", f"not ASCII: {line[:200]!r}")
    if line != line.rstrip():
        raise Violation("clean-line", f"a blank at the end of {line[-200:]!r}")
    if not line.isprintable():
        raise Violation("clean-line", f"not printable: {line[:200]!r}")
    if line.startswith("info") and "  " in line.partition(" string ")[0]:
        raise Violation("clean-line", f"two blanks in a row: {line[:200]!r}")


class _Words:
    """The words of a line, taken one by one."""

    def __init__(self, line: str, words: list[str]) -> None:
        self.line = line
        self.words = words

    def fail(self, what: str) -> Violation:
        return Violation("info", f"{what}: {self.line[:300]!r}")

    def take(self, after: str) -> str:
        if not self.words:
            raise self.fail(f"nothing after {after}")
        return self.words.pop(0)

    def number(self, after: str, form: re.Pattern[str] = NUMBER) -> int:
        word = self.take(after)
        if not form.fullmatch(word):
            raise self.fail(f"{word!r} after {after} is no number that UCI allows")
        return int(word)

    def move(self, after: str) -> str:
        word = self.take(after)
        if not MOVE.fullmatch(word):
            raise self.fail(f"{word!r} after {after} is no move")
        return word

    def moves(self, after: str) -> list[str]:
        """All moves up to the next word that is none."""
        taken = [self.move(after)]
        while self.words and MOVE.fullmatch(self.words[0]):
            taken.append(self.words.pop(0))
        return taken


def read_info(line: str) -> InfoLine:
    """Take an `info` line apart; raises Violation unless it is exactly as the UCI text has it."""
    check_clean(line)
    info = InfoLine()
    head, separator, text = line.partition(" string ")
    words = _Words(line, head.split(" "))
    if separator:
        info.string = text
    if words.words.pop(0) != "info" or not (words.words or separator):
        raise words.fail("no info")
    seen: set[str] = set()
    while words.words:
        key = words.words.pop(0)
        if key in seen:
            raise words.fail(f"{key} twice")
        seen.add(key)
        _read_field(key, words, info)
    _check_info(words, info)
    return info


def _read_field(key: str, words: _Words, info: InfoLine) -> None:
    if key in COUNTERS:
        info.numbers[key] = words.number(key)
    elif key == "score":
        kind = words.take(key)
        if kind not in ("cp", "mate"):
            raise words.fail(f"score {kind}")
        info.score = (kind, words.number(kind, SIGNED))
        if words.words and words.words[0] in ("lowerbound", "upperbound"):
            info.bound = words.words.pop(0)
    elif key == "wdl":
        info.wdl = (words.number(key), words.number(key), words.number(key))
    elif key == "currmove":
        info.currmove = words.move(key)
    elif key in MOVE_LISTS:
        if key == "currline" and words.words and NUMBER.fullmatch(words.words[0]):
            words.words.pop(0)  # the number of the processor, if there are several
        moves = words.moves(key)
        if key == "pv":
            info.pv = moves
    else:
        raise words.fail(f"info {key} is unknown to UCI")


def _check_info(words: _Words, info: InfoLine) -> None:
    numbers = info.numbers
    if "seldepth" in numbers and "depth" not in numbers:
        raise words.fail("seldepth without depth")
    if any(numbers.get(name, 0) > 1000 for name in PERMILLES):
        raise words.fail("more than 1000 permille")
    if numbers.get("multipv", 1) < 1 or numbers.get("currmovenumber", 1) < 1:
        raise words.fail("multipv and currmovenumber count from 1")
    if info.pv is not None and info.score is None:
        raise words.fail("a line without a score")
    if info.pv is not None and "depth" not in numbers:
        raise words.fail("a line without a depth")
    if info.wdl is not None and sum(info.wdl) != 1000:
        raise Violation("score", f"wdl does not add up to 1000: {words.line!r}")
    if info.score is not None:
        kind, value = info.score
        if abs(value) > (MAX_CP if kind == "cp" else MAX_MATE_MOVES):
            raise Violation("score", f"an impossible score: {words.line!r}")


def read_best_move(line: str) -> BestMoveLine:
    """Take a `bestmove` line apart; raises Violation unless it is exactly as the UCI text has it."""
    check_clean(line)
    words = line.split(" ")
    if words[0] != "bestmove" or len(words) not in (2, 4) or (len(words) == 4 and words[2] != "ponder"):
        raise Violation("best-move", f"neither a move nor a move and a reply: {line!r}")
    moves = words[1::2]
    if moves in ([none] for none in NO_MOVE):
        return BestMoveLine(moves[0])
    if not all(MOVE.fullmatch(move) for move in moves):
        raise Violation("best-move", f"no move: {line!r}")
    return BestMoveLine(moves[0], moves[1] if len(moves) == 2 else None)
