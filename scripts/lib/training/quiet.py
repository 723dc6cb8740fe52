"""Quiet positions out of games in PGN: a few of each game, spread over its length."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import chess
import chess.pgn

from lib.games.pgn import read_game
from lib.training.game import RESULTS, self_player
from lib.training.positions import FIRST, QUIET, pack

# The quiescence search that decides needs no search of nodes and no table.
NODES: Final = 1
HASH_MIB: Final = 1


@dataclass(frozen=True)
class Spread:
    """every: plies, about. first_ply: positions before it are left out. seed: of the first one in each game."""

    every: int
    first_ply: int
    seed: int


def quiet_positions(text: str, number: int, spread: Spread) -> Iterator[bytes]:
    """The packed positions of one game, in order, without scores.

    A position is quiet if the side to move is not in check, a quiescence search finds nothing better than the static
    evaluation, and the next move of the game is neither a capture nor a promotion. Instead of one that is not quiet the
    next one is taken. Raises ProgramError for a game that cannot be read.
    """
    game = read_game(text)
    result = RESULTS.get(game.headers.get("Result", "*"))
    if result is None:
        return
    board = game.board()
    wanted = spread.first_ply + random.Random(f"{spread.seed} {number}").randrange(spread.every)
    flags = QUIET | FIRST
    for move in game.mainline_moves():
        if board.ply() >= wanted and is_quiet(board, move):
            yield pack(board, 0, result, flags)
            flags = QUIET
            wanted = board.ply() + spread.every
        board.push(move)


def is_quiet(board: chess.Board, move: chess.Move) -> bool:
    """Whether the position is quiet, by a quiescence search and by the move that was played."""
    if board.is_check() or board.is_capture(move) or move.promotion:
        return False
    return self_player(NODES, HASH_MIB).is_quiet(board)
