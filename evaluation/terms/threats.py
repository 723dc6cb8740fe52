"""Threats: pieces attacked by lesser pieces, and hanging pieces."""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import ALL, BISHOP, KNIGHT, PAWN, QUEEN, RANKS, ROOK, forward, i64, pawn_attacks, popcount
    from evaluation.context import EvaluationContext


class ThreatWeights:
    """The weights of the group "threats", packed."""

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "threats")


def threat_by_pawn(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy knight, bishop, rook and queen that a pawn attacks."""
    targets = board.by_type[KNIGHT] | board.by_type[BISHOP] | board.by_type[ROOK] | board.by_type[QUEEN]
    targets &= board.by_colour[us ^ 1] & context.pawn_attacks[us]
    return weights.threat_by_pawn * popcount(targets) if targets else 0


def threat_by_push(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy piece (not a pawn) that a pawn could attack with its next push, to a square where it would be safe."""
    empty = ALL ^ (board.by_colour[0] | board.by_colour[1])
    pushes = forward(board.by_type[PAWN] & board.by_colour[us], us) & empty
    pushes |= forward(pushes & (RANKS[2] if us else RANKS[5]), us) & empty
    pushes &= ~context.pawn_attacks[us ^ 1]
    pushes &= context.attacked[us] | ~context.attacked[us ^ 1]
    targets = pawn_attacks(pushes, us) & board.by_colour[us ^ 1] & ~board.by_type[PAWN]
    return weights.threat_by_push * popcount(targets) if targets else 0


def threat_by_minor(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Attacked by a knight or bishop: each enemy minor piece that no pawn defends, and each rook and queen."""
    attacked = context.attacked_by[8 * us + KNIGHT] | context.attacked_by[8 * us + BISHOP]
    attacked &= board.by_colour[us ^ 1]
    score: i64 = 0
    targets = attacked & (board.by_type[KNIGHT] | board.by_type[BISHOP]) & ~context.pawn_attacks[us ^ 1]
    if targets:
        score += weights.threat_by_minor[0] * popcount(targets)
    targets = attacked & (board.by_type[ROOK] | board.by_type[QUEEN])
    if targets:
        score += weights.threat_by_minor[1] * popcount(targets)
    return score


def threat_by_rook(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Attacked by a rook: each enemy minor piece that no pawn defends, and each queen."""
    attacked = context.attacked_by[8 * us + ROOK] & board.by_colour[us ^ 1]
    score: i64 = 0
    targets = attacked & (board.by_type[KNIGHT] | board.by_type[BISHOP]) & ~context.pawn_attacks[us ^ 1]
    if targets:
        score += weights.threat_by_rook[0] * popcount(targets)
    targets = attacked & board.by_type[QUEEN]
    if targets:
        score += weights.threat_by_rook[1] * popcount(targets)
    return score


def hanging(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Hanging pieces: each enemy piece or pawn that we attack and nothing defends."""
    targets = board.by_colour[us ^ 1] & context.attacked[us] & ~context.attacked[us ^ 1]
    return weights.hanging * popcount(targets) if targets else 0


def total(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms of this module, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = threat_by_pawn(weights, context, board, us) + threat_by_push(weights, context, board, us)
        side += threat_by_minor(weights, context, board, us) + threat_by_rook(weights, context, board, us)
        side += hanging(weights, context, board, us)
        score = side - score
    return score
