"""What UCI allows, as a model that follows what is sent and judges what is heard.

The model reads lines as the UCI text asks for, not as some engine does. Where the text leaves a choice, every choice is
right. Invariant: a sound engine is never accused.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

import chess

from toolkit.uci.grammar import MOVE, NO_MOVE, BestMoveLine, read_best_move, read_info
from toolkit.uci.oracles import Patience, Violation

COMMANDS = ("uci", "debug", "isready", "setoption", "register", "ucinewgame", "position", "go", "stop", "ponderhit")
SLOW = ("setoption", "register", "ucinewgame")
HOLDING = ("infinite", "ponder")
GO_WORDS = frozenset({"searchmoves", "ponder", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes"}) | {
    *("mate", "movetime", "infinite")
}
# With more questions than this waiting, the last one is not expected to be answered at once.
MAX_READY = 10
NUMBER_TEXT = re.compile(r"[0-9]{1,9}")
CLOCK_TEXT = re.compile(r"(ponder ?)?((wtime|btime|winc|binc|movestogo) [0-9]{1,9} ?)+")
PROGRESSING = ("depth", "nodes", "time")

Position = chess.Board | None
"""None: a position about which nothing is known, so that nothing said about it can be wrong."""


@dataclass
class Search:
    """A `go` that has not been answered, and what has been heard of it."""

    positions: tuple[Position, ...]
    # Only these moves, if it names any.
    search_moves: list[str]
    # Of `infinite` and `ponder`, what keeps its move back.
    held_by: set[str]
    released_at: float | None = None
    # None as well if something slow was still to be done when `stop` came.
    stopped_at: float | None = None
    # What the clock of the side to move shows, in ms, and since when it runs; None where that is not beyond doubt.
    clock_ms: float | None = None
    clock_from: float = 0.0
    last_line: list[str] | None = None
    reached: dict[str, int] = field(default_factory=dict)

    def release(self, at: float, *words: str) -> None:
        """From now on these words do not keep the move back."""
        if self.held_by:
            self.held_by.difference_update(words)
            if not self.held_by:
                self.released_at = self.clock_from = at

    def is_held(self, at: float) -> bool:
        """Whether a move that came at this time came too early."""
        return bool(self.held_by) or (self.released_at is not None and at < self.released_at)


@dataclass
class Ready:
    """An `isready` that has not been answered."""

    sent_at: float
    # Whether nothing slow came before it.
    at_once: bool
    slow_commands: int


class Judge:
    """Follows one conversation. `sent` and `heard` yield the violations that they reveal."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        # None: odd things were said about it, and who knows what the engine made of them.
        self._chess960: bool | None = False
        self._positions: tuple[Position, ...] = (chess.Board(),)
        # How many `uciok` are due.
        self.greetings_due = 0
        # Before the first `uci` an engine may say who it is; after something odd, that it did not understand.
        self._may_chatter = True
        # What was sent that may take its time, starting included, and how much of that a `readyok` has settled.
        self._slow_commands = 1
        self._settled_commands = 0
        self.ready_due: deque[Ready] = deque()
        self.searches: deque[Search] = deque()
        self.options: list[str] = []
        # The last answer, None if it could not be read, and when it came.
        self.last_best: BestMoveLine | None = None
        self.last_best_at = 0.0
        self.ready_ms: list[float] = []
        self.stop_ms: list[float] = []

    @property
    def is_idle(self) -> bool:
        """Whether no search can be running."""
        return not self.searches

    # What is sent ---------------------------------------------------------------------------------------------------

    def sent(self, line: str, at: float) -> None:
        """A line is about to be sent."""
        words = line.replace("\0", " ").replace("\ufeff", " ").split()
        known = next((i for i, word in enumerate(words) if word in COMMANDS), None)
        if known is None or known > 0:
            self._may_chatter = self._may_chatter or bool(words)
        if known is None:
            return
        command, rest = words[known], words[known + 1 :]
        match command:
            case "uci":
                self.greetings_due += 1
            case "isready":
                at_once = not self._is_slow and len(self.ready_due) < MAX_READY
                self.ready_due.append(Ready(at, at_once, self._slow_commands))
            case "go":
                self._go(rest, at)
            case "stop":
                self._stop(at)
            case "ponderhit":
                self._ponderhit(at)
            case "position":
                self._position(rest)
            case "setoption":
                self._set_option(rest)
            case "ucinewgame":
                # A position must follow. Until then some engines hold the old one, others the first.
                self._positions = (None,)
        self._slow_commands += command in SLOW

    def sent_end(self, at: float) -> None:
        """The engine is about to be told to leave, which ends every search."""
        for search in self.searches:
            search.release(at, *HOLDING)

    def sent_much(self) -> None:
        """What is about to be sent takes time to read."""
        self._slow_commands += 1

    @property
    def _is_slow(self) -> bool:
        return self._slow_commands > self._settled_commands

    def _go(self, words: list[str], at: float) -> None:
        if "perft" in words:
            # Not a search: it is answered in its own way.
            self._may_chatter = True
            return
        if not all(word in GO_WORDS or NUMBER_TEXT.fullmatch(word) or MOVE.fullmatch(word) for word in words):
            self._may_chatter = True
        for search in self.searches:
            # The text says nothing of a second `go`; whatever ends the first search is right.
            search.release(at, *HOLDING)
        chosen = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
        search_moves = list(takewhile(lambda word: word not in GO_WORDS, chosen))
        search = Search(self._positions, search_moves, {word for word in HOLDING if word in words})
        if self.is_idle and not self._is_slow:
            search.clock_ms, search.clock_from = self._clock(words), at
        self.searches.append(search)

    def _clock(self, words: list[str]) -> float | None:
        """What a `go` with these words, and no other limit, says of the clock of the side to move, in ms."""
        (position, *others) = self._positions
        if position is None or others or not CLOCK_TEXT.fullmatch(" ".join(words)):
            return None
        word = "wtime" if position.turn else "btime"
        return float(words[words.index(word) + 1]) if words.count(word) == 1 else None

    def _stop(self, at: float) -> None:
        for search in self.searches:
            search.release(at, *HOLDING)
        if self.searches and self.searches[-1].stopped_at is None and not self._is_slow:
            self.searches[-1].stopped_at = at

    def _ponderhit(self, at: float) -> None:
        if self.searches:
            self.searches[-1].release(at, "ponder")

    def _position(self, words: list[str]) -> None:
        position = read_position(words, self._chess960)
        if position is None:
            self._may_chatter = True
        # While a search may run, the text allows no new position: it may count or not.
        self._positions = (position,) if self.is_idle else (*self._positions, position)

    def _set_option(self, words: list[str]) -> None:
        text = " ".join(words).lower()
        name = text.removeprefix("name ").partition(" value ")[0]
        if not any(f"{option} ".startswith(f"option name {name} type ") for option in map(str.lower, self.options)):
            self._may_chatter = True
        if "chess960" not in text:
            return
        sound = text in ("name uci_chess960 value true", "name uci_chess960 value false")
        self._chess960 = text.endswith("true") if sound and self.is_idle else None
        # The text does not say what becomes of the position.
        self._positions = (None,)

    # What is heard --------------------------------------------------------------------------------------------------

    def heard(self, line: str, at: float) -> Iterator[Violation]:
        """A line came in at this time."""
        word = line.split(" ", 1)[0].strip()
        try:
            match word:
                case "bestmove":
                    yield from self._heard_best_move(line, at)
                case "info":
                    yield from self._heard_info(line)
                case "readyok":
                    yield from self._heard_ready(line, at)
                case "id" | "option" | "uciok":
                    yield from self._heard_greeting(word, line)
                case "copyprotection" | "registration":
                    return
                case _:
                    if not self._may_chatter:
                        yield Violation("stray", f"{line[:200]!r} is no part of UCI")
        except Violation as violation:
            yield violation

    def _heard_greeting(self, word: str, line: str) -> Iterator[Violation]:
        if not self.greetings_due:
            yield Violation("count", f"{line[:200]!r} without uci")
        if word == "option":
            self.options.append(line)
        elif word == "uciok":
            self.greetings_due = max(0, self.greetings_due - 1)
            self._may_chatter = False
            if line != word:
                yield Violation("clean-line", f"{line!r} is not uciok")

    def _heard_ready(self, line: str, at: float) -> Iterator[Violation]:
        if line != "readyok":
            yield Violation("clean-line", f"{line!r} is not readyok")
        if not self.ready_due:
            yield Violation("count", "readyok without isready")
            return
        ready = self.ready_due.popleft()
        self._settled_commands = ready.slow_commands
        if ready.at_once:
            self.ready_ms.append((at - ready.sent_at) * 1000)
            if self.ready_ms[-1] > self._patience.ready_ms:
                yield Violation("ready", f"readyok after {self.ready_ms[-1]:.0f} ms")

    def _heard_info(self, line: str) -> Iterator[Violation]:
        info = read_info(line)
        if info.score is None and info.pv is None and "depth" not in info.numbers:
            return
        if not self.searches:
            yield Violation("count", f"{line[:200]!r}, and nothing is being searched")
            return
        search = self.searches[0]
        main = info.numbers.get("multipv", 1) == 1
        for name in PROGRESSING if main and info.pv else ():
            value = info.numbers.get(name)
            if value is not None:
                if value < search.reached.get(name, 0):
                    yield Violation("progress", f"{name} goes back from {search.reached[name]}: {line[:300]!r}")
                search.reached[name] = value
        if info.pv is None:
            return
        if main:
            search.last_line = info.pv
        if not any(position is None or first_illegal(position, info.pv) is None for position in search.positions):
            boards = ", ".join(position.fen() for position in search.positions if position is not None)
            yield Violation("legal-line", f"{line[:300]!r} cannot be played from {boards}")

    def _heard_best_move(self, line: str, at: float) -> Iterator[Violation]:
        self.last_best_at = at
        self.last_best = None
        if not self.searches:
            yield Violation("count", f"{line!r} without go")
            return
        search = self.searches.popleft()
        if search.is_held(at):
            yield Violation("held-back", f"{line!r} before it was asked for")
        if search.stopped_at is not None:
            self.stop_ms.append((at - search.stopped_at) * 1000)
            if self.stop_ms[-1] > self._patience.stop_ms:
                yield Violation("stop", f"the move came {self.stop_ms[-1]:.0f} ms after stop")
        took_ms = (at - search.clock_from) * 1000
        if search.clock_ms is not None and took_ms > search.clock_ms + self._patience.clock_ms:
            yield Violation("clock", f"{line!r} after {took_ms:.0f} ms, with {search.clock_ms:.0f} ms on the clock")
        best = read_best_move(line)
        self.last_best = best
        possible = [position for position in search.positions if is_possible(position, best, search.search_moves)]
        if not possible:
            fens = ", ".join(position.fen() for position in search.positions if position is not None)
            yield Violation("legal-move", f"{line!r} in {fens}")
        elif best.ponder and all(
            position is not None and first_illegal(position, [best.move, best.ponder]) is not None
            for position in possible
        ):
            yield Violation("legal-ponder", f"{line!r} in {', '.join(board.fen() for board in possible if board)}")
        if best.move not in NO_MOVE:
            if search.last_line is None:
                yield Violation("line-first", f"{line!r} without a line before it")
            elif search.last_line[0] != best.move:
                yield Violation("last-line", f"{line!r} after the line {' '.join(search.last_line)}")


