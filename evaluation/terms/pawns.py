"""Pawn structure: doubled, isolated, backward, connected and blocked pawns, levers, islands."""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
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
from evaluation.base.typed import i64, i64_pointer, lsb, popcount, popcount_few, u64
from evaluation.context import EvaluationContext


def doubled_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Doubled pawns: each pawn with another of its colour behind it on its file, then those that are isolated too."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    doubled = pawns & front_span(pawns, us)
    supported = adjacent(file_fill(pawns))
    score = context.doubled_pawn[0] * popcount_few(doubled & supported)
    return score + context.doubled_pawn[1] * popcount_few(doubled & ~supported)


def isolated_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Isolated pawns: each pawn with none of its colour on the adjacent files.

    0: an enemy pawn is ahead on its file. 1 to 4: none is, by the file's distance from the edge.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    pawns &= ~adjacent(file_fill(pawns))
    opposed = front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    score: i64 = 0
    while pawns:
        file = lsb(pawns) & 7
        index = file + 1 if file < 4 else 8 - file
        score += context.isolated_pawn[0 if pawns & -pawns & opposed else index]
        pawns &= pawns - 1
    return score


def backward_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Backward pawns, by rank, and 8 more without an enemy pawn ahead on the file.

    A backward pawn is not isolated, has no pawn of its colour beside or behind it on the adjacent files, and an enemy
    pawn occupies or attacks the square ahead of it.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    backward = pawns & adjacent(file_fill(pawns)) & ~adjacent(pawns | front_span(pawns, us))
    backward &= forward(enemies | context.pawn_attacks[us ^ 1], us ^ 1)
    return _by_opposition(context.backward_pawn, board, us, backward)


def connected_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Connected pawns, by rank, and 8 more without an enemy pawn ahead on the file.

    A connected pawn is one that another defends, or that has another next to it (a phalanx).
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return _by_opposition(context.connected_pawn, board, us, pawns & (context.pawn_attacks[us] | adjacent(pawns)))


def phalanx_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns with another of their colour beside them, by rank."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(context.phalanx_pawn, 0, pawns & adjacent(pawns), us)


def doubly_supported_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns that two pawns of their colour defend, by rank."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    ahead = forward(pawns, us)
    doubly = pawns & ((ahead & ~FILES[0]) >> 1) & ((ahead & ~FILES[7]) << 1)
    return sum_by_rank(context.doubly_supported_pawn, 0, doubly, us)


def pawn_lever(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Levers, by rank: pawns that attack an enemy pawn."""
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(context.pawn_lever, 0, pawns & pawn_attacks(enemies, us ^ 1), us)


def blocked_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
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
    return sum_by_rank(context.blocked_pawn, 0, blocked, us)


def pawn_island(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawn islands: groups of adjacent files with pawns."""
    files = file_fill(board.by_type[PAWN] & board.by_colour[us]) & RANKS[0]
    return context.pawn_island * popcount(files & ~(files << 1))


def _by_opposition(table: i64_pointer, board: BaseBoard, us: int, pawns: u64) -> i64:
    """The weights of some of our pawns, by rank, and 8 more without an enemy pawn ahead on the file."""
    opposed = front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    return sum_by_rank(table, 0, pawns & opposed, us) + sum_by_rank(table, 8, pawns & ~opposed, us)


def pawn_king_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms that depend on pawns and kings alone."""
    score = doubled_pawn(context, board, us) + isolated_pawn(context, board, us)
    score += backward_pawn(context, board, us) + connected_pawn(context, board, us)
    score += phalanx_pawn(context, board, us) + doubly_supported_pawn(context, board, us)
    score += pawn_lever(context, board, us)
    return score + blocked_pawn(context, board, us) + pawn_island(context, board, us)
