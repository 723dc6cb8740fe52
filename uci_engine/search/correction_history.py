"""Errors of the static score that searches have shown, remembered by what the positions had in common.

`search` owns one: it asks for the correction of every static score, and tells how wrong one was. What must stay true:
what is remembered for the side to move is never mixed with the other's; a correction depends on the position, the last
two moves and what was learnt, so that both boards give the same.

What positions have in common is the pawns (with the kings), the pieces of White, the pieces of Black, and the last two
moves: positions alike in one of them tend to be misjudged alike. Worth, screened with 30 other changes at 12 000 nodes
a move: the pieces +12 ± 18 Elo (489 pairs), the moves +8 ± 13 (1139 pairs).
"""

import array

import cython

if not cython.compiled:
    from evaluation.bitboards import ALL, BISHOP, KING, KNIGHT, QUEEN, ROOK, u64

    # Places for each side to move, in tables by pawns, by pieces of a colour, and by the last two moves.
    BY_PAWNS = 1 << 14
    BY_PIECES = 1 << 14
    BY_MOVES = 1 << 16
    # Errors are in 256ths of a centipawn.
    LIMIT = (1 << 15) - 1
    PLACES = 2 * (BY_PAWNS + 2 * BY_PIECES + BY_MOVES)
    # The highest 14 of 64 bits.
    PIECES_SHIFT = 50

    # Odd numbers that scatter a set of squares over the highest bits, for each kind of piece.
    KNIGHT_MIXER = 0x1D4C1B7E53F0A68B
    BISHOP_MIXER = 0x61C88A2F7E3D94B5
    ROOK_MIXER = 0x53A2646C8B15E79F
    QUEEN_MIXER = 0x3851F7B92C4ED6A3
    KING_MIXER = 0x75297A4D1E63C80D


class CorrectionHistory:
    """The memory of one search thread, over one position."""

    def __init__(self, position):
        self.position = position
        self.forget()

    def forget(self):
        """A new game: nothing is known."""
        if cython.compiled:
            place: cython.int
            for place in range(PLACES):
                self.errors[place] = 0
        else:
            self.errors = array.array("h", bytes(2 * PLACES))

    def total(self, moves):
        """By how much static scores like the position's were too low: 256ths of a centipawn, four errors added up.

        `moves`: the last two moves as one number below 2 ** 18 (`MovePicker.last_moves`).
        """
        turn = self.position.turn
        return (
            self.errors[self._by_pawns(turn)]
            + self.errors[self._by_pieces(turn, 0)]
            + self.errors[self._by_pieces(turn, 1)]
            + self.errors[self._by_moves(turn, moves)]
        )

    def learn(self, moves, depth, error_cp):
        """A search `depth` plies deep found the position better by `error_cp` than its corrected static score."""
        turn = self.position.turn
        weight = depth + 1 if depth < 15 else 16
        goal = error_cp * 256
        if goal > LIMIT:
            goal = LIMIT
        elif goal < -LIMIT:
            goal = -LIMIT
        self._draw(self._by_pawns(turn), goal, weight)
        self._draw(self._by_pieces(turn, 0), goal, weight)
        self._draw(self._by_pieces(turn, 1), goal, weight)
        self._draw(self._by_moves(turn, moves), goal, weight)
        return 0

    def _draw(self, place, goal, weight):
        """Draw what is held towards the goal, by so many 256ths of the way."""
        held = self.errors[place]
        self.errors[place] = held + (((goal - held) * weight) >> 8)
        return 0

    def _by_pawns(self, turn):
        return turn * BY_PAWNS + (self.position.accumulator.pawn_key & (BY_PAWNS - 1))

    def _by_pieces(self, turn, colour):
        pieces = self.position.by_colour[colour]
        mixed: u64 = (pieces & self.position.by_type[KNIGHT]) * KNIGHT_MIXER
        mixed ^= (pieces & self.position.by_type[BISHOP]) * BISHOP_MIXER
        mixed ^= (pieces & self.position.by_type[ROOK]) * ROOK_MIXER
        mixed ^= (pieces & self.position.by_type[QUEEN]) * QUEEN_MIXER
        mixed ^= (pieces & self.position.by_type[KING]) * KING_MIXER
        mixed &= ALL
        place: cython.int = mixed >> PIECES_SHIFT
        return 2 * BY_PAWNS + (2 * turn + colour) * BY_PIECES + place

    def _by_moves(self, turn, moves):
        # Nine bits for each move, of which two are folded together.
        return 2 * BY_PAWNS + 4 * BY_PIECES + turn * BY_MOVES + ((moves & 511) ^ (moves >> 9 << 7))
