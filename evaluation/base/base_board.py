"""The pieces on the board as the evaluation sees them: sets by piece type and colour, and sums over them.

`Position` and `ChessPosition` in `uci_engine.board` extend it, so that one evaluation serves both.
`evaluation.evaluate` uses it directly.

Invariant: the sums are those of exactly the pieces on the board. They change with each piece that is put, removed or
moved. After a king's move the score waits for `update_king_tables`. Nothing else adds piece-square weights.
"""

from __future__ import annotations

import chess

from evaluation.base.bitboards import BB, KING, PAWN, ZOBRIST
from evaluation.base.constants import KING_PLACE, KING_PLACES, PHASE_WEIGHTS, PIECES
from evaluation.base.typed import i8s, i64, i64s, inline, ints, lsb, u64, u64s, void

# [colour of a king * 64 + its square]: where the table of its place begins.
TABLE_OF_KING = ints(
    128,
    [
        (colour * KING_PLACES + KING_PLACE[square if colour else square ^ 56]) * PIECES
        for colour in range(2)
        for square in range(64)
    ],
)
# The share of one piece in the material key: four bits count the pieces of each kind.
MATERIAL_OF = u64s(14, [1 << 4 * piece for piece in range(14)])
PHASE_OF = ints(14, [PHASE_WEIGHTS[piece >> 1] for piece in range(14)])


class BaseBoard:
    """Pieces by type (`by_type[1..6]`, python-chess's piece types), by colour (0 black, 1 white) and by square.

    `squares[64]` holds pieces as numbers, 2 * piece type + colour, or 0. `turn` is the side to move. The sums:

    `score`: the packed sum of material and piece-square weights, White minus Black (see `evaluation.weights`).
    `phase`: the game phase from non-pawn material (24: all pieces; more after promotions).
    `pawn_key`: the Zobrist key of the pawns and kings alone.
    `material_key`: the count of each piece, in four bits from bit 4 * piece number on.
    `stack_index`: the number of positions on the stack, the moves made since the base position.
    """

    turn: int
    score: i64
    phase: int
    pawn_key: u64
    material_key: u64
    stack_index: int
    black_king_table: int
    white_king_table: int
    by_type = u64s(7)
    by_colour = u64s(2)
    squares = i8s(64)
    piece_square = i64s(2 * KING_PLACES * PIECES)  # packed, see Weights.piece_square

    def __init__(self, piece_square: list[int]) -> None:
        """`piece_square`: see `Weights.piece_square`. After a change of it call `refresh`."""
        self.piece_square = piece_square
        self.black_king_table = self.white_king_table = 0
        self.stack_index = 0
        self.clear()

    def clear(self) -> None:
        """Remove every piece. White is to move."""
        index: int
        for index in range(7):
            self.by_type[index] = 0
        for index in range(64):
            self.squares[index] = 0
        self.by_colour[0] = self.by_colour[1] = 0
        self.turn = 1
        self.score = 0
        self.phase = 0
        self.pawn_key = 0
        self.material_key = 0

    def put(self, piece: int, square: int) -> void:
        """Put a piece on an empty square."""
        self.squares[square] = piece
        self.by_type[piece >> 1] |= BB[square]
        self.by_colour[piece & 1] |= BB[square]
        index = piece * 64 + square
        self.score += weight_of(self, index)
        self.phase += PHASE_OF[piece]
        self.material_key += MATERIAL_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]

    def remove(self, piece: int, square: int) -> void:
        """Remove a piece from its square."""
        self.squares[square] = 0
        self.by_type[piece >> 1] ^= BB[square]
        self.by_colour[piece & 1] ^= BB[square]
        index = piece * 64 + square
        self.score -= weight_of(self, index)
        self.phase -= PHASE_OF[piece]
        self.material_key -= MATERIAL_OF[piece]
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[index]

    def shift(self, piece: int, origin: int, target: int) -> void:
        """Change the sums for a piece that goes from one square to another."""
        before = piece * 64 + origin
        after = piece * 64 + target
        self.score += weight_of(self, after) - weight_of(self, before)
        if piece >> 1 == PAWN or piece >> 1 == KING:
            self.pawn_key ^= ZOBRIST[before] ^ ZOBRIST[after]

    def update_king_tables(self) -> void:
        """Add up the score again if a king has come to another place."""
        kings = self.by_type[KING]
        black = TABLE_OF_KING[lsb(kings & self.by_colour[0])]
        white = TABLE_OF_KING[64 + lsb(kings & self.by_colour[1])]
        if black == self.black_king_table and white == self.white_king_table:
            return
        self.black_king_table = black
        self.white_king_table = white
        self.score = 0
        occupied = self.by_colour[0] | self.by_colour[1]
        while occupied:
            square = lsb(occupied)
            occupied &= occupied - 1
            self.score += weight_of(self, self.squares[square] * 64 + square)

    def refresh(self) -> None:
        """Sum up from scratch: after a change of weights, and to test the incremental updates."""
        self.set_squares(bytes(self.pieces()), self.turn)

    def set_pieces(self, board: chess.Board) -> None:
        """Take the pieces and the side to move from a `chess.Board`, and nothing else."""
        self.clear()
        for square, piece in board.piece_map().items():
            self.put(piece_number(piece), square)
        self.turn = int(board.turn)

    def set_squares(self, pieces: bytes, turn: int) -> None:
        """Take them from the numbers of the pieces on the 64 squares, as `squares` has them."""
        self.clear()
        index: int
        for index in range(64):
            if pieces[index]:
                self.put(pieces[index], index)
        self.turn = turn

    def pieces(self) -> list[int]:
        """The pieces on the 64 squares, as a list of numbers. For Python."""
        return [self.squares[square] for square in range(64)]


def piece_number(piece: chess.Piece) -> int:
    """A piece as the boards number it: 2 * piece type + colour."""
    return 2 * piece.piece_type + piece.color


@inline
def weight_of(board: BaseBoard, index: int) -> i64:
    """The packed weight of piece * 64 + square, with the tables of both kings."""
    return board.piece_square[board.black_king_table + index] + board.piece_square[board.white_king_table + index]
