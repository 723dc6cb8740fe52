"""Mates that have a name. Each function looks at a position in which the side to move is mated."""

from __future__ import annotations

from collections.abc import Callable

import chess

from uci_engine.game_analysis.tactics.motif import Kind


class MatedKing:
    """A king that is mated, what gives check, and the squares around it."""

    def __init__(self, board: chess.Board) -> None:
        king = board.king(board.turn)
        assert king is not None
        self.board = board
        self.square = king
        self.winner = not board.turn
        self.checkers = list(board.checkers())
        self.around = chess.SquareSet(chess.BB_KING_ATTACKS[king])
        self.own = self.around & chess.SquareSet(board.occupied_co[board.turn])

    @property
    def file(self) -> int:
        return chess.square_file(self.square)

    @property
    def rank(self) -> int:
        return chess.square_rank(self.square)

    @property
    def is_on_first_rank(self) -> bool:
        """Whether the king stands on its own first rank."""
        return self.rank == (7 if self.winner else 0)

    def only_checker(self, *kinds: chess.PieceType) -> chess.Square | None:
        """The piece that gives check, if it is one, and of one of these kinds."""
        if len(self.checkers) == 1 and self.board.piece_type_at(self.checkers[0]) in kinds:
            return self.checkers[0]
        return None

    def offset(self, square: chess.Square) -> tuple[int, int]:
        """How many files and ranks a square is away from the king, from 0 to 7."""
        return abs(chess.square_file(square) - self.file), abs(chess.square_rank(square) - self.rank)

    def helpers(self, square: chess.Square, kind: chess.PieceType) -> list[chess.Square]:
        """The winner's pieces of a kind that guard a square."""
        return list(self.board.attackers(self.winner, square) & self.board.pieces(kind, self.winner))


def back_rank(king: MatedKing) -> bool:
    """A rook or queen mates along the first rank, and the king's own pieces block at least all but one way forward."""
    checker = king.only_checker(chess.ROOK, chess.QUEEN)
    if checker is None or not king.is_on_first_rank or king.offset(checker)[1] != 0:
        return False
    forward = [square for square in king.around if chess.square_rank(square) != king.rank]
    blocked = [square for square in forward if square in king.own]
    attacked = [square for square in blocked if king.board.is_attacked_by(king.winner, square)]
    return len(blocked) >= 2 and len(blocked) >= len(forward) - 1 and len(attacked) <= 1


def smothered(king: MatedKing) -> bool:
    """A knight mates a king that cannot move for its own pieces."""
    return king.only_checker(chess.KNIGHT) is not None and king.own == king.around


def arabian(king: MatedKing) -> bool:
    """A rook beside a king in the corner mates, guarded by a knight that also takes the last square."""
    checker = king.only_checker(chess.ROOK)
    if checker is None or len(king.around) != 3 or sum(king.offset(checker)) != 1:
        return False
    return any(king.offset(knight) == (2, 2) for knight in king.helpers(checker, chess.KNIGHT))


def anastasia(king: MatedKing) -> bool:
    """A rook or queen mates along the edge; a knight and one of the king's own pieces close the way inward."""
    checker = king.only_checker(chess.ROOK, chess.QUEEN)
    if checker is None or len(king.around) != 5:
        return False
    for knight in king.board.pieces(chess.KNIGHT, king.winner):
        # King, own piece and knight stand in a row that leads from the edge, the knight third.
        inward = king.own & chess.SquareSet(chess.between(king.square, knight))
        across = [
            along == 0 for along, away in zip(king.offset(checker), king.offset(knight), strict=True) if away == 3
        ]
        if sorted(king.offset(knight)) == [0, 3] and across[0] and inward:
            return True
    return False


def boden(king: MatedKing) -> bool:
    """Two bishops, one on each side of the king, mate on crossing diagonals."""
    bishops = king.board.pieces(chess.BISHOP, king.winner)
    attackers = chess.SquareSet()
    for square in king.around:
        attackers |= king.board.attackers(king.winner, square)
    sides = {chess.square_file(square) < king.file for square in attackers}
    return len(attackers) == 2 and not attackers - bishops and len(sides) == 2


# By how many files and ranks the queen is away from a king that she mates alone.
QUEEN_MATES = {(1, 1): Kind.DOVETAIL_MATE, (0, 1): Kind.SWALLOWS_TAIL_MATE, (0, 2): Kind.EPAULETTE_MATE}


def queen_mate(king: MatedKing) -> Kind | None:
    """The name of a mate by a queen who sees all squares around the king but two, where its own pieces stand."""
    queen = king.only_checker(chess.QUEEN)
    if queen is None:
        return None
    # She sees through the king to the square behind it.
    occupied = king.board.occupied & ~chess.BB_SQUARES[king.square]
    attackers = {
        square: king.board.attackers(king.winner, square, occupied) for square in king.around - chess.SquareSet([queen])
    }
    unseen = [square for square, pieces in attackers.items() if queen not in pieces]
    is_alone = all(len(pieces) == 1 for square, pieces in attackers.items() if square not in king.own)
    if not is_alone or len(unseen) != 2 or not king.own.issuperset(unseen):
        return None
    nearer, further = sorted(king.offset(queen))
    return QUEEN_MATES.get((nearer, further))


def opera(king: MatedKing) -> bool:
    """A rook beside the king on its first rank mates, guarded by a bishop."""
    checker = king.only_checker(chess.ROOK)
    if checker is None or not king.is_on_first_rank or king.offset(checker) != (1, 0):
        return False
    return bool(king.helpers(checker, chess.BISHOP)) and bool(king.own)


PATTERNS: tuple[tuple[Callable[[MatedKing], bool], Kind], ...] = (
    (smothered, Kind.SMOTHERED_MATE),
    (arabian, Kind.ARABIAN_MATE),
    (anastasia, Kind.ANASTASIA_MATE),
    (boden, Kind.BODEN_MATE),
    (opera, Kind.OPERA_MATE),
    (back_rank, Kind.BACK_RANK_MATE),
)


def mate_of(board: chess.Board) -> Kind:
    """The name of the mate on this board, `Kind.MATE` for one without a name of its own."""
    king = MatedKing(board)
    return next((kind for is_pattern, kind in PATTERNS if is_pattern(king)), queen_mate(king) or Kind.MATE)
