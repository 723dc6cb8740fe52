"""What the terms count, written once more for White with python-chess alone, slowly and plainly.

Each function has the name of its term and yields the index of a weight for each time that it counts. A term with one
weight yields 0s. Black's counts are those of the mirrored board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import combinations
from operator import or_

import chess

Definition = Callable[[chess.Board], Iterator[int]]


def union(sets: Iterable[chess.SquareSet]) -> chess.SquareSet:
    return reduce(or_, sets, chess.SquareSet())


def own(board: chess.Board, *piece_types: chess.PieceType) -> chess.SquareSet:
    """White's pieces of some types."""
    return union(board.pieces(piece_type, chess.WHITE) for piece_type in piece_types)


def enemy(board: chess.Board, *piece_types: chess.PieceType) -> chess.SquareSet:
    """Black's pieces of some types."""
    return union(board.pieces(piece_type, chess.BLACK) for piece_type in piece_types)


def king(board: chess.Board, colour: chess.Color) -> chess.Square:
    return board.pieces(chess.KING, colour).pop()


def xray(board: chess.Board, square: chess.Square) -> chess.SquareSet:
    """What a piece attacks: bishops through their own queens, rooks through their own rooks and queens."""
    piece = board.piece_at(square)
    assert piece is not None
    through = {chess.BISHOP: [chess.QUEEN], chess.ROOK: [chess.ROOK, chess.QUEEN]}.get(piece.piece_type, [])
    others = board.copy(stack=False)
    for piece_type in through:
        for other in board.pieces(piece_type, piece.color):
            others.remove_piece_at(other)
    others.set_piece_at(square, piece)
    return others.attacks(square)


def attacks(board: chess.Board, colour: chess.Color) -> chess.SquareSet:
    """All squares that a side attacks."""
    return union(xray(board, square) for square in chess.SquareSet(board.occupied_co[colour]))


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


def ahead(square: chess.Square) -> chess.SquareSet:
    """The squares ahead of a white pawn on its file."""
    return chess.SquareSet(other for other in chess.SQUARES[square + 8 :] if other % 8 == square % 8)


def beside(square: chess.Square) -> chess.SquareSet:
    """All squares on the adjacent files."""
    return chess.SquareSet(other for other in chess.SQUARES if abs(other % 8 - square % 8) == 1)


def rank(square: chess.Square) -> int:
    return chess.square_rank(square)


def edge(square: chess.Square) -> int:
    """The distance of the square's file from the edge of the board, 0 to 3."""
    return min(square % 8, 7 - square % 8)


def neighbours(board: chess.Board, square: chess.Square) -> chess.SquareSet:
    """White's pawns on the adjacent files."""
    return own(board, chess.PAWN) & beside(square)


def supporters(board: chess.Board, square: chess.Square) -> chess.SquareSet:
    """White's pawns that defend a square."""
    return board.attackers(chess.WHITE, square) & board.pawns


def is_passed(board: chess.Board, pawn: chess.Square) -> bool:
    obstacles = [other for other in enemy(board, chess.PAWN) & (beside(pawn) | ahead(pawn)) if rank(other) > rank(pawn)]
    return not obstacles and not own(board, chess.PAWN) & ahead(pawn)


def passed(board: chess.Board) -> Iterator[chess.Square]:
    return (pawn for pawn in own(board, chess.PAWN) if is_passed(board, pawn))


def isolated(board: chess.Board) -> Iterator[chess.Square]:
    return (pawn for pawn in own(board, chess.PAWN) if not neighbours(board, pawn))


def is_connected(board: chess.Board, pawn: chess.Square) -> bool:
    return bool(supporters(board, pawn) or [other for other in neighbours(board, pawn) if rank(other) == rank(pawn)])


def doubled_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if any(pawn in ahead(other) for other in own(board, chess.PAWN)):
            yield 0


def isolated_pawn(board: chess.Board) -> Iterator[int]:
    for _ in isolated(board):
        yield 0


def doubled_isolated_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in isolated(board):
        if any(pawn in ahead(other) for other in own(board, chess.PAWN)):
            yield 0


def isolated_pawn_open(board: chess.Board) -> Iterator[int]:
    for pawn in isolated(board):
        if not enemy(board, chess.PAWN) & ahead(pawn):
            yield edge(pawn)


