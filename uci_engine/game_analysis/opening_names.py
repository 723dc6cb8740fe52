"""The name of a game's opening, and the last position of theory.

`opening_names.tsv.gz` beside this file names 3 807 positions. It is made from the tables of lichess-org/chess-openings,
which are in the public domain (CC0-1.0), by `scripts/make_book.py positions`. Each row has the Polyglot key of a
position, its code in the Encyclopaedia of Chess Openings, and its name.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chess
import chess.polyglot

from uci_engine.book.book import Book
from uci_engine.book.repertoire import OpeningName

POSITIONS = Path(__file__).with_name("opening_names.tsv.gz")
# No named position and no line of the built-in book is later.
LAST_PLY = 60


@dataclass(frozen=True, slots=True)
class Theory:
    """What is known of the opening of a game. `plies`: how many of its moves are theory."""

    name: OpeningName | None
    plies: int


@cache
def named_positions() -> dict[int, OpeningName]:
    """The names by the Polyglot keys of their positions; read when first asked for."""
    names = {}
    for row in gzip.decompress(POSITIONS.read_bytes()).decode().splitlines():
        key, eco, name = row.split("\t")
        names[int(key, 16)] = OpeningName(eco, name)
    return names


def theory_of(start: chess.Board, moves: Sequence[chess.Move]) -> Theory:
    """The opening of a game, and the moves up to the last position that has a name or that a book move reaches.

    A game from another position than the usual one has no opening, unless its first position has a name.
    """
    names = named_positions()
    board = start.copy(stack=False)
    name = names.get(chess.polyglot.zobrist_hash(board))
    if start.fen() != chess.STARTING_FEN and name is None:
        return Theory(None, 0)
    plies = 0
    with closing(Book()) as book:
        for ply, move in enumerate(moves[:LAST_PLY], start=1):
            is_book_move = any(move == known for known, _ in book.moves(board))
            board.push(move)
            here = names.get(chess.polyglot.zobrist_hash(board))
            name = here or name
            if here is not None or is_book_move:
                plies = ply
    return Theory(name, plies)
