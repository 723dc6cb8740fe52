"""What the terms count: by hand in some positions, or written once more for White with python-chess alone, plainly.

Each function has the name of its term and yields the index of a weight for each time that it counts. A term with one
weight yields 0s. Black's counts are those of the mirrored board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import combinations
from operator import or_

import chess

from evaluation.base import constants
from evaluation.catalogue import CATALOGUE

Definition = Callable[[chess.Board], Iterator[int]]
rank = chess.square_rank

# A middlegame, kings castled on opposite sides, and an ending. In each of them the indices of White's weights that
# count, then of Black's.
POSITIONS = (
    "1r1q1rk1/1b4p1/pp1b1n1p/2p1pp2/2PnPP2/1PN2N2/PB1Q2PP/3RR1K1 w - - 0 1",
    "1k1r3r/p1p2p2/1p2bn1q/1P2p3/1PN1P1pp/6P1/2Q2P1P/R4R1K b - - 0 1",
    "8/2k5/1p1n2R1/pP6/P1PK3P/3P2Pr/2P1p3/8 w - - 0 1",
)
COUNTS = {
    "doubled_pawn": ("|", "1 |", "0 |"),
    "isolated_pawn": ("|", "0 0 |", "| 4"),
    "backward_pawn": ("|", "1 1 | 9 9", "3 | 2"),
    "connected_pawn": ("1 1 2 3 3 3 | 2 2 2 3 3 3", "2 | 2 4 4", "4 10 11 11 | 3"),
    "phalanx_pawn": ("1 1 3 3 | 2 2 3 3", "| 4 4", "|"),
    "doubly_supported_pawn": ("|", "2 | 2", "4 |"),
    "pawn_lever": ("3 3 | 3 3", "2 | 4", "|"),
    "blocked_pawn": ("3 3 3 | 3 3 3", "2 3 4 | 2 3 4", "3 4 | 2 3"),
    "pawn_island": ("0 0 | 0 0", "0 0 | 0 0", "0 0 | 0 0"),
    "passed_pawn_kings": ("|", "|", "4 13 | 6 11"),
    "king_pawn_distance": ("1 | 1", "1 | 1", "1 | 1"),
    "knight_mobility": ("4 5 | 4 6", "5 | 6", "| 5"),
    "bishop_mobility": ("4 | 4 4", "| 3", "|"),
    "rook_mobility": ("7 7 | 6 7", "6 11 | 8 11", "8 | 3"),
    "queen_mobility": ("10 | 9", "12 | 10", "|"),
    "bishop_pair": ("| 0", "|", "|"),
    "rook_open_file": ("0 |", "1 | 0", "| 1"),
    "space": ("0 0 0 0 0 0 0 0 1 1 1 | 0 0 0 0 0 0 0 0 1 1 1 1 1 1", "0 0 0 0 0 0 0 1 | 0 0 0 0 0 1 1", "|"),
    "minor_behind_pawn": ("0 0 1 | 0 1", "| 1", "|"),
    "bishop_pawns": ("13 | 13 28", "| 11", "|"),
    "bishop_enemy_pawns": ("5 | 2 5", "| 2", "|"),
    "safe_check": ("|", "|", "2 | 0"),
    "hanging": ("|", "0 |", "|"),
    "tempo": ("0 |", "| 0", "0 |"),
}
# The same of terms that need a position of their own.
COUNTS_ALONE = {
    "4k3/1p5p/8/8/8/6P1/P3P3/4K3 w - - 0 1": {
        "king_pawn_distance": "1 | 3",
        "pawn_pair": "524 534 790 | 591",
        "pawn_against_pawn": "561 567 823 | 622 628 1006",
        "pawn_by_own_king": "264 268 278 | 265 271",
        "pawn_by_enemy_king": "3848 3852 3862 | 3849 3855",
    },
    "6k1/8/8/8/4N3/8/6K1/QR3B2 w - - 0 1": {"safe_check": "0 1 2 3 |"},
    "6k1/8/8/8/2P5/8/8/5BK1 w - - 0 1": {"safe_check": "|"},
    "7k/8/8/8/8/8/5P2/4KQ2 w - - 0 1": {"safe_check": "3 |"},
    "3rk2q/8/8/8/4p3/8/2P5/3RK2Q w - - 0 1": {"space": "0 0 0 0 0 0 0 0 0 | 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1"},
    "7k/8/8/8/5B2/8/8/K3N3 w - - 0 1": {"mop_up": "0 0 0 0 0 0 0 2 2 2 2 2 2 2 |"},
    "8/8/8/3k4/8/8/2n5/1b2K3 w - - 0 1": {"mop_up": "| 0 0 0 0 1 1 1 2 2 2 2"},
    "8/8/8/8/3K4/8/BB6/5k2 w - - 0 1": {"mop_up": "0 0 0 0 0 1 1 1 1 |"},
}
COUNTED = [
    *((name, fen, text) for name, texts in COUNTS.items() for fen, text in zip(POSITIONS, texts, strict=True)),
    *((name, fen, text) for fen, texts in COUNTS_ALONE.items() for name, text in texts.items()),
]


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


def attacks(board: chess.Board, colour: chess.Color, *piece_types: chess.PieceType) -> chess.SquareSet:
    """All squares that a side's pieces of some types, or of all, attack."""
    pieces = union(board.pieces(piece_type, colour) for piece_type in piece_types or chess.PIECE_TYPES)
    return union(xray(board, piece) for piece in pieces)


