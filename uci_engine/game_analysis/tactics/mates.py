"""Mates that have a name. Each function looks at a position in which the side to move is mated."""

from __future__ import annotations

from collections.abc import Callable

import chess

from uci_engine.game_analysis.tactics.attacks import king_of
from uci_engine.game_analysis.tactics.motif import Kind


class MatedKing:
    """A king that is mated, what gives check, and the squares around it, `own` those with pieces of its side."""

    def __init__(self, board: chess.Board) -> None:
        self.board = board
        self.winner = not board.turn
        self.square = king_of(board, board.turn)
        self.around = chess.SquareSet(chess.BB_KING_ATTACKS[self.square])
        self.own = self.around & chess.SquareSet(board.occupied_co[board.turn])
        self.is_on_first_rank = chess.square_rank(self.square) == (7 if self.winner else 0)

    def only_checker(self, *kinds: chess.PieceType) -> chess.Square | None:
        """The piece that gives check, if it is one, and of one of these kinds."""
        checkers = list(self.board.checkers())
        return checkers[0] if len(checkers) == 1 and self.board.piece_type_at(checkers[0]) in kinds else None

    def offset(self, square: chess.Square) -> tuple[int, int]:
        """How many files and ranks a square is away from the king, from 0 to 7."""
        files = chess.square_file(square) - chess.square_file(self.square)
        return abs(files), abs(chess.square_rank(square) - chess.square_rank(self.square))

    def helpers(self, square: chess.Square, kind: chess.PieceType) -> chess.SquareSet:
        """The winner's pieces of a kind that guard a square."""
        return self.board.attackers(self.winner, square) & self.board.pieces(kind, self.winner)


def back_rank(king: MatedKing) -> bool:
    """A rook or queen mates along the first rank, and the king's own pieces block at least all but one way forward."""
    checker = king.only_checker(chess.ROOK, chess.QUEEN)
    if checker is None or not king.is_on_first_rank or king.offset(checker)[1] != 0:
        return False
    return sum(king.offset(square)[1] for square in king.own) >= 2


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
        files, ranks = king.offset(knight)
        along = king.offset(checker)[0 if files == 3 else 1]
        if sorted((files, ranks)) == [0, 3] and along == 0 and king.own & chess.between(king.square, knight):
            return True
    return False


def hook(king: MatedKing) -> bool:
    """A rook beside the king mates, guarded by a knight beside it that a pawn guards."""
    checker = king.only_checker(chess.ROOK)
    if checker is None or sum(king.offset(checker)) != 1:
        return False
    return any(king.helpers(knight, chess.PAWN) for knight in king.helpers(checker, chess.KNIGHT) & king.around)


def bishop_mate(king: MatedKing) -> Kind | None:
    """The name of a mate by two bishops alone: Boden's where they stand on both sides of the king."""
    attackers = chess.SquareSet()
    for square in king.around:
        attackers |= king.board.attackers(king.winner, square)
    if len(attackers) != 2 or not attackers.issubset(king.board.pieces(chess.BISHOP, king.winner)):
        return None
    sides = {chess.square_file(square) < chess.square_file(king.square) for square in attackers}
    return Kind.BODEN_MATE if len(sides) == 2 else Kind.DOUBLE_BISHOP_MATE


def opera(king: MatedKing) -> bool:
    """A rook beside the king on its first rank mates, guarded by a bishop."""
    checker = king.only_checker(chess.ROOK)
    if checker is None or not king.is_on_first_rank or king.offset(checker) != (1, 0):
        return False
    return bool(king.helpers(checker, chess.BISHOP) and king.own)


# By how many files and ranks the queen is away from a king that she mates alone.
QUEEN_MATES = {(1, 1): Kind.DOVETAIL_MATE, (0, 1): Kind.SWALLOWS_TAIL_MATE, (0, 2): Kind.EPAULETTE_MATE}


def queen_mate(king: MatedKing) -> Kind | None:
    """The name of a mate by a queen who sees all squares around the king but two, where its own pieces stand."""
    queen = king.only_checker(chess.QUEEN)
    if queen is None:
        return None
    # She sees through the king to the square behind it.
    occupied = king.board.occupied & ~chess.BB_SQUARES[king.square]
    unseen = king.around - chess.SquareSet([queen])
    for square in king.around:
        attackers = king.board.attackers(king.winner, square, occupied)
        if queen in attackers:
            unseen.discard(square)
        if len(attackers) > 1 and square not in king.own and square != queen:
            return None
    if len(unseen) != 2 or not unseen.issubset(king.own):
        return None
    nearer, further = sorted(king.offset(queen))
    kind = QUEEN_MATES.get((nearer, further))
    # The tail of a dovetail is behind the king, so he is not at the edge.
    return None if kind is Kind.DOVETAIL_MATE and len(king.around) < 8 else kind


PATTERNS: tuple[tuple[Callable[[MatedKing], bool], Kind], ...] = (
    (smothered, Kind.SMOTHERED_MATE),
    (arabian, Kind.ARABIAN_MATE),
    (anastasia, Kind.ANASTASIA_MATE),
    (hook, Kind.HOOK_MATE),
    (opera, Kind.OPERA_MATE),
    (back_rank, Kind.BACK_RANK_MATE),
)


def mate_of(board: chess.Board) -> Kind:
    """The name of the mate on this board, `Kind.MATE` for one without a name of its own."""
    king = MatedKing(board)
    other = queen_mate(king) or bishop_mate(king) or Kind.MATE
    return next((kind for is_pattern, kind in PATTERNS if is_pattern(king)), other)
