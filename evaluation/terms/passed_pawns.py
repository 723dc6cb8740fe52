"""Passed pawns: their rank, the distance of the kings, and whether their path is blocked or free."""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import BB, PAWN, RANKS, adjacent, distance, forward, front_span, i64, lsb
    from evaluation.context import EvaluationContext


class PassedPawnWeights:
    """The weights of the group "passed_pawns", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "passed_pawns")


def passed_pawn(weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Passed pawns, by rank: no enemy pawn ahead on their file or an adjacent one, and none of their own on their file.

    Adds them to `context.passed_pawns`, which the other terms of this module read.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    enemy = front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    pawns &= ~(enemy | adjacent(enemy) | front_span(pawns, us ^ 1))
    context.passed_pawns |= pawns
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        score += weights.passed_pawn[(lsb(pawns) >> 3) ^ flip]
        pawns &= pawns - 1
    return score


def passed_pawn_own_king(
    weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int
) -> i64:
    """Passed pawns beyond the third rank, by their king's distance from the square ahead of them."""
    pawns = _advanced(context, board, us)
    ahead = 8 if us else -8
    score: i64 = 0
    while pawns:
        score += weights.passed_pawn_own_king[distance(context.king[us], lsb(pawns) + ahead)]
        pawns &= pawns - 1
    return score


def passed_pawn_enemy_king(
    weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int
) -> i64:
    """Passed pawns beyond the third rank, by the enemy king's distance from the square ahead of them."""
    pawns = _advanced(context, board, us)
    ahead = 8 if us else -8
    score: i64 = 0
    while pawns:
        score += weights.passed_pawn_enemy_king[distance(context.king[us ^ 1], lsb(pawns) + ahead)]
        pawns &= pawns - 1
    return score


def passed_pawn_blocked(
    weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int
) -> i64:
    """Blocked passed pawns, by rank: any piece is on the square ahead of them."""
    occupied = board.by_colour[0] | board.by_colour[1]
    pawns = context.passed_pawns & board.by_colour[us] & forward(occupied, us ^ 1)
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        score += weights.passed_pawn_blocked[(lsb(pawns) >> 3) ^ flip]
        pawns &= pawns - 1
    return score


def passed_pawn_free(weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Free passed pawns, by rank: no square of their front span is occupied or attacked by the enemy."""
    pawns = context.passed_pawns & board.by_colour[us]
    obstacles = board.by_colour[0] | board.by_colour[1] | context.attacked[us ^ 1]
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        square = lsb(pawns)
        pawns &= pawns - 1
        if not front_span(BB[square], us) & obstacles:
            score += weights.passed_pawn_free[(square >> 3) ^ flip]
    return score


def _advanced(context: EvaluationContext, board: BaseBoard, us: cython.int) -> u64:
    """Our passed pawns beyond the third rank."""
    near = RANKS[0] | RANKS[1] | RANKS[2] if us else RANKS[5] | RANKS[6] | RANKS[7]
    return context.passed_pawns & board.by_colour[us] & ~near


def pawn_king_total(weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms that depend on pawns and kings alone, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = passed_pawn(weights, context, board, us) + passed_pawn_own_king(weights, context, board, us)
        side += passed_pawn_enemy_king(weights, context, board, us)
        score = side - score
    return score


def total(weights: PassedPawnWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The other terms, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = passed_pawn_blocked(weights, context, board, us) + passed_pawn_free(weights, context, board, us)
        score = side - score
    return score
