"""Material imbalance: the worth of pieces beside one another and against one another.

The weights count pairs of pieces, so the value of a piece depends on the others. Its worth alone is in the piece
squares. These terms depend on the numbers of pieces alone, and the material hash table holds their sum.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import PAWN, QUEEN
from evaluation.base.typed import i64
from evaluation.context import EvaluationContext


def own_pair(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pairs of our own pieces, kings apart: pawn and pawn, knight and pawn, knight and knight, … queen and rook.

    Two queens do not count: they are too rare in level positions for a weight to be fitted.
    """
    index = 0
    score: i64 = 0
    for one in range(PAWN, QUEEN + 1):
        count = _count(board, one, us)
        for other in range(PAWN, one):
            score += context.own_pair[index] * (count * _count(board, other, us))
            index += 1
        if one < QUEEN:
            score += context.own_pair[index] * ((count * (count - 1)) >> 1)
            index += 1
    return score


def enemy_pair(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Our pieces with each lesser enemy piece: knight and pawn, bishop and pawn, bishop and knight, … queen and rook.

    A bishop counts as more than a knight. The pairs with a greater enemy piece count for the enemy.
    """
    index = 0
    score: i64 = 0
    for one in range(PAWN + 1, QUEEN + 1):
        count = _count(board, one, us)
        for other in range(PAWN, one):
            score += context.enemy_pair[index] * (count * _count(board, other, us ^ 1))
            index += 1
    return score


def _count(board: BaseBoard, piece_type: int, us: int) -> int:
    """The number of our pieces of one type."""
    return (board.material_key >> 4 * (2 * piece_type + us)) & 15


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of this module."""
    return own_pair(context, board, us) + enemy_pair(context, board, us)
