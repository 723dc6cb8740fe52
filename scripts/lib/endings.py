"""Random legal positions with the pieces of an endgame table.

Invariant: the same name and generator give the same positions, so that a difference can be looked at again.
"""

from __future__ import annotations

import random

import chess


def random_board(name: str, choice: random.Random) -> chess.Board:
    """A legal position of a table's pieces, either side having them; with en passant where that can be had."""
    while True:
        board = chess.Board(None)
        white_first = choice.random() < 0.5
        for side, letters in enumerate(name.split("v")):
            for letter in letters:
                piece_type = chess.PIECE_SYMBOLS.index(letter.lower())
                square = choice.randrange(8, 56) if piece_type == chess.PAWN else choice.randrange(64)
                board.set_piece_at(square, chess.Piece(piece_type, white_first ^ bool(side)))
        if chess.popcount(board.occupied) != len(name) - 1:
            continue
        board.turn = choice.random() < 0.5
        if all(board.pieces(chess.PAWN, colour) for colour in chess.COLORS) and choice.random() < 0.5:
            add_en_passant(board, choice)
        if board.is_valid():
            return board


def add_en_passant(board: chess.Board, choice: random.Random) -> None:
    """Move two pawns side by side, as if one had just passed the other."""
    ours, theirs = (min(board.pieces(chess.PAWN, colour)) for colour in (board.turn, not board.turn))
    rank, behind = (4, 8) if board.turn else (3, -8)
    file = choice.randrange(7)
    first, second = choice.sample([8 * rank + file, 8 * rank + file + 1], 2)
    if not all(square in (ours, theirs) or not board.piece_type_at(square) for square in (first, second)):
        return
    board.remove_piece_at(ours)
    board.remove_piece_at(theirs)
    board.set_piece_at(first, chess.Piece(chess.PAWN, board.turn))
    board.set_piece_at(second, chess.Piece(chess.PAWN, not board.turn))
    if not board.piece_type_at(second + behind) and not board.piece_type_at(second + 2 * behind):
        board.ep_square = second + behind
