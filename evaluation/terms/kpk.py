"""King and pawn against king, solved: whether the pawn's side wins, for every position, without any file.

The evaluator asks it whenever these three pieces are left. Invariant: the answer is the game's exact result with best
play; a test compares it with Syzygy's table.

Retrograde analysis on bitboards: for one square of the pawn and one of its king, a set holds the squares of the other
king where the pawn's side wins. Pawns are solved from the seventh rank down to the second; the sets of one pawn grow
until no move adds anything. That takes about a million operations, at first use.
"""

import cython

if not cython.compiled:
    from evaluation.bitboards import ALL, BB, FILES, KING, KING_ATTACKS, PAWN, PAWN_ATTACKS, lsb, u64

    # What `verdict` returns. Compiled, these are constants in the .pxd.
    NO_VERDICT, DRAWN, WHITE_WINS, BLACK_WINS = range(4)

# Pawns stand on files a to d, from the second rank up: number 4 * (rank - 1) + file, both counted from 0.
PAWNS = 24


def neighbours(squares):
    """The squares a king's step away from a set of squares."""
    beside: u64 = ((squares & (ALL ^ FILES[7])) << 1) | ((squares & (ALL ^ FILES[0])) >> 1)
    row: u64 = beside | squares
    return beside | ((row << 8) & ALL) | (row >> 8)


class PawnEnding:
    """The solution, worked out when it is first asked for: below a millisecond compiled."""

    def __init__(self):
        self.solved = False
        if not cython.compiled:
            self.to_move = [0] * (PAWNS * 64)
            self.to_wait = [0] * (PAWNS * 64)

    def verdict(self, position):
        """How king and pawn against king ends; NO_VERDICT where other pieces stand on the board."""
        pawns = position.by_type[PAWN]
        if position.accumulator.phase or pawns == 0 or pawns & (pawns - 1):
            return NO_VERDICT
        if not self.wins(position):
            return DRAWN
        return WHITE_WINS if pawns & position.by_colour[1] else BLACK_WINS

    def wins(self, position):
        """Whether the pawn's side wins; the pieces must be two kings and a pawn."""
        if not self.solved:
            self._solve()
        pawn = lsb(position.by_type[PAWN])
        strong = 1 if position.by_colour[1] & position.by_type[PAWN] else 0
        king = lsb(position.by_type[KING] & position.by_colour[strong])
        other = lsb(position.by_type[KING] & position.by_colour[strong ^ 1])
        change = 0 if strong else 56
        if pawn & 4:
            change ^= 7
        pawn ^= change
        place = ((pawn >> 3) * 4 - 4 + (pawn & 3)) * 64 + (king ^ change)
        if position.turn == strong:
            return self.to_move[place] & BB[other ^ change] != 0
        return self.to_wait[place] & BB[other ^ change] != 0

    def _solve(self):
        for number in range(PAWNS):
            pawn = PAWNS - 1 - number
            square = (pawn >> 2) * 8 + 8 + (pawn & 3)
            check = PAWN_ATTACKS[64 + square]
            for king in range(64):
                if king != square:
                    self.to_move[pawn * 64 + king] = self._pushing(pawn, square, king)
            changed = True
            while changed:
                changed = False
                for king in range(64):
                    if king == square:
                        continue
                    place = pawn * 64 + king
                    # The other king may step where nothing attacks, also onto an unprotected pawn: then it draws.
                    open_squares: u64 = ALL ^ (KING_ATTACKS[king] | BB[king] | check)
                    escapes: u64 = open_squares & (ALL ^ self.to_move[place])
                    lost: u64 = ALL ^ (neighbours(escapes) | KING_ATTACKS[king] | BB[king] | BB[square])
                    # Without a move and not in check it is stalemated.
                    lost &= neighbours(open_squares) | check
                    if lost != self.to_wait[place]:
                        self.to_wait[place] = lost
                        changed = True
                if not changed:
                    break
                for king in range(64):
                    if king == square:
                        continue
                    won: u64 = self.to_move[pawn * 64 + king]
                    steps = KING_ATTACKS[king] & (ALL ^ BB[square])
                    while steps:
                        won |= self.to_wait[pawn * 64 + lsb(steps)]
                        steps &= steps - 1
                    self.to_move[pawn * 64 + king] = won
        self.solved = True
        return 0

    def _pushing(self, pawn, square, king):
        """Where the other king stands when a push wins: as a new queen that stays alive, or as a pawn farther up."""
        ahead = square + 8
        if king == ahead:
            return 0
        free: u64 = ALL ^ (BB[ahead] | BB[square])
        if ahead >= 56:
            if KING_ATTACKS[king] & BB[ahead]:
                return free
            return free & (ALL ^ KING_ATTACKS[ahead])
        won: u64 = self.to_wait[(pawn + 4) * 64 + king] & free
        if square < 16 and king != ahead + 8:
            won |= self.to_wait[(pawn + 8) * 64 + king] & free & (ALL ^ BB[ahead + 8])
        return won
