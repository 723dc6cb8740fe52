"""The UCI protocol as text: `read_lines` cuts the input, `parse` reads a line, `format_...` functions write answers.

No state, no board (a move from the GUI is a word here), and but for `read_lines` no input or output. Unknown words
before a command are skipped, as the UCI specification demands: `joho debug on` is `debug on`.

Invariants: no input, however long or malformed, raises or is stored without bound. `parse` returns a command for any
text, and takes time linear in the length of the line. The `format_...` functions return one line of printable ASCII
without a blank at its end.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any

from uci_engine import score as scores
from uci_engine.search.info import BestMove, Info
from uci_engine.text import MAX_MESSAGES, QUOTE_LENGTH, Message, parse_int, quoted
from uci_engine.time_management import Limits

MAX_LINE_BYTES = 16 * 1024 * 1024
READ_BYTES = 1 << 16

# Only a line's first words are searched for a command. Further ones would only cost time.
MAX_SKIPPED_WORDS = 64

HELP = """\
Secateur speaks UCI. A chess program sends these commands, and you can type them:
  uci                                    show name, author and options; ends with uciok
  isready                                answered by readyok, at any time
  setoption name Hash value 64           set an option; a button has no value
  ucinewgame                             start a new game; clears the hash table
  position startpos moves e2e4 e7e5      set up a position; or: position fen FEN moves ...
  go movetime 1000                       search. Limits: wtime btime winc binc movestogo depth nodes mate
                                         movetime infinite ponder searchmoves; without a limit: until stop
  stop                                   end the search and show the best move
  ponderhit                              the opponent played the expected move
  debug on, debug off                    show more, or fewer, messages
  quit                                   end the program
Not part of UCI:
  go perft 4                             count the leaf nodes of the legal move tree, here 4 plies deep
  d, eval                                show the board; explain its evaluation
  bench [depth]                          search fixed positions and count the nodes
  speedtest [threads] [MiB] [seconds]    search them for a time, and show the speed
  genfens 8 seed 1 book None             show positions to begin games from, as OpenBench asks for them"""

_WORD = re.compile(r"\S+")
_NAME_WORD = re.compile(r"(?<!\S)name(?!\S)", re.IGNORECASE)
_VALUE_WORD = re.compile(r"(?<!\S)value(?!\S)", re.IGNORECASE)
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")


class Word(Enum):
    """A command without parameters, by its word."""

    UCI = "uci"
    IS_READY = "isready"
    NEW_GAME = "ucinewgame"
    STOP = "stop"
    PONDER_HIT = "ponderhit"
    QUIT = "quit"
    # This engine needs no registration and ignores the rest of the line.
    REGISTER = "register"
    # Not in the UCI specification: show the board, list the commands, explain the static evaluation.
    DISPLAY = "d"
    HELP = "help"
    EVALUATE = "eval"
    # A blank line.
    EMPTY = ""


@dataclass(frozen=True, slots=True)
class Debug:
    """`debug on` or `debug off`; None without either word."""

    on: bool | None


@dataclass(frozen=True, slots=True)
class SetOption:
    """`setoption`; None for a part without its keyword. Blanks inside the value are kept as written."""

    name: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class SetPosition:
    """`position`; `fen` is None for the start position. With an `error`, the other fields mean nothing."""

    fen: str | None
    moves: tuple[str, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Go:
    """`go`. A limit is None where its word was absent or unreadable.

    `searchmoves` holds the words as sent. `perft` is in plies, at least 0. `problems` are messages about words that
    were ignored or changed. UCI skips words that it does not know: `unknown_word` is the first of them, because the
    command line refuses it.
    """

    limits: Limits
    searchmoves: tuple[str, ...] | None = None
    perft: int | None = None
    problems: tuple[Message, ...] = ()
    unknown_word: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """`bench`, `speedtest` or `genfens`, and the words after it. With an `error` they are none that it can take."""

    name: str
    words: tuple[str, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A line without a command in it; `text` is its beginning."""

    text: str


Command = Word | Debug | SetOption | SetPosition | Go | Tool | Unknown


