"""What a `chess.Board` tells of its pieces by the rules alone: for levels and for explanations."""

from __future__ import annotations

import chess

from evaluation.base.constants import PHASE_WEIGHTS


def phase_weight(board: chess.Board) -> int:
    """The game phase of the evaluation: the pieces of both sides, each with its weight."""
    return sum(PHASE_WEIGHTS[piece.piece_type] for piece in board.piece_map().values())


def captured_square(board: chess.Board, move: chess.Move) -> chess.Square:
    """Where the piece stands that a capture takes: beside the target if it takes en passant."""
    if board.is_en_passant(move):
        return chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
    return move.to_square


def captured_type(board: chess.Board, move: chess.Move) -> int:
    """The type of the piece that a move takes, 0 for none. In Chess960 the king castles to his own rook's square."""
    return 0 if board.is_castling(move) else board.piece_type_at(captured_square(board, move)) or 0


def files_near(square: chess.Square) -> chess.Bitboard:
    """The files of a square and beside it."""
    file = chess.square_file(square)
    return sum(chess.BB_FILES[each] for each in range(max(file - 1, 0), min(file + 2, 8)))


def ahead(square: chess.Square, color: chess.Color) -> chess.Bitboard:
    """All squares on the ranks in front of a square, as this side sees it."""
    rank = chess.square_rank(square)
    return sum(chess.BB_RANKS[each] for each in (range(rank + 1, 8) if color else range(rank)))
