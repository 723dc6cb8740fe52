"""A Polyglot opening book. The file is checked before it is used; python-chess (`chess.polyglot`) reads its entries.

An entry has 16 bytes (key, move, weight, learning data), and the entries are sorted by key.

Invariants: an invalid file raises `BookError`. Only regular files are read. A move that this module returns is legal.
"""

from __future__ import annotations

import os
import random
import stat
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import le
from pathlib import Path
from typing import BinaryIO

import chess
import chess.polyglot

from evaluation.files import identity
from uci_engine.book.opening_names import OpeningName, opening_of
from uci_engine.text import quoted

BUILT_IN = Path(__file__).with_name("book.bin")

ENTRY_BYTES = 16
MAX_BOOK_BYTES = 256 * 2**20
# The whole file is read once, in pieces of this size, a multiple of ENTRY_BYTES.
PIECE_BYTES = 2**20

# The maximum number of entries that are read for one position. Valid books have at most one for each legal move, and a
# move must not wait for a book with a million.
MAX_POSITION_ENTRIES = 512

# At this variety, moves are drawn with probability proportional to weight; at 0 the heaviest is always played.
ALL_BY_WEIGHT = 100


class BookError(ValueError):
    """A book cannot be used; the text is one message for the user."""


@dataclass(frozen=True, slots=True)
class BookMove:
    """A move from the book, its weight, its share of the position's weights (0 to 1), and the opening after it."""

    move: chess.Move
    weight: int
    share: float
    opening: OpeningName | None


class Book:
    """An open book."""

    def __init__(self, path: str = "") -> None:
        """Open the book at `path`, or the built-in one when it is empty. Raises BookError."""
        self._path = path or str(BUILT_IN)
        self._title = f"book {quoted(path)}" if path else "the built-in book"
        try:
            self._identity = identity(os.stat(self._path))
            _examine(self._path)
            self._reader = chess.polyglot.MemoryMappedReader(self._path)
        except OSError as error:
            raise BookError(f"{self._title} cannot be read: {error.strerror or 'not a book'}") from None
        except ValueError as error:  # from _examine, or for a path with a NUL
            reason = error if isinstance(error, BookError) else "has a name that no file can have"
            raise BookError(f"{self._title} {reason}") from None

    def __len__(self) -> int:
        """Number of entries: moves, counted once for each position."""
        return len(self._reader)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def moves(self, board: chess.Board) -> list[tuple[chess.Move, int]]:
        """The book's legal moves and their weights, heaviest first, without moves that repeat a position of the game.

        Raises BookError when the file was changed: a mapped file that shrinks would end the process.
        """
        try:
            unchanged = identity(os.stat(self._path)) == self._identity
        except OSError:
            unchanged = False
        if not unchanged:
            raise BookError(f"{self._title} was changed on disk while it was open")
        weights: dict[chess.Move, int] = {}
        # Not by `find_all`, because it skips any number of entries that are illegal or have no weight.
        key = chess.polyglot.zobrist_hash(board)
        first = self._reader.bisect_key_left(key)
        for index in range(first, min(first + MAX_POSITION_ENTRIES, len(self._reader))):
            entry = self._reader[index]
            if entry.key != key:
                break
            move = _legal_move(board, entry.move)
            if move is not None and entry.weight > weights.get(move, 0):
                weights[move] = entry.weight
        weights = {move: weight for move, weight in weights.items() if not _repeats(board, move)}
        # Equal weights are sorted by name, so that the best move is always the same.
        return sorted(weights.items(), key=lambda item: (-item[1], item[0].uci()))

    def choose(self, board: chess.Board, variety: int, generator: random.Random) -> BookMove | None:
        """A move for this position, or None.

        `variety` is 0 (always the heaviest move) to 100 (chances by weight). Between them, heavier moves have more than
        their share.
        """
        candidates = self.moves(board)
        if not candidates:
            return None
        heaviest = candidates[0][1]
        if variety <= 0:
            move, weight = candidates[0]
        else:
            sharpness = ALL_BY_WEIGHT / min(variety, ALL_BY_WEIGHT)
            chances = [(weight / heaviest) ** sharpness for _, weight in candidates]
            move, weight = generator.choices(candidates, chances)[0]
        share = weight / sum(weight for _, weight in candidates)
        board.push(move)
        opening = opening_of(board)
        board.pop()
        return BookMove(move, weight, share, opening)


def _examine(path: str) -> None:
    """Check the whole file. Raises BookError with the end of a message if it cannot be a book."""
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise BookError("is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise BookError("is not a regular file")
    size = status.st_size
    if size == 0:
        raise BookError("is empty")
    if size % ENTRY_BYTES:
        raise BookError(f"is no Polyglot book, or a part of one: {size} bytes are no multiple of {ENTRY_BYTES}")
    if size > MAX_BOOK_BYTES:
        raise BookError(f"is too large: {size / 2**20:.0f} MiB, of at most {MAX_BOOK_BYTES // 2**20}")
    last_key = 0
    playable = False
    with open(path, "rb") as file:
        for piece in _pieces(file):
            keys = _numbers("Q", piece)[::2]
            if last_key > keys[0] or not all(map(le, keys, islice(keys, 1, None))):
                raise BookError("is no Polyglot book: its entries are not sorted")
            last_key = keys[-1]
            # An entry has eight 16-bit numbers: four of the key, then the move and its weight.
            playable = playable or any(_numbers("H", piece)[5::8])
    if not playable:
        raise BookError("holds no move with a weight")


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Whole entries, even if the file changes meanwhile, which `Book.moves` notices."""
    for _ in range(MAX_BOOK_BYTES // PIECE_BYTES):
        piece = file.read(PIECE_BYTES)
        whole_bytes = len(piece) - len(piece) % ENTRY_BYTES
        if not whole_bytes:
            break
        yield piece[:whole_bytes]


def _numbers(type_code: str, data: bytes) -> array[int]:
    numbers: array[int] = array(type_code, data)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def _legal_move(board: chess.Board, move: chess.Move) -> chess.Move | None:
    """A move as a book writes it, with castling as king takes rook, or None if it is not legal."""
    if board.chess960:
        return move if board.is_legal(move) else None
    try:
        return board.parse_uci(move.uci()) or None
    except ValueError:
        return None


def _repeats(board: chess.Board, move: chess.Move) -> bool:
    """Whether the move repeats a position of the game."""
    board.push(move)
    repeated = board.is_repetition(2)
    board.pop()
    return repeated
