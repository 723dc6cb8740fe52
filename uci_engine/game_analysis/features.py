"""The features of the evaluation, and how they change along a line: the reasons that the evaluation itself has.

A feature is a row of the table that `secateur eval` shows, or several that say the same to a player. The numbers are
those of the table, on the scale of the shown scores. A term that is new there is known here.

What a piece is worth wherever it stands is spread over several terms: a knight's mobility, for instance, costs more
than one pawn in the mean. So a side that has lost a knight would seem to have gained mobility. Therefore a change in
the number of pieces is material, and the features say how well the pieces stand that are there.

With the learned correction, what the network adds is one feature more. It has no owner, like material.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import chess

from evaluation.catalogue import CATALOGUE
from evaluation.correction.contributions import unusual_contributions, weightiest
from evaluation.explain import Explanation
from evaluation.parts import CORRECTION, CORRECTION_TITLE
from evaluation.words import joined
from uci_engine.game_analysis.boards import PIECE_VALUES
from uci_engine.game_analysis.values import Analyser
from uci_engine.score import win_curve

MATERIAL = "material"
# Rows of the table. A piece taken changes all of them.
MATERIAL_TITLES = (MATERIAL, "imbalance", "bishop pair")
NETWORK = "what the network sees"
# Of neither side. A change is written as White's.
WITHOUT_OWNER = (MATERIAL, NETWORK)
# The side to move differs from leaf to leaf, and the limit from score to score. Neither says anything of a line.
NEVER_A_REASON = ("tempo", "limit of the score")
# The rows of the table by what a player calls them.
NAMES = {
    "piece squares": "placement of pieces",
    "squares by kings": "placement of pieces",
    "levers": "pawn levers",
    "pawn pairs": "pawn formation",
    "pawn against pawn": "pawn formation",
    "pawns by king": "pawns around the kings",
    "passed pawns' paths": "passed pawns",
    "king shelter": "king's shelter",
    "pawn storm": "safety from pawn storms",
    "king and pawns": "king's place near the pawns",
    "knight mobility": "knights' mobility",
    "bishop mobility": "bishops' mobility",
    "rook mobility": "rooks' mobility",
    "queen mobility": "queen's mobility",
    "safe mobility": "safe squares of rooks and queen",
    "minor pieces": "minor pieces behind pawns",
    "bishops and pawns": "bishops' freedom from pawns",
    "safe checks": "safe checks against the king",
    "pawn push threats": "threats to push a pawn",
    "hanging pieces": "attacks on hanging pieces",
    "contested squares": "hold on contested squares",
    "mop-up": "drive against the bare king",
    CORRECTION_TITLE: NETWORK,
}
PIECE_WORDS = {piece_type: chess.piece_name(piece_type) for piece_type in range(chess.PAWN, chess.KING)}
# The kind of piece that a term counts, for the terms that count one.
OWNERS = {
    term.name: chess.PIECE_NAMES.index(term.owner) for term in CATALOGUE if term.owner in chess.PIECE_NAMES[1:]
}


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """How much more one side's feature counts in one position than in another.

    `name` is what a player calls it. `cp` is in shown centipawns from White's view, so a gain for Black is negative.
    `named_pieces` are those of the second position to which the network owes its change, "" for any other feature.
    """

    name: str
    color: chess.Color
    cp: int
    named_pieces: str = ""

    def cp_for(self, color: chess.Color) -> int:
        """The change from the view of one side."""
        return self.cp if color else -self.cp

    def words(self, reader: chess.Color | None = None) -> str:
        """`your king's shelter -0.80`: from the view of the reader, in pawns; without one, from White's."""
        owner = "your" if self.color == reader else "White's" if self.color else "Black's"
        pawns = self.cp_for(reader is not chess.BLACK) / 100
        words = f"{self.name} {pawns:+.2f}"
        if self.name not in WITHOUT_OWNER:
            return f"{owner} {words}"
        return f"{words} (mostly {self.named_pieces})" if self.named_pieces else words