def read_lines(descriptor: int, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[float, str | None]]:
    """Each line with the `time.perf_counter()` at which its end arrived, until the input ends or fails.

    LF, CR and CRLF end a line. Blank lines are skipped. Bytes that are not UTF-8 become U+FFFD. A line of more than
    `max_bytes` is not stored, and None is returned in its place.
    """
    line = bytearray()
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
        # The end of the input ends the last line.
        first, *rest = (data or b"\n").replace(b"\r", b"\n").split(b"\n")
        if len(line) <= max_bytes:
            line += first
        for piece in rest:
            if len(line) > max_bytes:
                yield received_at, None
            elif (text := line.decode("utf-8", errors="replace")).strip():
                yield received_at, text
            line = bytearray(piece)
        if not data:
            return


def parse(line: str) -> Command:
    """Read one line from the GUI, with or without its line end. Never raises."""
    # A byte order mark or a NUL is not part of any word.
    line = line.replace("\ufeff", " ").replace("\0", " ")
    for match in islice(_WORD.finditer(line), MAX_SKIPPED_WORDS + 1):
        word = match.group()
        if word in _PARSERS:
            return _PARSERS[word](line[match.end() :])
        if word in COMMAND_WORDS:
            return Word(word)
    text = line.strip()
    return Unknown(text[:QUOTE_LENGTH]) if text else Word.EMPTY


def parse_typed(line: str) -> Command:
    """As `parse`, for a person in a terminal, where `exit` leaves a program."""
    return Word.QUIT if line.strip().lower() == "exit" else parse(line)


def format_info(info: Info) -> str:
    """One `info` line with the fields that are present, free text last."""
    score = None
    if info.score is not None:
        is_mate, cp = scores.is_mate(info.score), scores.normalised(info.score, info.pieces)
        score = f"mate {scores.mate_in_moves(info.score)}" if is_mate else f"cp {cp}"
        score += " lowerbound" if info.is_lower_bound else ""
    fields: dict[str, object] = {
        "depth": info.depth,
        # UCI allows it only with `depth`.
        "seldepth": None if info.depth is None else info.seldepth,
        "multipv": info.multipv,
        "score": score,
        "wdl": info.wdl and " ".join(map(str, info.wdl)),
        "nodes": info.nodes,
        "nps": info.nps,
        "hashfull": info.hashfull,
        "tbhits": info.tbhits,
        "time": info.time_ms,
        "currmove": info.currmove and info.currmove.uci(),
        "currmovenumber": info.currmovenumber,
        "pv": " ".join(move.uci() for move in info.pv) or None,
        "string": info.message,
    }
    words = [f"{name} {value}" for name, value in fields.items() if value is not None]
    text = " ".join(["info", *words]).encode("ascii", "backslashreplace").decode("ascii")
    return _NOT_PRINTABLE.sub(" ", text).rstrip()


def format_message(message: Message) -> str:
    return format_info(Info(message=message))


def format_best_move(best: BestMove) -> str:
    """The `bestmove` line: `(none)`, without a ponder move, when no legal move is allowed."""
    if best.move is None:
        return "bestmove (none)"
    return f"bestmove {best.move.uci()}" + (f" ponder {best.ponder.uci()}" if best.ponder else "")


def _parse_debug(rest: str) -> Debug:
    words = (word.lower() for word in rest.split())
    return Debug(next((word == "on" for word in words if word in ("on", "off")), None))


def _parse_set_option(rest: str) -> SetOption:
    # Cut from the text, not joined from its words: a path may contain two blanks in a row.
    name_word = _NAME_WORD.search(rest)
    start = name_word.end() if name_word else 0
    value_word = _VALUE_WORD.search(rest, start)
    value = rest[value_word.end() :].strip() if value_word else None
    if name_word is None:
        return SetOption(None, value)
    name = rest[start : value_word.start()] if value_word else rest[start:]
    return SetOption(" ".join(name.split()), value)


