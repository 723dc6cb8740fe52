"""The accumulator: the incrementally updated part of the evaluation.

The board calls it for each piece that is put, removed or moved. `save` and `restore` are its stack. Nothing else adds
piece-square weights.

Invariant: its sums equal those of an accumulator filled from scratch with the same pieces.
"""

from __future__ import annotations

import cython

from evaluation.constants import PHASE_WEIGHTS

if not cython.compiled:
    from evaluation.bitboards import KING, PAWN, ZOBRIST

# Pieces run from 2 (a black pawn) to 13 (the white king).
TABLE_SIZE = 14 * 64
# The number of positions that can be saved: at least the size of the board's stack.
STACK_SIZE = 1024
PHASE_OF = [PHASE_WEIGHTS[piece >> 1] for piece in range(14)]


class Accumulator:
    """Three sums over the pieces.

    `score`: the packed sum of material and piece-square weights, White minus Black (see `evaluation.weights`).
    `phase`: the game phase from non-pawn material (24: all pieces; more after promotions).
    `pawn_key`: the Zobrist key of the pawns and kings alone.
    """

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: 896 packed weights, [piece * 64 + square], negative for Black's pieces."""
        if not cython.compiled:
            self.saved_score = [0] * STACK_SIZE
            self.saved_phase = [0] * STACK_SIZE
            self.saved_pawn_key = [0] * STACK_SIZE
        self.piece_square = piece_square
        self.clear()

    def clear(self) -> cython.int:
        """Set the sums to those of an empty board."""
        self.score = 0
        self.phase = 0
        self.pawn_key = 0
        return 0

    def put(self, piece: cython.int, square: cython.int) -> cython.int:
        """A piece was put on an empty square."""
        index = piece * 64 + square
        self.score += self.piece_square[index]
        self.phase += PHASE_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]
        return 0

    def remove(self, piece: cython.int, square: cython.int) -> cython.int:
        """A piece was taken off its square."""
        index = piece * 64 + square
        self.score -= self.piece_square[index]
        self.phase -= PHASE_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]
        return 0

    def move(self, piece: cython.int, origin: cython.int, target: cython.int) -> cython.int:
        """A piece went from one square to another."""
        before = piece * 64 + origin
        after = piece * 64 + target
        self.score += self.piece_square[after] - self.piece_square[before]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[before] ^ ZOBRIST[after]
        return 0

    def save(self, index: cython.int) -> cython.int:
        """Save the sums at an index of the stack."""
        self.saved_score[index] = self.score
        self.saved_phase[index] = self.phase
        self.saved_pawn_key[index] = self.pawn_key
        return 0

    def restore(self, index: cython.int) -> cython.int:
        """Restore the sums from an index of the stack."""
        self.score = self.saved_score[index]
        self.phase = self.saved_phase[index]
        self.pawn_key = self.saved_pawn_key[index]
        return 0
