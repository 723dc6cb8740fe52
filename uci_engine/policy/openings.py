"""The opening moves of people: in how many games each was played, in the positions that occur often.

A row of `openings.tsv.gz` is a position: its Polyglot key, then moves with their games at each rating of the policy,
those of players who are nearest to it. A move order does not count, only the position that it leads to.
`scripts/fit_policy.py --openings` counts them.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import mul
from pathlib import Path

import chess
import chess.polyglot

OPENINGS = Path(__file__).with_name("openings.tsv.gz")
# What the policy gives counts as much as so many games. The log loss of other games has chosen it.
POLICY_GAMES = 32


def unpacked(file: bytes) -> dict[str, str]:
    """Of each position, by its key, the rest of its row."""
    rows = zlib.decompress(file, zlib.MAX_WBITS | 16).decode().splitlines()
    return dict(row.split("\t", 1) for row in rows)


@cache
def counted_positions() -> dict[str, str]:
    """The file of the package, read when first asked for."""
    return unpacked(OPENINGS.read_bytes())


def games_of(
    board: chess.Board, moves: Iterable[chess.Move], shares: Sequence[float], table: Mapping[str, str] | None = None
) -> list[float]:
    """In how many games people of a rating played each move; 0 in Chess960 and in a position that is not counted.

    `shares`: how much of each rating of the file is in theirs. `table`: by `unpacked`, None for that of the package.
    """
    if board.chess960:
        return [0.0 for _ in moves]
    rows = counted_positions() if table is None else table
    row = rows.get(f"{chess.polyglot.zobrist_hash(board):016x}", "")
    words = (cell.split(" ") for cell in row.split("\t"))
    games = {move: math.fsum(map(mul, shares, map(int, numbers))) for move, *numbers in words}
    return [games.get(move.uci(), 0.0) for move in moves]


def with_games(shares: Sequence[float], games: Sequence[float], policy_games: float = POLICY_GAMES) -> list[float]:
    """The shares of moves, from what the policy gives and from the games: these count the more, the more there are."""
    total = math.fsum(games) + policy_games
    return [(count + policy_games * share) / total for share, count in zip(shares, games, strict=True)]
