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


def test_the_butterfly_history_knows_threats() -> None:
    """A bonus for a knight's move counts in full where the enemy attacks the same of its squares, otherwise not."""
    modules = load().modules
    position = new_position()
    stack = modules["uci_engine.search.stack"].SearchStack(position)
    histories = modules["uci_engine.search.history"].Histories(position, stack)
    stack.clear()
    move = chess.B1 | chess.C3 << 6
    found = []
    for rooks in ("8", "1r6", "2r5", "1rr5"):
        position.set_board(chess.Board(f"{rooks}/4k3/8/8/8/8/8/1N2K3 w - - 0 1"))
        stack.find_threats(PLY)
        if not found:
            histories.update_quiet(PLY, move, 1000)
        found.append(histories.quiet_history(PLY, move))
    assert found[1:] == [found[0] - 1000] * 3
