"""Games of a soak: two engines under questioning play each other, and some moves are asked for in other ways.

Besides plain moves there are `isready` in the middle of a search, `go infinite` cut short by `stop`, and moves thought
out with `go ponder` and `ponderhit`. Beside the games, processes that do nothing keep the processors busy.

Invariants: the clock runs from the moment before the line that starts it is written until its answer was read, and
nothing is judged while it runs. No busy process outlives the one that started it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import chess
import chess.engine

from lib.engines.answer import Answer
from lib.engines.engine import EngineEndedError, EngineTimeoutError, position_line
from lib.engines.spec import EngineSpec, go_words
from lib.games.adjudication import Rules
from lib.games.clock import Patience as GamePatience
from lib.games.game import Game
from lib.games.openings import Opening, random_opening
from lib.games.record import GameRecord
from lib.uci.conversation import Conversation
from lib.uci.grammar import NO_MOVE
from lib.uci.interview import Interview
from lib.uci.oracles import Patience, Violation

OPENING_PLIES = 8
MAX_MOVES = 200
PROBE_MS = (2, 60)
# After so many games a process has touched what it needs, and should not need more.
SETTLING_GAMES = 2
MAX_NEW_THREADS = 4
MAX_NEW_FILES = 8


class Way(Enum):
    """How a move is asked for."""

    PLAIN = "plain"
    READY = "isready while searching"
    INFINITE = "go infinite before it"
    PONDER = "go ponder and ponderhit"


WAYS = tuple(Way)
WAY_SHARES = (64, 20, 8, 8)


@dataclass
class Tally:
    """What one engine did in one game; times in ms, memory in MiB."""

    moves: int = 0
    min_clock_ms: float | None = None
    ready_ms: list[float] = field(default_factory=list)
    stop_ms: list[float] = field(default_factory=list)
    memory_mib: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Rounded, for the journal."""
        return {
            "moves": self.moves,
            "min_clock_ms": None if self.min_clock_ms is None else round(self.min_clock_ms, 1),
            "ready_ms": [round(value, 1) for value in self.ready_ms],
            "stop_ms": [round(value, 1) for value in self.stop_ms],
            "memory_mib": None if self.memory_mib is None else round(self.memory_mib, 1),
        }


@dataclass(frozen=True)
class SoakRules:
    """What a soak allows: how far a clock may go below zero, how much memory may be added after settling."""

    margin_ms: float = 0.0
    growth_mib: float = 64.0
    chess960: bool = False