def feature_changes(analyser: Analyser, before: chess.Board, after: chess.Board, pieces: int) -> list[FeatureChange]:
    """How the features differ between two positions, greatest difference first. Those WITHOUT_OWNER are White's.

    `pieces`: on the board at the root of the search, for the scale.
    """
    midpoint_cp, _ = win_curve(pieces)
    sides = ((chess.WHITE, 1), (chess.BLACK, -1))
    values: list[dict[tuple[str, chess.Color], float]] = []
    titles: dict[str, str] = {}
    explained: tuple[Explanation, Explanation] = (analyser.explain(before).details, analyser.explain(after).details)
    for details in explained:
        values.append({})
        for part in details.parts:
            titles[part.name] = part.title
            for color, sign in sides:
                cp = part.white_cp if color else part.black_cp
                values[-1][part.name, color] = sign * cp * 100 / midpoint_cp
    # A decisive score has no learned correction. That it comes or goes is no reason.
    if any((CORRECTION, chess.WHITE) not in each for each in values):
        titles.pop(CORRECTION, None)
    sums: dict[tuple[str, chess.Color], float] = {(MATERIAL, chess.WHITE): 0.0}
    for term, title in titles.items():
        for color in chess.COLORS:
            there, here = (values[index].get((term, color), 0.0) for index in (0, 1))
            number = _share_of_number(term, color, before, after, there + here)
            sums[MATERIAL, chess.WHITE] += number
            name = MATERIAL if title in MATERIAL_TITLES else NAMES.get(title, title)
            key = (name, chess.WHITE if name in WITHOUT_OWNER else color)
            if title not in NEVER_A_REASON:
                sums[key] = sums.get(key, 0.0) + here - there - number
    for name in {name for name, _ in sums} - {MATERIAL}:
        _cancel(sums, name)
    changes = [
        FeatureChange(name, color, round(cp), _pieces_seen(*explained, cp) if name == NETWORK else "")
        for (name, color), cp in sums.items()
    ]
    return sorted((change for change in changes if change.cp), key=lambda change: -abs(change.cp))


def _pieces_seen(before: Explanation, after: Explanation, white_cp: float) -> str:
    """The pieces that say more to the network than before, in the direction of its change."""
    old, new = (unusual_contributions(each.contributions) for each in (before, after))
    pieces = {each.square: each.piece for each in before.contributions}
    change = {
        each.square: new[each.square] - (old[each.square] if pieces.get(each.square) == each.piece else 0.0)
        for each in after.contributions
    }
    return weightiest(after.contributions, change, 1 if white_cp > 0 else -1)


def _cancel(sums: dict[tuple[str, chess.Color], float], name: str) -> None:
    """Take from both sides' changes of a feature what both have gained, or both lost: that changes nothing."""
    white, black = sums.get((name, chess.WHITE), 0.0), sums.get((name, chess.BLACK), 0.0)
    if white * black < 0:
        greater = chess.WHITE if abs(white) > abs(black) else chess.BLACK
        sums[name, greater] = white + black
        sums[name, not greater] = 0.0


def _share_of_number(
    term: str, color: chess.Color, before: chess.Board, after: chess.Board, sum_of_both: float
) -> float:
    """How much of a term's change is due to the number of pieces that it counts: each has the mean of both boards."""
    owner = OWNERS.get(term)
    if owner is None:
        return 0.0
    there, here = (len(board.pieces(owner, color)) for board in (before, after))
    return (here - there) * sum_of_both / (here + there) if here != there else 0.0


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
    return joined([_number_of(PIECE_WORDS[kind], owed[kind]) for kind in sorted(owed, reverse=True) if owed[kind] > 0])


def _number_of(word: str, count: int) -> str:
    return f"a {word}" if count == 1 else f"{count} {word}s"


def _balance(board: chess.Board, piece_type: chess.PieceType, color: chess.Color) -> int:
    return len(board.pieces(piece_type, color)) - len(board.pieces(piece_type, not color))


def strongest(
    changes: Iterable[FeatureChange], for_color: chess.Color, count: int, least_cp: int
) -> list[FeatureChange]:
    """The greatest changes against one side, at most this many and each of at least this size, without material."""
    against = [change for change in changes if change.name != MATERIAL and -change.cp_for(for_color) >= least_cp]
    return sorted(against, key=lambda change: change.cp_for(for_color))[:count]
