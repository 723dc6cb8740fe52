"""Threats: pieces attacked by each kind of piece, hanging and barely defended pieces, contested squares, the queen.

Strongly defended: by a pawn, or twice where we do not attack twice. The tables "by victim" hold pawn, knight, bishop,
rook, queen.
"""

from __future__ import annotations

import cython

from evaluation.weights import Weights

if not cython.compiled:
    from evaluation.base_board import BaseBoard
    from evaluation.bitboards import (
        ALL,
        BB,
        BISHOP,
        KING,
        KING_ATTACKS,
        KNIGHT,
        KNIGHT_ATTACKS,
        PAWN,
        QUEEN,
        RANKS,
        ROOK,
        bishop_attacks,
        forward,
        i64,
        lsb,
        pawn_attacks,
        popcount,
        rook_attacks,
        u64,
    )
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
    targets = pawn_attacks(_safe_pushes(context, board, us), us) & board.by_colour[us ^ 1] & ~board.by_type[PAWN]
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


def minor_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy pawn and piece that a knight or bishop attacks, by victim; the second five: strongly defended ones."""
    attacked = context.attacked_by[8 * us + KNIGHT] | context.attacked_by[8 * us + BISHOP]
    return _by_victim_and_defence(weights.minor_threat, context, board, us, attacked)


def rook_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy pawn and piece that a rook attacks, by victim; the second five: strongly defended ones."""
    return _by_victim_and_defence(weights.rook_threat, context, board, us, context.attacked_by[8 * us + ROOK])


def queen_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy pawn and piece that a queen attacks, by victim; the second five: strongly defended ones."""
    return _by_victim_and_defence(weights.queen_threat, context, board, us, context.attacked_by[8 * us + QUEEN])


def king_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy pawn and piece that our king attacks and that is not strongly defended, by victim."""
    targets = KING_ATTACKS[context.king[us]] & ~_strongly_defended(context, us)
    return _by_victim(weights.king_threat, board, us, targets)


def safe_pawn_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy piece, by victim, that a pawn attacks which is defended or not attacked."""
    pawns = board.by_type[PAWN] & board.by_colour[us] & (context.attacked[us] | ~context.attacked[us ^ 1])
    return _by_victim(weights.safe_pawn_threat, board, us, pawn_attacks(pawns, us) & ~board.by_type[PAWN])


def push_threat(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Each enemy piece, by victim, that a pawn could attack with its next push, as in `threat_by_push`."""
    targets = pawn_attacks(_safe_pushes(context, board, us), us) & ~board.by_type[PAWN]
    return _by_victim(weights.push_threat, board, us, targets)


def hanging_piece(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Hanging pieces and pawns of the enemy, by victim: we attack them, and nothing defends them."""
    return _by_victim(weights.hanging_piece, board, us, context.attacked[us] & ~context.attacked[us ^ 1])


def defended_once(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Enemy pieces and pawns, by victim, that we attack and only one piece or pawn defends: it may be overloaded."""
    them = us ^ 1
    targets = context.attacked[us] & context.attacked[them] & ~context.attacked_twice[them]
    return _by_victim(weights.defended_once, board, us, targets)


def restricted_square(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Squares that both sides attack and the enemy does not defend strongly."""
    restricted = context.attacked[us] & context.attacked[us ^ 1] & ~_strongly_defended(context, us)
    return weights.restricted_square * popcount(restricted)


def queen_attackable(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard, us: cython.int) -> i64:
    """Squares from which a knight, a bishop or a rook could attack the only enemy queen.

    They are in the mobility area and not strongly defended. Those of bishop and rook are attacked twice by us.
    """
    queen = board.by_type[QUEEN] & board.by_colour[us ^ 1]
    if queen == 0 or queen & (queen - 1):
        return 0
    square = lsb(queen)
    safe = context.mobility_area[us] & ~_strongly_defended(context, us)
    score: i64 = 0
    squares = safe & KNIGHT_ATTACKS[square] & context.attacked_by[8 * us + KNIGHT]
    if squares:
        score += weights.queen_attackable[0] * popcount(squares)
    safe &= context.attacked_twice[us]
    occupied = board.by_colour[0] | board.by_colour[1]
    squares = safe & context.attacked_by[8 * us + BISHOP]
    if squares:
        score += weights.queen_attackable[1] * popcount(squares & bishop_attacks(square, occupied))
    squares = safe & context.attacked_by[8 * us + ROOK]
    if squares:
        score += weights.queen_attackable[2] * popcount(squares & rook_attacks(square, occupied))
    return score


def _safe_pushes(context: EvaluationContext, board: BaseBoard, us: cython.int) -> u64:
    """The squares to which our pawns can move, without those where they would not be safe."""
    empty = ALL ^ (board.by_colour[0] | board.by_colour[1])
    pushes = forward(board.by_type[PAWN] & board.by_colour[us], us) & empty
    pushes |= forward(pushes & (RANKS[2] if us else RANKS[5]), us) & empty
    pushes &= ~context.pawn_attacks[us ^ 1]
    return pushes & (context.attacked[us] | ~context.attacked[us ^ 1])


def _strongly_defended(context: EvaluationContext, us: cython.int) -> u64:
    """The squares that the enemy of `us` defends strongly."""
    return context.pawn_attacks[us ^ 1] | context.attacked_twice[us ^ 1] & ~context.attacked_twice[us]


def _by_victim(table: cython.pointer(i64), board: BaseBoard, us: cython.int, targets: u64) -> i64:
    """The weights of the enemy pawns and pieces among the targets, without the king, by type."""
    targets &= board.by_colour[us ^ 1] & ~board.by_type[KING]
    score: i64 = 0
    while targets:
        score += table[(board.squares[lsb(targets)] >> 1) - PAWN]
        targets &= targets - 1
    return score


def _by_victim_and_defence(
    table: cython.pointer(i64), context: EvaluationContext, board: BaseBoard, us: cython.int, targets: u64
) -> i64:
    """The same, five more for a strongly defended one."""
    targets &= board.by_colour[us ^ 1] & ~board.by_type[KING]
    score: i64 = 0
    if targets:
        strong = _strongly_defended(context, us)
        while targets:
            square = lsb(targets)
            index = (board.squares[square] >> 1) - PAWN
            if BB[square] & strong:
                index += 5
            score += table[index]
            targets &= targets - 1
    return score


def total(weights: ThreatWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms of this module, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = threat_by_pawn(weights, context, board, us) + threat_by_push(weights, context, board, us)
        side += threat_by_minor(weights, context, board, us) + threat_by_rook(weights, context, board, us)
        side += hanging(weights, context, board, us)
        side += minor_threat(weights, context, board, us) + rook_threat(weights, context, board, us)
        side += queen_threat(weights, context, board, us) + king_threat(weights, context, board, us)
        side += safe_pawn_threat(weights, context, board, us) + push_threat(weights, context, board, us)
        side += hanging_piece(weights, context, board, us) + defended_once(weights, context, board, us)
        side += restricted_square(weights, context, board, us) + queen_attackable(weights, context, board, us)
        score = side - score
    return score
