"""A Polyglot opening book, its moves during a game, and the names of openings.

The file is read and checked once, so later changes of it have no effect. An entry has 16 bytes (key, move, weight,
learning data), and the entries are sorted by key.

Invariants: an invalid file raises ValueError. Only regular files are read. A move that this module returns is legal.
"""

from __future__ import annotations

import mmap
import random
import sys
import zlib
from array import array
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import eq, le
from pathlib import Path

import chess
import chess.polyglot

from evaluation.files import read_start
from uci_engine.time_management import Limits

BUILT_IN = Path(__file__).with_name("book.bin")

ENTRY_BYTES = 16
MAX_BOOK_BYTES = 256 * 2**20

# The maximum number of entries for one position. Valid books have at most one for each legal move, and a move must not
# wait for a book with a million.
MAX_POSITION_ENTRIES = 512

# At this variety, moves are drawn with probability proportional to weight; at 0 the heaviest is always played.
ALL_BY_WEIGHT = 100

# The letters with accents that names of openings have.
WITHOUT_ACCENTS = str.maketrans("\u00e1\u00e4\u0107\u00e9\u00f3\u00f6\u00f8\u00fc", "aaceooou")

# The names of 3 807 positions, from the tables of lichess-org/chess-openings, which are in the public domain (CC0-1.0).
# Each row has the Polyglot key of a position, its code in the Encyclopaedia of Chess Openings, and its name.
# `scripts/make_book.py names` makes it.
POSITIONS = Path(__file__).with_name("opening_names.tsv.gz")


class Book(chess.polyglot.MemoryMappedReader):
    """The reader of python-chess over a memory of its own, which no change of a file reaches."""

    def __init__(self, data: bytes) -> None:
        """ValueError: these bytes are no book."""
        _check(data)
        self.mmap = mmap.mmap(-1, len(data))
        self.mmap.write(data)
        # Read now, while no clock is running.
        named_positions()

    @classmethod
    def load(cls, path: str) -> Book:
        """Read a book; a pipe is refused. ValueError: it cannot be read, or is none."""
        return cls(read_start(path, MAX_BOOK_BYTES + 1, ValueError))

    def __len__(self) -> int:
        """Number of entries: moves, counted once for each position."""
        return len(self.mmap) // ENTRY_BYTES

    def moves(self, board: chess.Board) -> list[tuple[chess.Move, int]]:
        """The book's legal moves and their weights, heaviest first, but none that repeats a position of the game."""
        weights: dict[chess.Move, int] = {}
        for entry in self.find_all(board):
            if not _repeats(board, entry.move):
                weights[entry.move] = max(entry.weight, weights.get(entry.move, 0))
        # Equal weights are sorted by name, so that the best move is always the same.
        return sorted(weights.items(), key=lambda item: (-item[1], item[0].uci()))

    def choose(self, board: chess.Board, variety: int, generator: random.Random) -> tuple[chess.Move, int] | None:
        """A move for this position and its weight, or None.

        `variety` is 0 (always the heaviest move) to 100 (chances by weight). Between them, heavier moves have more than
        their share.
        """
        candidates = self.moves(board)
        if not candidates:
            return None
        if variety == 0:
            return candidates[0]
        heaviest = candidates[0][1]
        sharpness = ALL_BY_WEIGHT / min(variety, ALL_BY_WEIGHT)
        return generator.choices(candidates, [(weight / heaviest) ** sharpness for _, weight in candidates])[0]

    def advise(
        self, board: chess.Board, limits: Limits, depth: int, variety: int
    ) -> tuple[tuple[chess.Move, ...], str] | None:
        """A move with the reply where the book has one, and a note for the user; None where a search is to answer.

        A `go` with `infinite`, `mate` or `searchmoves`, or without any limit, asks for a search. From ply
        `depth` of the game on the book is not used. `variety`: see `choose`.
        """
        wants_a_search = limits.is_endless or limits.mate is not None or limits.searchmoves is not None
        if wants_a_search or board.ply() >= depth:
            return None
        chosen = self.choose(board, variety, random.Random())
        if chosen is None:
            return None
        move, weight = chosen
        share = weight / sum(weight for _, weight in self.moves(board))
        after = board.copy()
        after.push(move)
        replies = self.moves(after)
        name = name_of(after)
        # UCI cannot show accents.
        named = f", {name}".translate(WITHOUT_ACCENTS) if name else ""
        line = (move, *(reply for reply, _ in replies[:1]))
        return line, f"book: {board.uci(move)}, weight {weight} ({share:.0%}){named}"


@cache
def built_in_book() -> Book:
    """The book of the package."""
    return Book(BUILT_IN.read_bytes())


def _check(data: bytes) -> None:
    """ValueError: this is no book."""
    if not data:
        raise ValueError("it is empty")
    if len(data) > MAX_BOOK_BYTES:
        raise ValueError(f"it is too large: it has more than {MAX_BOOK_BYTES // 2**20} MiB")
    if len(data) % ENTRY_BYTES:
        raise ValueError(f"it is no Polyglot book: {len(data)} bytes are no multiple of {ENTRY_BYTES}")
    numbers = array("Q", data)
    if sys.byteorder == "little":
        numbers.byteswap()
    keys, entries = numbers[::2], numbers[1::2]
    if not all(map(le, keys, islice(keys, 1, None))):
        raise ValueError("it is no Polyglot book: its entries are not sorted")
    if any(map(eq, keys, islice(keys, MAX_POSITION_ENTRIES, None))):
        raise ValueError(f"it is no Polyglot book: a position has more than {MAX_POSITION_ENTRIES} entries")
    if not any(entry >> 32 & 0xFFFF for entry in entries):
        raise ValueError("it holds no move with a weight")


def _repeats(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    repeated = board.is_repetition(2)
    board.pop()
    return repeated


# The names of openings ---------------------------------------------------------------------------------------------


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
