"""What a position is worth, and the result of one search.

The expected result is that between people: 1 for a win, 0.5 for a draw, 0 for a loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import chess
from chess.engine import Cp, Mate, MateGiven, Score

from uci_engine.score import MAX_PIECES, TABLEBASE_BOUND, win_curve

# The rule of lichess.org, from games between people: the slope for a centipawn, and the greatest score that counts.
SITE_SLOPE = 0.00368208
MAX_SITE_CP = 1000
# The site's centipawns in one of the search: the ratio of the scores in its analysed games, whatever is on the board.
SITE_CP = 1.3
# Lines are shown at most this long.
MAX_LINE_PLIES = 10
# More than any score in centipawns.
MATE_CP = 100_000
# A line that draws expects half a point to within this much.
DRAWN_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Value:
    """A value from White's view: a score as it is shown, and the expected result, from 0 to 1."""

    score: Score
    expected: float

    def expected_for(self, color: chess.Color) -> float:
        return self.expected if color else 1.0 - self.expected

    def order_for(self, color: chess.Color) -> tuple[float, Score]:
        """What sorts values by how good they are for one side, also those that expect the same result."""
        return self.expected_for(color), self.score_for(color)

    def score_for(self, color: chess.Color) -> Score:
        return self.score if color else -self.score

    def cp_for(self, color: chess.Color) -> int:
        """The score of one side in centipawns, where a mate is more than any other."""
        return self.score_for(color).score(mate_score=MATE_CP)

    def mate_for(self, color: chess.Color) -> int | None:
        """The moves in which this side mates; None if it does not."""
        score = self.score_for(color)
        return score.mate() if score > Cp(0) else None

    def backed_up(self, mover: chess.Color) -> Value:
        """The value before a move of this side, out of the value after it: a mate by that side is one move longer."""
        mate = self.mate_for(mover)
        if mate is None:
            return self
        return Value(Mate(mate + 1 if mover else -mate - 1), self.expected)

    @property
    def is_tablebase(self) -> bool:
        cp = self.score.score()
        return cp is not None and abs(cp) >= TABLEBASE_BOUND

    @property
    def is_drawn(self) -> bool:
        """Whether a line of this value draws, or nearly."""
        return abs(self.expected - 0.5) < DRAWN_SHARE

    @property
    def text(self) -> str:
        """`+0.31`, `#-3` for a mate by Black in 3, `+TB` for a tablebase win of White."""
        if self.is_tablebase:
            return "+TB" if self.expected > 0.5 else "-TB"
        cp = self.score.score()
        if cp is None:
            return "#" if self.score == MateGiven else str(self.score).replace("+", "")
        return f"{cp / 100:+.2f}"


DRAWN = Value(Cp(0), 0.5)


def site_expected(cp: float) -> float:
    """The result that the site expects of a score in its centipawns."""
    return 1.0 / (1.0 + math.exp(-SITE_SLOPE * min(max(cp, -MAX_SITE_CP), MAX_SITE_CP)))


def value_of(score: Score, pieces: int = MAX_PIECES) -> Value:
    """The value of a shown score, from White's view. `pieces`: so many were on the board."""
    cp = score.score()
    if cp is None or abs(cp) >= TABLEBASE_BOUND:
        return Value(score, 1.0 if score > Cp(0) else 0.0)
    # What is shown is scaled by the number of pieces, and the site's scores are not.
    midpoint_cp, _ = win_curve(pieces)
    return Value(score, site_expected(SITE_CP * cp * midpoint_cp / 100))


def final_value(board: chess.Board, *, claims: bool = False) -> Value | None:
    """The value of a position without legal moves, or drawn whatever is played; None for any other.

    With `claims` also of one in which either side can claim a draw.
    """
    if board.is_checkmate():
        return Value(-MateGiven if board.turn else MateGiven, 0.0 if board.turn else 1.0)
    can_claim = claims and (board.is_repetition(3) or board.is_fifty_moves())
    return DRAWN if can_claim or board.is_stalemate() or board.is_insufficient_material() else None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found in one position. `line` begins with the best move, and is empty if there is none."""

    value: Value
    depth: int = 0
    nodes: int = 0
    line: tuple[chess.Move, ...] = ()

    @property
    def move(self) -> chess.Move | None:
        return self.line[0] if self.line else None

    @property
    def shown(self) -> Found:
        """The same with its line as long as lines are shown: to the end where it mates."""
        return self if self.value.score.is_mate() else replace(self, line=self.line[:MAX_LINE_PLIES])


@dataclass(frozen=True, slots=True)
class SearchedMove:
    """A move with what the searches found. Values are from White's view.

    `best` is the value of the best move, with its line; `played` that of the move played, with what follows it.
    `others` is the value of the best of the other moves, where the move played is the best and that was searched.
    """

    best: Found
    played: Found
    others: Value | None = None

    @property
    def is_best(self) -> bool:
        return self.best.move in (None, self.played.move)

    def loss_for(self, color: chess.Color) -> float:
        """What the side that moved expects less than with the best move."""
        lost = self.best.value.expected_for(color) - self.played.value.expected_for(color)
        return 0.0 if self.is_best else max(lost, 0.0)
