"""`info`, `bestmove` and `option` lines, taken apart by the letter of the UCI text.

Whatever is not exactly as UCI has it raises ValueError. Moves are words here: whether they are legal, only the position
tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import chess.engine

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
