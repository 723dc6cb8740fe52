"""A line of play with its score, and the aspiration window in which such scores are searched.

`deepening`, `scouting` and `voting` deal in lines. What must stay true: a window holds its centre, and after a failure
the score that failed; widened often enough, it is wide open.
"""

from __future__ import annotations

from dataclasses import dataclass

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.parameters import WIDEST_WINDOW_CP


@dataclass(slots=True)
class Line:
    """One of the best lines: score and moves of its last finished search, as the core writes them; depth 0 is none."""

    moves: list[int]
    score: int = -scores.INFINITE
    depth: int = 0
    seldepth: int = 0
    bound: Bound = Bound.EXACT


class Window:
    """An aspiration window about a line's score; wide open about a mate and where no score is known."""

    def __init__(self, last: Line, half_cp: int, known: bool) -> None:
        """`half_cp`: half its width. `known`: whether the score is worth anything yet."""
        narrow = known and last.depth > 0 and not scores.is_mate(last.score)
        self._half = half_cp if narrow else 2 * scores.INFINITE
        self.alpha = max(last.score - self._half, -scores.INFINITE)
        self.beta = min(last.score + self._half, scores.INFINITE)

    def holds(self, score: int) -> bool:
        """Whether the score lies inside, and so is exact."""
        return self.alpha < score < self.beta

    def widen(self, score: int) -> None:
        """Open the window on the side where the score fell out of it."""
        self._half = self._half * 2 if self._half < WIDEST_WINDOW_CP else 2 * scores.INFINITE
        if score <= self.alpha:
            self.beta = (self.alpha + self.beta) // 2
            self.alpha = max(score - self._half, -scores.INFINITE)
        else:
            self.beta = min(score + self._half, scores.INFINITE)
