"""Pieces: imbalance, mobility, the bishop pair, rooks on open files, safe squares, space, outposts, minors and pawns.

The weights of imbalance count pairs of pieces, so the value of a piece depends on the others. Its worth alone is in the
piece squares.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    BB,
    BISHOP,
    KNIGHT,
    LIGHT,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    attacks_of,
    forward,
    front_span,
    sum_by_rank,
)
from evaluation.base.typed import i64, i64_pointer, lsb, popcount, u64
from evaluation.context import EvaluationContext

# The files c to f.
CENTRE_FILES = 0x3C3C3C3C3C3C3C3C
# The least game phase at which space counts.
MIN_SPACE_PHASE = 12


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


def _mobility(context: EvaluationContext, board: BaseBoard, us: int, piece_type: int, table: i64_pointer) -> i64:
    """Mobility of the pieces of one type, with its weights. Adds their attacks to the context.

    Bishops x-ray through their own queens, rooks through their own rooks and queens. Callers pass a constant piece
    type, so that the C compiler specialises the function.
    """
    context.attacked_by[8 * us + piece_type] = 0
    context.king_attackers[8 * us + piece_type] = 0
    pieces = board.by_type[piece_type] & board.by_colour[us]
    if pieces == 0:
        return 0
    blockers = board.by_colour[0] | board.by_colour[1]
    if piece_type == BISHOP:
        blockers ^= board.by_type[QUEEN] & board.by_colour[us]
    elif piece_type == ROOK:
        blockers ^= (board.by_type[ROOK] | board.by_type[QUEEN]) & board.by_colour[us]
    area = context.mobility_area[us]
    zone = context.king_zone[us ^ 1]
    reached: u64 = 0
    attacked = context.attacked[us]
    attacked_twice = context.attacked_twice[us]
    attackers = 0
    score: i64 = 0
    while pieces:
        square = lsb(pieces)
        pieces &= pieces - 1
        attacks = attacks_of(piece_type, square, blockers)
        reached |= attacks
        attacked_twice |= attacked & attacks
        attacked |= attacks
        if attacks & zone:
            attackers += 1
        score += table[popcount(attacks & area)]
    context.attacked_by[8 * us + piece_type] = reached
    context.attacked[us] = attacked
    context.attacked_twice[us] = attacked_twice
    context.king_attackers[8 * us + piece_type] = attackers
    return score


def knight_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knight mobility: each knight, by the squares of the mobility area that it attacks."""
    return _mobility(context, board, us, KNIGHT, context.knight_mobility)


def bishop_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishop mobility: each bishop, by the squares of the mobility area that it attacks, x-rays included."""
    return _mobility(context, board, us, BISHOP, context.bishop_mobility)


def rook_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Rook mobility: each rook, by the squares of the mobility area that it attacks, x-rays included."""
    return _mobility(context, board, us, ROOK, context.rook_mobility)


def queen_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Queen mobility: each queen, by the squares of the mobility area that it attacks."""
    return _mobility(context, board, us, QUEEN, context.queen_mobility)


def bishop_pair(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The bishop pair: two bishops or more."""
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    return context.bishop_pair if bishops & (bishops - 1) else 0


