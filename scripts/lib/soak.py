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

from lib.engines.spec import EngineSpec, go_words
from lib.games.clock import Clock, limit_for
from lib.games.clock import Patience as GamePatience
from lib.uci.conversation import Conversation
from lib.uci.grammar import NO_MOVE
from lib.uci.interview import Interview
from lib.uci.oracles import Patience, Violation

OPENING_PLIES = 8
LONGEST_PLIES = 400
PROBE_MS = (2, 60)
# After so many games a process has touched what it needs, and should not need more.
SETTLING_GAMES = 2
MOST_NEW_THREADS = 4
MOST_NEW_FILES = 8


class Way(Enum):
    """How a move is asked for."""

    PLAIN = "plain"
    READY = "isready while searching"
    INFINITE = "go infinite before it"
    PONDER = "go ponder and ponderhit"


WAYS = tuple(Way)
WAY_SHARES = (70, 20, 5, 5)


@dataclass
class Tally:
    """What one engine did in one game; times in ms, memory in MiB."""

    moves: int = 0
    least_clock_ms: float | None = None
    ready_ms: list[float] = field(default_factory=list)
    stop_ms: list[float] = field(default_factory=list)
    memory_mib: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Rounded, for the journal."""
        return {
            "moves": self.moves,
            "least_clock_ms": None if self.least_clock_ms is None else round(self.least_clock_ms, 1),
            "ready_ms": [round(value, 1) for value in self.ready_ms],
            "stop_ms": [round(value, 1) for value in self.stop_ms],
            "memory_mib": None if self.memory_mib is None else round(self.memory_mib, 1),
        }


@dataclass(frozen=True)
class SoakRules:
    """What a soak allows: how far a clock may go below nought, how much memory may be added after settling."""

    margin_ms: float = 0.0
    growth_mib: float = 64.0
    chess960: bool = False


class Player:
    """An engine that plays game after game, in one process after another."""

    def __init__(
        self,
        spec: EngineSpec,
        patience: Patience,
        rules: SoakRules,
        without: Collection[str] = (),
    ) -> None:
        self.spec = spec
        self._patience = patience
        self._rules = rules
        self._without = without
        self._interview: Interview | None = None
        self._games = 0
        self._settled: Usage | None = None
        self._told = 0
        self.tally = Tally()

    @property
    def interview(self) -> Interview:
        """The process of now."""
        assert self._interview is not None
        return self._interview

    def start_game(self) -> bool:
        """Start the process if need be, and begin a game; whether the engine is ready. Raises OSError."""
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
        self.tally = Tally()
        self.interview.judge.ready_ms.clear()
        self.interview.judge.stop_ms.clear()
        self.interview.say("ucinewgame")
        return self.interview.ping()

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
            or usage.threads > before.threads + MOST_NEW_THREADS
            or usage.files > before.files + MOST_NEW_FILES
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


@dataclass
class SoakGame:
    """A game: `play` plays it, and it can be asked about afterwards."""

    white: Player
    black: Player
    seed: str
    rules: SoakRules
    result: str = "*"
    ending: str = ""
    # Who must be replaced; both, when neither gets ready.
    failed: list[Player] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Pairs are (Black's, White's).
        self.controls = (self.black.spec.control, self.white.spec.control)
        self.clocks = (Clock(self.controls[0], GamePatience()), Clock(self.controls[1], GamePatience()))

    def play(self) -> chess.Board:
        """Play to the end; returns the last position. Raises OSError if an engine cannot be started."""
        chance = random.Random(self.seed)
        board = opening(chance, self.rules.chess960)
        start = board.root().fen()
        for color, player in ((chess.WHITE, self.white), (chess.BLACK, self.black)):
            if not player.start_game():
                self.lose(color, "not ready")
        while not self.ending and not self.is_over(board):
            words = " ".join(move.uci() for move in board.move_stack)
            position = f"position fen {start}" + (f" moves {words}" if words else "")
            problem = self.move(board, position, chance.choices(WAYS, WAY_SHARES)[0], chance)
            if problem:
                self.lose(board.turn, problem)
        for player in (self.white, self.black):
            player.end_game()
        return board

    def move(self, board: chess.Board, position: str, way: Way, chance: random.Random) -> str:
        """Ask for a move in this way and play it; returns what went wrong, in words, if anything did."""
        color = board.turn
        player = self.white if color == chess.WHITE else self.black
        interview, judge = player.interview, player.interview.judge
        interview.say(position)
        if way is Way.INFINITE:
            interview.say("go infinite")
            interview.rest(chance.randint(*PROBE_MS))
            interview.say("stop")
            if not interview.wait_for_best_move():
                return "no move after stop"
        words = go_words(limit_for(color, self.clocks, self.controls))
        since = interview.say(f"go ponder {words}" if way is Way.PONDER else f"go {words}")
        if way is Way.PONDER:
            interview.rest(chance.randint(*PROBE_MS))
            since = interview.say("ponderhit")
        elif way is Way.READY:
            interview.say("isready")
        if not interview.wait_for_best_move():
            return "no answer"
        took_ms = (judge.last_best_at - since) * 1000
        if way is Way.READY and not interview.wait_until_ready():
            return "no readyok"
        best = judge.last_best
        if best is None or best.move in NO_MOVE:
            return "no move"
        move = chess.Move.from_uci(best.move)
        if not board.is_legal(move):
            return f"illegal move {best.move}"
        player.tally.moves += 1
        if not self.charge(player, color, took_ms, board):
            return "time forfeit"
        board.push(move)
        return ""

    def charge(self, player: Player, color: chess.Color, took_ms: float, board: chess.Board) -> bool:
        """Take the time of a move off the clock; whether there was enough."""
        clock = self.clocks[color]
        allowed_seconds = clock.allowed_seconds
        if allowed_seconds is None:
            return True
        allowed_ms = allowed_seconds * 1000
        left_ms = allowed_ms - took_ms
        least_ms = player.tally.least_clock_ms
        player.tally.least_clock_ms = left_ms if least_ms is None else min(least_ms, left_ms)
        if left_ms < -self.rules.margin_ms:
            player.interview.accuse("clock", f"{took_ms:.1f} ms for a move, of {allowed_ms:.1f} ms, in {board.fen()}")
            return False
        clock.spend(took_ms / 1000)
        return True

    def is_over(self, board: chess.Board) -> bool:
        """Whether the game has ended; then with its result."""
        outcome = board.outcome(claim_draw=False)
        if outcome is not None:
            self.result, self.ending = outcome.result(), outcome.termination.name.lower().replace("_", " ")
        elif board.is_repetition(3):
            self.result, self.ending = "1/2-1/2", "threefold repetition"
        elif board.halfmove_clock >= 100:
            self.result, self.ending = "1/2-1/2", "fifty moves"
        elif len(board.move_stack) >= LONGEST_PLIES:
            self.result, self.ending = "1/2-1/2", f"{LONGEST_PLIES} plies"
        return bool(self.ending)

    def lose(self, color: chess.Color, ending: str) -> None:
        """End the game to the loss of this colour, whose engine has failed."""
        self.result, self.ending = "0-1" if color == chess.WHITE else "1-0", ending
        self.failed.append(self.white if color == chess.WHITE else self.black)


def opening(chance: random.Random, chess960: bool) -> chess.Board:
    """A position after random moves, with a move to make."""
    while True:
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
        for _ in range(OPENING_PLIES):
            legal = sorted(board.legal_moves, key=chess.Move.uci)
            if not legal:
                break
            board.push(chance.choice(legal))
        if board.outcome() is None:
            return board


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
