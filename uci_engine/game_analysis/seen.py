"""What a player sees of a position: facts of the board, each a strength or a weakness of one side.

Facts say how two lines differ: the pawns that are doubled, the rook that has the open file. What lasts matters more
than what the next move ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import chess

from evaluation.report import joined
from uci_engine.game_analysis.tactics.attacks import best_capture, king_of
from uci_engine.game_analysis.tactics.words import piece_on

# A fact counts if the line has it for so much more of its moves than the other one.
LEAST_SHARE = 0.2
# With more pieces on the board a king in the centre is in danger. With fewer an open file or a good square is worth
# little.
MANY_PIECES = 20
FEW_PIECES = 16


@dataclass(frozen=True, slots=True)
class Fact:
    """What can be seen of one side. `words` follow its owner: `rook stands on the open d-file`. `subject`: what it is
    about; one fact of a subject is enough.

    Of two positions the one with the greater `level` of the same `key` has more of it. `weight`: how much a player
    cares, about in centipawns.
    """

    subject: str
    is_strength: bool
    words: str
    key: str
    weight: int
    level: int = 0


def facts_of(board: chess.Board, color: chess.Color) -> list[Fact]:
    """The facts of one side."""
    return [*_of_king(board, color), *_of_pawns(board, color), *_of_pieces(board, color)]


class Seen:
    """The facts along a line, which is given as its boards. Positions in the middle of an exchange do not count.

    settled: the plies that count. plies: [side, key, level][ply]: the facts, at each level up to their own. old: [side,
    key]: the level before the first move.
    """

    def __init__(self, boards: Sequence[chess.Board]) -> None:
        self.settled = settled_plies(boards)
        self.plies: dict[tuple[chess.Color, str, int], dict[int, Fact]] = {}
        for ply, color in product(self.settled, chess.COLORS):
            for fact in facts_of(boards[ply], color):
                for level in range(fact.level + 1):
                    self.plies.setdefault((color, fact.key, level), {})[ply] = fact
        self.old = {(color, fact.key): fact.level for color in chess.COLORS for fact in facts_of(boards[0], color)}


def lasting_facts(line: Seen, other: Seen) -> Iterator[tuple[float, Fact, chess.Color, int]]:
    """The facts of one side that a line brings and keeps, and another from the same board does not bring.

    Each comes with its weight by the share of the line that has it, its side, and the ply from which it is seen.
    """
    for (color, key, level), seen in line.plies.items():
        first, *_ = seen
        fact = seen[first]
        is_pair = fact.subject == "bishop pair"
        is_old = line.old.get((color, key), -1) >= level
        elsewhere = other.plies.get((color, key, level), ())
        share = len(seen) / len(line.settled) - len(elsewhere) / max(len(other.settled), 1)
        # What is old or what both lines bring is no difference, but for what comes and goes: its end counts.
        comes_and_goes = is_pair or key == "attackers"
        is_elsewhere = max(other.settled, default=0) in elsewhere if comes_and_goes else bool(elsewhere)
        if share < LEAST_SHARE or is_elsewhere or (is_old and not is_pair):
            continue
        # What is gone at the end of its own line is none either, but for a king in danger.
        if fact.subject == "king" or line.settled[-1] in seen:
            lasts = len(seen) / sum(ply >= first for ply in line.settled)
            shown = replace(fact, words=fact.words.replace("has", "keeps")) if is_old else fact
            yield fact.weight * share * lasts, shown, color, first


def settled_plies(boards: Sequence[chess.Board]) -> list[int]:
    """The plies of a line, from 1, after which nothing is taken back at once."""
    settled = []
    for ply in range(1, len(boards)):
        target = boards[ply].peek().to_square
        is_end = ply + 1 == len(boards)
        following = best_capture(boards[ply], chess.BB_SQUARES[target])[1] if is_end else boards[ply + 1].peek()
        takes_back = following is not None and following.to_square == target
        if not takes_back or chess.popcount(boards[ply].occupied) == chess.popcount(boards[ply - 1].occupied):
            settled.append(ply)
    return settled


def _rank_of(square: chess.Square, color: chess.Color) -> int:
    """The rank as one side sees it, from 0."""
    return chess.square_rank(square) if color else 7 - chess.square_rank(square)


def _of_king(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    king, enemies = king_of(board, color), board.occupied_co[not color]
    name, file, is_at_home = piece_on(board, king), chess.square_file(king), _rank_of(king, color) == 0
    has_queen, pieces = bool(enemies & board.queens), chess.popcount(board.occupied)
    around = chess.BB_KING_ATTACKS[king] | chess.BB_SQUARES[king]
    others = chess.SquareSet(enemies & ~board.pawns & ~board.kings)
    attackers = [f"the {piece_on(board, square)}" for square in others if board.attacks_mask(square) & around]
    if len(attackers) >= 2 and has_queen:
        words, count = f"{name} is under fire from {joined(attackers)}", len(attackers)
        yield Fact("king", False, words, "attackers", 15 * count, count)
    if file in (3, 4) and has_queen and pieces > MANY_PIECES and not board.has_castling_rights(color):
        yield Fact("king", False, f"{name} is caught in the centre", "centre", 35)
    if is_at_home and has_queen and file not in (3, 4):
        files = range(file - 1, file + 2)
        for beside in files:
            if beside in (0, 1, 2, 5, 6, 7) and not board.pieces_mask(chess.PAWN, color) & chess.BB_FILES[beside]:
                words = f"{name} has no pawn before it on the {chess.FILE_NAMES[beside]}-file"
                yield Fact("king", False, words, f"open {beside}", 22)
        near = [at for at in board.pieces(chess.PAWN, not color) if chess.square_file(at) in files]
        storm = [chess.square_name(at) for at in near if 2 <= _rank_of(at, color) <= 4]
        if len(storm) >= 2:
            words, count = f"{name} faces the pawns on {joined(storm)}", len(storm)
            yield Fact("king", False, words, "storm", 10 * count, count)


def _of_pawns(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    pawns, others = board.pieces(chess.PAWN, color), board.pieces_mask(chess.PAWN, not color)
    centre = [chess.square_name(square) for square in pawns if square in (chess.D4, chess.E4, chess.D5, chess.E5)]
    if len(centre) == 2 and not others & chess.BB_CENTER:
        yield Fact("pawns", True, f"pawns on {joined(centre)} hold the centre", "centre pawns", 18)
    # A pawn that has come so far is no weakness.
    far = [chess.square_file(square) for square in pawns if _rank_of(square, color) >= 5]
    for square in pawns:
        file, at = chess.square_file(square), chess.square_name(square)
        is_passed = not _pawns_ahead(others, color, square, files=(file - 1, file, file + 1))
        if is_passed:
            rank = _rank_of(square, color)
            yield Fact("passed pawns", True, f"passed pawn stands on {at}", f"passed {file}", 5 * rank, rank)
        files = [chess.square_file(pawn) for pawn in pawns]
        if files.count(file) > 1 and file not in far:
            words = f"pawns on the {chess.FILE_NAMES[file]}-file are doubled"
            yield Fact("pawns", False, words, f"doubled {file}", 20)


def _of_pieces(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    """Pieces that stand well or badly."""
    others, count = board.pieces_mask(chess.PAWN, not color), chess.popcount(board.occupied)
    pieces = chess.SquareSet(board.occupied_co[color] & ~board.pawns & ~board.kings)
    if len(board.pieces(chess.BISHOP, color)) >= 2 > len(board.pieces(chess.BISHOP, not color)):
        yield Fact("bishop pair", True, "side has the bishop pair", "bishop pair", 18)
    for square in pieces:
        kind, name = board.piece_type_at(square), piece_on(board, square)
        file, rank = chess.square_file(square), _rank_of(square, color)
        is_minor = kind in (chess.KNIGHT, chess.BISHOP)
        if kind == chess.ROOK and not board.pawns & chess.BB_FILES[file] and count > FEW_PIECES:
            words = f"rook stands on the open {chess.FILE_NAMES[file]}-file"
            yield Fact("activity", True, words, f"open file {file}", 18)
        if kind == chess.ROOK and rank >= 6:
            yield Fact("activity", True, f"rook has broken in on {chess.square_name(square)}", "behind", 28)
        is_safe = not _pawns_ahead(others, color, square, files=(file - 1, file + 1))
        if is_minor and is_safe and 3 <= rank <= 5 and 2 <= file <= 5 and count > FEW_PIECES:
            yield Fact("activity", True, f"{name} cannot be driven away by a pawn", f"outpost {square}", 18)


def _pawns_ahead(pawns: chess.Bitboard, color: chess.Color, square: chess.Square, files: tuple[int, ...]) -> bool:
    """Whether some of these pawns stand on these files on a rank further than a square, as one side sees it."""
    rank = chess.square_rank(square)
    ahead = range(rank + 1, 8) if color else range(rank)
    return any(pawns & chess.BB_RANKS[row] & chess.BB_FILES[file] for row in ahead for file in files if 0 <= file < 8)
