"""Quiet positions out of games in PGN: a few of each game, spread over its length."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from lib.games.pgn import read_game
from lib.training.game import RESULTS
from lib.training.positions import FIRST, QUIET, pack


@dataclass(frozen=True)
class Spread:
    """every: plies, about. first_ply: positions before it are left out. seed: of the first one in each game."""

    every: int
    first_ply: int
    seed: int


def quiet_positions(text: str, number: int, spread: Spread) -> Iterator[bytes]:
    """The packed positions of one game, in order, without scores. Raises ValueError for a game that cannot be read.

    A position is quiet here if the side to move is not in check and the move that was played neither captures nor
    promotes. So no evaluation decides which positions it is judged by. Instead of one that is not quiet the next one is
    taken.
    """
    game = read_game(text)
    result = RESULTS.get(game.headers.get("Result", "*"))
    if result is None:
        return
    board = game.board()
    wanted = spread.first_ply + random.Random(f"{spread.seed} {number}").randrange(spread.every)
    flags = QUIET | FIRST
    for move in game.mainline_moves():
        if board.ply() >= wanted and not (board.is_check() or board.is_capture(move) or move.promotion):
            yield pack(board, 0, result, flags)
            flags = QUIET
            wanted = board.ply() + spread.every
        board.push(move)
