"""King safety: pawn shelter, pawn storm, attacks on the king zone, safe checks."""

from __future__ import annotations

import cython

from evaluation import constants
from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import (
        ALL,
        BB,
        BISHOP,
        FILES,
        KNIGHT,
        KNIGHT_ATTACKS,
        PAWN,
        QUEEN,
        ROOK,
        adjacent,
        bishop_attacks,
        front_span,
        i64,
        lsb,
        msb,
        popcount,
        rook_attacks,
    )
    from evaluation.context import EvaluationContext

MAX_ATTACK_UNITS = constants.MAX_ATTACK_UNITS


class KingWeights:
    """The weights of the group "king", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "king")


def king_shelter(weights: KingWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Pawn shelter: on each of three files around the king, our rearmost pawn not behind the king.

    The weight depends on the file's distance from the edge and on the pawn's rank (0 for no pawn).
    """
    pawns = board.by_type[PAWN] & board.by_colour[us] & _shelter_area(context.king[us], us)
    centre = _shelter_file(context.king[us])
    score: i64 = 0
    for file in range(centre - 1, centre + 2):
        rank = _nearest_rank(pawns & FILES[file], us)
        score += weights.king_shelter[8 * (file if file < 4 else 7 - file) + rank]
    return score


def pawn_storm(weights: KingWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Pawn storm: on the same files, the nearest enemy pawn not behind our king, by rank (0 for no pawn)."""
    pawns = board.by_type[PAWN] & board.by_colour[us ^ 1] & _shelter_area(context.king[us], us)
    centre = _shelter_file(context.king[us])
    score: i64 = 0
    for file in range(centre - 1, centre + 2):
        score += weights.pawn_storm[_nearest_rank(pawns & FILES[file], us)]
    return score


def king_danger(weights: KingWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Our attack on the enemy king, by attack units.

    Each piece that attacks the king zone adds units by its type. Each square of the zone that we attack and no enemy
    pawn defends adds one more.
    """
    units = context.attack_units[us]
    if units == 0:
        return 0
    units += popcount(context.attacked[us] & context.king_zone[us ^ 1] & ~context.pawn_attacks[us ^ 1])
    return weights.king_danger[units if units < MAX_ATTACK_UNITS else MAX_ATTACK_UNITS]


def safe_check(weights: KingWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Safe checks: each piece type (knight to queen) that can give check on a square the enemy does not attack."""
    king = context.king[us ^ 1]
    occupied = board.by_colour[0] | board.by_colour[1]
    safe = ALL ^ (board.by_colour[us] | context.attacked[us ^ 1])
    diagonal = bishop_attacks(king, occupied) & safe
    straight = rook_attacks(king, occupied) & safe
    score: i64 = 0
    if KNIGHT_ATTACKS[king] & safe & context.attacked_by[8 * us + KNIGHT]:
        score += weights.safe_check[0]
    if diagonal & context.attacked_by[8 * us + BISHOP]:
        score += weights.safe_check[1]
    if straight & context.attacked_by[8 * us + ROOK]:
        score += weights.safe_check[2]
    if (diagonal | straight) & context.attacked_by[8 * us + QUEEN]:
        score += weights.safe_check[3]
    return score


def _shelter_area(king: cython.int, us: cython.int) -> u64:
    """The king's file and the adjacent files, from its rank forward."""
    front = BB[king] | adjacent(BB[king])
    return front | front_span(front, us)


def _nearest_rank(pawns: u64, us: cython.int) -> cython.int:
    """The relative rank of our rearmost pawn, or of the enemy pawn nearest to our side. 0 without pawns."""
    if pawns == 0:
        return 0
    return lsb(pawns) >> 3 if us else 7 - (msb(pawns) >> 3)


def _shelter_file(king: cython.int) -> cython.int:
    """The middle one of the three files around a king: its own file, or the next one for a king on the edge."""
    file = king & 7
    if file == 0:
        return 1
    return 6 if file == 7 else file


def pawn_king_total(weights: KingWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms that depend on pawns and kings alone, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = king_shelter(weights, context, board, us) + pawn_storm(weights, context, board, us)
        score = side - score
    return score


def total(weights: KingWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The other terms, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = king_danger(weights, context, board, us) + safe_check(weights, context, board, us)
        score = side - score
    return score
