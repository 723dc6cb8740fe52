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
        files, ranks = king.offset(knight)
        if sorted((files, ranks)) != [0, 3]:
            continue
        inward = chess.square(
            (chess.square_file(knight) + 2 * king.file) // 3 if files else king.file,
            (chess.square_rank(knight) + 2 * king.rank) // 3 if ranks else king.rank,
        )
        along = king.offset(checker)[0 if files else 1] == 0
        inner = [square for square in king.around if king.offset(square) in ((1, 0), (0, 1))]
        own_inward = [square for square in inner if square in king.own and chess.square_distance(square, knight) == 2]
        if along and own_inward and inward in own_inward:
            return True
    return False


def hook(king: MatedKing) -> bool:
    """A rook beside the king mates, guarded by a knight beside the king that a pawn guards."""
    checker = king.only_checker(chess.ROOK)
    if checker is None or sum(king.offset(checker)) != 1:
        return False
    knights = [knight for knight in king.helpers(checker, chess.KNIGHT) if knight in king.around]
    return any(king.helpers(knight, chess.PAWN) for knight in knights)


def _bishops_sides(king: MatedKing) -> set[bool] | None:
    """On which sides of the king's file two bishops stand that alone attack the squares around a king they mate."""
    bishops = king.board.pieces(chess.BISHOP, king.winner)
    if king.only_checker(chess.BISHOP) is None or len(bishops) < 2:
        return None
    attackers = chess.SquareSet()
    for square in king.around:
        attackers |= king.board.attackers(king.winner, square)
    if len(attackers) != 2 or attackers - bishops:
        return None
    return {chess.square_file(square) < king.file for square in attackers}


def boden(king: MatedKing) -> bool:
    """Two bishops mate on crossing diagonals, from both sides of the king."""
    sides = _bishops_sides(king)
    return sides is not None and len(sides) == 2


def double_bishop(king: MatedKing) -> bool:
    """Two bishops mate on diagonals beside each other."""
    sides = _bishops_sides(king)
    return sides is not None and len(sides) == 1


def _queen_alone(king: MatedKing, offset: tuple[int, ...]) -> bool:
    """Whether a queen this far away takes every square around the king that its own pieces do not block."""
    queen = king.only_checker(chess.QUEEN)
    if queen is None or tuple(sorted(king.offset(queen))) != offset:
        return False
    # She sees through the king to the square behind it.
    occupied = king.board.occupied & ~chess.BB_SQUARES[king.square]
    for square in king.around - king.own:
        if square != queen and list(king.board.attackers(king.winner, square, occupied)) != [queen]:
            return False
    return True


def dovetail(king: MatedKing) -> bool:
    """A guarded queen mates beside the king on a diagonal; its own pieces block the two squares she does not see."""
    return len(king.around) == 8 and len(king.own) == 2 and _queen_alone(king, (1, 1))


def swallows_tail(king: MatedKing) -> bool:
    """A guarded queen mates straight beside the king; its own pieces block the two squares diagonally behind it."""
    queen = king.only_checker(chess.QUEEN)
    if queen is None or not _queen_alone(king, (0, 1)) or len(king.own) != 2:
        return False
    return all(king.offset(square) == (1, 1) and chess.square_distance(square, queen) == 2 for square in king.own)


def epaulette(king: MatedKing) -> bool:
    """A queen two squares in front of the king mates; the king's own pieces block both squares beside it."""
    queen = king.only_checker(chess.QUEEN)
    if queen is None or len(king.around) != 5 or tuple(sorted(king.offset(queen))) != (0, 2):
        return False
    index = king.offset(queen).index(0)
    beside = [s for s in king.around if king.offset(s)[1 - index] == 0 and king.offset(s)[index] == 1]
    return len(beside) == 2 and all(square in king.own for square in beside)


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
    (hook, Kind.HOOK_MATE),
    (boden, Kind.BODEN_MATE),
    (double_bishop, Kind.DOUBLE_BISHOP_MATE),
    (dovetail, Kind.DOVETAIL_MATE),
    (swallows_tail, Kind.SWALLOWS_TAIL_MATE),
    (epaulette, Kind.EPAULETTE_MATE),
    (opera, Kind.OPERA_MATE),
    (back_rank, Kind.BACK_RANK_MATE),
)


def mate_of(board: chess.Board) -> Kind:
    """The name of the mate on this board, `Kind.MATE` for one without a name of its own."""
    king = MatedKing(board)
    return next((kind for is_pattern, kind in PATTERNS if is_pattern(king)), Kind.MATE)
