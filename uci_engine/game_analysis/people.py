"""Who would find it: how often people of the player's rating play an error, and the better move, by the policy.

Invariant: the same moves and ratings give the same shares. Whether a better move is the only one, searches say.
"""

from __future__ import annotations

from dataclasses import dataclass

import chess
from chess.engine import Limit

from uci_engine.game_analysis.judgement import INACCURACY_LOSS, Found, Mark
from uci_engine.game_analysis.searches import Searches
from uci_engine.search.strength import MAX_ELO, MIN_ELO

# The moves of which something may be said.
MARKS = (Mark.BRILLIANT, Mark.GOOD, Mark.MISTAKE, Mark.BLUNDER)
# An error is common from this share on. A better move is hard to find up to the second one, and most find it from the
# third on. A share at the higher rating that differs by less than the last is not told.
COMMON, RARE, MOST, DIFFERENT = 0.20, 0.10, 0.60, 0.05
# Up to this share the policy is right to about three points of percent. Beyond, it gives a little too much.
CALIBRATED = 0.80
# So much higher is clearly higher.
HIGHER = 600
# For a look at the other moves.
FOR_OTHERS = Limit(nodes=4000)


@dataclass(frozen=True, slots=True)
class People:
    """How often people of a rating play a move and the best one, which may be the same: shares from 0 to 1.

    `is_only`: the best move is rare, and all others are errors. `higher`: the share of the move at the rating that is
    HIGHER; None where the move is no common error, or there is no such rating.
    """

    rating: int
    best: chess.Move
    played: float
    found: float
    is_only: bool
    higher: float | None

    def data(self) -> dict[str, object]:
        """For JSON."""
        higher = None if self.higher is None else {"rating": self.rating + HIGHER, "played": round(self.higher, 4)}
        shares = {"played": round(self.played, 4), "best": round(self.found, 4)}
        return {"rating": self.rating, **shares, "is_only": self.is_only, "higher": higher}


def rating_of(value: object) -> int | None:
    """A rating that the policy knows, rounded to hundreds, out of a number or its text; None for any other value."""
    text = str(value)
    is_known = len(text) <= len(str(MAX_ELO)) and text.isdecimal() and MIN_ELO <= int(text) <= MAX_ELO
    return round(int(text), -2) if is_known else None


def people_of(
    searches: Searches, board: chess.Board, mark: Mark, best: Found, move: chess.Move, rating: int | None
) -> People | None:
    """None: not known, as without the last move, in Chess960, and of a promotion to less than a queen."""
    shares = {} if rating is None or board.chess960 or not board.move_stack else searches.human(board, rating)
    if rating is None or best.move is None or not {move, best.move} <= shares.keys():
        return None
    found, is_only = shares[best.move], False
    others = [other for other in board.legal_moves if other != best.move]
    if found <= RARE and mark in MARKS and others and searches.left() is not None:
        second = searches.find(board, FOR_OTHERS, others)
        loss = best.value.expected_for(board.turn) - second.value.expected_for(board.turn)
        is_only = bool(second.line) and loss >= INACCURACY_LOSS
    is_common = mark.is_error and shares[move] >= COMMON and rating + HIGHER <= MAX_ELO
    higher = searches.human(board, rating + HIGHER)[move] if is_common else None
    return People(rating, best.move, shares[move], found, is_only, higher)
