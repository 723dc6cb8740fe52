"""The reference board: the interface of `Position`, with python-chess for move generation and rules.

The python-chess core uses it. Moves, legality, check, castling rights, en passant and keys come from a `chess.Board`;
what follows from these, such as SEE and repetitions, is inherited.

Invariant: at every node it has the same fields and gives the same moves as `Position`, so the search trees are equal.
"""

import chess
import chess.polyglot

from evaluation.base.base_board import piece_number
from evaluation.base.bitboards import ZOBRIST
from uci_engine.board import moves as move_numbers
from uci_engine.board.moves import NO_SQUARE, NOISY, QUIET
from uci_engine.board.position import Position

HASHER = chess.polyglot.ZobristHasher(chess.polyglot.POLYGLOT_RANDOM_ARRAY)


class ChessPosition(Position):
    """A `Position` on top of a `chess.Board`. Only for plain Python: the compiled `Position` cannot be subclassed."""

    def _set_base(self, board: chess.Board) -> None:
        self.board = board.copy(stack=False)
        # In Chess960 mode python-chess encodes castling as king takes rook, as the engine does.
        self.board.chess960 = True
        self.pieces_key = 0
        self.clear()
        self._read_pieces()
        self.stack_index = 0
        self.reversible_plies = 0
        # python-chess generates legal moves, so pins are not needed.
        self.pinned = 0
        self._read_rules()

    def _read_rules(self) -> None:
        """Copy side to move, clocks, castling, en passant, key and checkers from python-chess."""
        board = self.board
        self.turn = int(board.turn)
        self.halfmove_clock = board.halfmove_clock
        self._set_castling(board)
        self.key = self.pieces_key ^ HASHER.hash_castling(board) ^ HASHER.hash_turn(board)
        self.ep_square = NO_SQUARE
        if board.ep_square is not None and board.has_legal_en_passant():
            self.ep_square = board.ep_square
            self.key ^= HASHER.hash_ep_square(board)
        self.keys[self.stack_index] = self.key
        self.checkers = board.checkers_mask()
        self.moves_here: list[int] | None = None

    def _read_pieces(self) -> None:
        """Copy the squares that differ from the python-chess board, and update bitboards and sums."""
        board = self.board
        masks = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        changed = self.by_colour[1] ^ board.occupied_co[chess.WHITE]
        for piece_type, mask in enumerate(masks, start=1):
            changed |= self.by_type[piece_type] ^ mask
        for square in chess.scan_forward(changed):
            before, piece = self.squares[square], board.piece_at(square)
            if before:
                self.remove(before, square)
                self.pieces_key ^= ZOBRIST[before * 64 + square]
            if piece:
                after = piece_number(piece)
                self.put(after, square)
                self.pieces_key ^= ZOBRIST[after * 64 + square]

    def generate(self, gen_type: int, start: int) -> int:
        """python-chess generates all legal moves; `is_noisy` selects captures and promotions."""
        if self.moves_here is None:
            self.moves_here = [move_numbers.encode(self.board, move) for move in self.board.generate_legal_moves()]
        end = start
        for move in self.moves_here:
            if gen_type & (NOISY if self.is_noisy(move) else QUIET):
                self.moves[end] = move
                end += 1
        return end

    def is_legal(self, move: int) -> bool:
        if move == move_numbers.NO_MOVE:
            return False
        decoded = move_numbers.decode(move, chess960=True)
        return self.board.is_legal(decoded) and move_numbers.encode(self.board, decoded) == move

    def gives_check(self, move: int) -> bool:
        return self.board.gives_check(move_numbers.decode(move, chess960=True))

    def is_insufficient_material(self) -> bool:
        return self.board.is_insufficient_material()

    def make(self, move: int) -> None:
        self._push_state(0)
        self.board.push(move_numbers.decode(move, chess960=True))
        self._read_pieces()
        self.reversible_plies = self.reversible_plies + 1 if self.board.halfmove_clock else 0
        self._read_rules()

    def unmake(self, move: int) -> None:
        self.turn ^= 1
        self.board.pop()
        self._read_pieces()
        self._pop_state()
        self.moves_here = None

    def make_null(self) -> None:
        self._push_state(0)
        self.board.push(chess.Move.null())
        self.reversible_plies = 0
        self._read_rules()

    def unmake_null(self) -> None:
        self.unmake(move_numbers.NO_MOVE)
