"""Threats: pieces attacked by each kind of piece, hanging and barely defended pieces, contested squares, the queen.
And the tempo: the next threat is the side to move's.

Strongly defended: by a pawn, or twice where we do not attack twice. The tables "by victim" hold pawn, knight, bishop,
rook, queen.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    BB,
    BISHOP,
    KING,
    KING_ATTACKS,
    KNIGHT,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    attacks_of,
    forward,
    pawn_attacks,
)
from evaluation.base.typed import i64, i64_pointer, lsb, popcount, u64
from evaluation.context import EvaluationContext


def threat_by_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each enemy piece that a pawn attacks, by victim; the second five: attacked by unsafe pawns alone.

    A pawn is safe if it is defended or not attacked.
    """
    targets = context.pawn_attacks[us] & board.by_colour[us ^ 1] & ~(board.by_type[PAWN] | board.by_type[KING])
    if targets == 0:
        return 0
    pawns = board.by_type[PAWN] & board.by_colour[us] & (context.attacked[us] | ~context.attacked[us ^ 1])
    return _by_victim(context.threat_by_pawn, board, targets, ~pawn_attacks(pawns, us))


def threat_by_push(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each enemy piece, by victim (the last number: the king), that a pawn could attack with its next push.

    The pawn would be safe on its new square: no pawn attacks it there, and it is defended or not attacked.
    """
    empty = ALL ^ (board.by_colour[0] | board.by_colour[1])
    pushes = forward(board.by_type[PAWN] & board.by_colour[us], us) & empty
    pushes |= forward(pushes & (RANKS[2] if us else RANKS[5]), us) & empty
    pushes &= ~context.pawn_attacks[us ^ 1]
    pushes &= context.attacked[us] | ~context.attacked[us ^ 1]
    targets = pawn_attacks(pushes, us) & board.by_colour[us ^ 1] & ~board.by_type[PAWN]
    return _by_victim(context.threat_by_push, board, targets, 0)


def threat_by_minor(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each enemy pawn and piece that a knight or bishop attacks, by victim; the second five: a pawn defends it."""
    targets = context.attacked_by[8 * us + KNIGHT] | context.attacked_by[8 * us + BISHOP]
    targets &= board.by_colour[us ^ 1] & ~board.by_type[KING]
    return _by_victim(context.threat_by_minor, board, targets, context.pawn_attacks[us ^ 1])


def threat_by_rook(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each enemy pawn and piece that a rook attacks, by victim; the second five: a pawn defends it."""
    targets = context.attacked_by[8 * us + ROOK] & board.by_colour[us ^ 1] & ~board.by_type[KING]
    return _by_victim(context.threat_by_rook, board, targets, context.pawn_attacks[us ^ 1])


def threat_by_king(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each enemy pawn and piece that our king attacks and that is not strongly defended, by victim."""
    targets = KING_ATTACKS[context.king[us]] & board.by_colour[us ^ 1] & ~board.by_type[KING]
    return _by_victim(context.threat_by_king, board, targets & ~_strongly_defended(context, us), 0) if targets else 0


def hanging(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Hanging pieces: each enemy piece or pawn that we attack and nothing defends."""
    targets = board.by_colour[us ^ 1] & context.attacked[us] & ~context.attacked[us ^ 1]
    return context.hanging * popcount(targets)


def restricted_square(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Squares that both sides attack and the enemy does not defend strongly."""
    restricted = context.attacked[us] & context.attacked[us ^ 1] & ~_strongly_defended(context, us)
    return context.restricted_square * popcount(restricted)


def queen_attackable(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Squares from which a knight, a bishop or a rook could attack the only enemy queen.

    They are in the mobility area and not strongly defended. Those of bishop and rook are attacked twice by us.
    """
    queen = board.by_type[QUEEN] & board.by_colour[us ^ 1]
    if queen == 0 or queen & (queen - 1):
        return 0
    square = lsb(queen)
    safe = context.mobility_area[us] & ~_strongly_defended(context, us)
    occupied = board.by_colour[0] | board.by_colour[1]
    score: i64 = 0
    for piece_type in range(KNIGHT, QUEEN):
        squares = attacks_of(piece_type, square, occupied) & context.attacked_by[8 * us + piece_type] & safe
        score += context.queen_attackable[piece_type - KNIGHT] * popcount(squares)
        safe &= context.attacked_twice[us]
    return score


def tempo(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The tempo: it is our move."""
    return context.tempo if board.turn == us else 0


def _strongly_defended(context: EvaluationContext, us: int) -> u64:
    """The squares that the enemy of `us` defends strongly."""
    return context.pawn_attacks[us ^ 1] | context.attacked_twice[us ^ 1] & ~context.attacked_twice[us]


def _by_victim(table: i64_pointer, board: BaseBoard, targets: u64, second: u64) -> i64:
    """The weights of the pieces on the targets, by type; from the second five for targets in another set."""
    score: i64 = 0
    while targets:
        square = lsb(targets)
        index = (board.squares[square] >> 1) - PAWN
        score += table[index + 5 if BB[square] & second else index]
        targets &= targets - 1
    return score


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of this module."""
    score = threat_by_pawn(context, board, us) + threat_by_push(context, board, us)
    score += threat_by_minor(context, board, us) + threat_by_rook(context, board, us)
    score += hanging(context, board, us)
    score += threat_by_king(context, board, us)
    score += restricted_square(context, board, us) + queen_attackable(context, board, us)
    return score + tempo(context, board, us)