def ahead(square: chess.Square) -> chess.SquareSet:
    """The squares ahead of a white pawn on its file."""
    return chess.SquareSet(other for other in chess.SQUARES[square + 8 :] if other % 8 == square % 8)


def beside(square: chess.Square) -> chess.SquareSet:
    """All squares on the adjacent files."""
    return chess.SquareSet(other for other in chess.SQUARES if abs(other % 8 - square % 8) == 1)


def edge(square: chess.Square) -> int:
    """The distance of the square's file from the edge of the board, 0 to 3."""
    return min(square % 8, 7 - square % 8)


def supporters(board: chess.Board, square: chess.Square) -> chess.SquareSet:
    """White's pawns that defend a square."""
    return board.attackers(chess.WHITE, square) & board.pawns


def passed(board: chess.Board) -> Iterator[chess.Square]:
    for pawn in own(board, chess.PAWN):
        if not can_be_attacked(board, pawn) and not board.pawns & int(ahead(pawn)):
            yield pawn


def passed_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        connected = any(other in beside(pawn) and abs(rank(other) - rank(pawn)) <= 1 for other in passed(board))
        yield rank(pawn) + 8 * bool(supporters(board, pawn)) + 16 * connected


def passed_pawn_blocked(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        if board.piece_at(pawn + 8):
            yield rank(pawn) + (0 if board.color_at(pawn + 8) else 8)


def passed_pawn_path(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        attacked = ahead(pawn) & attacks(board, chess.BLACK)
        kind = 1 if attacked else 0 if ahead(pawn) & chess.SquareSet(board.occupied) else 4
        if pawn + 8 in attacked:
            kind = 2 if pawn + 8 in attacks(board, chess.WHITE) else 3
        yield 8 * kind + rank(pawn)


def rook_behind_passed_pawn(board: chess.Board) -> Iterator[int]:
    for pawn in passed(board):
        behind = [square for square in range(pawn % 8, pawn, 8) if board.piece_at(square)]
        if behind and board.piece_type_at(behind[-1]) == chess.ROOK:
            yield rank(pawn) + (0 if board.color_at(behind[-1]) else 8)


def shelter_files(board: chess.Board) -> range:
    centre = min(max(king(board, chess.WHITE) % 8, 1), 6)
    return range(centre - 1, centre + 2)


def nearest(board: chess.Board, colour: chess.Color, file: int) -> int:
    """The rank of a side's pawn on a file that is nearest to White's side, but not behind White's king.

    0: there is none, or the file is not next to the king, because the king stands on the edge.
    """
    if abs(file - king(board, chess.WHITE) % 8) > 1:
        return 0
    pawns = board.pieces(chess.PAWN, colour) & chess.SquareSet(chess.BB_FILES[file])
    return min((rank(pawn) for pawn in pawns if rank(pawn) >= rank(king(board, chess.WHITE))), default=0)


def king_shelter(board: chess.Board) -> Iterator[int]:
    for file in shelter_files(board):
        yield 8 * edge(file) + nearest(board, chess.WHITE, file)


def pawn_storm(board: chess.Board) -> Iterator[int]:
    for file in shelter_files(board):
        storm = nearest(board, chess.BLACK, file)
        blocked = storm and chess.square(file, storm - 1) in own(board, chess.PAWN)
        yield 8 * edge(file) + storm + (32 if blocked else 0)


def attackers(board: chess.Board, colour: chess.Color, square: chess.Square) -> list[chess.PieceType]:
    """The types of a side's pieces that attack a square."""
    pieces = chess.SquareSet(board.occupied_co[colour])
    return [board.piece_type_at(piece) or 0 for piece in pieces if square in xray(board, piece)]


def king_attack(board: chess.Board) -> Iterator[int]:
    """White's attack on the black king."""
    square = king(board, chess.BLACK)
    zone = chess.SquareSet(chess.BB_KING_ATTACKS[square])
    zone |= chess.SquareSet(int(zone) >> 8)
    ours = {piece: xray(board, piece) for piece_type in chess.PIECE_TYPES[1:5] for piece in own(board, piece_type)}
    attacking = [piece for piece in ours if ours[piece] & zone]
    if len(attacking) < 2 and not set(attacking) & set(own(board, chess.QUEEN)):
        return
    first = {there: attackers(board, chess.WHITE, there) for there in chess.SQUARES}
    second = {there: attackers(board, chess.BLACK, there) for there in chess.SQUARES}
    weak = {there for there in chess.SQUARES if first[there] and second[there] in ([], [chess.KING], [chess.QUEEN])}
    mirrored = board.mirror()
    danger = sum(constants.ATTACKER_UNITS[board.piece_type_at(piece) or 0] for piece in attacking)
    danger += constants.ATTACKED_TWICE_UNITS * sum(len(first[there]) > 1 for there in zone)
    danger += constants.WEAK_SQUARE_UNITS * len(weak & set(zone))
    danger += constants.NO_QUEEN_UNITS if not own(board, chess.QUEEN) else 0
    for file in shelter_files(mirrored):
        danger += constants.NO_SHELTER_UNITS[nearest(mirrored, chess.WHITE, file)]
        danger += constants.NEAR_STORM_UNITS[nearest(mirrored, chess.BLACK, file)]
    files = range(4) if square % 8 < 3 else range(4, 8) if square % 8 > 4 else range(2, 6)
    for there in (chess.square(file, high) for file in files for high in range(3, 8)):
        danger += constants.FLANK_ATTACK_UNITS * min(len(first[there]), 2)
        danger += constants.FLANK_DEFENCE_UNITS * bool(second[there])
    for piece_type in chess.PIECE_TYPES[1:5]:
        from_king = board.copy(stack=False)
        from_king.set_piece_at(square, chess.Piece(piece_type, chess.BLACK))
        reached = union(ours[piece] for piece in own(board, piece_type))
        checks = set(from_king.attacks(square) & reached) - set(chess.SquareSet(board.occupied_co[chess.WHITE]))
        if any(not second[there] or (there in weak and len(first[there]) > 1) for there in checks):
            danger += constants.SAFE_CHECK_UNITS[piece_type]
        elif checks:
            danger += constants.UNSAFE_CHECK_UNITS[piece_type]
    for piece in own(board, chess.BISHOP, chess.ROOK, chess.QUEEN):
        between = [there for there in chess.SquareSet.between(piece, square) if board.piece_at(there)]
        alone = chess.Board(None)
        alone.set_piece_at(piece, board.piece_at(piece))
        if square in alone.attacks(piece) and len(between) == 1:
            danger += constants.PINNED_UNITS
    yield min(max(danger, 0) >> constants.KING_DANGER_SHIFT, 63)


def victims(board: chess.Board) -> Iterator[tuple[chess.Square, int]]:
    """Black's pieces without the king, and their index in the tables by victim."""
    for square in enemy(board, *chess.PIECE_TYPES[:5]):
        yield square, (board.piece_type_at(square) or 0) - 1


def is_strong(board: chess.Board, square: chess.Square) -> bool:
    """Whether Black defends a square strongly."""
    defenders = attackers(board, chess.BLACK, square)
    return chess.PAWN in defenders or (len(defenders) > 1 and len(attackers(board, chess.WHITE, square)) < 2)


def by_victim_and_defence(board: chess.Board, *piece_types: chess.PieceType) -> Iterator[int]:
    attacked = attacks(board, chess.WHITE, *piece_types)
    for square, index in victims(board):
        if square in attacked:
            yield index + (5 if chess.PAWN in attackers(board, chess.BLACK, square) else 0)


def threat_by_pawn(board: chess.Board) -> Iterator[int]:
    attacked, defended = attacks(board, chess.BLACK), attacks(board, chess.WHITE)
    safe = [pawn for pawn in own(board, chess.PAWN) if pawn in defended or pawn not in attacked]
    targets = union(board.attacks(pawn) for pawn in safe)
    for square, index in victims(board):
        if index and chess.PAWN in attackers(board, chess.WHITE, square):
            yield index if square in targets else index + 5


def threat_by_push(board: chess.Board) -> Iterator[int]:
    attacked, defended = attacks(board, chess.BLACK), attacks(board, chess.WHITE)
    targets = set()
    for pawn in own(board, chess.PAWN):
        steps = [pawn + 8, pawn + 16] if rank(pawn) == 1 else [pawn + 8]
        for step in steps:
            if board.piece_at(step):
                break
            by_pawn = chess.PAWN in attackers(board, chess.BLACK, step)
            if not by_pawn and (step in defended or step not in attacked):
                targets |= {step + side for side in (7, 9) if abs((step + side) % 8 - step % 8) == 1}
    for square in enemy(board, *chess.PIECE_TYPES[1:]):
        if square in targets:
            yield (board.piece_type_at(square) or 0) - 1


def threat_by_minor(board: chess.Board) -> Iterator[int]:
    return by_victim_and_defence(board, chess.KNIGHT, chess.BISHOP)


def threat_by_rook(board: chess.Board) -> Iterator[int]:
    return by_victim_and_defence(board, chess.ROOK)


def threat_by_king(board: chess.Board) -> Iterator[int]:
    for square, index in victims(board):
        if chess.square_distance(square, king(board, chess.WHITE)) == 1 and not is_strong(board, square):
            yield index


def restricted_square(board: chess.Board) -> Iterator[int]:
    for square in attacks(board, chess.WHITE) & attacks(board, chess.BLACK):
        if not is_strong(board, square):
            yield 0


def mobility_area(board: chess.Board) -> chess.SquareSet:
    """All squares but those of White's king and pawns and those that black pawns attack."""
    return ~(own(board, chess.PAWN, chess.KING) | attacks(board, chess.BLACK, chess.PAWN))


def queen_attackable(board: chess.Board) -> Iterator[int]:
    queens = enemy(board, chess.QUEEN)
    if len(queens) != 1:
        return
    for index, piece_type in enumerate((chess.KNIGHT, chess.BISHOP, chess.ROOK)):
        from_queen = board.copy(stack=False)
        from_queen.set_piece_at(min(queens), chess.Piece(piece_type, chess.BLACK))
        squares = from_queen.attacks(min(queens)) & attacks(board, chess.WHITE, piece_type) & mobility_area(board)
        for square in squares:
            twice = len(attackers(board, chess.WHITE, square)) > 1
            if not is_strong(board, square) and (twice or piece_type == chess.KNIGHT):
                yield index


def can_be_attacked(board: chess.Board, square: chess.Square) -> bool:
    """Whether a black pawn attacks a square, or could after moves straight ahead."""
    return any(rank(pawn) > rank(square) for pawn in enemy(board, chess.PAWN) & beside(square))


def outposts(board: chess.Board) -> Iterator[chess.Square]:
    for square in chess.SQUARES[24:48]:
        if supporters(board, square) and not can_be_attacked(board, square):
            yield square


def outpost(board: chess.Board) -> Iterator[int]:
    for index, piece_type in enumerate((chess.KNIGHT, chess.BISHOP)):
        for square in own(board, piece_type) & set(outposts(board)):
            yield 8 * index + rank(square)


def reachable_outpost(board: chess.Board) -> Iterator[int]:
    for index, piece_type in enumerate((chess.KNIGHT, chess.BISHOP)):
        for square in attacks(board, chess.WHITE, piece_type) & set(outposts(board)):
            if board.color_at(square) is not chess.WHITE:
                yield index


def safe_mobility(board: chess.Board) -> Iterator[int]:
    lesser = [chess.KNIGHT, chess.BISHOP]
    for index, piece_type in enumerate((chess.ROOK, chess.QUEEN)):
        safe = mobility_area(board) - attacks(board, chess.BLACK, *lesser)
        for _ in attacks(board, chess.WHITE, piece_type) & safe:
            yield index
        lesser.append(chess.ROOK)


def own_pair(board: chess.Board) -> Iterator[int]:
    types = sorted(board.piece_type_at(square) or 0 for square in own(board, *chess.PIECE_TYPES[:5]))
    for lesser, greater in combinations(types, 2):
        if lesser < chess.QUEEN:
            yield greater * (greater - 1) // 2 + lesser - 1


def enemy_pair(board: chess.Board) -> Iterator[int]:
    for ours in own(board, *chess.PIECE_TYPES[1:5]):
        for theirs in enemy(board, *chess.PIECE_TYPES[:4]):
            greater, lesser = board.piece_type_at(ours) or 0, board.piece_type_at(theirs) or 0
            if lesser < greater:
                yield (greater - 1) * (greater - 2) // 2 + lesser - 1


DEFINITIONS: dict[str, Definition] = {term.name: globals()[term.name] for term in CATALOGUE if term.name in globals()}
