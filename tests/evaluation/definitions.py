"""What the terms count, written once more for White with python-chess alone, slowly and plainly.

Each function has the name of its term and yields the index of a weight for each time that it counts. A term with one
weight yields 0s. Black's counts are those of the mirrored board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import chess

Definition = Callable[[chess.Board], Iterator[int]]


def own(board: chess.Board, *piece_types: chess.PieceType) -> chess.SquareSet:
    """White's pieces of some types."""
    return chess.SquareSet().union(*(board.pieces(piece_type, chess.WHITE) for piece_type in piece_types))


def enemy(board: chess.Board, *piece_types: chess.PieceType) -> chess.SquareSet:
    """Black's pieces of some types."""
    return chess.SquareSet().union(*(board.pieces(piece_type, chess.BLACK) for piece_type in piece_types))


def king(board: chess.Board, colour: chess.Color) -> chess.Square:
    return board.pieces(chess.KING, colour).pop()


def pawn_pair(board: chess.Board) -> Iterator[int]:
    for lower, higher in combinations(sorted(own(board, chess.PAWN)), 2):
        yield 64 * lower + higher


def pawn_against_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        for other in enemy(board, chess.PAWN):
            if pawn < chess.square_mirror(other):
                yield 64 * pawn + other


def pawn_by_own_king(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        yield 64 * king(board, chess.WHITE) + pawn


def pawn_by_enemy_king(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        yield 64 * king(board, chess.BLACK) + pawn


DEFINITIONS: dict[str, Definition] = {
    definition.__name__: definition
    for definition in (
        pawn_pair,
        pawn_against_pawn,
        pawn_by_own_king,
        pawn_by_enemy_king,
    )
}
