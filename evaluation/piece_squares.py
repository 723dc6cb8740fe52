"""The terms of pieces by square: which of their weights a piece counts.

A piece counts one weight of each term of its type: by its square, and by its square and the bucket of either king. A
bucket is a part of the board. Squares are numbered as the piece's own side sees the board, buckets as the king's side
sees it.

The accumulator adds up the weights, `explain` and `coefficients` count them. `accumulated_indices` says which they are.
"""

from __future__ import annotations

from typing import Final

import chess

from evaluation.catalogue import Term

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
KING_BUCKET: Final = tuple(bucket for row in reversed(_BUCKETS) for bucket in row)

OWN_KING: Final = "_by_own_king"
ENEMY_KING: Final = "_by_enemy_king"


def piece_type_of(term: Term) -> chess.PieceType:
    """The piece type of a term of pieces by square."""
    return chess.PIECE_NAMES.index(term.name.partition("_")[0])


def accumulated_indices(board: chess.Board, colour: chess.Color, term: Term) -> list[int]:
    """The index of the weight of `term`, which the accumulator adds up, for each piece of a colour that counts one."""
    return [
        index
        for square, piece in board.piece_map().items()
        if piece.color == colour
        if (index := _weight_index(board, term, square, piece)) is not None
    ]


def _weight_index(board: chess.Board, term: Term, square: chess.Square, piece: chess.Piece) -> int | None:
    if term.name == "material":
        return piece.piece_type - 1 if piece.piece_type != chess.KING else None
    if piece.piece_type != piece_type_of(term):
        return None
    own_square = square if piece.color else chess.square_mirror(square)
    if term.name.endswith(OWN_KING):
        return 64 * bucket_of_king(board, piece.color) + own_square
    if term.name.endswith(ENEMY_KING):
        return 64 * bucket_of_king(board, not piece.color) + own_square
    return own_square


def bucket_of_king(board: chess.Board, colour: chess.Color) -> int:
    """The bucket of a king. ValueError without one."""
    square = board.king(colour)
    if square is None:
        raise ValueError("a side has no king")
    return KING_BUCKET[square if colour else chess.square_mirror(square)]
