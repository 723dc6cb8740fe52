"""Polyglot books as files: written from weights, and read back whole.

Invariants: equal weights give equal bytes. A book on the disk is replaced whole or not at all.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import chess
import chess.polyglot

from lib.errors import ProgramError
from uci_engine.book.book import Book

# For each position's key: the moves, as Polyglot writes them, and their weights.
Weights = dict[int, dict[int, float]]

ENTRY = struct.Struct(">QHHI")
HEAVIEST = 65535


def polyglot_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move in Polyglot's 16 bits; castling is written as the king taking the rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(move.from_square))
    promotion = move.promotion - 1 if move.promotion else 0
    return promotion << 12 | move.from_square << 6 | target


def book_bytes(weights: Weights) -> bytes:
    """A Polyglot file: sorted by key, heavier moves first. Weights too large for 16 bits are scaled down."""
    entries = []
    for key, moves in sorted(weights.items()):
        scale = HEAVIEST / max(HEAVIEST, *moves.values())
        rounded = {move: round(weight * scale) for move, weight in moves.items() if weight > 0}
        for move, weight in sorted(rounded.items(), key=lambda item: (-item[1], item[0])):
            # A move that was wanted at all stays possible.
            entries.append(ENTRY.pack(key, move, max(weight, 1), 0))
    return b"".join(entries)


def write_book(weights: Weights, path: Path) -> None:
    """Write the file whole or not at all."""
    data = book_bytes(weights)
    if not data:
        raise ProgramError("there is nothing to write: no move was left")
    if path.is_dir():
        raise ProgramError(f"{path} is a directory")
    draft = path.with_name(path.name + ".part")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    print(f"{path}: {len(weights)} positions, {len(data) // ENTRY.size} moves, {len(data)} bytes")


def read_book(path: str) -> Weights:
    """All of a book's entries. Raises BookError."""
    Book(path)  # what is no sound book ends here
    weights: Weights = {}
    with chess.polyglot.MemoryMappedReader(path) as reader:
        for entry in reader:
            moves = weights.setdefault(entry.key, {})
            moves[entry.raw_move] = max(entry.weight, moves.get(entry.raw_move, 0))
    return weights
