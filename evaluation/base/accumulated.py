"""The piece-square terms: which of their weights a piece counts.

A piece counts one weight of each term of its type: by its square, and by its square and the bucket of either king.
Squares are numbered as the piece's own side sees the board, buckets as the king's side sees it.

The board adds up the weights (see `Weights.piece_square`). `explain` counts them, and so do the tuners.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import chess

# The bucket of a king, the eighth rank first: three parts of the first two ranks, two parts of the rest.
_BUCKETS: Final = (
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (3, 3, 3, 4, 4, 5, 5, 5),
    (0, 0, 0, 1, 1, 2, 2, 2),
)
KING_BUCKETS: Final = 8
# Pieces run from 2 (a black pawn) to 13 (the white king).
PIECES: Final = 14 * 64
KING_BUCKET: Final = tuple(bucket for row in reversed(_BUCKETS) for bucket in row)

OWN_KING: Final = "_by_own_king"
ENEMY_KING: Final = "_by_enemy_king"


# The pieces that also count by the buckets of the kings. For pawns there are tables of all king squares (`pawn_pairs`).
BY_KINGS: Final = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


def counted_weights(
    piece_type: chess.PieceType, square: chess.Square, own_bucket: int, enemy_bucket: int
) -> Iterator[tuple[str, int]]:
    """The weights that a piece counts once each: name of the term, index. `square` as its side sees the board."""
    name = chess.piece_name(piece_type)
    if piece_type != chess.KING:
        yield "material", piece_type - 1
    yield f"{name}_squares", square
    if piece_type in BY_KINGS:
        yield f"{name}_squares{OWN_KING}", 64 * own_bucket + square
        yield f"{name}_squares{ENEMY_KING}", 64 * enemy_bucket + square


def accumulated_indices(board: chess.Board, colour: chess.Color) -> dict[str, list[int]]:
    """The indices of the weights that the pieces of a colour count, by term. One king a side."""
    flip = 0 if colour else 56
    own_king, enemy_king = (chess.msb(board.kings & board.occupied_co[us]) ^ flip for us in (colour, not colour))
    found: dict[str, list[int]] = defaultdict(list)
    for square, piece in board.piece_map().items():
        if piece.color == colour:
            buckets = KING_BUCKET[own_king], KING_BUCKET[enemy_king ^ 56]
            for term, index in counted_weights(piece.piece_type, square ^ flip, *buckets):
                found[term].append(index)
    return found
