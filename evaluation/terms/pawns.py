"""Pawns: doubled, isolated, backward, connected, blocked, passed; levers and islands; pairs by their squares.

The tables of pairs are 64 squares by 64, as the pawn's own side sees the board: each two pawns of one side, each pawn
with each enemy pawn, and each pawn with each king.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    BB,
    PAWN,
    RANKS,
    ROOK,
    adjacent,
    distance,
    file_fill,
    forward,
    front_span,
    pawn_attacks,
    pawn_double_attacks,
    rook_attacks,
    sum_by_rank,
)
from evaluation.base.typed import flip_vertical, i64, i64_pointer, lsb, popcount, u64
from evaluation.context import EvaluationContext


def doubled_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Doubled pawns: each pawn with another of its colour behind it on its file, then those that are isolated too."""
    pawns = board.by_type[PAWN] & board.by_colour[us]
    doubled = pawns & front_span(pawns, us)
    supported = adjacent(file_fill(pawns))
    score = context.doubled_pawn[0] * popcount(doubled & supported)
    return score + context.doubled_pawn[1] * popcount(doubled & ~supported)


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
    return sum_by_rank(context.doubly_supported_pawn, 0, pawns & pawn_double_attacks(pawns, us), us)


def pawn_lever(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Levers, by rank: pawns that attack an enemy pawn."""
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(context.pawn_lever, 0, pawns & pawn_attacks(enemies, us ^ 1), us)


def blocked_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawns with an enemy pawn directly ahead, by rank."""
    enemies = board.by_type[PAWN] & board.by_colour[us ^ 1]
    pawns = board.by_type[PAWN] & board.by_colour[us]
    return sum_by_rank(context.blocked_pawn, 0, pawns & forward(enemies, us ^ 1), us)


def pawn_island(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawn islands: groups of adjacent files with pawns."""
    files = file_fill(board.by_type[PAWN] & board.by_colour[us]) & RANKS[0]
    return context.pawn_island * popcount(files & ~(files << 1))


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
    defended = context.pawn_attacks[us]
    score = sum_by_rank(context.passed_pawn, 0, pawns & ~connected & ~defended, us)
    score += sum_by_rank(context.passed_pawn, 8, pawns & ~connected & defended, us)
    score += sum_by_rank(context.passed_pawn, 16, pawns & connected & ~defended, us)
    return score + sum_by_rank(context.passed_pawn, 24, pawns & connected & defended, us)


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
    flip = 0 if us else 7
    score: i64 = 0
    while pawns:
        square = lsb(pawns)
        pawns &= pawns - 1
        behind = rooks & rook_attacks(square, occupied) & front_span(BB[square], us ^ 1)
        if behind:
            index = (square >> 3) ^ flip
            score += context.rook_behind_passed_pawn[index if behind & board.by_colour[us] else index + 8]
    return score


def _by_opposition(table: i64_pointer, board: BaseBoard, us: int, pawns: u64) -> i64:
    """The weights of some of our pawns, by rank, and 8 more without an enemy pawn ahead on the file."""
    opposed = front_span(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1)
    return sum_by_rank(table, 0, pawns & opposed, us) + sum_by_rank(table, 8, pawns & ~opposed, us)


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
    """The terms that depend on pawns and kings alone."""
    score = doubled_pawn(context, board, us) + isolated_pawn(context, board, us)
    score += backward_pawn(context, board, us) + connected_pawn(context, board, us)
    score += phalanx_pawn(context, board, us) + doubly_supported_pawn(context, board, us)
    score += pawn_lever(context, board, us)
    score += blocked_pawn(context, board, us) + pawn_island(context, board, us)
    score += pawn_pair(context, board, us) + pawn_against_pawn(context, board, us)
    score += pawn_by_own_king(context, board, us) + pawn_by_enemy_king(context, board, us)
    return score + passed_pawn(context, board, us) + passed_pawn_kings(context, board, us)


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The other terms, those of passed pawns among all pieces."""
    score = passed_pawn_blocked(context, board, us) + passed_pawn_path(context, board, us)
    return score + rook_behind_passed_pawn(context, board, us)
