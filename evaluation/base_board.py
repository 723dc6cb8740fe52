"""The pieces on the board as the evaluation sees them: sets by piece type and colour, and the accumulator.

`Position` and `ChessPosition` in `uci_engine.board` extend it, so that one evaluation serves both.
`evaluation.evaluate` uses it directly.

Invariant: the accumulator holds the sums of exactly the pieces on the board.
"""

from __future__ import annotations

import chess

from evaluation.accumulator import Accumulator
from evaluation.bitboards import BB, KING
from evaluation.typed import i8s, lsb, u64s


class BaseBoard:
    """Pieces by type (`by_type[1..6]`, python-chess's piece types), by colour (0 black, 1 white) and by square.

    `squares[64]` holds pieces as numbers, 2 * piece type + colour, or 0. `turn` is the side to move.
    """

    turn: int
    accumulator: Accumulator
    by_type = u64s(7)
    by_colour = u64s(2)
    squares = i8s(64)

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: the packed weights for `Accumulator`."""
        self.accumulator = Accumulator(piece_square)
        self.turn = 1

    def clear(self) -> None:
        """Remove every piece."""
        index: int
        for index in range(7):
            self.by_type[index] = 0
        for index in range(64):
            self.squares[index] = 0
        self.by_colour[0] = self.by_colour[1] = 0
        self.turn = 1
        self.accumulator.clear()

    def put(self, piece: int, square: int) -> None:
        """Put a piece on an empty square."""
        self.squares[square] = piece
        self.by_type[piece >> 1] |= BB[square]
        self.by_colour[piece & 1] |= BB[square]
        self.accumulator.put(piece, square)

    def remove(self, piece: int, square: int) -> None:
        """Remove a piece from its square."""
        self.squares[square] = 0
        self.by_type[piece >> 1] ^= BB[square]
        self.by_colour[piece & 1] ^= BB[square]
        self.accumulator.remove(piece, square)

    def update_king_buckets(self) -> int:
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

    def refresh(self) -> None:
        """Fill the accumulator from scratch: after a change of weights, and to test the incremental updates."""
        self.accumulator.clear()
        for square in range(64):
            if self.squares[square]:
                self.accumulator.put(self.squares[square], square)

    def set_pieces(self, board: chess.Board) -> None:
        """Take the pieces and the side to move from a `chess.Board`, and nothing else."""
        self.clear()
        for square, piece in board.piece_map().items():
            self.put(2 * piece.piece_type + piece.color, square)
        self.turn = int(board.turn)

    def pieces(self) -> list[int]:
        """The pieces on the 64 squares, as a list of numbers. For tests and training data."""
        return [self.squares[square] for square in range(64)]
