"""What a player sees of a position: facts of the board, each a strength or a weakness of one side.

Facts say how two lines differ: the pawns that are doubled, the king that is under fire. What lasts matters more
than what the next move ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import chess

from evaluation.report import joined
from uci_engine.game_analysis.tactics.attacks import best_capture, king_of
from uci_engine.game_analysis.tactics.words import piece_on

# A fact counts if the line has it for so much more of its moves than the other one.
LEAST_SHARE = 0.2
# With more pieces on the board a king in the centre is in danger.
MANY_PIECES = 20
LIGHT = chess.SquareSet(chess.BB_LIGHT_SQUARES)


@dataclass(frozen=True, slots=True)
class Fact:
    """What can be seen of one side. `words` follow its owner: `passed pawn stands on d6`. `subject`: what it is
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
    return [*_of_king(board, color), *_of_pawns(board, color), *_of_bishops(board, color)]


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
        elsewhere = other.plies.get((color, key, level), ())
        share = len(seen) / len(line.settled) - len(elsewhere) / max(len(other.settled), 1)
        # What is old or what both lines bring is no difference. Attackers come and go, so the other line's end counts.
        is_elsewhere = max(other.settled, default=0) in elsewhere if key == "attackers" else bool(elsewhere)
        if share < LEAST_SHARE or is_elsewhere or line.old.get((color, key), -1) >= level:
            continue
        # What is gone at the end of its own line is none either, but for a king in danger.
        if fact.subject == "king" or line.settled[-1] in seen:
            lasts = len(seen) / sum(ply >= first for ply in line.settled)
            yield fact.weight * share * lasts, fact, color, first


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
        for beside in range(file - 1, file + 2):
            if beside in (0, 1, 2, 5, 6, 7) and not board.pieces_mask(chess.PAWN, color) & chess.BB_FILES[beside]:
                words = f"{name} has no pawn before it on the {chess.FILE_NAMES[beside]}-file"
                yield Fact("king", False, words, f"open {beside}", 22)


def _of_pawns(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    pawns, others = board.pieces(chess.PAWN, color), board.pieces(chess.PAWN, not color)
    centre = [chess.square_name(square) for square in pawns if square in (chess.D4, chess.E4, chess.D5, chess.E5)]
    if len(centre) == 2 and not others & chess.BB_CENTER:
        yield Fact("pawns", True, f"pawns on {joined(centre)} hold the centre", "centre pawns", 18)
    files = [chess.square_file(pawn) for pawn in pawns]
    # A pawn that has come so far is no weakness.
    far = [chess.square_file(square) for square in pawns if _rank_of(square, color) >= 5]
    for square in pawns:
        file, rank, at = chess.square_file(square), _rank_of(square, color), chess.square_name(square)
        beside = [pawn for pawn in others if abs(chess.square_file(pawn) - file) <= 1]
        if not any(_rank_of(pawn, color) > rank for pawn in beside):
            yield Fact("passed pawns", True, f"passed pawn stands on {at}", f"passed {file}", 3 * rank, rank)
        if files.count(file) > 1 and file not in far:
            words = f"pawns on the {chess.FILE_NAMES[file]}-file are doubled"
            yield Fact("pawns", False, words, f"doubled {file}", 20)


def _of_bishops(board: chess.Board, color: chess.Color) -> Iterator[Fact]:
    """The bishop pair; and a bishop with rook's pawns, whose corner it does not guard and the other king can reach."""
    pawns, bishops = board.pieces(chess.PAWN, color), board.pieces(chess.BISHOP, color)
    if len(bishops) >= 2 > len(board.pieces(chess.BISHOP, not color)):
        yield Fact("bishop pair", True, "side has the bishop pair", "bishop pair", 10)
    files = {chess.square_file(square) for square in pawns}
    is_alone = board.occupied_co[color] == pawns.mask | bishops.mask | chess.BB_SQUARES[king_of(board, color)]
    if files not in ({0}, {7}) or not bishops or not is_alone:
        return
    corner = chess.square(files.pop(), 7 if color else 0)
    is_guarded = (corner in LIGHT) in {square in LIGHT for square in bishops}
    to_go = min(7 - _rank_of(square, color) for square in pawns)
    if not is_guarded and chess.square_distance(king_of(board, not color), corner) <= to_go:
        words = f"bishop does not guard {chess.square_name(corner)}, where the pawn promotes"
        yield Fact("ending", False, words, "rook pawn", 150)
