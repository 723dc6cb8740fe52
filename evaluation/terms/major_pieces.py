"""Rooks and queens: rooks on the seventh rank and shut in, queens in enemy country and in danger."""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import (
        BETWEEN,
        BISHOP,
        BISHOP_PSEUDO_ATTACKS,
        KING,
        PAWN,
        QUEEN,
        RANKS,
        ROOK,
        ROOK_PSEUDO_ATTACKS,
        front_span,
        i64,
        lsb,
        popcount_few,
    )
    from evaluation.context import EvaluationContext


class MajorPieceWeights:
    """The weights of the group "major_pieces", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "major_pieces")


def rook_on_seventh(weights: MajorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Rooks on the seventh rank, with enemy pawns on it or the enemy king on the eighth."""
    rooks = board.by_type[ROOK] & board.by_colour[us] & RANKS[6 if us else 1]
    if rooks == 0:
        return 0
    targets = board.by_type[PAWN] & RANKS[6 if us else 1] | board.by_type[KING] & RANKS[7 if us else 0]
    return weights.rook_on_seventh * popcount_few(rooks) if targets & board.by_colour[us ^ 1] else 0


def trapped_rook(weights: MajorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Rooks shut in: behind a pawn of ours, between our king and the edge, king and rook on the first rank."""
    king = context.king[us]
    first = RANKS[0 if us else 7]
    rooks = board.by_type[ROOK] & board.by_colour[us] & first
    if rooks == 0 or king >> 3 != (0 if us else 7):
        return 0
    rooks &= context.pawn_files[us]
    score: i64 = 0
    while rooks:
        file = lsb(rooks) & 7
        rooks &= rooks - 1
        if file > king & 7 if king & 7 > 3 else file < king & 7:
            score += weights.trapped_rook
    return score


def queen_infiltration(weights: MajorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Queens beyond the fourth rank where no enemy pawn can attack them."""
    queens = board.by_type[QUEEN] & board.by_colour[us]
    queens &= ~(RANKS[0] | RANKS[1] | RANKS[2] | RANKS[3]) if us else RANKS[0] | RANKS[1] | RANKS[2] | RANKS[3]
    if queens:
        queens &= ~(context.pawn_attacks[us ^ 1] | front_span(context.pawn_attacks[us ^ 1], us ^ 1))
    return weights.queen_infiltration * popcount_few(queens)


def weak_queen(weights: MajorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Enemy bishops and rooks that would attack our queen but for one piece between: a pin or a discovered attack."""
    queens = board.by_type[QUEEN] & board.by_colour[us]
    score: i64 = 0
    while queens:
        square = lsb(queens)
        queens &= queens - 1
        snipers = BISHOP_PSEUDO_ATTACKS[square] & board.by_type[BISHOP]
        snipers |= ROOK_PSEUDO_ATTACKS[square] & board.by_type[ROOK]
        snipers &= board.by_colour[us ^ 1]
        while snipers:
            between = BETWEEN[64 * square + lsb(snipers)] & (board.by_colour[0] | board.by_colour[1])
            snipers &= snipers - 1
            if between and not between & (between - 1):
                score += weights.weak_queen
    return score


def total(weights: MajorPieceWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms of this module, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = rook_on_seventh(weights, context, board, us) + trapped_rook(weights, context, board, us)
        side += queen_infiltration(weights, context, board, us) + weak_queen(weights, context, board, us)
        score = side - score
    return score