def rook_open_file(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Rooks on open files, with no pawn, then on half-open files, with enemy pawns alone."""
    rooks = board.by_type[ROOK] & board.by_colour[us] & ~context.pawn_files[us]
    enemies = context.pawn_files[us ^ 1]
    score = context.rook_open_file[0] * popcount(rooks & ~enemies)
    return score + context.rook_open_file[1] * popcount(rooks & enemies)


def safe_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Our rooks' safe squares, then our queens': those of the mobility area that no lesser enemy piece attacks."""
    them = 8 * (us ^ 1)
    safe = context.mobility_area[us] & ~(context.attacked_by[them + KNIGHT] | context.attacked_by[them + BISHOP])
    score = context.safe_mobility[0] * popcount(safe & context.attacked_by[8 * us + ROOK])
    safe &= ~context.attacked_by[them + ROOK]
    return score + context.safe_mobility[1] * popcount(safe & context.attacked_by[8 * us + QUEEN])


def space(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Space: squares on the second to fourth rank of the four central files, and those of them behind a pawn of ours.

    They hold no pawn of ours, and no enemy pawn attacks them. Those behind a pawn are not attacked at all. They count
    as long as at least half of the pieces are on the board.
    """
    if board.phase < MIN_SPACE_PHASE:
        return 0
    squares = CENTRE_FILES & (RANKS[1] | RANKS[2] | RANKS[3] if us else RANKS[4] | RANKS[5] | RANKS[6])
    pawns = board.by_type[PAWN] & board.by_colour[us]
    squares &= ~(pawns | context.pawn_attacks[us ^ 1])
    behind = squares & front_span(pawns, us ^ 1) & ~context.attacked[us ^ 1]
    return context.space[0] * popcount(squares) + context.space[1] * popcount(behind)


def outpost(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knights, then bishops on an outpost, by rank: a pawn defends it there and no enemy pawn can attack it."""
    pieces = board.by_colour[us] & _outposts(context, us)
    score = sum_by_rank(context.outpost, 0, pieces & board.by_type[KNIGHT], us)
    return score + sum_by_rank(context.outpost, 8, pieces & board.by_type[BISHOP], us)


def reachable_outpost(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Outposts that our knights attack, then those that our bishops attack. No piece of ours stands on them."""
    outposts = _outposts(context, us) & ~board.by_colour[us]
    score = context.reachable_outpost[0] * popcount(outposts & context.attacked_by[8 * us + KNIGHT])
    return score + context.reachable_outpost[1] * popcount(outposts & context.attacked_by[8 * us + BISHOP])


def minor_behind_pawn(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knights, bishops with a pawn of either side directly ahead."""
    behind = forward(board.by_type[PAWN], us ^ 1) & board.by_colour[us]
    score = context.minor_behind_pawn[0] * popcount(behind & board.by_type[KNIGHT])
    return score + context.minor_behind_pawn[1] * popcount(behind & board.by_type[BISHOP])


def bishop_pawns(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishops: 5 * the number of our pawns on squares of their colour (at most 8) + that of our rammed centre pawns.

    A rammed centre pawn is on one of the files c to f and has an enemy pawn directly ahead. At most 4 count.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us]
    rammed = min(popcount(pawns & forward(board.by_type[PAWN] & board.by_colour[us ^ 1], us ^ 1) & CENTRE_FILES), 4)
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    score: i64 = 0
    while bishops:
        score += context.bishop_pawns[5 * _pawns_of_colour(pawns, lsb(bishops)) + rammed]
        bishops &= bishops - 1
    return score


def bishop_enemy_pawns(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishops, by the number of enemy pawns on squares of their colour (at most 8)."""
    pawns = board.by_type[PAWN] & board.by_colour[us ^ 1]
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    score: i64 = 0
    while bishops:
        score += context.bishop_enemy_pawns[_pawns_of_colour(pawns, lsb(bishops))]
        bishops &= bishops - 1
    return score


def _pawns_of_colour(pawns: u64, square: int) -> int:
    """How many pawns are on squares of the colour of this one, at most 8."""
    return min(popcount(pawns & (LIGHT if BB[square] & LIGHT else ALL ^ LIGHT)), 8)


def _outposts(context: EvaluationContext, us: int) -> u64:
    """The squares on the fourth to sixth rank that a pawn of ours defends and no enemy pawn can attack."""
    ranks = RANKS[3] | RANKS[4] | (RANKS[5] if us else RANKS[2])
    enemies = context.pawn_attacks[us ^ 1]
    return context.pawn_attacks[us] & ranks & ~(enemies | front_span(enemies, us ^ 1))


def material_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms that depend on the numbers of pieces alone."""
    return own_pair(context, board, us) + enemy_pair(context, board, us)


def mobility_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of mobility, which find the attacks."""
    score = knight_mobility(context, board, us) + bishop_mobility(context, board, us)
    return score + rook_mobility(context, board, us) + queen_mobility(context, board, us)


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The other terms, most of which read the attacks of both colours."""
    score = bishop_pair(context, board, us) + rook_open_file(context, board, us)
    score += safe_mobility(context, board, us) + space(context, board, us)
    score += outpost(context, board, us) + reachable_outpost(context, board, us)
    score += minor_behind_pawn(context, board, us)
    return score + bishop_pawns(context, board, us) + bishop_enemy_pawns(context, board, us)
