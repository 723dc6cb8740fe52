"""Endgames: mop-up against a bare king, the scale factor where a win is unlikely, and king and pawn against king."""

from __future__ import annotations

from evaluation.base import constants
from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import (
    ALL,
    BB,
    BISHOP,
    FILES,
    KING,
    KING_ATTACKS,
    KNIGHT,
    LIGHT,
    PAWN,
    PAWN_ATTACKS,
    QUEEN,
    ROOK,
    adjacent,
    distance,
    forward,
)
from evaluation.base.constants import (
    DRAWISH_LEAD,
    DRAWISH_SCALE,
    DRAWN_SCALE,
    FULL_PHASE,
    FULL_SCALE,
    MIN_WINNING_MATERIAL,
)
from evaluation.base.typed import i64, ints, lsb, popcount, u64, u64s, void
from evaluation.context import EvaluationContext

# Whether mop-up applies, and to which corners the bare king should be driven.
NOTHING_TO_MOP_UP, ANY_CORNER, LIGHT_CORNERS, DARK_CORNERS = range(4)

# The rows of `constants.ENDGAME_SCALES`.
PAWNS, MINORS, OPPOSITE_BISHOPS, OPPOSITE_BISHOPS_AND_OTHERS = range(4)
ROOKS, ROOKS_AND_MINORS, QUEENS, EQUAL, UNEQUAL = range(4, 9)

ENDGAME_SCALES = ints(72, [scale for row in constants.ENDGAME_SCALES.values() for scale in row])

# The results of king and pawn against king.
NO_RESULT, DRAWN, WHITE_WINS, BLACK_WINS = range(4)
# Pawn squares: files a to d, second to seventh rank. The index is 4 * (rank - 1) + file, both counted from 0.
KPK_PAWNS = 24


