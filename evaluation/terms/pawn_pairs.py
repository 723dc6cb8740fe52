"""Pairs: each two pawns of one side, each pawn with each enemy pawn, and each pawn with each king, by their squares.

All of it depends on pawns and kings alone, so the pawn hash table holds the sums. Each table is 64 squares by 64, as
the pawn's own side sees the board.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import PAWN
from evaluation.base.typed import flip_vertical, i64, i64_pointer, lsb
from evaluation.context import EvaluationContext


def pawn_pair(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each two of our pawns: 64 * the lower square + the higher one, as we see the board."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    if not us:
        pawns = flip_vertical(pawns)
    score: i64 = 0
    while pawns:
        lower = 64 * lsb(pawns)
        pawns &= pawns - 1
        others = pawns
        while others:
            score += context.pawn_pair[lower + lsb(others)]
            others &= others - 1
    return score


def pawn_against_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each of our pawns with each enemy pawn: 64 * our square + their square, as we see the board.

    Both sides see each such pair. It counts once, for the side whose own pawn has the lower square in its own view.
    Equal squares are mirror images and count for nobody.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    # As the enemy sees the board.
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    if us:
        enemies = flip_vertical(enemies)
    else:
        pawns = flip_vertical(pawns)
    score: i64 = 0
    while pawns:
        own = lsb(pawns)
        others = enemies & ~(pawns ^ (pawns - 1))
        pawns &= pawns - 1
        while others:
            score += context.pawn_against_pawn[64 * own + (lsb(others) ^ 56)]
            others &= others - 1
    return score


def pawn_by_own_king(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each of our pawns by our king: 64 * the king's square + the pawn's, as we see the board."""
    return _by_king(context.pawn_by_own_king, board, us, context.king[us])


def pawn_by_enemy_king(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Each of our pawns by the enemy king: 64 * the king's square + the pawn's, as we see the board."""
    return _by_king(context.pawn_by_enemy_king, board, us, context.king[us ^ 1])


def _by_king(table: i64_pointer, board: BaseBoard, us: int, king: int) -> i64:
    """The weights of our pawns by the square of a king."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    flip = 0 if us else 56
    score: i64 = 0
    while pawns:
        score += table[64 * (king ^ flip) + (lsb(pawns) ^ flip)]
        pawns &= pawns - 1
    return score


def pawn_king_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of this module."""
    score = pawn_pair(context, board, us) + pawn_against_pawn(context, board, us)
    return score + pawn_by_own_king(context, board, us) + pawn_by_enemy_king(context, board, us)
