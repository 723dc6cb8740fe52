"""The evaluation of a position, term by term, in internal centipawns.

Invariant: the terms add up to the score, and so do the families.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

import chess
from chess.engine import Cp, PovScore, PovWdl, Wdl

import evaluation
from evaluation import report
from evaluation.correction.network import Network
from uci_engine.api.conversion import score_of
from uci_engine.score import piece_count, win_draw_loss
from uci_engine.static_evaluation import text


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
    """Why a position has its static score. `str()` of it is the text of `secateur eval`, and a notebook shows a table.

    `fen` is the position. `terms` add up to `score`. Both are in the centipawns of the weights. Each term is rounded to
    a whole centipawn, so that it may be off by one. `normalised_score` is `score` on the scale of `Engine.evaluate` and
    of search reports, where +100 wins half of the games. `expected` is the result that `score` lets expect. `details`
    has every term for each side, in the middlegame and in the endgame.
    """

    fen: str
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

    def __repr__(self) -> str:
        return f"<Explanation of {self.fen}: {self._shown} for White, {len(self.terms)} terms>"

    def __str__(self) -> str:
        return text(self.details)

    def _repr_html_(self) -> str:
        rows = ["<tr><th></th><th>White</th><th>Black</th><th>Difference</th></tr>"]
        for family in self.families:
            rows.append(_row("th", family.name, family))
            terms = [part for part in family.titles if part.white_cp or part.black_cp]
            rows += [_row("td", part.title, part) for part in terms if len(family.titles) > 1]
        caption = html.escape(f"{self.fen}: {self._shown} for White")
        return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"

    @property
    def _shown(self) -> str:
        """The score in pawns, from White's view."""
        return f"{self.details.white_score / 100:+.2f}"


def _row(tag: str, name: str, part: evaluation.Family | evaluation.Part) -> str:
    """A row of the table: a family or a term, in pawns."""
    numbers = (f"{value / 100:.2f}" for value in (part.white_cp, part.black_cp, part.difference_cp))
    cells = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in (name, *numbers))
    return f"<tr>{cells}</tr>"


def explain(
    board: chess.Board, weights: evaluation.Weights | None = None, network: Network | None = None
) -> Explanation:
    """The evaluation of a position, term by term. ValueError when the board cannot be evaluated."""
    details = evaluation.explain(board, weights, network)
    pieces = piece_count(board)
    return Explanation(
        fen=board.fen(),
        terms=tuple(TermValue(part.name, part.title, part.difference_cp, part.family) for part in details.parts),
        score=PovScore(Cp(details.score), board.turn),
        normalised_score=PovScore(score_of(details.score, pieces), board.turn),
        expected=PovWdl(Wdl(*win_draw_loss(details.score, pieces)), board.turn),
        details=details,
    )
