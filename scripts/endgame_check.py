#!/usr/bin/env python3
"""Play out endings of the tablebases: every win must be won inside the fifty-move rule, every draw held.

    python scripts/endgame_check.py FOLDER... [--count 500] [--seed 1] [--no-tables]
                                    [--engine 'cmd=PROGRAM'] [--each depth=4 | movetime=0.005 | tc=0.05+0.005]

FOLDER holds Syzygy tables; positions of three and four pieces are drawn at random from them. The engine (by default
that of these sources) plays the side to move with these tables, or with `--no-tables` on its own. In a win its opponent
plays the move with the longest DTZ, by python-chess; in a draw it makes any move that does not lose, at random. Prints
the counts, how often a clock ran out (the game goes on, because other programs may have used the CPU) and each failure;
the exit code is 1 if there were any failures.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import os
import random
from collections import Counter
from dataclasses import replace

import chess
import chess.engine
import chess.syzygy

from lib.console import at_least_one, complain, say, show_progress
from lib.endings import random_board
from lib.engines.answer import Answer
from lib.engines.engine import Engine
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from lib.errors import ProgramError
from lib.games.adjudication import Rules
from lib.games.clock import Patience
from lib.games.game import Game, Player
from lib.games.openings import Opening
from lib.games.record import GameRecord
from lib.trial import try_engines

MAX_MOVES = 150
MAX_PIECES = 4
# Nobody loses on time here.
PATIENCE = Patience(margin_ms=60_000.0, movetime_ms=60_000.0)
WIN, DRAW = 2, 0


class Referee:
    """The tables as python-chess reads them: they choose positions, and play the side of the opponent."""

    spec = EngineSpec("referee", ())

    def __init__(self, folders: list[str], seed: int) -> None:
        self.tables = chess.syzygy.Tablebase(max_fds=None)
        for folder in folders:
            self.tables.add_directory(folder)
        self.names = sorted(
            name for name in self.tables.wdl if len(name) - 1 <= MAX_PIECES and chess.syzygy.is_tablename(name)
        )
        if not self.names:
            raise ProgramError(f"no Syzygy tables of up to {MAX_PIECES} pieces in {', '.join(folders)}")
        self.choice = random.Random(seed)

    def position(self, value: int) -> chess.Board:
        """A random position in which the side to move has this result, and not a bare king against a bare king."""
        while True:
            board = random_board(self.choice.choice(self.names), self.choice)
            board.ep_square = None
            playable = any(board.legal_moves) and not board.is_insufficient_material()
            if playable and self.tables.probe_wdl(board) == value:
                return board

    def new_game(self, seconds: float) -> None:
        """It is always ready."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """In a lost position the move that loses last, otherwise any move that does not lose."""
        move = self._defend(board) if self.tables.probe_wdl(board) < 0 else self._try_to_win(board)
        return Answer(move, f"bestmove {move}", 0.0)

    def _defend(self, board: chess.Board) -> chess.Move:
        """A shorter way to a capture that still loses counts as short."""

        def delay(move: chess.Move) -> tuple[int, int]:
            board.push(move)
            zeroing = board.halfmove_clock == 0
            distance = 1 if zeroing else 1 + abs(self.tables.probe_dtz(board))
            board.pop()
            return distance, self.choice.randrange(1000)

        return max(board.legal_moves, key=delay)

    def _try_to_win(self, board: chess.Board) -> chess.Move:
        sound = []
        for move in board.legal_moves:
            board.push(move)
            if self.tables.probe_wdl(board) <= 0:
                sound.append(move)
            board.pop()
        return self.choice.choice(sound)


def play_out(engine: Player, referee: Referee, board: chess.Board) -> GameRecord:
    """Play to the end, with the engine to move."""
    white: Player = engine if board.turn == chess.WHITE else referee
    black: Player = referee if board.turn == chess.WHITE else engine
    return Game(white, black, Opening(board.fen()), Rules(max_moves=MAX_MOVES), PATIENCE).play()


def ending_of(record: GameRecord, white: bool) -> str:
    """`won`, `lost` or `drawn`, from the engine's side; a forfeit is told as such."""
    if record.fault is not None:
        return record.fault
    return {1.0: "won", 0.5: "drawn", 0.0: "lost"}[record.white_points if white else 1 - record.white_points]


def check(engine: Engine, referee: Referee, value: int, count: int) -> tuple[int, int]:
    """Play so many endings of this result out, and print what came of them; returns failures and overstepped clocks."""
    wanted, name = ("won", "wins") if value == WIN else ("drawn", "draws")
    endings: Counter[str] = Counter()
    failures = late = plies = 0
    with show_progress(name, count) as advance:
        for _ in range(count):
            board = referee.position(value)
            record = play_out(engine, referee, board)
            ending = ending_of(record, board.turn == chess.WHITE)
            endings[ending] += 1
            plies += len(record.moves)
            late += record.overstep_ms.get(engine.name, 0.0) > 0
            if ending != wanted and not (value == DRAW and ending == "won"):
                failures += 1
                moves = " ".join(move.move.uci() for move in record.moves)
                say(f"{ending}, not {wanted}: {board.fen()} after {moves} {record.detail}".rstrip())
            advance()
    print(f"{count} {name}: {dict(endings)}, {plies / count:.1f} plies each", flush=True)
    return failures, late


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--engine", metavar="SPEC", help=f"default: the engine of these sources; {ENGINE_SYNTAX}")
    parser.add_argument("--each", default="depth=4", metavar="SPEC", help="limits, if --engine has none (depth=4)")
    parser.add_argument("--count", type=at_least_one, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-tables", action="store_true")
    words = parser.parse_args()
    try:
        limits = parse_engine("cmd=x", words.each).control
        spec = parse_engine(words.engine, words.each) if words.engine else replace(own_engine(), control=limits)
        folders = os.pathsep.join(os.path.abspath(folder) for folder in words.folders)
        extra = [] if words.no_tables else [("SyzygyPath", folders)]
        referee = Referee(words.folders, words.seed)
        try_engines([spec])
        with Engine(spec, extra) as engine:
            found = [check(engine, referee, value, words.count) for value in (WIN, DRAW)]
    except (ProgramError, OSError) as error:
        complain(error)
        return 2
    failures, late = (sum(numbers) for numbers in zip(*found, strict=True))
    if spec.control.base_seconds is not None:
        print(f"the clock ran out in {late} games")
    return 1 if failures else 0


if __name__ == "__main__":
    run_program(main)
