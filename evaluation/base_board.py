"""The pieces on the board as the evaluation sees them: sets by piece type and colour, and the accumulator.

`Position` and `ChessPosition` in `uci_engine.board` extend it, so that one evaluation serves both.
`evaluation.evaluate` uses it directly.

Invariant: the accumulator holds the sums of exactly the pieces on the board.
"""

from __future__ import annotations

import chess
import cython

if not cython.compiled:
    from evaluation.accumulator import Accumulator
    from evaluation.bitboards import BB, KING, lsb


class BaseBoard:
    """Pieces by type (`by_type[1..6]`, python-chess's piece types), by colour (0 black, 1 white) and by square.

    `squares[64]` holds pieces as numbers, 2 * piece type + colour, or 0. `turn` is the side to move.
    """

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: the packed weights for `Accumulator`."""
        self.accumulator = Accumulator(piece_square)
        if not cython.compiled:
            self.by_type = [0] * 7
            self.by_colour = [0] * 2
            self.squares = [0] * 64
        self.turn = 1

    def clear(self) -> cython.int:
        """Remove every piece."""
        index: cython.int
        for index in range(7):
            self.by_type[index] = 0
        for index in range(64):
            self.squares[index] = 0
        self.by_colour[0] = self.by_colour[1] = 0
        self.turn = 1
        self.accumulator.clear()
        return 0

    def put(self, piece: cython.int, square: cython.int) -> cython.int:
        """Put a piece on an empty square."""
        self.squares[square] = piece
        self.by_type[piece >> 1] |= BB[square]
        self.by_colour[piece & 1] |= BB[square]
        self.accumulator.put(piece, square)
        return 0

    def remove(self, piece: cython.int, square: cython.int) -> cython.int:
        """Remove a piece from its square."""
        self.squares[square] = 0
        self.by_type[piece >> 1] ^= BB[square]
        self.by_colour[piece & 1] ^= BB[square]
        self.accumulator.remove(piece, square)
        return 0

    def update_king_buckets(self) -> cython.int:
        """Add up the accumulator's score again if a king has come into another bucket."""
        kings = self.by_type[KING]
        if not self.accumulator.set_kings(lsb(kings & self.by_colour[0]), lsb(kings & self.by_colour[1])):
            return 0
        occupied = self.by_colour[0] | self.by_colour[1]
        while occupied:
            square = lsb(occupied)
            occupied &= occupied - 1
            self.accumulator.add(self.squares[square], square)
        return 0

    def refresh(self) -> cython.int:
        """Fill the accumulator from scratch: after a change of weights, and to test the incremental updates."""
        self.accumulator.clear()
        for square in range(64):
            if self.squares[square]:
                self.accumulator.put(self.squares[square], square)
        return 0

    def set_pieces(self, board: chess.Board) -> None:
        """Take the pieces and the side to move from a `chess.Board`, and nothing else."""
        self.clear()
        for square, piece in board.piece_map().items():
            self.put(2 * piece.piece_type + piece.color, square)
        self.turn = int(board.turn)

    def pieces(self) -> list[int]:
        """The pieces on the 64 squares, as a list of numbers. For tests and training data."""
        return [self.squares[square] for square in range(64)]
