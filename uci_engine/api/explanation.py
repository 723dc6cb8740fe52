"""The evaluation of a position, term by term, in internal centipawns for White.

Invariant: the terms add up to the score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import chess
from chess.engine import Cp, PovScore

import evaluation
from evaluation.catalogue import CATALOGUE
from evaluation.constants import FULL_SCALE
from uci_engine.api.conversion import score_of
from uci_engine.score import piece_count

# The fixed point of `Evaluator.taper`: shares of the middlegame are in 256ths.
FULL_SHARE = 256


@dataclass(frozen=True, slots=True)
class TermValue:
    """What one term of the evaluation adds, in centipawns from White's view.

    `name` is the term's name in the weights file, `title` says what it counts. Several terms may share a title.
    """

    name: str
    title: str
    white_cp: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a position has its static score. `str()` of it is a table for people.

    `terms` add up to `score`. Both are in the centipawns of the weights. Each term is rounded to a whole centipawn, so
    that it may be off by one. `normalised_score` is `score` on the scale of `Engine.evaluate` and of search reports,
    where +100 wins half of the games. `details` has every term for each side, in the middlegame and in the endgame.
    """

    terms: tuple[TermValue, ...]
    score: PovScore
    normalised_score: PovScore
    details: evaluation.Explanation

    def __iter__(self) -> Iterator[TermValue]:
        return iter(self.terms)

    def __getitem__(self, name: str) -> int:
        """What the term of this name adds, in centipawns from White's view. KeyError: there is no such term."""
        for term in self.terms:
            if term.name == name:
                return term.white_cp
        raise KeyError(name)

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


def explain(board: chess.Board) -> Explanation:
    """The evaluation of a position, term by term. ValueError when the board cannot be evaluated."""
    details = evaluation.explain(board)
    share = details.phase * 32 // 3
    terms = []
    # The sums are rounded and not the terms, so that the rounded terms add up to the rounded sum.
    exact_sum = rounded_sum = 0
    for term, row in zip(CATALOGUE, details.terms, strict=True):
        exact_sum += row.mg * share * FULL_SCALE + row.eg * (FULL_SHARE - share) * details.scale
        rounded = _divided(exact_sum, FULL_SHARE * FULL_SCALE)
        terms.append(TermValue(term.name, term.title, rounded - rounded_sum))
        rounded_sum = rounded
    if details.kpk_result:
        terms.append(TermValue("known_ending", details.kpk_result, details.white_score - rounded_sum))
    elif details.white_score != rounded_sum:
        terms.append(TermValue("limit", "limit of the score", details.white_score - rounded_sum))
    shown = score_of(details.score, piece_count(board))
    return Explanation(tuple(terms), PovScore(Cp(details.score), board.turn), PovScore(shown, board.turn), details)


def _divided(number: int, divisor: int) -> int:
    """The quotient, rounded towards zero."""
    return number // divisor if number >= 0 else -(-number // divisor)
