#!/usr/bin/env python3
"""Play out endings of the tablebases: every win must be won inside the fifty-move rule, every draw held.

    python scripts/endgame_check.py FOLDER... [--count 500] [--depth 4 | --movetime 5 | --clock 0.05+0.005]
                                    [--core compiled] [--seed 1] [--no-tables]

FOLDER holds Syzygy tables; positions of three and four pieces are drawn at random from them. The engine plays the side
to move with these tables (with `--no-tables` on its own), to a depth, for so many milliseconds a move, or with a clock
of so many seconds for the game and for each move. In a win its opponent makes the move that, by python-chess, puts off
the next capture, pawn move or mate longest; in a draw it makes any move that does not lose, at random. Prints the
counts, how often a clock ran out (it is then played on, for other programs may have had the processor) and each
failure; the exit code is 1 if there were any failures.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import dataclass

import chess
import chess.syzygy

from lib.console import run_program
from lib.endings import random_board
from uci_engine.core import CORES
from uci_engine.engine import Engine
from uci_engine.search.info import BestMove, Info
from uci_engine.time_management.limits import Limits

LONGEST_PLIES = 300
MOST_PIECES = 4


class Referee:
    """The tables as python-chess reads them: they choose positions, defend and judge."""

    def __init__(self, folders: list[str], seed: int) -> None:
        self.tables = chess.syzygy.Tablebase(max_fds=None)
        for folder in folders:
            self.tables.add_directory(folder)
        self.names = sorted(
            name for name in self.tables.wdl if len(name) - 1 <= MOST_PIECES and chess.syzygy.is_tablename(name)
        )
        self.choice = random.Random(seed)

    def position(self, value: int) -> chess.Board:
        """A random position in which the side to move has this result, and not a bare king against a bare king."""
        while True:
            board = random_board(self.choice.choice(self.names), self.choice)
            board.ep_square = None
            playable = any(board.legal_moves) and not board.is_insufficient_material()
            if playable and self.tables.probe_wdl(board) == value:
                return board

    def defend(self, board: chess.Board) -> chess.Move:
        """The move that loses last; a shorter way to a capture that still loses counts as short."""

        def delay(move: chess.Move) -> tuple[int, int]:
            board.push(move)
            zeroing = board.halfmove_clock == 0
            distance = 1 if zeroing else 1 + abs(self.tables.probe_dtz(board))
            board.pop()
            return distance, self.choice.randrange(1000)

        return max(board.legal_moves, key=delay)

    def try_to_win(self, board: chess.Board) -> chess.Move:
        """Any move after which the opponent has not won."""
        sound = []
        for move in board.legal_moves:
            board.push(move)
            if self.tables.probe_wdl(board) <= 0:
                sound.append(move)
            board.pop()
        return self.choice.choice(sound)


@dataclass(frozen=True)
class Pace:
    """How long the engine thinks: to a depth, for a time, or by a clock with an increment (milliseconds)."""

    depth: int | None = None
    movetime_ms: int | None = None
    clock_ms: float = 0.0
    increment_ms: float = 0.0

    def limits(self, left_ms: float) -> Limits:
        """What to say with `go` when so much is left on the clock."""
        if not self.clock_ms:
            return Limits(depth=self.depth, movetime_ms=self.movetime_ms)
        left, increment = int(left_ms), int(self.increment_ms)
        return Limits(wtime_ms=left, btime_ms=left, winc_ms=increment, binc_ms=increment)


class Player:
    """The engine, asked for one move at a time."""

    def __init__(self, core: str, folders: list[str], pace: Pace) -> None:
        self.engine = Engine(core)
        self.pace = pace
        self.left_ms = pace.clock_ms
        self.late = 0
        if folders:
            print(*self.engine.set_option("SyzygyPath", ";".join(folders)), sep="\n")

    def new_game(self) -> None:
        """A game begins, with a full clock."""
        self.engine.new_game()
        self.left_ms = self.pace.clock_ms

    def move(self, start: str, played: list[str]) -> chess.Move:
        """The engine's move after these from a FEN."""
        began = time.perf_counter()
        problems = self.engine.set_position(start, played)
        answers: list[BestMove] = []
        self.engine.go(self.pace.limits(self.left_ms), began, self.listen, answers.append)
        self.engine.wait()
        if problems or answers[0].move is None:
            raise RuntimeError(f"no move after {start} {played}: {problems}")
        if self.pace.clock_ms:
            self.left_ms -= 1000 * (time.perf_counter() - began)
            self.late += self.left_ms < 0
            self.left_ms = max(self.left_ms, 0.0) + self.pace.increment_ms
        return chess.Move.from_uci(answers[0].move)

    def listen(self, info: Info) -> None:
        """Only what goes wrong is worth a line."""
        if info.string:
            print(info.string)


def play_out(player: Player, referee: Referee, board: chess.Board, value: int) -> str:
    """Play to the end; returns how it ended, from the engine's side."""
    start, ours = board.fen(), board.turn
    player.new_game()
    for _ in range(LONGEST_PLIES):
        outcome = board.outcome(claim_draw=False)
        if outcome is not None and outcome.winner is not None:
            return "won" if outcome.winner == ours else "lost"
        if outcome is not None or board.halfmove_clock >= 100 or board.is_repetition(3):
            return "drawn"
        if board.turn == ours:
            board.push(player.move(start, [move.uci() for move in board.move_stack]))
        else:
            board.push(referee.defend(board) if value > 0 else referee.try_to_win(board))
    return "drawn"


def clock(text: str) -> Pace:
    """A clock such as 0.05+0.005, in seconds."""
    base, _, increment = text.partition("+")
    return Pace(clock_ms=1000 * float(base), increment_ms=1000 * float(increment or 0))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=500)
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--depth", type=int, default=4)
    pace.add_argument("--movetime", type=int, metavar="MS")
    pace.add_argument("--clock", type=clock, metavar="SECONDS+SECONDS")
    parser.add_argument("--core", choices=CORES, default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-tables", action="store_true")
    words = parser.parse_args()
    referee = Referee(words.folders, words.seed)
    timed = words.clock or (Pace(movetime_ms=words.movetime) if words.movetime else None)
    player = Player(words.core, [] if words.no_tables else words.folders, timed or Pace(depth=words.depth))
    failures = 0
    for value, wanted in ((2, "won"), (0, "drawn")):
        endings: Counter[str] = Counter()
        plies = 0
        for _ in range(words.count):
            board = referee.position(value)
            start = board.fen()
            ending = play_out(player, referee, board, value)
            endings[ending] += 1
            plies += len(board.move_stack)
            if ending != wanted and not (value == 0 and ending == "won"):
                failures += 1
                print(f"{ending}, not {wanted}: {start} after {' '.join(move.uci() for move in board.move_stack)}")
        name = "wins" if value else "draws"
        print(f"{words.count} {name}: {dict(endings)}, {plies / words.count:.1f} plies each", flush=True)
    if player.pace.clock_ms:
        print(f"the clock ran out {player.late} times")
    player.engine.close()
    return 1 if failures else 0


if __name__ == "__main__":
    run_program(main)
