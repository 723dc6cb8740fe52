"""What a player sees of a position: facts of the board, each a strength or a weakness of one side.

The evaluation says of which subject a difference is, and the facts say it: the pawn that is isolated, the rook that has
the open file. What the facts do not show is said in general.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import chess

from evaluation.catalogue import FAMILIES
from evaluation.report import joined
from uci_engine.game_analysis.changes import Change
from uci_engine.game_analysis.tactics.attacks import king_of, winning_captures
from uci_engine.game_analysis.tactics.words import piece_on

# The bishop pair is no reason for a greater loss, in shown centipawns.
MAX_PAIR_CP = 150
# With fewer squares than these a piece is hemmed in.
FEW_SQUARES = {chess.KNIGHT: 2, chess.BISHOP: 3}
# With more pieces on the board a king in the centre is in danger, and with fewer without queens it is active.
MANY_PIECES = 20
FEW_PIECES = 16


class Subject(Enum):
    """What a difference is about, by the families of terms that show it."""

    ACTIVITY = ("Piece squares", "Mobility", "Pieces", "Space")
    PAWNS = ("Pawn structure",)
    PASSED_PAWNS = ("Passed pawns",)
    KING = ("King safety",)
    THREATS = ("Threats",)


SUBJECT_OF = {title: subject for subject in Subject for family in subject.value for title in FAMILIES[family]}
# Titles of an attack: its gain is a loss of safety for the other king.
ATTACKS = ("attack on the king", "safe checks against the king")


@dataclass(frozen=True, slots=True)
class Fact:
    """What can be seen of one side. `words` follow its owner: `rook stands on the open d-file`.

    Of two positions the one with the greater `level` of the same `key` has more of it.
    """

    subject: Subject
    is_strength: bool
    words: str
    key: str
    level: int = 0


def facts_of(board: chess.Board, color: chess.Color) -> list[Fact]:
    """The facts of one side, those that matter most first within a subject."""
    return [*_threatened(board, color), *_of_king(board, color), *_of_pawns(board, color), *_of_pieces(board, color)]


def remarks(
    changes: Sequence[Change], better: chess.Board, played: chess.Board, reader: chess.Color, least_cp: int
) -> tuple[list[str], list[str], str]:
    """What is worse for the reader in the position after the move played than in the better one.

    Facts of the position after the move played, facts of the better one, each with what matters most first; and whose
    pieces are more or less active, if no fact shows it and it makes at least this much, "" otherwise.
    """
    losses: dict[tuple[Subject, chess.Color], int] = {}
    for change in changes:
        subject = SUBJECT_OF.get(change.title)
        if subject is not None:
            owner = change.color if change.title not in ATTACKS else not change.color
            losses[subject, owner] = losses.get((subject, owner), 0) - change.cp_for(reader)
    had_queens = all(better.pieces(chess.QUEEN, color) for color in chess.COLORS)
    here = ["the queens are exchanged"] if had_queens and not played.queens else []
    there: list[str] = []
    general = ""
    facts_by_owner = {color: (facts_of(better, color), facts_of(played, color)) for color in chess.COLORS}
    for (subject, owner), cp in sorted(losses.items(), key=lambda item: -item[1]):
        if cp <= 0 or (cp < least_cp and (here or there)):
            break
        possessive = "your" if owner == reader else "White's" if owner else "Black's"
        in_better, in_played = facts_by_owner[owner]
        facts = _only_in(in_played, in_better, subject, is_strength=owner != reader)
        lost = _only_in(in_better, in_played, subject, is_strength=owner == reader)
        if facts:
            here.append(f"{possessive} {facts[0].words}")
        elif lost and (subject is not Subject.ACTIVITY or owner == reader):
            there.append(f"{possessive} {lost[0].words}")
        elif cp >= least_cp and subject is Subject.ACTIVITY:
            general = general or f"{possessive} pieces are {'less' if owner == reader else 'more'} active"
    is_small = sum(change.cp_for(reader) for change in changes) >= -MAX_PAIR_CP
    if is_small and _has_bishop_pair(better, reader) > _has_bishop_pair(played, reader):
        here.append("your bishop pair is gone")
    if is_small and _has_bishop_pair(better, not reader) < _has_bishop_pair(played, not reader):
        here.append(f"{'Black' if reader else 'White'} has the bishop pair")
    return here, there, general


def _has_bishop_pair(board: chess.Board, color: chess.Color) -> bool:
    """Whether one side has two bishops or more, and the other has not."""
    return len(board.pieces(chess.BISHOP, color)) >= 2 > len(board.pieces(chess.BISHOP, not color))


def _only_in(here: Sequence[Fact], other: Sequence[Fact], subject: Subject, is_strength: bool) -> list[Fact]:
    """The facts of one side in a position that the other position has not, or less of."""
    levels = {fact.key: fact.level for fact in other}
    return [
        fact
        for fact in here
        if (fact.subject, fact.is_strength) == (subject, is_strength) and fact.level > levels.get(fact.key, -1)
    ]


def _rank_of(square: chess.Square, color: chess.Color) -> int:
    """The rank as one side sees it, from 0."""
    return chess.square_rank(square) if color else 7 - chess.square_rank(square)


def _threatened(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    threats = winning_captures(board, not color)
    for square in sorted(threats, key=lambda square: -threats[square]):
        if board.piece_type_at(square) != chess.PAWN:
            yield Fact(Subject.THREATS, False, f"{piece_on(board, square)} is under attack", f"attacked {square}")
    for square in chess.SquareSet(board.occupied_co[color] & ~board.pawns):
        if board.is_pinned(color, square):
            yield Fact(Subject.THREATS, False, f"{piece_on(board, square)} is pinned", f"pinned {square}")


def _of_king(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    king, enemies = king_of(board, color), board.occupied_co[not color]
    name, file, is_at_home = piece_on(board, king), chess.square_file(king), _rank_of(king, color) == 0
    has_queen, pieces = bool(enemies & board.queens), chess.popcount(board.occupied)
    around = chess.BB_KING_ATTACKS[king] | chess.BB_SQUARES[king]
    others = chess.SquareSet(enemies & ~board.pawns & ~board.kings)
    attackers = [f"the {piece_on(board, square)}" for square in others if board.attacks_mask(square) & around]
    if len(attackers) >= 2 and has_queen:
        yield Fact(Subject.KING, False, f"{name} is under fire from {joined(attackers)}", "attackers", len(attackers))
    if file in (3, 4) and pieces > MANY_PIECES and not board.has_castling_rights(color):
        yield Fact(Subject.KING, False, f"{name} is caught in the centre", "centre")
    for beside in range(file - 1, file + 2) if is_at_home and has_queen and file not in (3, 4) else ():
        if beside in (0, 1, 2, 5, 6, 7) and not board.pieces_mask(chess.PAWN, color) & chess.BB_FILES[beside]:
            words = f"{name} has no pawn before it on the {chess.FILE_NAMES[beside]}-file"
            yield Fact(Subject.KING, False, words, f"open {beside}")
    if not board.queens and pieces <= FEW_PIECES and around & chess.BB_CENTER and not is_at_home:
        yield Fact(Subject.ACTIVITY, True, f"{name} is active", "active king")


def _of_pawns(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    pawns, others = board.pieces(chess.PAWN, color), board.pieces_mask(chess.PAWN, not color)
    king = king_of(board, color)
    # A pawn that has come so far is no weakness.
    far = [chess.square_file(square) for square in pawns if _rank_of(square, color) >= 5]
    for square in sorted(pawns, reverse=color):
        file, at = chess.square_file(square), chess.square_name(square)
        if not _pawns_ahead(others, color, square, files=(file - 1, file, file + 1)):
            rank = _rank_of(square, color)
            yield Fact(Subject.PASSED_PAWNS, True, f"passed pawn stands on {at}", f"passed {file}", rank)
            if chess.square_distance(king, square) == 1 and not board.queens:
                words = f"{piece_on(board, king)} supports the passed pawn on {at}"
                yield Fact(Subject.PASSED_PAWNS, True, words, f"supported {file}")
        files = [chess.square_file(pawn) for pawn in pawns]
        if files.count(file) > 1 and file not in far:
            words = f"pawns on the {chess.FILE_NAMES[file]}-file are doubled"
            yield Fact(Subject.PAWNS, False, words, f"doubled {file}")
        if 0 < file < 7 and not {file - 1, file + 1} & set(files):
            yield Fact(Subject.PAWNS, False, f"{piece_on(board, square)} is isolated", f"isolated {file}")


def _of_pieces(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    """Pieces that stand well or badly. Of several the one with more value comes first."""
    others, count = board.pieces_mask(chess.PAWN, not color), chess.popcount(board.occupied)
    pieces = chess.SquareSet(board.occupied_co[color] & ~board.pawns & ~board.kings)
    for square in sorted(pieces, key=lambda square: -(board.piece_type_at(square) or 0)):
        kind, name = board.piece_type_at(square), piece_on(board, square)
        file, rank = chess.square_file(square), _rank_of(square, color)
        is_minor, is_knight = kind in (chess.KNIGHT, chess.BISHOP), kind == chess.KNIGHT
        if kind == chess.ROOK and not board.pawns & chess.BB_FILES[file] and count > FEW_PIECES:
            words = f"rook stands on the open {chess.FILE_NAMES[file]}-file"
            yield Fact(Subject.ACTIVITY, True, words, f"open file {file}")
        if kind == chess.ROOK and rank >= 6:
            yield Fact(Subject.ACTIVITY, True, f"rook has broken in on {chess.square_name(square)}", "behind")
        is_safe = not _pawns_ahead(others, color, square, files=(file - 1, file + 1))
        if is_minor and is_safe and 3 <= rank <= 5 and 2 <= file <= 5:
            yield Fact(Subject.ACTIVITY, True, f"{name} cannot be driven away by a pawn", f"outpost {square}")
        if is_minor and rank == 0 and file in ((1, 6) if is_knight else (2, 5)) and count > MANY_PIECES:
            yield Fact(Subject.ACTIVITY, False, f"{name} is not in play", f"at home {square}")
        elif is_knight and file in (0, 7):
            yield Fact(Subject.ACTIVITY, False, f"{name} stands on the edge", f"edge {square}")
        squares = chess.popcount(board.attacks_mask(square) & ~board.occupied_co[color])
        if rank > 0 and squares < FEW_SQUARES.get(kind or 0, 0):
            number = ("no square", "only one square", "only two squares")[squares]
            yield Fact(Subject.ACTIVITY, False, f"{name} has {number}", f"few {square}", 4 - squares)


def _pawns_ahead(pawns: chess.Bitboard, color: chess.Color, square: chess.Square, files: tuple[int, ...]) -> bool:
    """Whether some of these pawns stand on these files on a rank further than a square, as one side sees it."""
    rank = chess.square_rank(square)
    ahead = range(rank + 1, 8) if color else range(rank)
    return any(pawns & chess.BB_RANKS[row] & chess.BB_FILES[file] for row in ahead for file in files if 0 <= file < 8)