def read_position(words: list[str], chess960: bool | None) -> Position:
    """The position that the words of `position` set up; None unless it is beyond doubt."""
    if chess960 is None:
        return None
    split = words.index("moves") if "moves" in words else len(words)
    described, moves = words[:split], words[split + 1 :]
    if described == ["startpos"]:
        board = chess.Board(chess960=chess960)
    elif len(described) == 7 and described[0] == "fen":
        try:
            board = chess.Board(" ".join(described[1:]), chess960=chess960)
        except ValueError:
            return None
        if not board.is_valid() or board.halfmove_clock > 100 or board.fullmove_number > 5000:
            return None
    else:
        return None
    return None if first_illegal(board, moves, play=True) is not None else board


def first_illegal(board: chess.Board, moves: list[str], play: bool = False) -> str | None:
    """The first of these moves that cannot be played, or is not written as UCI has it; None if all can.

    With `play`, the moves up to there are played on this very board.
    """
    position = board if play else board.copy(stack=False)
    for word in moves:
        if not MOVE.fullmatch(word):
            return word
        move = chess.Move.from_uci(word)
        if not position.is_legal(move) or position.uci(move) != word:
            return word
        position.push(move)
    return None


def is_possible(position: Position, best: BestMoveLine, search_moves: list[str]) -> bool:
    """Whether a search of this position can have this answer; with `search_moves`, a search among these only."""
    if position is None:
        return True
    chosen = {word for word in search_moves if first_illegal(position, [word]) is None}
    if best.move in NO_MOVE:
        return not any(position.legal_moves) or (bool(search_moves) and not chosen)
    # Where none of them can be played, some engines take them all as allowed.
    return first_illegal(position, [best.move]) is None and (not chosen or best.move in chosen)
