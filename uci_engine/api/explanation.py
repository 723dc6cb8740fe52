"""The evaluation of a position, term by term, in internal centipawns.

Invariant: the terms add up to the score, and so do the families.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import chess
from chess.engine import Cp, PovScore, PovWdl, Wdl

import evaluation
from evaluation import report
from evaluation.correction.network import Network
from uci_engine.api.conversion import score_of
from uci_engine.score import piece_count, win_draw_loss


@dataclass(frozen=True, slots=True)
class TermValue:
    """What one term of the evaluation adds, in centipawns from White's view.

    `name` is the term's name in the weights file, `title` says what it counts. Several terms may share a title.
    `family` is the name of its family.
    """

    name: str
    title: str
    white_cp: int
    family: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a position has its static score. `str()` of it is a table for people.

    `terms` add up to `score`. Both are in the centipawns of the weights. Each term is rounded to a whole centipawn, so
    that it may be off by one. `normalised_score` is `score` on the scale of `Engine.evaluate` and of search reports,
    where +100 wins half of the games. `expected` is the result that `score` lets expect. `details` has every term for
    each side, in the middlegame and in the endgame.
    """

    terms: tuple[TermValue, ...]
    score: PovScore
    normalised_score: PovScore
    expected: PovWdl
    details: evaluation.Explanation

    def __iter__(self) -> Iterator[TermValue]:
        return iter(self.terms)

    def __getitem__(self, name: str) -> int:
        """What the term of this name adds, in centipawns from White's view. KeyError: there is no such term."""
        for term in self.terms:
            if term.name == name:
                return term.white_cp
        raise KeyError(name)

    @property
    def families(self) -> tuple[evaluation.Family, ...]:
        """The terms in families, for White, for Black and the difference. Each side's numbers are from its own view."""
        return self.details.families

    @property
    def reasons(self) -> tuple[str, ...]:
        """The three largest differences in words, with their size in pawns from White's view."""
        return report.reasons(self.details)

    @property
    def piece_values(self) -> dict[chess.Square, int]:
        """What each piece but the kings is worth to its own side, in centipawns: what the score loses without it."""
        return {value.square: value.value_cp for value in self.details.pieces if value.value_cp is not None}

    def by_title(self) -> dict[str, int]:
        """The sum of the terms of each title, in centipawns from White's view."""
        sums: dict[str, int] = {}
        for term in self.terms:
            sums[term.title] = sums.get(term.title, 0) + term.white_cp
        return sums

    def __str__(self) -> str:
        lines = [f"{title:<22} {value / 100:+6.2f}" for title, value in self.by_title().items() if value]
        white = self.score.white().score(mate_score=0)
        shown = self.normalised_score.white().score(mate_score=0)
        side = "White" if self.details.white_to_move else "Black"
        lines += [f"{'sum, for White':<22} {white / 100:+6.2f}", f"{'normalised':<22} {shown / 100:+6.2f}"]
        return "\n".join([*lines, f"{side} is to move"])


def explain(
    board: chess.Board, weights: evaluation.Weights | None = None, network: Network | None = None
) -> Explanation:
    """The evaluation of a position, term by term. ValueError when the board cannot be evaluated."""
    details = evaluation.explain(board, weights, network)
    pieces = piece_count(board)
    return Explanation(
        terms=tuple(TermValue(part.name, part.title, part.difference_cp, part.family) for part in details.parts),
        score=PovScore(Cp(details.score), board.turn),
        normalised_score=PovScore(score_of(details.score, pieces), board.turn),
        expected=PovWdl(Wdl(*win_draw_loss(details.score, pieces)), board.turn),
        details=details,
    )
