"""Pawn structure: doubled, isolated and connected pawns."""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import PAWN, adjacent, file_fill, front_span, i64, lsb, popcount
    from evaluation.context import EvaluationContext


class PawnWeights:
    """The weights of the group "pawns", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "pawns")


def doubled_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Doubled pawns: each pawn with another of its colour behind it on its file."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return weights.doubled_pawn * popcount(pawns & front_span(pawns, us))


def isolated_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Isolated pawns: each pawn with none of its colour on the adjacent files."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return weights.isolated_pawn * popcount(pawns & ~adjacent(file_fill(pawns)))


def connected_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Connected pawns, by rank: each pawn that another defends, or that has another next to it (a phalanx)."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    pawns &= context.pawn_attacks[us] | adjacent(pawns)
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        score += weights.connected_pawn[(lsb(pawns) >> 3) ^ flip]
        pawns &= pawns - 1
    return score


def pawn_king_total(weights: PawnWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms that depend on pawns and kings alone, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = doubled_pawn(weights, context, board, us) + isolated_pawn(weights, context, board, us)
        side += connected_pawn(weights, context, board, us)
        score = side - score
    return score
