"""The pieces on the board as the evaluation sees them: sets by type and colour, and sums kept up to date move by move.

`Position` and `ChessPosition` in `uci_engine.core` extend it, so that one evaluation serves both;
`evaluation.evaluate` uses it as it is. What must stay true: the sums (`scores`, `phase`, `pawn_key`) always equal those
of a board set up anew.
"""

import cython

if not cython.compiled:
    from evaluation.bitboards import BB, KING, PAWN, ZOBRIST

# A quick measure of how much material beyond pawns is left: 24 with all pieces on the board, 0 when only kings and
# pawns are left.
PHASE = (0, 0, 1, 1, 2, 4, 0)


class BaseBoard:
    """Pieces by type (`by_type[1..6]`, python-chess's piece types), by colour (0 black, 1 white) and by square.

    `squares[64]` holds codes, 2 * type + colour or 0. `scores` is the packed sum of material and piece-square weights,
    White minus Black (see `evaluation.weights` for packing), `phase` counts material beyond pawns from 0 up, `pawn_key`
    is the Zobrist key of the pawns and kings alone.
    """

    def __init__(self, piece_square):
        """`piece_square` holds 1024 packed numbers, [code * 64 + square], negative for Black's pieces."""
        if not cython.compiled:
            self.by_type = [0] * 7
            self.by_colour = [0] * 2
            self.squares = [0] * 64
            self.piece_square = [0] * 1024
        index: cython.int
        for index in range(1024):
            self.piece_square[index] = piece_square[index]
        self.turn = 1
        self.scores = 0
        self.phase = 0
        self.pawn_key = 0

    def clear(self):
        """Take every piece off."""
        index: cython.int
        for index in range(7):
            self.by_type[index] = 0
        for index in range(64):
            self.squares[index] = 0
        self.by_colour[0] = self.by_colour[1] = 0
        self.turn = 1
        self.scores = 0
        self.phase = 0
        self.pawn_key = 0
        return 0

    def put(self, code, square):
        """Put a piece on an empty square."""
        kind = code >> 1
        self.squares[square] = code
        self.by_type[kind] |= BB[square]
        self.by_colour[code & 1] |= BB[square]
        self.scores += self.piece_square[code * 64 + square]
        self.phase += PHASE[kind]
        if kind == PAWN or kind == KING:
            self.pawn_key ^= ZOBRIST[code * 64 + square]
        return 0

    def set_pieces(self, board):
        """Take the pieces and the side to move from a `chess.Board`; nothing else of it is looked at."""
        self.clear()
        for square, piece in board.piece_map().items():
            self.put(2 * piece.piece_type + piece.color, square)
        self.turn = int(board.turn)

    def pieces(self):
        """The codes on the 64 squares, as a list: for tests and explanations."""
        return [self.squares[square] for square in range(64)]
