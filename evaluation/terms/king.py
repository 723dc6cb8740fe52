"""King safety: pawn shelter, pawn storm, attacks on the king zone, safe checks, and all of them as one danger."""

from __future__ import annotations

from evaluation.base import constants
from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    BB,
    BETWEEN,
    BISHOP,
    BISHOP_PSEUDO_ATTACKS,
    FILES,
    KING_ATTACKS,
    KNIGHT,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    ROOK_PSEUDO_ATTACKS,
    adjacent,
    attacks_of,
    bishop_attacks,
    forward,
    front_span,
    rook_attacks,
)
from evaluation.base.constants import (
    ATTACKED_TWICE_UNITS,
    FLANK_ATTACK_UNITS,
    FLANK_DEFENCE_UNITS,
    KING_DANGER_SHIFT,
    NO_QUEEN_UNITS,
    PINNED_UNITS,
    WEAK_SQUARE_UNITS,
)
from evaluation.base.typed import i64, ints, lsb, msb, popcount, u64, u64s
from evaluation.context import EvaluationContext

MAX_KING_DANGER = 63
ATTACKER_UNITS = ints(6, constants.ATTACKER_UNITS)
SAFE_CHECK_UNITS = ints(6, constants.SAFE_CHECK_UNITS)
UNSAFE_CHECK_UNITS = ints(6, constants.UNSAFE_CHECK_UNITS)
NO_SHELTER_UNITS = ints(8, constants.NO_SHELTER_UNITS)
NEAR_STORM_UNITS = ints(8, constants.NEAR_STORM_UNITS)

# The flank of a king, [8 * colour + file]: the files a to d, c to f or e to h, and five ranks from its side's first on.
_FLANKS = [FILES[0] | FILES[1] | FILES[2] | FILES[3]] * 3
_FLANKS += [FILES[2] | FILES[3] | FILES[4] | FILES[5]] * 2
_FLANKS += [FILES[4] | FILES[5] | FILES[6] | FILES[7]] * 3
_BLACK_SIDE = RANKS[3] | RANKS[4] | RANKS[5] | RANKS[6] | RANKS[7]
_WHITE_SIDE = RANKS[0] | RANKS[1] | RANKS[2] | RANKS[3] | RANKS[4]
KING_FLANK = u64s(16, [flank & _BLACK_SIDE for flank in _FLANKS] + [flank & _WHITE_SIDE for flank in _FLANKS])


