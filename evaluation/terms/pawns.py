"""Pawn structure: doubled, isolated, backward, connected and blocked pawns, levers, islands."""

from __future__ import annotations

from evaluation.base_board import BaseBoard
from evaluation.bitboards import (
    ALL,
    FILES,
    LIGHT,
    PAWN,
    RANKS,
    adjacent,
    file_fill,
    forward,
    front_span,
    pawn_attacks,
    sum_by_rank,
)
from evaluation.context import EvaluationContext
from evaluation.typed import i64, i64s, lsb, popcount, popcount_few
from evaluation.weights import Weights


class PawnWeights:
    """The weights of the group "pawns", packed."""

    doubled_pawn: i64
    isolated_pawn: i64
    connected_pawn = i64s(8)
    doubled_isolated_pawn: i64
    isolated_pawn_open = i64s(4)
    backward_pawn = i64s(16)
    connected_pawn_opposed = i64s(8)
    phalanx_pawn = i64s(8)
    doubly_supported_pawn = i64s(8)
    pawn_lever = i64s(8)
    blocked_pawn = i64s(8)
    pawn_island: i64

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "pawns")


def doubled_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Doubled pawns: each pawn with another of its colour behind it on its file."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return weights.doubled_pawn * popcount(pawns & front_span(pawns, us))


def isolated_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Isolated pawns: each pawn with none of its colour on the adjacent files."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return weights.isolated_pawn * popcount(pawns & ~adjacent(file_fill(pawns)))


def doubled_isolated_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Doubled pawns that are isolated too."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return weights.doubled_isolated_pawn * popcount(pawns & front_span(pawns, us) & ~adjacent(file_fill(pawns)))


def isolated_pawn_open(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Isolated pawns without an enemy pawn ahead on their file, by the file's distance from the edge."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    pawns &= ~adjacent(file_fill(pawns)) & ~front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    score: i64 = 0
    while pawns:
        file = lsb(pawns) & 7
        score += weights.isolated_pawn_open[file if file < 4 else 7 - file]
        pawns &= pawns - 1
    return score


def backward_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Backward pawns, by rank, and 8 more without an enemy pawn ahead on the file.

    A backward pawn is not isolated, has no pawn of its colour beside or behind it on the adjacent files, and an enemy
    pawn occupies or attacks the square ahead of it.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    backward = pawns & adjacent(file_fill(pawns)) & ~adjacent(pawns | front_span(pawns, us))
    backward &= forward(enemies | context.pawn_attacks[us ^ 1], us ^ 1)
    opposed = front_span(enemies, us ^ 1)
    return sum_by_rank(weights.backward_pawn, 0, backward & opposed, us) + sum_by_rank(
        weights.backward_pawn, 8, backward & ~opposed, us
    )


def connected_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Connected pawns, by rank: each pawn that another defends, or that has another next to it (a phalanx)."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    pawns &= context.pawn_attacks[us] | adjacent(pawns)
    return sum_by_rank(weights.connected_pawn, 0, pawns, us)


def connected_pawn_opposed(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Connected pawns with an enemy pawn ahead on their file, by rank."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    pawns &= context.pawn_attacks[us] | adjacent(pawns)
    pawns &= front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    return sum_by_rank(weights.connected_pawn_opposed, 0, pawns, us)


def phalanx_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns with another of their colour beside them, by rank."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(weights.phalanx_pawn, 0, pawns & adjacent(pawns), us)


def doubly_supported_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns that two pawns of their colour defend, by rank."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    ahead = forward(pawns, us)
    doubly = pawns & ((ahead & ~FILES[0]) >> 1) & ((ahead & ~FILES[7]) << 1)
    return sum_by_rank(weights.doubly_supported_pawn, 0, doubly, us)


def pawn_lever(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Levers, by rank: pawns that attack an enemy pawn."""
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(weights.pawn_lever, 0, pawns & pawn_attacks(enemies, us ^ 1), us)


def blocked_pawn(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns with an enemy pawn directly ahead, by rank.

    Fills `context.pawns_on_colour` and `context.rammed_pawns`, which the terms of bishops read: at most 8 and 4.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    for light in range(2):
        count = popcount(pawns & (LIGHT if light else ALL ^ LIGHT))
        context.pawns_on_colour[2 * us + light] = count if count < 8 else 8
    blocked = pawns & forward(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    rammed = popcount_few(blocked & (FILES[2] | FILES[3] | FILES[4] | FILES[5]))
    context.rammed_pawns[us] = rammed if rammed < 4 else 4
    return sum_by_rank(weights.blocked_pawn, 0, blocked, us)


def pawn_island(weights: PawnWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawn islands: groups of adjacent files with pawns."""
    files = file_fill(board.by_type[PAWN] & board.by_colour[us]) & RANKS[0]
    return weights.pawn_island * popcount(files & ~(files << 1))


def pawn_king_total(weights: PawnWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The terms that depend on pawns and kings alone, White minus Black."""
    score: i64 = 0
    for us in range(2):
        side = doubled_pawn(weights, context, board, us) + doubled_isolated_pawn(weights, context, board, us)
        side += isolated_pawn(weights, context, board, us) + isolated_pawn_open(weights, context, board, us)
        side += backward_pawn(weights, context, board, us)
        side += connected_pawn(weights, context, board, us) + connected_pawn_opposed(weights, context, board, us)
        side += phalanx_pawn(weights, context, board, us) + doubly_supported_pawn(weights, context, board, us)
        side += pawn_lever(weights, context, board, us)
        side += blocked_pawn(weights, context, board, us) + pawn_island(weights, context, board, us)
        score = side - score
    return score