def backward_pawn(board: chess.Board) -> Iterator[int]:
    enemies = enemy(board, chess.PAWN)
    for pawn in own(board, chess.PAWN):
        others = neighbours(board, pawn)
        stopped = pawn + 8 in enemies or board.attackers(chess.BLACK, pawn + 8) & board.pawns
        if others and stopped and all(rank(other) > rank(pawn) for other in others):
            yield rank(pawn) + (0 if enemies & ahead(pawn) else 8)


def connected_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if is_connected(board, pawn):
            yield rank(pawn)


def connected_pawn_opposed(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if is_connected(board, pawn) and enemy(board, chess.PAWN) & ahead(pawn):
            yield rank(pawn)


def phalanx_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if any(rank(other) == rank(pawn) for other in neighbours(board, pawn)):
            yield rank(pawn)


def doubly_supported_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if len(supporters(board, pawn)) == 2:
            yield rank(pawn)


def candidate_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        sentries = [other for other in enemy(board, chess.PAWN) & beside(pawn) if rank(other) > rank(pawn)]
        helpers = [other for other in neighbours(board, pawn) if rank(other) <= rank(pawn)]
        if not ahead(pawn) & board.pawns and sentries and len(helpers) >= len(sentries):
            yield rank(pawn)


def pawn_lever(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if board.attacks(pawn) & enemy(board, chess.PAWN):
            yield rank(pawn)


def blocked_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in own(board, chess.PAWN):
        if pawn + 8 in enemy(board, chess.PAWN):
            yield rank(pawn)


def pawn_island(board: chess.Board) -> Iterator[int]:
    files = {pawn % 8 for pawn in own(board, chess.PAWN)}
    for file in files:
        if file + 1 not in files:
            yield 0


def passed_pawn(board: chess.Board) -> Iterator[int]:
    return map(rank, passed(board))


def passed_pawn_square(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        yield 8 * edge(pawn) + rank(pawn)


def passed_pawn_rank_own_king(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        yield 8 * rank(pawn) + chess.square_distance(king(board, chess.WHITE), pawn + 8)


def passed_pawn_rank_enemy_king(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        yield 8 * rank(pawn) + chess.square_distance(king(board, chess.BLACK), pawn + 8)


def protected_passed_pawn(board: chess.Board) -> Iterator[int]:
    return (rank(pawn) for pawn in passed(board) if supporters(board, pawn))


def connected_passed_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        if any(other in beside(pawn) and abs(rank(other) - rank(pawn)) <= 1 for other in passed(board)):
            yield rank(pawn)


def passed_pawn_enemy_ahead(board: chess.Board) -> Iterator[int]:
    return (rank(pawn) for pawn in passed(board) if board.color_at(pawn + 8) is chess.BLACK)


def passed_pawn_path(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        attacked = ahead(pawn) & attacks(board, chess.BLACK)
        if pawn + 8 in attacked:
            kind = 16 if pawn + 8 in attacks(board, chess.WHITE) else 24
        else:
            kind = 8 if attacked else 0
        yield kind + rank(pawn)


def rook_behind_passed_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        behind = [square for square in range(pawn % 8, pawn, 8) if board.piece_at(square)]
        if behind and board.piece_type_at(behind[-1]) == chess.ROOK:
            yield rank(pawn) + (0 if board.color_at(behind[-1]) else 8)


def unstoppable_pawn(board: chess.Board) -> Iterator[int]:
    if enemy(board, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN):
        return
    for pawn in passed(board):
        target = 56 + pawn % 8
        moves = 7 - max(rank(pawn), 2)
        king_moves = chess.square_distance(king(board, chess.BLACK), target)
        if not any(map(board.piece_at, ahead(pawn))) and king_moves - 1 > moves:
            yield rank(pawn)


DEFINITIONS: dict[str, Definition] = {
    definition.__name__: definition
    for definition in (
        pawn_pair,
        pawn_against_pawn,
        pawn_by_own_king,
        pawn_by_enemy_king,
        doubled_pawn,
        isolated_pawn,
        doubled_isolated_pawn,
        isolated_pawn_open,
        backward_pawn,
        connected_pawn,
        connected_pawn_opposed,
        phalanx_pawn,
        doubly_supported_pawn,
        candidate_pawn,
        pawn_lever,
        blocked_pawn,
        pawn_island,
        passed_pawn,
        passed_pawn_square,
        passed_pawn_rank_own_king,
        passed_pawn_rank_enemy_king,
        protected_passed_pawn,
        connected_passed_pawn,
        passed_pawn_enemy_ahead,
        passed_pawn_path,
        rook_behind_passed_pawn,
        unstoppable_pawn,
    )
}