def king_shelter(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawn shelter, on each of three files around the king: 8 * the file's distance from the edge + our pawn's rank.

    The pawn is our rearmost one not behind the king; the rank is 0 for no pawn. Begins `context.pawn_danger`, which
    `king_attack` reads.
    """
    pawns = board.by_type[PAWN] & board.by_colour[us] & _shelter_area(context.king[us], us)
    centre = _shelter_file(context.king[us])
    units = 0
    score: i64 = 0
    for file in range(centre - 1, centre + 2):
        rank = _nearest_rank(pawns & FILES[file], us)
        score += context.king_shelter[8 * (file if file < 4 else 7 - file) + rank]
        units += NO_SHELTER_UNITS[rank]
    context.pawn_danger[us] = units
    return score


def pawn_storm(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Pawn storm, on the same files: 8 * the file's distance from the edge + the rank of the nearest enemy pawn.

    It is the nearest one that is not behind our king, and the rank is 0 for no pawn. 32 more: one of our pawns blocks
    it. Adds to `context.pawn_danger`.
    """
    own = forward(board.by_type[PAWN] & board.by_colour[us], us)
    pawns = board.by_type[PAWN] & board.by_colour[us ^ 1] & _shelter_area(context.king[us], us)
    centre = _shelter_file(context.king[us])
    units = 0
    score: i64 = 0
    for file in range(centre - 1, centre + 2):
        rank = _nearest_rank(pawns & FILES[file], us)
        index = 8 * (file if file < 4 else 7 - file) + rank
        if rank and own & FILES[file] & RANKS[rank if us else 7 - rank]:
            index += 32
        score += context.pawn_storm[index]
        units += NEAR_STORM_UNITS[rank]
    context.pawn_danger[us] += units
    return score


def king_pawn_distance(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Our king, by its distance from the nearest pawn of either side. Nothing without pawns."""
    pawns = board.by_type[PAWN]
    if pawns == 0:
        return 0
    within = BB[context.king[us]]
    steps = 0
    while not within & pawns:
        within |= adjacent(within)
        within |= forward(within, 0) | forward(within, 1)
        steps += 1
    return context.king_pawn_distance[steps]


def safe_check(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Safe checks: each piece type (knight to queen) that can give check on a square the enemy does not attack."""
    king = context.king[us ^ 1]
    occupied = board.by_colour[0] | board.by_colour[1]
    safe = ALL ^ (board.by_colour[us] | context.attacked[us ^ 1])
    score: i64 = 0
    for piece_type in range(KNIGHT, QUEEN + 1):
        if attacks_of(piece_type, king, occupied) & safe & context.attacked_by[8 * us + piece_type]:
            score += context.safe_check[piece_type - KNIGHT]
    return score


def king_attack(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Our attack on the enemy king as one danger, by the sum of its units.

    Nothing unless two pieces or a queen attack the king zone. The units are those of `constants`:

    - our pieces that attack the zone, its squares that we attack twice, and its weak squares;
    - checks, and pieces pinned to the king;
    - the squares of its flank that we attack, counted again where we attack twice, and those that they defend;
    - shelter and storm, and the lack of a queen of ours.

    A weak square is attacked by us and defended by nothing, or only once, by king or queen. A check is safe on a square
    that they do not attack, or that is weak and attacked twice.
    """
    attackers = context.king_attackers[8 * us + KNIGHT] + context.king_attackers[8 * us + BISHOP]
    attackers += context.king_attackers[8 * us + ROOK]
    if attackers < 2 and context.king_attackers[8 * us + QUEEN] == 0:
        return 0
    units = _king_danger(context, board, us)
    return context.king_attack[min(units >> KING_DANGER_SHIFT, MAX_KING_DANGER)]


def _king_danger(context: EvaluationContext, board: BaseBoard, us: int) -> int:
    """The sum of the units of our attack, at least 0."""
    them = us ^ 1
    king = context.king[them]
    occupied = board.by_colour[0] | board.by_colour[1]
    ours = board.by_colour[us]
    attacked = context.attacked[us]
    queens = board.by_type[QUEEN] & ours
    weak = attacked & ~context.attacked_twice[them]
    weak &= ~context.attacked[them] | KING_ATTACKS[king] | context.attacked_by[8 * them + QUEEN]
    units = context.pawn_danger[them]
    units += WEAK_SQUARE_UNITS * popcount(weak & context.king_zone[them])
    units += ATTACKED_TWICE_UNITS * popcount(context.attacked_twice[us] & context.king_zone[them])
    if queens == 0:
        units += NO_QUEEN_UNITS

    flank = KING_FLANK[8 * them + (king & 7)]
    attacks = popcount(flank & attacked) + popcount(flank & context.attacked_twice[us])
    units += FLANK_ATTACK_UNITS * attacks
    units += FLANK_DEFENCE_UNITS * popcount(flank & context.attacked[them])

    diagonal = bishop_attacks(king, occupied)
    straight = rook_attacks(king, occupied)
    safe = ~ours & (~context.attacked[them] | weak & context.attacked_twice[us])
    for piece_type in range(KNIGHT, QUEEN + 1):
        units += ATTACKER_UNITS[piece_type] * context.king_attackers[8 * us + piece_type]
        checks = attacks_of(piece_type, king, occupied) & context.attacked_by[8 * us + piece_type] & ~ours
        if checks & safe:
            units += SAFE_CHECK_UNITS[piece_type]
        elif checks:
            units += UNSAFE_CHECK_UNITS[piece_type]

    snipers = BISHOP_PSEUDO_ATTACKS[king] & ~diagonal & (board.by_type[BISHOP] | queens)
    snipers |= ROOK_PSEUDO_ATTACKS[king] & ~straight & (board.by_type[ROOK] | queens)
    snipers &= ours
    while snipers:
        between = BETWEEN[64 * king + lsb(snipers)] & occupied
        snipers &= snipers - 1
        if not between & (between - 1):
            units += PINNED_UNITS
    return units if units > 0 else 0


def _shelter_area(king: int, us: int) -> u64:
    """The king's file and the adjacent files, from its rank forward."""
    front = BB[king] | adjacent(BB[king])
    return front | front_span(front, us)


def _nearest_rank(pawns: u64, us: int) -> int:
    """The relative rank of our rearmost pawn, or of the enemy pawn nearest to our side. 0 without pawns."""
    if pawns == 0:
        return 0
    return lsb(pawns) >> 3 if us else 7 - (msb(pawns) >> 3)


def _shelter_file(king: int) -> int:
    """The middle one of the three files around a king: its own file, or the next one for a king on the edge."""
    return min(max(king & 7, 1), 6)


def pawn_king_total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The terms that depend on pawns and kings alone."""
    score = king_shelter(context, board, us) + pawn_storm(context, board, us)
    return score + king_pawn_distance(context, board, us)


def total(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The other terms."""
    return safe_check(context, board, us) + king_attack(context, board, us)
