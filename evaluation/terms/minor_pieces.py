"""Knights and bishops: outposts, pawns ahead of them and on their colour."""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import BB, BISHOP, KNIGHT, LIGHT, PAWN, RANKS, forward, front_span
from evaluation.base.typed import i64, lsb, popcount_few, u64
from evaluation.context import EvaluationContext


def outpost(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knights, then bishops on an outpost, by rank: a pawn defends it there and no enemy pawn can attack it."""
    flip = 0 if us else 7
    score: i64 = 0
    minors = board.by_colour[us] & (board.by_type[KNIGHT] | board.by_type[BISHOP]) & context.pawn_attacks[us]
    if minors:
        minors &= _outposts(context, us)
    while minors:
        square = lsb(minors)
        minors &= minors - 1
        score += context.outpost[((square >> 3) ^ flip) + (0 if BB[square] & board.by_type[KNIGHT] else 8)]
    return score


def reachable_outpost(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Outposts that our knights attack, then those that our bishops attack. No piece of ours stands on them."""
    outposts = _outposts(context, us) & ~board.by_colour[us]
    score = context.reachable_outpost[0] * popcount_few(outposts & context.attacked_by[8 * us + KNIGHT])
    return score + context.reachable_outpost[1] * popcount_few(outposts & context.attacked_by[8 * us + BISHOP])


def minor_behind_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knights, bishops with a pawn of either side directly ahead."""
    behind = forward(board.by_type[PAWN], us ^ 1) & board.by_colour[us]
    score = context.minor_behind_pawn[0] * popcount_few(behind & board.by_type[KNIGHT])
    return score + context.minor_behind_pawn[1] * popcount_few(behind & board.by_type[BISHOP])


def bishop_pawns(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishops: 5 * the number of our pawns on squares of their colour (at most 8) + that of our rammed centre pawns.

    A rammed centre pawn is on one of the files c to f and has an enemy pawn directly ahead. At most 4 count.
    """
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    score: i64 = 0
    while bishops:
        light = 1 if BB[lsb(bishops)] & LIGHT else 0
        bishops &= bishops - 1
        score += context.bishop_pawns[5 * context.pawns_on_colour[2 * us + light] + context.rammed_pawns[us]]
    return score


def bishop_enemy_pawns(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishops, by the number of enemy pawns on squares of their colour (at most 8)."""
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    score: i64 = 0
    while bishops:
        light = 1 if BB[lsb(bishops)] & LIGHT else 0
        bishops &= bishops - 1
        score += context.bishop_enemy_pawns[context.pawns_on_colour[2 * (us ^ 1) + light]]
    return score


def _outposts(context: EvaluationContext, us: int) -> u64:
    """The squares on the fourth to sixth rank that a pawn of ours defends and no enemy pawn can attack."""
    ranks = RANKS[3] | RANKS[4] | (RANKS[5] if us else RANKS[2])
    enemies = context.pawn_attacks[us ^ 1]
    return context.pawn_attacks[us] & ranks & ~(enemies | front_span(enemies, us ^ 1))


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of this module."""
    score = outpost(context, board, us) + reachable_outpost(context, board, us)
    score += minor_behind_pawn(context, board, us)
    return score + bishop_pawns(context, board, us) + bishop_enemy_pawns(context, board, us)
