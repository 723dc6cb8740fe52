"""Knights and bishops: where they stand to pawns, outposts, kings and diagonals."""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import (
        BB,
        BISHOP,
        FILES,
        KNIGHT,
        LIGHT,
        PAWN,
        RANKS,
        bishop_attacks,
        distance,
        forward,
        front_span,
        i64,
        lsb,
        popcount,
        u64,
    )
    from evaluation.context import EvaluationContext


class MinorPieceWeights:
    """The weights of the group "minor_pieces", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "minor_pieces")


def outpost_by_rank(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Knights, then bishops on an outpost, by rank."""
    flip = 0 if us else 7
    score: i64 = 0
    minors = board.by_colour[us] & (board.by_type[KNIGHT] | board.by_type[BISHOP]) & context.pawn_attacks[us]
    if minors:
        minors &= _outposts(context, us)
    while minors:
        square = lsb(minors)
        minors &= minors - 1
        score += weights.outpost_by_rank[((square >> 3) ^ flip) + (0 if BB[square] & board.by_type[KNIGHT] else 8)]
    return score


def reachable_outpost(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Outposts without a piece of ours that our knights, our bishops attack."""
    outposts = _outposts(context, us) & ~board.by_colour[us]
    score: i64 = 0
    if outposts:
        score += weights.reachable_outpost[0] * popcount(outposts & context.attacked_by[8 * us + KNIGHT])
        score += weights.reachable_outpost[1] * popcount(outposts & context.attacked_by[8 * us + BISHOP])
    return score


def minor_behind_pawn(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Knights, bishops with a pawn of either side directly ahead."""
    behind = forward(board.by_type[PAWN], us ^ 1) & board.by_colour[us]
    score: i64 = 0
    if behind & board.by_type[KNIGHT]:
        score += weights.minor_behind_pawn[0] * popcount(behind & board.by_type[KNIGHT])
    if behind & board.by_type[BISHOP]:
        score += weights.minor_behind_pawn[1] * popcount(behind & board.by_type[BISHOP])
    return score


def minor_by_own_king(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Knights, then bishops, by the distance from their king."""
    return _by_king(weights.minor_by_own_king, board, us, context.king[us])


def minor_by_enemy_king(
    weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int
) -> i64:
    """Knights, then bishops, by the distance from the enemy king."""
    return _by_king(weights.minor_by_enemy_king, board, us, context.king[us ^ 1])


def bishop_pawns(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Bishops: 5 * the number of our pawns on squares of their colour (at most 8) + that of our blocked centre pawns.

    A blocked centre pawn is on one of the files c to f and has any piece directly ahead. At most 4 count.
    """
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    if bishops == 0:
        return 0
    pawns = board.by_type[PAWN] & board.by_colour[us]
    blocked = pawns & forward(board.by_colour[0] | board.by_colour[1], us ^ 1)
    blocked &= FILES[2] | FILES[3] | FILES[4] | FILES[5]
    count = popcount(blocked)
    if count > 4:
        count = 4
    return _by_colour(weights.bishop_pawns, bishops, pawns, 5, count)


def bishop_enemy_pawns(
    weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int
) -> i64:
    """Bishops, by the number of enemy pawns on squares of their colour (at most 8)."""
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    if bishops == 0:
        return 0
    return _by_colour(weights.bishop_enemy_pawns, bishops, board.by_type[PAWN] & board.by_colour[us ^ 1], 1, 0)


def long_diagonal(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Bishops that attack two of the four central squares, where only pawns stop them."""
    centre = (RANKS[3] | RANKS[4]) & (FILES[3] | FILES[4])
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    score: i64 = 0
    while bishops:
        square = lsb(bishops)
        bishops &= bishops - 1
        central = bishop_attacks(square, board.by_type[PAWN]) & centre
        if central & (central - 1):
            score += weights.long_diagonal
    return score


def _outposts(context: EvaluationContext, us: cython.int) -> u64:
    """The squares on the fourth to sixth rank that a pawn of ours defends and no enemy pawn can attack."""
    ranks = RANKS[3] | RANKS[4] | (RANKS[5] if us else RANKS[2])
    enemies = context.pawn_attacks[us ^ 1]
    return context.pawn_attacks[us] & ranks & ~(enemies | front_span(enemies, us ^ 1))


def _by_king(table: cython.pointer(i64), board: BaseBoard, us: cython.int, king: cython.int) -> i64:
    """The weights of our knights, then bishops, by the distance from a king."""
    minors = board.by_colour[us] & (board.by_type[KNIGHT] | board.by_type[BISHOP])
    score: i64 = 0
    while minors:
        square = lsb(minors)
        minors &= minors - 1
        score += table[distance(square, king) + (0 if BB[square] & board.by_type[KNIGHT] else 8)]
    return score


def _by_colour(
    table: cython.pointer(i64), bishops: u64, pawns: u64, factor: cython.int, offset: cython.int
) -> i64:
    """The weights of bishops by the number of pawns on squares of their colour."""
    score: i64 = 0
    light = popcount(bishops & LIGHT)
    if light:
        count = popcount(pawns & LIGHT)
        score += light * table[factor * (count if count < 8 else 8) + offset]
    dark = popcount(bishops & ~LIGHT)
    if dark:
        count = popcount(pawns & ~LIGHT)
        score += dark * table[factor * (count if count < 8 else 8) + offset]
    return score


def total(weights: MinorPieceWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms of this module, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = outpost_by_rank(weights, context, board, us) + reachable_outpost(weights, context, board, us)
        side += minor_behind_pawn(weights, context, board, us)
        side += minor_by_own_king(weights, context, board, us) + minor_by_enemy_king(weights, context, board, us)
        side += bishop_pawns(weights, context, board, us) + bishop_enemy_pawns(weights, context, board, us)
        side += long_diagonal(weights, context, board, us)
        score = side - score
    return score
