"""Records of training positions, of random games."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import chess
import numpy as np

from tests.support.kernel import random_game, start_board
from toolkit.training.positions import FIRST, QUIET, RECORD, pack


def records_of(boards: Iterable[chess.Board], score_cp: int = 0, result: int = 1, flags: int = QUIET) -> Any:
    """The positions of boards, with the same label each."""
    return np.frombuffer(b"".join(pack(board, score_cp, result, flags) for board in boards), RECORD)


def random_records(
    games: int,
    plies: int,
    seed: int = 0,
    chess960: bool = False,
    score_of: Callable[[chess.Board], int] = lambda board: 10 * (board.ply() % 7) - 30,
) -> Any:
    """All positions of some games, quiet by their flag. With `chess960` every second one is of Chess960."""
    packed = []
    for number in range(games):
        start = start_board(number, chess960 and number % 2 > 0)
        for ply, board in enumerate(random_game(1000 * seed + number, start, plies)):
            packed.append(pack(board, score_of(board), (number + seed) % 3, QUIET | (0 if ply else FIRST)))
    return np.frombuffer(b"".join(packed), RECORD)
