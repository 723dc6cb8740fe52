"""What each piece adds to the learned correction: how much the network's output falls when it is taken off.

Only the piece's inputs go. The views stay as they are, and so do the weights of the output. So a king has a number,
too. The contributions do not add up to the correction, because the units are not linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final

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
from evaluation.words import joined

# How many pieces are named as the reason of a correction.
PIECES_NAMED: Final = 2


@dataclass(frozen=True, slots=True)
class Contribution:
    """A piece on its square, and what it adds to the correction, in centipawns from White's view."""

    square: chess.Square
    piece: chess.Piece
    white_cp: int


def contributions(board: chess.Board, network: Network) -> tuple[Contribution, ...]:
    """Those of all pieces, from a1 to h8. The board has one king a side."""
    placed = sorted(board.piece_map().items())
    rows = [[_row(network, board, view, square, piece) for view in _views(board)] for square, piece in placed]
    bias = numbers_of(network.hidden_bias)
    sums = [[sum(column) for column in zip(bias, *(row[view] for row in rows), strict=True)] for view in range(2)]
    bucket = (len(placed) - 1) // PIECES_PER_BUCKET
    weights = numbers_of(network.output[4 * UNITS * bucket : 4 * UNITS * (bucket + 1)])
    full = _output(sums, weights)
    found = []
    for (square, piece), row in zip(placed, rows, strict=True):
        without = [
            [total - weight for total, weight in zip(*pair, strict=True)] for pair in zip(sums, row, strict=True)
        ]
        difference = full - _output(without, weights)
        # Rounded towards zero, for either side alike.
        magnitude = abs(difference) >> OUTPUT_SHIFT
        found.append(Contribution(square, piece, magnitude if (difference > 0) == board.turn else -magnitude))
    return tuple(found)


def unusual_contributions(contributions: Iterable[Contribution]) -> dict[chess.Square, float]:
    """How much more each piece adds than pieces of its type do in the mean, in centipawns from White's view.

    Two queens each add much for their own sides, and that cancels out. Where only one side has the type, all that its
    pieces add counts.
    """
    own: dict[chess.PieceType, dict[chess.Color, list[int]]] = {}
    for each in contributions:
        sides = own.setdefault(each.piece.piece_type, {chess.WHITE: [], chess.BLACK: []})
        sides[each.piece.color].append(each.white_cp if each.piece.color else -each.white_cp)
    means = {
        piece_type: fmean(sides[chess.WHITE] + sides[chess.BLACK]) if all(sides.values()) else 0.0
        for piece_type, sides in own.items()
    }
    return {
        each.square: each.white_cp - (1 if each.piece.color else -1) * means[each.piece.piece_type]
        for each in contributions
    }


def weightiest(contributions: Iterable[Contribution], white_cp: Mapping[chess.Square, float], sign: int) -> str:
    """The pieces that count most for White (sign 1) or for Black (-1): `the knight on f5 and the king on h8`, or ""."""
    squares: dict[chess.PieceType, list[str]] = {}
    for each in sorted(contributions, key=lambda each: -sign * white_cp[each.square])[:PIECES_NAMED]:
        if sign * white_cp[each.square] > 0:
            squares.setdefault(each.piece.piece_type, []).append(chess.square_name(each.square))
    return joined(
        [
            f"the {chess.piece_name(piece_type)}{'s' if len(names) > 1 else ''} on {joined(names)}"
            for piece_type, names in squares.items()
        ]
    )


def _views(board: chess.Board) -> tuple[chess.Color, chess.Color]:
    """The sides in the order of the output."""
    return board.turn, not board.turn


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
