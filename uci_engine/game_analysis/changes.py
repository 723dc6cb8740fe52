"""How the static evaluations of two positions differ: by title and side, in numbers.

A piece has a part of its value in other terms: a knight's mobility is worth a pawn or so. So a side that loses a knight
seems to lose mobility, too. Therefore what a term changes because there are more or fewer pieces counts as material.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import chess

from evaluation.catalogue import CATALOGUE, FAMILY_OF, KNOWN_ENDING, LIMIT, NETWORK_TERM, OTHER_TITLES
from evaluation.explanation import Explanation
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
    # From White's view, for Black and for White.
    before, after = ({term.name: (-term.black_cp, term.white_cp) for term in explanation} for explanation in (old, new))
    numbers = [Counter(value.piece for value in explanation.pieces) for explanation in (old, new)]
    sums: dict[tuple[str, chess.Color], float] = {(MATERIAL, chess.WHITE): 0.0}
    for name, term in {term.name: term for term in (*old, *new)}.items():
        # A decisive score is without the network. That it comes or goes is no reason.
        if term.title in NEVER_A_REASON or (name == NETWORK_TERM and not (name in before and name in after)):
            continue
        title = MATERIAL if term.family == FAMILY_OF[MATERIAL] else term.title
        for color in chess.COLORS:
            there, here = (terms.get(name, (0, 0))[color] for terms in (before, after))
            # Each of the pieces that a term counts has the mean of both positions. A king is always there.
            owner = chess.Piece(OWNERS.get(name, chess.KING), color)
            before_number, after_number = (number[owner] for number in numbers)
            by_number = (after_number - before_number) * (there + here) / max(after_number + before_number, 1)
            sums[MATERIAL, chess.WHITE] += by_number
            key = title, color or title in WITHOUT_OWNER
            sums[key] = sums.get(key, 0.0) + here - there - by_number
    for title in {title for title, _ in sums} - {MATERIAL}:
        white, black = sums.get((title, chess.WHITE), 0.0), sums.get((title, chess.BLACK), 0.0)
        # What both sides have gained, or both lost, changes nothing.
        if white * black < 0:
            greater = abs(white) > abs(black)
            sums[title, greater] = white + black
            sums[title, not greater] = 0.0
    midpoint_cp, _ = win_curve(pieces)
    changes = []
    for (title, color), cp in sums.items():
        seen = pieces_seen(new, 1 if cp > 0 else -1, old) if title == NETWORK else ""
        changes.append(Change(title, color, round(cp * 100 / midpoint_cp), seen))
    return sorted((change for change in changes if change.cp), key=lambda change: -abs(change.cp))
