"""What each piece adds to the learned correction: how much the network's output falls when it is taken off.

Only the piece's inputs go. The views stay as they are, and so do the weights of the output. So a king has a number,
too. The contributions do not add up to the correction, because the units are not linear.
"""

from __future__ import annotations

import chess

from evaluation.correction.network import Network, numbers_of, small_numbers_of
from evaluation.correction.shape import (
    KING_REGION,
    MAX_SUM,
    OUTPUT_SHIFT,
    PIECE_SQUARES,
    PIECES_PER_BUCKET,
    SQUARE_SHIFT,
    UNITS,
)


def contributions(board: chess.Board, network: Network) -> dict[chess.Square, int]:
    """Those of all pieces by square, in centipawns from White's view. The board has one king a side."""
    placed = sorted(board.piece_map().items())
    # The sides in the order of the output.
    views = board.turn, not board.turn
    rows = [[_row(network, board, view, square, piece) for view in views] for square, piece in placed]
    bias = numbers_of(network.hidden_bias)
    sums = [[sum(column) for column in zip(bias, *(row[view] for row in rows), strict=True)] for view in range(2)]
    bucket = (len(placed) - 1) // PIECES_PER_BUCKET
    weights = numbers_of(network.output[4 * UNITS * bucket : 4 * UNITS * (bucket + 1)])
    full = _output(sums, weights)
    found = {}
    for (square, _), row in zip(placed, rows, strict=True):
        without = [
            [total - weight for total, weight in zip(*pair, strict=True)] for pair in zip(sums, row, strict=True)
        ]
        difference = full - _output(without, weights)
        # Rounded towards zero, for either side alike.
        magnitude = abs(difference) >> OUTPUT_SHIFT
        found[square] = magnitude if (difference > 0) == board.turn else -magnitude
    return found


def _row(
    network: Network, board: chess.Board, view: chess.Color, square: chess.Square, piece: chess.Piece
) -> list[int]:
    """What a piece adds to the sums of one side's view."""
    king = board.king(view)
    assert king is not None
    orientation = (0 if view else 56) ^ (7 if chess.square_file(king) < 4 else 0)
    kind = piece.piece_type - 1 + (0 if piece.color == view else 6)
    first = UNITS * (PIECE_SQUARES * KING_REGION[king ^ orientation] + 64 * kind + (square ^ orientation))
    return small_numbers_of(network.hidden[first : first + UNITS])


def _output(sums: list[list[int]], weights: list[int]) -> int:
    """The output without its bias, in units of 2 ** -OUTPUT_SHIFT centipawns."""
    cut = (min(max(total, 0), MAX_SUM) for view in sums for total in view)
    return sum((each * each >> SQUARE_SHIFT) * weight for each, weight in zip(cut, weights, strict=True))
