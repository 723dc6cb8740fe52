"""The bitbase of king and pawn against king (KPK): whether the pawn's side wins, for every position.

The evaluator probes it whenever these three pieces are left. Invariant: the answer is the exact result with best play.
A test compares it with Syzygy's table.

The bitbase is built by retrograde analysis at first use. For each pawn square and each square of its king, a bitboard
holds the squares of the defending king where the pawn's side wins. Pawns are solved from the seventh rank down to the
second. The bitboards of one pawn grow until they reach a fixed point.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import ALL, BB, KING, KING_ATTACKS, PAWN, PAWN_ATTACKS, adjacent, forward
from evaluation.base.typed import lsb, u64, u64s, void

# The results.
NO_RESULT, DRAWN, WHITE_WINS, BLACK_WINS = range(4)

# Pawn squares: files a to d, second to seventh rank. The index is 4 * (rank - 1) + file, both counted from 0.
PAWNS = 24


def neighbours(squares: u64) -> u64:
    """The squares that kings on a set of squares attack."""
    row: u64 = adjacent(squares) | squares
    return adjacent(squares) | forward(row, 1) | forward(row, 0)


class KpkBitbase:
    """The bitbase, built at the first probe: in less than a millisecond when compiled."""

    solved: bool
    wins_to_move = u64s(PAWNS * 64)  # [pawn * 64 + king]: the pawn's side is to move
    wins_not_to_move = u64s(PAWNS * 64)  # the other side is

    def __init__(self) -> None:
        self.solved = False

    def result(self, position: BaseBoard) -> int:
        """The result of king and pawn against king, or NO_RESULT for any other material."""
        pawns = position.by_type[PAWN]
        if position.phase or pawns == 0 or pawns & (pawns - 1):
            return NO_RESULT
        if not self.solved:
            self._solve()
        pawn = lsb(pawns)
        strong_side = 1 if position.by_colour[1] & pawns else 0
        strong_king = lsb(position.by_type[KING] & position.by_colour[strong_side])
        weak_king = lsb(position.by_type[KING] & position.by_colour[strong_side ^ 1])
        # Mirror the position, so that the pawn is White's and on the files a to d.
        flip = 0 if strong_side else 56
        if pawn & 4:
            flip ^= 7
        pawn ^= flip
        index = ((pawn >> 3) * 4 - 4 + (pawn & 3)) * 64 + (strong_king ^ flip)
        wins = self.wins_to_move[index] if position.turn == strong_side else self.wins_not_to_move[index]
        if not wins & BB[weak_king ^ flip]:
            return DRAWN
        return WHITE_WINS if strong_side else BLACK_WINS

    def _solve(self) -> void:
        for number in range(PAWNS):
            pawn = PAWNS - 1 - number
            square = (pawn >> 2) * 8 + 8 + (pawn & 3)
            check = PAWN_ATTACKS[64 + square]
            for king in range(64):
                if king != square:
                    self.wins_to_move[pawn * 64 + king] = self._wins_by_push(pawn, square, king)
            changed = True
            while changed:
                changed = False
                for king in range(64):
                    if king == square:
                        continue
                    index = pawn * 64 + king
                    # The weak king may go to any square that is not attacked. Taking an unprotected pawn draws.
                    open_squares: u64 = ALL ^ (KING_ATTACKS[king] | BB[king] | check)
                    escapes: u64 = open_squares & (ALL ^ self.wins_to_move[index])
                    lost: u64 = ALL ^ (neighbours(escapes) | KING_ATTACKS[king] | BB[king] | BB[square])
                    # Without a legal move and not in check it is stalemate.
                    lost &= neighbours(open_squares) | check
                    if lost != self.wins_not_to_move[index]:
                        self.wins_not_to_move[index] = lost
                        changed = True
                if not changed:
                    break
                for king in range(64):
                    if king == square:
                        continue
                    won: u64 = self.wins_to_move[pawn * 64 + king]
                    steps = KING_ATTACKS[king] & (ALL ^ BB[square])
                    while steps:
                        won |= self.wins_not_to_move[pawn * 64 + lsb(steps)]
                        steps &= steps - 1
                    self.wins_to_move[pawn * 64 + king] = won
        self.solved = True

    def _wins_by_push(self, pawn: int, square: int, king: int) -> u64:
        """Squares of the weak king where a push wins, by promoting safely or by reaching a won position."""
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
