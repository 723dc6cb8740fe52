"""The features of the evaluation, and how they change along a line: the reasons that the evaluation itself has.

Only the public rows of `evaluation.explain` are read, by their titles. So a term that is new there is known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import chess

import evaluation
from evaluation.constants import FULL_PHASE, FULL_SCALE
from uci_engine.game_analysis.game_search import PIECE_VALUES
from uci_engine.score import piece_count, win_curve

MATERIAL = "material"
# Its parts in the table of the evaluation. A piece taken changes all of them.
MATERIAL_TITLES = (MATERIAL, "imbalance", "bishop pair")
# The side to move differs from leaf to leaf, so this says nothing of a line.
NEVER_A_REASON = ("tempo",)
# Titles that read better in a sentence.
PHRASES = {
    "piece squares": "placement of pieces",
    "king shelter": "king's shelter",
    "attack on the king": "attack on the king",
    "hanging pieces": "attacks on hanging pieces",
    "passed pawns' paths": "passed pawns' free paths",
    "mop-up": "drive against the bare king",
}
PIECE_WORDS = {piece_type: chess.piece_name(piece_type) for piece_type in range(chess.PAWN, chess.KING)}


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """How much more one side's feature counts in one position than in another.

    `cp` is in shown centipawns from White's view, so a gain for Black is negative.
    """

    title: str
    color: chess.Color
    cp: int

    def cp_for(self, color: chess.Color) -> int:
        """The change from the view of one side."""
        return self.cp if color else -self.cp

    def words(self, reader: chess.Color) -> str:
        """`your king's shelter -0.80`: from the view of the reader, in pawns."""
        owner = "your" if self.color == reader else "White's" if self.color else "Black's"
        return f"{owner} {PHRASES.get(self.title, self.title)} {self.cp_for(reader) / 100:+.2f}"


def feature_values(board: chess.Board) -> dict[tuple[str, chess.Color], float]:
    """What each feature of each side adds to the static score, in shown centipawns from White's view.

    ValueError when the board cannot be evaluated.
    """
    explained = evaluation.explain(board)
    middlegame = explained.phase / FULL_PHASE
    endgame = (1 - middlegame) * explained.scale / FULL_SCALE
    midpoint_cp, _ = win_curve(piece_count(board))
    shown = 100 / midpoint_cp
    values = {}
    for row in explained.rows:
        values[row.term, chess.WHITE] = (row.white_mg * middlegame + row.white_eg * endgame) * shown
        values[row.term, chess.BLACK] = -(row.black_mg * middlegame + row.black_eg * endgame) * shown
    return values


def feature_changes(before: chess.Board, after: chess.Board) -> list[FeatureChange]:
    """How the features differ between two positions, greatest difference first. Material is one feature of White's."""
    values_before, values_after = feature_values(before), feature_values(after)
    changes = []
    material = 0.0
    for key in {**values_before, **values_after}:
        title, color = key
        difference = values_after.get(key, 0.0) - values_before.get(key, 0.0)
        if title in MATERIAL_TITLES:
            material += difference
        elif title not in NEVER_A_REASON:
            changes.append(FeatureChange(title, color, round(difference)))
    changes.append(FeatureChange(MATERIAL, chess.WHITE, round(material)))
    return sorted((change for change in changes if change.cp), key=lambda change: -abs(change.cp))


def material_words(better: chess.Board, worse: chess.Board, color: chess.Color) -> str:
    """What one side has less in the second position than in the first: `a knight`, or "" for nothing.

    Pieces that both sides have less cancel out.
    """
    owed = {
        piece_type: _balance(better, piece_type, color) - _balance(worse, piece_type, color)
        for piece_type in PIECE_WORDS
    }
    total = sum(PIECE_VALUES[piece_type] * count for piece_type, count in owed.items())
    if total <= 0:
        return ""
    minor = owed[chess.KNIGHT] + owed[chess.BISHOP]
    if owed[chess.ROOK] == 1 and minor == -1 and owed[chess.QUEEN] == 0:
        rest = _counted({chess.PAWN: owed[chess.PAWN]})
        return "the exchange" + (f" and {rest}" if rest else "")
    # A knight for a bishop is no loss.
    if minor == 0:
        owed[chess.KNIGHT] = owed[chess.BISHOP] = 0
    lost = _counted(owed)
    gained = _counted({piece_type: -count for piece_type, count in owed.items()})
    return f"{lost} for {gained}" if gained else lost


def _counted(owed: dict[chess.PieceType, int]) -> str:
    words = [_number_of(PIECE_WORDS[kind], owed[kind]) for kind in sorted(owed, reverse=True) if owed[kind] > 0]
    return words[0] if len(words) == 1 else " and ".join([", ".join(words[:-1]), words[-1]]) if words else ""


def _number_of(word: str, count: int) -> str:
    return f"a {word}" if count == 1 else f"{count} {word}s"


def _balance(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


def strongest(
    changes: Iterable[FeatureChange], for_color: chess.Color, count: int, least_cp: int
) -> list[FeatureChange]:
    """The greatest changes against one side, at most this many and each of at least this size, without material."""
    against = [change for change in changes if change.title != MATERIAL and -change.cp_for(for_color) >= least_cp]
    return sorted(against, key=lambda change: change.cp_for(for_color))[:count]
