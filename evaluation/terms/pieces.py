"""Pieces: mobility, the bishop pair, rooks on open files, safe squares and space."""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    BISHOP,
    FILES,
    KNIGHT,
    KNIGHT_ATTACKS,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    bishop_attacks,
    front_span,
    rook_attacks,
)
from evaluation.base.typed import i64, lsb, popcount, popcount_few, u64
from evaluation.context import EvaluationContext

# The least game phase at which space counts.
MIN_SPACE_PHASE = 12


def _mobility(context: EvaluationContext, board: BaseBoard, us: int, piece_type: int) -> i64:
    """Mobility of the pieces of one type. Adds their attacks to the context.

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
        if piece_type == KNIGHT:
            attacks = KNIGHT_ATTACKS[square]
        elif piece_type == BISHOP:
            attacks = bishop_attacks(square, blockers)
        elif piece_type == ROOK:
            attacks = rook_attacks(square, blockers)
        else:
            attacks = bishop_attacks(square, blockers) | rook_attacks(square, blockers)
        reached |= attacks
        attacked_twice |= attacked & attacks
        attacked |= attacks
        if attacks & zone:
            attackers += 1
        mobility = popcount(attacks & area)
        if piece_type == KNIGHT:
            score += context.knight_mobility[mobility]
        elif piece_type == BISHOP:
            score += context.bishop_mobility[mobility]
        elif piece_type == ROOK:
            score += context.rook_mobility[mobility]
        else:
            score += context.queen_mobility[mobility]
    context.attacked_by[8 * us + piece_type] = reached
    context.attacked[us] = attacked
    context.attacked_twice[us] = attacked_twice
    context.king_attackers[8 * us + piece_type] = attackers
    return score


def knight_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Knight mobility: each knight, by the squares of the mobility area that it attacks."""
    return _mobility(context, board, us, KNIGHT)


def bishop_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Bishop mobility: each bishop, by the squares of the mobility area that it attacks, x-rays included."""
    return _mobility(context, board, us, BISHOP)


def rook_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Rook mobility: each rook, by the squares of the mobility area that it attacks, x-rays included."""
    return _mobility(context, board, us, ROOK)


def queen_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Queen mobility: each queen, by the squares of the mobility area that it attacks."""
    return _mobility(context, board, us, QUEEN)


def bishop_pair(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The bishop pair: two bishops or more."""
    bishops = board.by_type[BISHOP] & board.by_colour[us]
    return context.bishop_pair if bishops & (bishops - 1) else 0


def rook_open_file(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Rooks on open files, with no pawn, then on half-open files, with enemy pawns alone."""
    rooks = board.by_type[ROOK] & board.by_colour[us] & ~context.pawn_files[us]
    enemies = context.pawn_files[us ^ 1]
    score = context.rook_open_file[0] * popcount_few(rooks & ~enemies)
    return score + context.rook_open_file[1] * popcount_few(rooks & enemies)


def safe_mobility(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Our rooks' safe squares, then our queens': those of the mobility area that no lesser enemy piece attacks."""
    them = 8 * (us ^ 1)
    safe = context.mobility_area[us] & ~(context.attacked_by[them + KNIGHT] | context.attacked_by[them + BISHOP])
    score: i64 = 0
    if context.attacked_by[8 * us + ROOK]:
        score += context.safe_mobility[0] * popcount(safe & context.attacked_by[8 * us + ROOK])
    if context.attacked_by[8 * us + QUEEN]:
        safe &= ~context.attacked_by[them + ROOK]
        score += context.safe_mobility[1] * popcount(safe & context.attacked_by[8 * us + QUEEN])
    return score


def space(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Space: squares on the second to fourth rank of the four central files, and those of them behind a pawn of ours.

    They hold no pawn of ours, and no enemy pawn attacks them. Those behind a pawn are not attacked at all. They count
    as long as at least half of the pieces are on the board.
    """
    if board.phase < MIN_SPACE_PHASE:
        return 0
    squares = (FILES[2] | FILES[3] | FILES[4] | FILES[5]) & (
        RANKS[1] | RANKS[2] | RANKS[3] if us else RANKS[4] | RANKS[5] | RANKS[6]
    )
    pawns = board.by_type[PAWN] & board.by_colour[us]
    squares &= ~(pawns | context.pawn_attacks[us ^ 1])
    behind = squares & front_span(pawns, us ^ 1) & ~context.attacked[us ^ 1]
    return context.space[0] * popcount(squares) + context.space[1] * popcount(behind)


def mobility_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms of this module that find the attacks, and those that need none."""
    score = knight_mobility(context, board, us) + bishop_mobility(context, board, us)
    score += rook_mobility(context, board, us) + queen_mobility(context, board, us)
    return score + bishop_pair(context, board, us) + rook_open_file(context, board, us)


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The other terms, which read the attacks of both colours."""
    return safe_mobility(context, board, us) + space(context, board, us)