def mop_up(context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """Mop-up: steps of the bare enemy king from the centre to the edge; 7 minus the kings' distance; steps to a corner.

    The corner is one of the bishop's colour, for bishop and knight alone.
    """
    corners = _corners(board, us)
    if corners == NOTHING_TO_MOP_UP:
        return 0
    king = context.king[us ^ 1]
    to_edge: int = (abs(2 * (king & 7) - 7) + abs(2 * (king >> 3) - 7)) >> 1
    score = context.mop_up[0] * to_edge + context.mop_up[1] * (7 - distance(context.king[us], king))
    if corners == ANY_CORNER:
        return score
    # File and rank add up to 0 or 14 in the dark corners. For the light corners the file is mirrored.
    to_corner: int = abs(7 - ((king & 7) ^ (7 if corners == LIGHT_CORNERS else 0)) - (king >> 3))
    return score + context.mop_up[2] * to_corner


def _corners(board: BaseBoard, us: int) -> int:
    """Whether the enemy king is bare and we can mate it, and towards which corners to drive it."""
    lone = board.by_colour[us ^ 1]
    if lone & (lone - 1):
        return NOTHING_TO_MOP_UP
    pieces = board.by_colour[us]
    light = pieces & board.by_type[BISHOP] & LIGHT
    dark = pieces & board.by_type[BISHOP] & ~LIGHT
    if pieces & (board.by_type[ROOK] | board.by_type[QUEEN]) or (light and dark):
        return ANY_CORNER
    if pieces & board.by_type[KNIGHT]:
        if light:
            return LIGHT_CORNERS
        if dark:
            return DARK_CORNERS
    return NOTHING_TO_MOP_UP


def endgame_scale(board: BaseBoard, strong_side: int) -> int:
    """The endgame scale factor, in 64ths, when `strong_side` is ahead: less where a win is unlikely.

    With pawns it is a number of `constants.ENDGAME_SCALES`. It does not matter with all pieces on the board.
    """
    if board.phase >= FULL_PHASE:
        return FULL_SCALE
    pawns = popcount(board.by_type[PAWN] & board.by_colour[strong_side])
    if pawns == 0:
        material = non_pawn_material(board, strong_side)
        # Two knights cannot force mate. (6 is two minor pieces.)
        two_knights: bool = material == 6 and not board.by_type[BISHOP] & board.by_colour[strong_side]
        if material < MIN_WINNING_MATERIAL or two_knights:
            return DRAWN_SCALE
        return FULL_SCALE if material > non_pawn_material(board, strong_side ^ 1) + DRAWISH_LEAD else DRAWISH_SCALE
    if _wrong_bishop(board, strong_side):
        return DRAWN_SCALE
    return ENDGAME_SCALES[8 * ending(board) + min(pawns, 8) - 1]


def ending(board: BaseBoard) -> int:
    """The kind of ending, by the pieces of both sides: a row of `constants.ENDGAME_SCALES`.

    Material of 3 is a minor piece, 5 a rook, 8 a rook and a minor piece, 9 with a queen the queen alone.
    """
    material = non_pawn_material(board, 0)
    if material != non_pawn_material(board, 1):
        return UNEQUAL
    if material == 0:
        return PAWNS
    bishops = board.by_type[BISHOP]
    white = bishops & board.by_colour[1]
    black = bishops & board.by_colour[0]
    if (
        white
        and black
        and not white & (white - 1)
        and not black & (black - 1)
        and (white & LIGHT == 0) != (black & LIGHT == 0)
    ):
        return OPPOSITE_BISHOPS if material == 3 else OPPOSITE_BISHOPS_AND_OTHERS
    if material == 3:
        return MINORS
    if material == 5:
        return ROOKS
    if material == 8:
        return ROOKS_AND_MINORS
    if material == 9 and board.by_type[QUEEN]:
        return QUEENS
    return EQUAL


def _wrong_bishop(board: BaseBoard, us: int) -> bool:
    """Whether we have pawns on one edge file alone, no piece but bishops that cannot attack the corner, and the enemy
    king holds the corner.
    """
    ours = board.by_colour[us]
    if ours & (board.by_type[KNIGHT] | board.by_type[ROOK] | board.by_type[QUEEN]):
        return False
    pawns = ours & board.by_type[PAWN]
    file: int = 0 if not pawns & ~FILES[0] else 7
    if pawns & ~FILES[file]:
        return False
    corner = (56 if us else 0) + file
    bishops = ours & board.by_type[BISHOP]
    if bishops & LIGHT if BB[corner] & LIGHT else bishops & ~LIGHT:
        return False
    return distance(lsb(board.by_type[KING] & board.by_colour[us ^ 1]), corner) <= 1


def non_pawn_material(board: BaseBoard, us: int) -> int:
    """The pieces of one colour in pawn units: knight 3, bishop 3, rook 5, queen 9."""
    pieces = board.by_colour[us]
    minors = popcount(pieces & (board.by_type[KNIGHT] | board.by_type[BISHOP]))
    return 3 * minors + 5 * popcount(pieces & board.by_type[ROOK]) + 9 * popcount(pieces & board.by_type[QUEEN])


class KpkBitbase:
    """The bitbase of king and pawn against king (KPK): whether the pawn's side wins. The evaluator probes it.

    It is built at the first probe, in less than a millisecond when compiled, by retrograde analysis. For each pawn
    square and each square of its king, a bitboard holds the squares of the defending king where the pawn's side wins.
    Pawns are solved from the seventh rank down to the second. The bitboards of one pawn grow until they reach a fixed
    point. Invariant: the answer is the exact result with best play. A test compares it with Syzygy's table.
    """

    solved: bool
    wins_to_move = u64s(KPK_PAWNS * 64)  # [pawn * 64 + king]: the pawn's side is to move
    wins_not_to_move = u64s(KPK_PAWNS * 64)  # the other side is

    def __init__(self) -> None:
        self.solved = False

    def result(self, board: BaseBoard) -> int:
        """The result of king and pawn against king, or NO_RESULT for any other material."""
        pawns = board.by_type[PAWN]
        if board.phase or pawns == 0 or pawns & (pawns - 1):
            return NO_RESULT
        if not self.solved:
            self._solve()
        pawn = lsb(pawns)
        strong_side = 1 if board.by_colour[1] & pawns else 0
        strong_king = lsb(board.by_type[KING] & board.by_colour[strong_side])
        weak_king = lsb(board.by_type[KING] & board.by_colour[strong_side ^ 1])
        # Mirror the position, so that the pawn is White's and on the files a to d.
        flip = 0 if strong_side else 56
        if pawn & 4:
            flip ^= 7
        pawn ^= flip
        index = ((pawn >> 3) * 4 - 4 + (pawn & 3)) * 64 + (strong_king ^ flip)
        wins = self.wins_to_move[index] if board.turn == strong_side else self.wins_not_to_move[index]
        if not wins & BB[weak_king ^ flip]:
            return DRAWN
        return WHITE_WINS if strong_side else BLACK_WINS

    def _solve(self) -> void:
        for number in range(KPK_PAWNS):
            pawn = KPK_PAWNS - 1 - number
            square = (pawn >> 2) * 8 + 8 + (pawn & 3)
            check = PAWN_ATTACKS[64 + square]
            for king in range(64):
                self.wins_to_move[pawn * 64 + king] = self._wins_by_push(pawn, square, king)
            changed = True
            while changed:
                changed = False
                for king in range(64):
                    index = pawn * 64 + king
                    # The weak king may go to any square that is not attacked. Taking an unprotected pawn draws.
                    open_squares: u64 = ALL ^ (KING_ATTACKS[king] | BB[king] | check)
                    escapes: u64 = open_squares & (ALL ^ self.wins_to_move[index])
                    lost: u64 = ALL ^ (_neighbours(escapes) | KING_ATTACKS[king] | BB[king] | BB[square])
                    # Without a legal move and not in check it is stalemate.
                    lost &= _neighbours(open_squares) | check
                    if lost != self.wins_not_to_move[index]:
                        self.wins_not_to_move[index] = lost
                        changed = True
                for king in range(64):
                    won: u64 = self.wins_to_move[pawn * 64 + king]
                    steps = KING_ATTACKS[king] & (ALL ^ BB[square])
                    while steps:
                        won |= self.wins_not_to_move[pawn * 64 + lsb(steps)]
                        steps &= steps - 1
                    self.wins_to_move[pawn * 64 + king] = won
        self.solved = True

    def _wins_by_push(self, pawn: int, square: int, king: int) -> u64:
        """Squares of the weak king where a push wins, by promoting safely or by reaching a won board."""
        ahead = square + 8
        if king == ahead:
            return 0
        free: u64 = ALL ^ (BB[ahead] | BB[square])
        if ahead >= 56:
            if KING_ATTACKS[king] & BB[ahead]:
                return free
            return free & (ALL ^ KING_ATTACKS[ahead])
        won: u64 = self.wins_not_to_move[(pawn + 4) * 64 + king] & free
        if square < 16 and king != ahead + 8:
            won |= self.wins_not_to_move[(pawn + 8) * 64 + king] & free & (ALL ^ BB[ahead + 8])
        return won


def _neighbours(squares: u64) -> u64:
    """The squares that kings on a set of squares attack."""
    row: u64 = adjacent(squares) | squares
    return adjacent(squares) | forward(row, 1) | forward(row, 0)
