"""The search stack: the squares that the enemy attacks, as python-chess finds them."""

from __future__ import annotations

import chess
import pytest

from tests.support.kernel import new_position, random_game, start_board
from uci_engine.core import load

PLY = 5
# The pieces that are worth less than a knight or bishop, than a rook, and than a queen.
LESS = {
    chess.KNIGHT: {chess.PAWN},
    chess.BISHOP: {chess.PAWN},
    chess.ROOK: {chess.PAWN, chess.KNIGHT, chess.BISHOP},
    chess.QUEEN: {chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK},
}


def attacked_by(board: chess.Board, piece_types: set[int]) -> int:
    """The squares that these pieces of the side not to move attack."""
    squares = chess.SquareSet()
    for square, piece in board.piece_map().items():
        if piece.color != board.turn and piece.piece_type in piece_types:
            squares |= board.attacks(square)
    return int(squares)


@pytest.mark.parametrize("chess960", [False, True])
def test_threats_are_those_of_python_chess(chess960: bool) -> None:
    position = new_position()
    stack = load().modules["uci_engine.search.stack"].SearchStack(position)
    for game in range(4):
        for board in random_game(game, start_board(game, chess960), 80):
            position.set_board(board)
            stack.find_threats(PLY)
            assert stack.attacked[PLY] == attacked_by(board, set(chess.PIECE_TYPES)), board.fen()
            threats = {piece_type: stack.threats[8 * PLY + piece_type] for piece_type in LESS}
            assert threats == {piece_type: attacked_by(board, less) for piece_type, less in LESS.items()}, board.fen()
