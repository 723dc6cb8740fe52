"""The accumulator: the incrementally updated part of the evaluation.

The board calls it for each piece that is put, removed or moved. `save` and `restore` are its stack. Nothing else adds
piece-square weights.

Invariant: its sums equal those of an accumulator filled from scratch with the same pieces.
"""

from __future__ import annotations

from evaluation.bitboards import KING, PAWN, ZOBRIST
from evaluation.constants import PHASE_WEIGHTS
from evaluation.piece_squares import KING_BUCKET, KING_BUCKETS
from evaluation.typed import i64, i64s, ints, u64, u64s

# Pieces run from 2 (a black pawn) to 13 (the white king), and there is a table for each bucket of either king.
PIECES = 14 * 64
TABLE_SIZE = 2 * KING_BUCKETS * PIECES
# The number of positions that can be saved: at least the size of the board's stack.
STACK_SIZE = 1024
# [colour of a king * 64 + its square]: where the table of its bucket begins.
TABLE_OF_KING = ints(128, [
    (colour * KING_BUCKETS + KING_BUCKET[square if colour else square ^ 56]) * PIECES
    for colour in range(2)
    for square in range(64)
])
# What one piece adds to the material key: four bits count the pieces of each kind.
MATERIAL_OF = u64s(14, [1 << 4 * piece for piece in range(14)])
PHASE_OF = ints(14, [PHASE_WEIGHTS[piece >> 1] for piece in range(14)])


class Accumulator:
    """Four sums over the pieces, and the place on the stack.

    `score`: the packed sum of material and piece-square weights, White minus Black (see `evaluation.weights`), with
    the tables that `set_kings` chose.
    `phase`: the game phase from non-pawn material (24: all pieces; more after promotions).
    `pawn_key`: the Zobrist key of the pawns and kings alone.
    `material_key`: the number of each piece, piece number * 4 bits up.
    `ply`: the index of the stack that the next position would be saved at.
    """

    score: i64  # packed, White minus Black
    phase: int
    pawn_key: u64
    material_key: u64
    ply: int
    black_king_table: int
    white_king_table: int
    piece_square = i64s(14336)  # 2 * KING_BUCKETS * 896, packed, see Weights.piece_square
    saved_score = i64s(STACK_SIZE)
    saved_phase = ints(STACK_SIZE)
    saved_pawn_key = u64s(STACK_SIZE)
    saved_black_king_table = ints(STACK_SIZE)
    saved_white_king_table = ints(STACK_SIZE)
    saved_material_key = u64s(STACK_SIZE)

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: see `Weights.piece_square`."""
        self.ply = 0
        self.set_piece_square(piece_square)
        self.black_king_table = TABLE_OF_KING[0]
        self.white_king_table = TABLE_OF_KING[64]
        self.clear()

    def set_piece_square(self, piece_square: list[int]) -> None:
        """Take other weights. The sums must be made anew (see `BaseBoard.refresh`)."""
        self.piece_square = piece_square

    def clear(self) -> int:
        """Set the sums to those of an empty board. The kings' tables are kept."""
        self.score = 0
        self.phase = 0
        self.pawn_key = 0
        self.material_key = 0
        return 0

    def set_kings(self, black_king: int, white_king: int) -> bool:
        """Choose the tables for two kings' squares. When they differ, the score becomes 0 and the result is True."""
        black = TABLE_OF_KING[black_king]
        white = TABLE_OF_KING[64 + white_king]
        if black == self.black_king_table and white == self.white_king_table:
            return False
        self.black_king_table = black
        self.white_king_table = white
        self.score = 0
        return True

    def add(self, piece: int, square: int) -> int:
        """Add a piece to the score alone, after `set_kings`."""
        self.score += self.value(piece * 64 + square)
        return 0

    def value(self, index: int) -> i64:
        """The packed weight of piece * 64 + square."""
        return self.piece_square[self.black_king_table + index] + self.piece_square[self.white_king_table + index]

    def put(self, piece: int, square: int) -> int:
        """A piece was put on an empty square."""
        index = piece * 64 + square
        self.score += self.value(index)
        self.phase += PHASE_OF[piece]
        self.material_key += MATERIAL_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]
        return 0

    def remove(self, piece: int, square: int) -> int:
        """A piece was taken off its square."""
        index = piece * 64 + square
        self.score -= self.value(index)
        self.phase -= PHASE_OF[piece]
        self.material_key -= MATERIAL_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]
        return 0

    def move(self, piece: int, origin: int, target: int) -> int:
        """A piece went from one square to another."""
        before = piece * 64 + origin
        after = piece * 64 + target
        self.score += self.value(after) - self.value(before)
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[before] ^ ZOBRIST[after]
        return 0

    def save(self, index: int) -> int:
        """Save the sums at an index of the stack."""
        self.saved_score[index] = self.score
        self.saved_phase[index] = self.phase
        self.saved_pawn_key[index] = self.pawn_key
        self.saved_black_king_table[index] = self.black_king_table
        self.saved_white_king_table[index] = self.white_king_table
        self.saved_material_key[index] = self.material_key
        self.ply = index + 1
        return 0

    def restore(self, index: int) -> int:
        """Restore the sums from an index of the stack."""
        self.score = self.saved_score[index]
        self.phase = self.saved_phase[index]
        self.pawn_key = self.saved_pawn_key[index]
        self.black_king_table = self.saved_black_king_table[index]
        self.white_king_table = self.saved_white_king_table[index]
        self.material_key = self.saved_material_key[index]
        self.ply = index
        return 0
