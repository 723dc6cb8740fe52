"""Moves as 16-bit numbers, the conversion from and to python-chess, and the key of a board.

Bits 0-5 hold the from-square, bits 6-11 the to-square, bits 12-13 the promoted piece type less two, bits 14-15 the move
type. Castling goes from the king's square to the rook's square, as in Chess960, whatever notation the GUI uses.

Invariant: `decode(encode(board, move)) == move` for every legal move in the board's castling notation. TT entries, the
search and the move picker share these numbers; the picker breaks ties by them.
"""

from __future__ import annotations

import chess
import chess.polyglot

from evaluation.base.typed import inline
from uci_engine.score import MAX_PLY

NO_MOVE = 0
# The move types.
NORMAL, PROMOTION, EN_PASSANT, CASTLING = range(4)
# The kinds of moves to generate: captures and promotions, quiet moves, or the sum of the two for both.
NOISY = 1
QUIET = 2
# The en-passant square when there is none.
NO_SQUARE = 64
# Room for the moves of one ply. No position of sixteen pieces a side has more than 218 legal moves. A tablebase probe
# looks some captures ahead, with the moves of a few pieces at each.
MAX_MOVES = 320
# A board's move buffer has it for each ply of a search, and once more from SCRATCH on.
SCRATCH = MAX_PLY * MAX_MOVES
MOVE_ROOM = SCRATCH + MAX_MOVES


@inline
def from_square(move: int) -> int:
    """The square that the move leaves."""
    return move & 63


@inline
def to_square(move: int) -> int:
    """The square that the move goes to; for castling, the rook's."""
    return (move >> 6) & 63


@inline
def move_type(move: int) -> int:
    """NORMAL, PROMOTION, EN_PASSANT or CASTLING."""
    return move >> 14


@inline
def promotion(move: int) -> int:
    """The piece type that a move of type PROMOTION promotes to."""
    return ((move >> 12) & 3) + 2


@inline
def castled_king(king: int, rook: int) -> int:
    """The king's square after castling with the rook on a square: the file c or g."""
    return (king & 56) + (6 if rook > king else 2)


@inline
def castled_rook(king: int, rook: int) -> int:
    """The square of that rook after castling: the file d or f."""
    return (king & 56) + (5 if rook > king else 3)


def encode(board: chess.Board, move: chess.Move) -> int:
    """Encode a legal move; castling may be e1g1 or e1h1."""
    origin, target = move.from_square, move.to_square
    if move.promotion:
        return origin | target << 6 | (move.promotion - 2) << 12 | PROMOTION << 14
    if board.is_castling(move):
        ours = board.occupied_co[board.turn]
        if not board.rooks & ours & chess.BB_SQUARES[target]:
            rooks = board.clean_castling_rights() & ours
            target = chess.msb(rooks) if target > origin else chess.lsb(rooks)
        return origin | target << 6 | CASTLING << 14
    if board.is_en_passant(move):
        return origin | target << 6 | EN_PASSANT << 14
    return origin | target << 6


def key_of(board: chess.Board) -> int:
    """The Polyglot key, with en passant only where a capture is legal: two positions are the same if this is."""
    if board.ep_square is not None and not board.has_legal_en_passant():
        board = board.copy(stack=False)
        board.ep_square = None
    return chess.polyglot.zobrist_hash(board)


def decode(move: int, chess960: bool) -> chess.Move:
    """Decode a move other than NO_MOVE. With `chess960`, castling is king takes rook."""
    origin, target = from_square(move), to_square(move)
    if move_type(move) == PROMOTION:
        return chess.Move(origin, target, promotion=promotion(move))
    if move_type(move) == CASTLING and not chess960:
        target = castled_king(origin, target)
    return chess.Move(origin, target)
