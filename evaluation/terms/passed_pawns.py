"""Passed pawns: their square, the distance of the kings, their support, and whether their path is blocked or free."""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    BB,
    PAWN,
    RANKS,
    ROOK,
    adjacent,
    distance,
    forward,
    front_span,
    rook_attacks,
    sum_by_rank,
)
from evaluation.base.typed import i64, lsb, u64
from evaluation.context import EvaluationContext


def passed_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Passed pawns, by rank: no enemy pawn ahead on their file or an adjacent one, and none of their own on their file.

    8 more: a pawn defends it. 16 more: another passed pawn is on an adjacent file, at most one rank away. Adds them to
    `context.passed_pawns`, which the other terms of this module read.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    enemy = front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    pawns &= ~(enemy | adjacent(enemy) | front_span(pawns, us ^ 1))
    context.passed_pawns |= pawns
    connected = adjacent(pawns | forward(pawns, 0) | forward(pawns, 1))
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        square = lsb(pawns)
        pawns &= pawns - 1
        index = (square >> 3) ^ flip
        if BB[square] & context.pawn_attacks[us]:
            index += 8
        if BB[square] & connected:
            index += 16
        score += context.passed_pawn[index]
    return score


def passed_pawn_kings(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Passed pawns beyond the third rank: our king's distance from the square ahead, and 8 + the enemy king's."""
    near = RANKS[0] | RANKS[1] | RANKS[2] if us else RANKS[5] | RANKS[6] | RANKS[7]
    pawns = context.passed_pawns & board.by_colour[us] & ~near
    score: i64 = 0
    while pawns:
        ahead = lsb(pawns) + (8 if us else -8)
        pawns &= pawns - 1
        score += context.passed_pawn_kings[distance(context.king[us], ahead)]
        score += context.passed_pawn_kings[8 + distance(context.king[us ^ 1], ahead)]
    return score


def passed_pawn_blocked(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Blocked passed pawns, by rank: a piece of ours is on the square ahead of them; 8 more: an enemy piece."""
    pawns = context.passed_pawns & board.by_colour[us]
    own = pawns & forward(board.by_colour[us], us ^ 1)
    enemies = pawns & forward(board.by_colour[us ^ 1], us ^ 1)
    score = sum_by_rank(context.passed_pawn_blocked, 0, own, us)
    return score + sum_by_rank(context.passed_pawn_blocked, 8, enemies, us)


def passed_pawn_path(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Passed pawns: rank + 8 * how safe the path is.

    0: no square of it is attacked. 1: one farther on is. 2: the next one is, and we defend it. 3: we do not defend it.
    4: no square of it is attacked or occupied.
    """
    pawns = context.passed_pawns & board.by_colour[us]
    occupied = board.by_colour[0] | board.by_colour[1]
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        square = lsb(pawns)
        pawns &= pawns - 1
        path = front_span(BB[square], us)
        attacked = path & context.attacked[us ^ 1]
        ahead = forward(BB[square], us)
        index = (square >> 3) ^ flip
        if attacked & ahead:
            index += 16 if ahead & context.attacked[us] else 24
        elif attacked:
            index += 8
        elif not path & occupied:
            index += 32
        score += context.passed_pawn_path[index]
    return score


def rook_behind_passed_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Passed pawns with a rook as the first piece behind them on the file: the rank, and 8 more for an enemy rook."""
    rooks = board.by_type[ROOK]
    pawns = context.passed_pawns & board.by_colour[us] & front_span(rooks, us)
    occupied = board.by_colour[0] | board.by_colour[1]
    own: u64 = 0
    enemies: u64 = 0
    while pawns:
        square = lsb(pawns)
        pawns &= pawns - 1
        behind = rooks & rook_attacks(square, occupied) & front_span(BB[square], us ^ 1)
        if behind & board.by_colour[us]:
            own |= BB[square]
        elif behind:
            enemies |= BB[square]
    score = sum_by_rank(context.rook_behind_passed_pawn, 0, own, us)
    return score + sum_by_rank(context.rook_behind_passed_pawn, 8, enemies, us)


def pawn_king_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms that depend on pawns and kings alone."""
    return passed_pawn(context, board, us) + passed_pawn_kings(context, board, us)


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The other terms."""
    score = passed_pawn_blocked(context, board, us) + passed_pawn_path(context, board, us)
    return score + rook_behind_passed_pawn(context, board, us)