class JudgedEngine:
    """An engine that plays game after game, in one process after another, and is judged by all that it says."""

    def __init__(self, spec: EngineSpec, patience: Patience, rules: SoakRules, without: Collection[str] = ()) -> None:
        self.spec = spec
        self._patience = patience
        self._rules = rules
        self._without = without
        self._interview: Interview | None = None
        self._games = 0
        self._settled: Usage | None = None
        self._told = 0
        self._chance = random.Random()
        self.tally = Tally()
        # Whether the process must be replaced before the next game.
        self.failed = False

    @property
    def interview(self) -> Interview:
        """The process of now."""
        assert self._interview is not None
        return self._interview

    def begin(self, seed: str) -> bool:
        """Start the process if need be, and begin a game; whether the engine is ready. Raises OSError."""
        self._chance = random.Random(seed)
        self.tally = Tally()
        self.failed = True
        if self._interview is None:
            self._interview = Interview(self.spec, self._patience, self._without)
            self._games = self._told = 0
            self._settled = None
            self.interview.say("uci")
            if not self.interview.wait_for_greeting():
                return False
            for name, value in self.spec.options:
                self.interview.say(f"setoption name {name} value {value}")
            if self._rules.chess960:
                self.interview.say("setoption name UCI_Chess960 value true")
        self.interview.judge.ready_ms.clear()
        self.interview.judge.stop_ms.clear()
        self.interview.say("ucinewgame")
        self.failed = not self.interview.ping()
        return not self.failed

    def new_game(self, seconds: float) -> None:
        """Nothing is left to do after `begin`."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """Ask for a move in a way that is chosen at random; the judge waits as long as its patience says."""
        interview, judge = self.interview, self.interview.judge
        way = self._chance.choices(WAYS, WAY_SHARES)[0]
        interview.say(position_line(board))
        if way is Way.INFINITE:
            interview.say("go infinite")
            interview.rest(self._chance.randint(*PROBE_MS))
            interview.say("stop")
            self._require(interview.wait_for_best_move(), "no move after stop")
        words = go_words(limit)
        since = interview.say(f"go ponder {words}" if way is Way.PONDER else f"go {words}")
        if way is Way.PONDER:
            interview.rest(self._chance.randint(*PROBE_MS))
            since = interview.say("ponderhit")
        elif way is Way.READY:
            interview.say("isready")
        self._require(interview.wait_for_best_move(), "no answer")
        took = judge.last_best_at - since
        if way is Way.READY:
            self._require(interview.wait_until_ready(), "no readyok")
        text = "" if judge.last_best is None else judge.last_best.move
        move = None if text in ("", *NO_MOVE) else chess.Move.from_uci(text)
        if move is not None and board.is_legal(move):
            self.tally.moves += 1
            return Answer(move, text, took)
        self.failed = True
        return Answer(None, text, took)

    def _require(self, answered: bool, what: str) -> None:
        """Raises EngineEndedError for an engine that has ended, and EngineTimeoutError for one that is silent."""
        if not answered:
            self.failed = True
            if self.interview.pipe.ended:
                raise EngineEndedError(what, self.interview.pipe.process.poll(), "")
            raise EngineTimeoutError(what)

    def end_game(self) -> None:
        """Look at what the process has grown to, and count."""
        self._games += 1
        judge = self.interview.judge
        self.tally.ready_ms, self.tally.stop_ms = list(judge.ready_ms), list(judge.stop_ms)
        usage = usage_of(self.interview.pipe.process.pid)
        if usage is None:
            return
        self.tally.memory_mib = usage.memory_mib
        if self._games == SETTLING_GAMES:
            self._settled = usage
        before = self._settled
        if before is not None and (
            usage.memory_mib > before.memory_mib + self._rules.growth_mib
            or usage.threads > before.threads + MAX_NEW_THREADS
            or usage.files > before.files + MAX_NEW_FILES
        ):
            self.interview.accuse("growth", f"{before} after {SETTLING_GAMES} games, {usage} after {self._games}")
            self._settled = None

    def new_violations(self) -> list[Violation]:
        """Those found since this was last asked."""
        found = self.interview.violations[self._told :] if self._interview is not None else []
        self._told += len(found)
        return found

    def conversation(self, *about: str) -> Conversation:
        """All that was said to the process of now."""
        return self.interview.conversation(*about)

    def leave(self, with_quit: bool) -> None:
        """Let the process end by itself; call `forget` afterwards."""
        if self._interview is not None:
            self._interview.leave(with_quit)

    def forget(self) -> None:
        """End the process in any case; the next game gets a new one."""
        if self._interview is not None:
            self._interview.kill()
        self._interview = None


def play_game(white: JudgedEngine, black: JudgedEngine, seed: str, rules: SoakRules) -> GameRecord:
    """Play a game; what is wrong with it is added to what the engines are accused of. Raises OSError."""
    chance = random.Random(seed)
    start = chess.Board.from_chess960_pos(chance.randrange(960)) if rules.chess960 else chess.Board()
    opening = random_opening(Opening(start.fen(), (), rules.chess960), chance, OPENING_PLIES, OPENING_PLIES)
    patience = GamePatience(margin_ms=rules.margin_ms)
    game = Game(white, black, opening, Rules(max_moves=MAX_MOVES), patience)
    # Both are asked, so that both are replaced if neither gets ready.
    ready = [player.begin(f"{seed} {player.spec.name}") for player in (white, black)]
    if not all(ready):
        game.record.ending = "not ready"
        return game.record
    record = game.play()
    for player in (white, black):
        player.tally.min_clock_ms = record.min_clock_ms.get(player.spec.name)
        if record.fault == "time loss" and record.guilty == player.spec.name and not player.failed:
            player.interview.accuse("clock", f"{record.detail}, after {len(record.moves)} plies")
            player.failed = True
        player.end_game()
    return record


# Looks up now and then whether its parent, whose number it is given, is still there: a killed parent cannot end it.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))\n"


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep so many processes busy while the block runs."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    busy = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process holds at one moment: resident memory in MiB, threads, open files."""

    memory_mib: float
    threads: int
    files: int


def usage_of(process_id: int) -> Usage | None:
    """What this process holds; None where the system does not tell (other than Linux), or once it has ended."""
    folder = Path("/proc", str(process_id))
    try:
        pages = int((folder / "statm").read_text().split()[1])
        threads = sum(1 for _ in (folder / "task").iterdir())
        files = sum(1 for _ in (folder / "fd").iterdir())
    except (OSError, IndexError, ValueError):
        return None
    return Usage(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, threads, files)
