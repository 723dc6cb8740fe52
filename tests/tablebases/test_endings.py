"""Endings of the tablebases, played out: every win is won inside the fifty-move rule, every draw is held."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine
import chess.syzygy
import pytest

from tests.support.syzygy_samples import WORKSHOP, random_board
from toolkit.engines.client import Answer, Engine
from toolkit.engines.spec import EngineSpec, TimeControl, own_engine
from toolkit.games.adjudication import Rules
from toolkit.games.openings import Opening
from toolkit.games.pairs import Game, GameRecord, Patience, Player

ENDINGS = 100
MAX_MOVES = 150
MAX_PIECES = 4
# Nobody loses on time here.
PATIENCE = Patience(margin_ms=60_000.0, movetime_ms=60_000.0)
WIN, DRAW = 2, 0


class Referee:
    """The tables as python-chess reads them: they choose positions, and play the side of the opponent."""

    spec = EngineSpec("referee", ())

    def __init__(self, folders: Sequence[Path], seed: int) -> None:
        self.tables = chess.syzygy.Tablebase(max_fds=None)
        for folder in folders:
            self.tables.add_directory(str(folder))
        self.names = sorted(name for name in self.tables.wdl if len(name) - 1 <= MAX_PIECES)
        self.choice = random.Random(seed)

    def position(self, value: int) -> chess.Board:
        """A random position in which the side to move has this result, and not a bare king against a bare king."""
        while True:
            board = random_board(self.choice.choice(self.names), self.choice)
            board.ep_square = None
            playable = any(board.legal_moves) and not board.is_insufficient_material()
            if playable and self.tables.probe_wdl(board) == value:
                return board

    def new_game(self) -> None:
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
    if record.result == "1/2-1/2":
        return "drawn"
    return "won" if (record.result == "1-0") == white else "lost"


@pytest.mark.slow
@pytest.mark.skipif(not WORKSHOP[0].is_dir(), reason="the tables are not here")
@pytest.mark.parametrize(
    "control", [TimeControl(depth=4), TimeControl(movetime_seconds=0.005), TimeControl(0.05, 0.005)], ids=str
)
def test_every_win_is_won_and_every_draw_held(control: TimeControl) -> None:
    """The opponent defends a lost ending as long as it can, and in a draw makes any move that does not lose."""
    folders = [folder for folder in WORKSHOP if folder.is_dir()]
    referee = Referee(folders, seed=1)
    path = os.pathsep.join(map(str, folders))
    with Engine(replace(own_engine(), control=control), [("SyzygyPath", path)]) as engine:
        for value, expected in ((WIN, {"won"}), (DRAW, {"drawn", "won"})):
            boards = [referee.position(value) for _ in range(ENDINGS)]
            records = [(board.turn == chess.WHITE, play_out(engine, referee, board)) for board in boards]
            endings = Counter(ending_of(record, white) for white, record in records)
            assert set(endings) <= expected, endings