def _parse_position(rest: str) -> SetPosition:
    words = rest.split()
    keyword = next((word for word in words if word in ("startpos", "fen", "moves")), None)
    if keyword is None or keyword == "moves":
        return SetPosition(None, (), "position needs the word startpos or fen")
    words = words[words.index(keyword) + 1 :]
    split = words.index("moves") if "moves" in words else len(words)
    described, moves = words[:split], tuple(words[split + 1 :])
    if keyword == "fen":
        return SetPosition(" ".join(described), moves)
    if described:
        # Skipping these words might drop a move, and a wrong position is worse than none.
        return SetPosition(None, (), f"{quoted(described[0])} after startpos, where moves was expected")
    return SetPosition(None, moves)


# The words of each tool, and the sentence on others.
_TOOLS = {
    "bench": (r"([1-9]\d{0,8}( .*)?)?", "a depth, for example: bench 8"),
    "speedtest": (r"([1-9]\d{0,8}( |$)){0,3}", "threads, MiB and seconds, for example: speedtest 1 128 60"),
    "genfens": (r"\d{1,9} seed \d{1,20} book \S.*", "a number, a seed and a book: genfens 8 seed 1 book None"),
}


def _parse_tool(name: str, rest: str) -> Tool:
    words, (form, takes) = rest.split(), _TOOLS[name]
    is_right = re.fullmatch(form, " ".join(words), re.ASCII) is not None
    return Tool(name, tuple(words), None if is_right else f"{name} takes {takes}")


# The words of `go` that take a number, each with its field of `Limits` and its minimum.
_GO_NUMBERS: dict[str, tuple[str, int | None]] = {
    "wtime": ("wtime_ms", None),
    "btime": ("btime_ms", None),
    "winc": ("winc_ms", None),
    "binc": ("binc_ms", None),
    "movestogo": ("movestogo", None),
    "depth": ("depth", 1),
    "nodes": ("nodes", 1),
    "mate": ("mate", 1),
    "movetime": ("movetime_ms", 0),
    "perft": ("perft", 0),
}
GO_WORDS = frozenset({*_GO_NUMBERS, "searchmoves", "infinite", "ponder"})


def _parse_go(rest: str) -> Go:
    words = deque(rest.split())
    limits: dict[str, Any] = {}
    moves: tuple[str, ...] | None = None
    problems: list[Message] = []
    unknown_word: str | None = None

    def remark(text: str, is_error: bool = True) -> None:
        if len(problems) < MAX_MESSAGES:
            problems.append(Message(text, is_error))

    while words:
        word = words.popleft()
        if word in _GO_NUMBERS:
            if not words or words[0] in GO_WORDS:
                remark(f"go {word} needs a number")
                continue
            text = words.popleft()
            number = parse_int(text)
            if number is None:
                remark(f"go {word} {quoted(text)} is not a number")
                continue
            field, minimum = _GO_NUMBERS[word]
            if minimum is not None and number < minimum:
                remark(f"go {word} {number} is taken as {minimum}", is_error=False)
                number = minimum
            limits[field] = number
        elif word == "searchmoves":
            found = []
            while words and words[0] not in GO_WORDS:
                found.append(words.popleft())
            if found:
                moves = tuple(found)
            else:
                remark("go searchmoves needs at least one move")
        elif word in GO_WORDS:
            limits[word] = True
        elif unknown_word is None:
            unknown_word = word
    perft = limits.pop("perft", None)
    if "infinite" in limits:
        # Only `stop` ends it, whatever else was asked for.
        limits = {name: limits[name] for name in ("infinite", "ponder") if name in limits}
    asked = Limits(**limits)
    # A limit that was not understood must not cause an endless search. Only `go` alone means one.
    is_misread = problems or unknown_word is not None or limits.keys() - {"ponder"}
    if asked.is_endless and not asked.infinite and perft is None and is_misread:
        message = Message.error("no limit for go was understood, the search ends after depth 1")
        return Go(replace(asked, depth=1), moves, perft, (*problems, message), unknown_word)
    return Go(asked, moves, perft, tuple(problems), unknown_word)


_PARSERS: dict[str, Callable[[str], Command]] = {
    "debug": _parse_debug,
    "setoption": _parse_set_option,
    "position": _parse_position,
    "go": _parse_go,
    **{name: partial(_parse_tool, name) for name in _TOOLS},
}
COMMAND_WORDS = frozenset(_PARSERS) | {word.value for word in Word if word.value}
