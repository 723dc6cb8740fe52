"""The correction history: the average error of the static eval in similar positions.

The search corrects every static eval by it, and updates it with the difference between a search's score and the static
eval. Four tables hold the errors: by pawn structure (with the kings), by White's pieces, by Black's pieces, and by the
last two moves. Each is indexed by side to move.
"""

from __future__ import annotations

from evaluation.bitboards import ALL, BISHOP, KING, KNIGHT, QUEEN, ROOK
from evaluation.typed import clear_i16s, i16s, u64
from uci_engine.board.position import Position
from uci_engine.search.parameters import MAX_CORRECTION_WEIGHT

# Entries of each table for one side to move.
BY_PAWNS = 1 << 14
BY_PIECES = 1 << 14
BY_MOVES = 1 << 16
SIZE = 2 * (BY_PAWNS + 2 * BY_PIECES + BY_MOVES)
# Errors are in 256ths of a centipawn.
LIMIT = (1 << 15) - 1
# The highest 14 of 64 bits.
PIECES_SHIFT = 50

# Odd multipliers that spread the squares of a piece type over the highest bits.
KNIGHT_MIXER = 0x1D4C1B7E53F0A68B
BISHOP_MIXER = 0x61C88A2F7E3D94B5
ROOK_MIXER = 0x53A2646C8B15E79F
QUEEN_MIXER = 0x3851F7B92C4ED6A3
KING_MIXER = 0x75297A4D1E63C80D



class CorrectionHistory:
    """The correction history of one search thread, over one position."""

    position: Position
    errors = i16s(SIZE)  # by pawns, by White's pieces, by Black's pieces, by moves; within ±LIMIT

    def __init__(self, position: Position) -> None:
        self.position = position
        self.clear()

    def clear(self) -> None:
        """Clear the correction history, for a new game."""
        clear_i16s(self.errors, SIZE)

    def correction(self, last_two_moves: int) -> int:
        """The sum of the four errors of the position: positive when static evals were too low, in 256ths of a
        centipawn.

        `last_two_moves`: as packed by `SearchStack.last_two_moves`.
        """
        turn = self.position.turn
        return (
            self.errors[self._pawn_index(turn)]
            + self.errors[self._piece_index(turn, 0)]
            + self.errors[self._piece_index(turn, 1)]
            + self.errors[self._move_index(turn, last_two_moves)]
        )

    def update(self, last_two_moves: int, depth: int, error_cp: int) -> int:
        """Record that a search to `depth` scored the position `error_cp` above its static eval."""
        turn = self.position.turn
        weight = depth + 1 if depth < MAX_CORRECTION_WEIGHT else MAX_CORRECTION_WEIGHT
        error = error_cp * 256
        if error > LIMIT:
            error = LIMIT
        elif error < -LIMIT:
            error = -LIMIT
        self._update_entry(self._pawn_index(turn), error, weight)
        self._update_entry(self._piece_index(turn, 0), error, weight)
        self._update_entry(self._piece_index(turn, 1), error, weight)
        self._update_entry(self._move_index(turn, last_two_moves), error, weight)
        return 0

    def _update_entry(self, index: int, error: int, weight: int) -> int:
        """Update an exponential moving average: the new error has the weight `weight` / 256."""
        old = self.errors[index]
        self.errors[index] = old + (((error - old) * weight) >> 8)
        return 0

    def _pawn_index(self, turn: int) -> int:
        return turn * BY_PAWNS + (self.position.pawn_key & (BY_PAWNS - 1))

    def _piece_index(self, turn: int, colour: int) -> int:
        pieces = self.position.by_colour[colour]
        mixed: u64 = (pieces & self.position.by_type[KNIGHT]) * KNIGHT_MIXER
        mixed ^= (pieces & self.position.by_type[BISHOP]) * BISHOP_MIXER
        mixed ^= (pieces & self.position.by_type[ROOK]) * ROOK_MIXER
        mixed ^= (pieces & self.position.by_type[QUEEN]) * QUEEN_MIXER
        mixed ^= (pieces & self.position.by_type[KING]) * KING_MIXER
        mixed &= ALL
        index: int = mixed >> PIECES_SHIFT
        return 2 * BY_PAWNS + (2 * turn + colour) * BY_PIECES + index

    def _move_index(self, turn: int, last_two_moves: int) -> int:
        folded = (last_two_moves & 511) ^ (last_two_moves >> 9 << 7)
        return 2 * BY_PAWNS + 4 * BY_PIECES + turn * BY_MOVES + folded
