"""The names of openings.

`opening_names.tsv.gz` beside this file names 3 807 positions. It is made from the tables of lichess-org/chess-openings,
which are in the public domain (CC0-1.0), by `scripts/make_book.py positions`. Each row has the Polyglot key of a
position, its code in the Encyclopaedia of Chess Openings, and its name.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chess
import chess.polyglot

POSITIONS = Path(__file__).with_name("opening_names.tsv.gz")


@dataclass(frozen=True, slots=True)
class OpeningName:
    """An opening's code in the Encyclopaedia of Chess Openings, and its name."""

    eco: str
    name: str

    def __str__(self) -> str:
        return f"{self.eco} {self.name}"


@cache
def named_positions() -> dict[int, OpeningName]:
    """The names by the Polyglot keys of their positions; read when first asked for."""
    names = {}
    for row in zlib.decompress(POSITIONS.read_bytes(), zlib.MAX_WBITS | 16).decode().splitlines():
        key, eco, name = row.split("\t")
        names[int(key, 16)] = OpeningName(eco, name)
    return names


def name_of(board: chess.Board) -> OpeningName | None:
    return named_positions().get(chess.polyglot.zobrist_hash(board))


def opening_of(board: chess.Board) -> OpeningName | None:
    """The name of the position on the board, or of the last position before it that has one."""
    position = board.copy()
    while (name := name_of(position)) is None and position.move_stack:
        position.pop()
    return name
