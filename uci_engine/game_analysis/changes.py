"""How the static evaluations of two positions differ: by title and side, in numbers.

A piece has a part of its value in other terms: a knight's mobility is worth a pawn or so. So a side that loses a knight
seems to lose mobility, too. Therefore what a term changes because there are more or fewer pieces counts as material.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import chess

from evaluation.catalogue import CATALOGUE, FAMILY_OF, KNOWN_ENDING, LIMIT, NETWORK_TERM, OTHER_TITLES
from evaluation.explanation import Explanation, TermValue
from evaluation.report import pieces_seen
from uci_engine.score import win_curve

# The title of all terms of its family: a piece taken changes all of them.
MATERIAL = "material"
NETWORK = OTHER_TITLES[NETWORK_TERM]
# These titles belong to neither side. Their change is stored under White.
WITHOUT_OWNER = (MATERIAL, NETWORK, OTHER_TITLES[KNOWN_ENDING])
# The side to move differs from position to position, and the limit from score to score. Neither says anything of a
# line.
NEVER_A_REASON = ("tempo", OTHER_TITLES[LIMIT])
# The kind of piece that a term counts, for the terms that count one.
OWNERS = {term.name: chess.PIECE_NAMES.index(term.owner) for term in CATALOGUE if term.owner in chess.PIECE_NAMES[1:]}


@dataclass(frozen=True, slots=True)
class Change:
    """How much more the terms of one title count for one side in one position than in another.

    `cp` is in shown centipawns from White's view, so a gain for Black is negative. `named_pieces` are those of the
    second position to which the network owes its change, "" for any other title.
    """

    title: str
    color: chess.Color
    cp: int
    named_pieces: str = ""

    def words(self) -> str:
        """`White's king's shelter -0.80`: from White's view, in pawns."""
        words = f"{self.title} {self.cp / 100:+.2f}"
        if self.title not in WITHOUT_OWNER:
            return f"{'White' if self.color else 'Black'}'s {words}"
        return f"{words} (mostly {self.named_pieces})" if self.named_pieces else words


def changes_between(old: Explanation, new: Explanation, pieces: int) -> list[Change]:
    """How the static evaluations of two positions differ, greatest difference first.

    `pieces`: on the board at the root of the search, for the scale.
    """
    before, after = ({term.name: term for term in explanation} for explanation in (old, new))
    numbers = [Counter(value.piece for value in explanation.pieces) for explanation in (old, new)]
    sums: dict[tuple[str, chess.Color], float] = {(MATERIAL, chess.WHITE): 0.0}
    for name, term in {**before, **after}.items():
        # A decisive score is without the network. That it comes or goes is no reason.
        if term.title in NEVER_A_REASON or (name == NETWORK_TERM and not (name in before and name in after)):
            continue
        title = MATERIAL if term.family == FAMILY_OF[MATERIAL] else term.title
        for color in chess.COLORS:
            there, here = (_white_cp(terms.get(name), color) for terms in (before, after))
            by_number = _due_to_number(name, color, numbers, there + here)
            sums[MATERIAL, chess.WHITE] += by_number
            key = title, color or title in WITHOUT_OWNER
            sums[key] = sums.get(key, 0.0) + here - there - by_number
    for title in {title for title, _ in sums} - {MATERIAL}:
        _cancel(sums, title)
    midpoint_cp, _ = win_curve(pieces)
    changes = []
    for (title, color), cp in sums.items():
        seen = pieces_seen(new, 1 if cp > 0 else -1, old) if title == NETWORK else ""
        changes.append(Change(title, color, round(cp * 100 / midpoint_cp), seen))
    return sorted((change for change in changes if change.cp), key=lambda change: -abs(change.cp))


def _white_cp(term: TermValue | None, color: chess.Color) -> int:
    """What a term adds for one side, from White's view."""
    if term is None:
        return 0
    return term.white_cp if color else -term.black_cp


def _cancel(sums: dict[tuple[str, chess.Color], float], title: str) -> None:
    """Take from both sides' changes of a title what both have gained, or both lost: that changes nothing."""
    white, black = sums.get((title, chess.WHITE), 0.0), sums.get((title, chess.BLACK), 0.0)
    if white * black < 0:
        greater = chess.WHITE if abs(white) > abs(black) else chess.BLACK
        sums[title, greater] = white + black
        sums[title, not greater] = 0.0


def _due_to_number(name: str, color: chess.Color, numbers: Sequence[Counter[chess.Piece]], sum_of_both: float) -> float:
    """How much of a term's change is due to the number of pieces that it counts: each has the mean of both positions.

    `numbers`: the pieces of the two positions.
    """
    owner = OWNERS.get(name)
    if owner is None:
        return 0.0
    there, here = (number[chess.Piece(owner, color)] for number in numbers)
    return (here - there) * sum_of_both / (here + there) if here != there else 0.0
