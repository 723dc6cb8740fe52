"""A tournament: who plays whom, the score of each pairing, and both as table and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import permutations
from typing import Any

from rich.table import Table

from toolkit.console import make_table
from toolkit.elo import Estimate, Pentanomial, Sprt, estimate, pentanomial
from toolkit.engines.spec import EngineSpec
from toolkit.games.runs import PairRecord, Plan

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


class PairingScore:
    """The results of two engines against each other, seen from the first one."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        # Points of the first engine in the two games of each pair.
        self.pairs: list[tuple[float, float]] = []

    @property
    def results(self) -> tuple[int, int, int]:
        """Games won, drawn and lost."""
        points = [each for pair in self.pairs for each in pair]
        return points.count(1.0), points.count(0.5), points.count(0.0)

    @property
    def counts(self) -> Pentanomial:
        return pentanomial(map(sum, self.pairs))

    def add_pair(self, games: PairRecord) -> None:
        """Count the two games of a pair. Raises ValueError, LookupError or TypeError for other games."""
        colors = [(game["white"], game["black"]) for game in games]
        if sorted(colors) != sorted(permutations((self.first, self.second))):
            raise ValueError("no two games of this pairing")
        one, other = (POINTS[game["result"]] for game in games)
        self.pairs.append((one, 1.0 - other) if colors[0][0] == self.first else (1.0 - one, other))

    def as_json(self, sprt: Sprt | None) -> dict[str, Any]:
        """Everything that is known about the pairing; what is infinite is None."""
        statistics = asdict(estimate(self.counts))
        wins, draws, losses = self.results
        data: dict[str, Any] = {
            "first": self.first,
            "second": self.second,
            "games": wins + draws + losses,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "pentanomial": list(self.counts),
            **{name: value if math.isfinite(value) else None for name, value in statistics.items()},
        }
        if sprt is not None:
            data["sprt"] = {
                **asdict(sprt),
                "llr": sprt.ratio(self.counts),
                "bounds": [sprt.lower, sprt.upper],
                "verdict": sprt.verdict(self.counts),
            }
        return data

    def cells(self, sprt: Sprt | None) -> list[str]:
        """A row of the table of pairings."""
        result = estimate(self.counts)
        row = [
            f"{self.first} - {self.second}",
            *map(str, (2 * result.pairs, *self.results)),
            f"{result.score:.1%}" if result.pairs else "-",
            " ".join(map(str, self.counts)),
            elo_text(result),
            f"{result.superiority:.1%}" if result.pairs else "-",
        ]
        return row + ([sprt_text(sprt, self.counts)] if sprt is not None else [])


def elo_text(result: Estimate) -> str:
    """`+12.6 ± 11.4`; a bar that has no end is told as such."""
    if not result.pairs:
        return "-"
    return f"{result.elo:+.1f} ± " + (f"{result.error_elo:.1f}" if math.isfinite(result.error_elo) else "?")


def sprt_text(sprt: Sprt, counts: Pentanomial) -> str:
    """`1.23 (-2.94, 2.94) 0 to 5: undecided`."""
    verdict = {"H1": "H1 accepted", "H0": "H0 accepted", "": "undecided"}[sprt.verdict(counts)]
    bounds = f"({sprt.lower:.2f}, {sprt.upper:.2f}) {sprt.elo0:g} to {sprt.elo1:g}"
    return f"{sprt.ratio(counts):.2f} {bounds}: {verdict}"


class Tournament(Plan):
    """Pairings of engines, each of so many pairs of games; a sequential test may end it."""

    def __init__(
        self,
        engines: Sequence[EngineSpec],
        pairings: Sequence[tuple[int, int]],
        pairs_each: int,
        sprt: Sprt | None = None,
    ) -> None:
        """pairings: numbers of the engines that meet."""
        super().__init__(engines, pairs_each * len(pairings))
        self._pairings = pairings
        self._sprt = sprt
        self.scores = [PairingScore(engines[first].name, engines[second].name) for first, second in pairings]

    @property
    def all_scores(self) -> PairingScore:
        """The first engine against all others, taken together."""
        if len(self.scores) == 1:
            return self.scores[0]
        total = PairingScore(self.scores[0].first, "all")
        total.pairs = [pair for score in self.scores for pair in score.pairs]
        return total

    def pair(self, number: int) -> tuple[EngineSpec, EngineSpec, int]:
        """One opening for all pairings before the next."""
        opening, pairing = divmod(number, len(self._pairings))
        first, second = self._pairings[pairing]
        return self.engines[first], self.engines[second], opening

    def count(self, number: int, games: PairRecord) -> None:
        """Count a pair for its pairing."""
        self.scores[number % len(self.scores)].add_pair(games)

    def settings(self) -> dict[str, Any]:
        """Who meets, and the test."""
        return {"pairings": self._pairings, "sprt": self._sprt and asdict(self._sprt)}

    def is_decided(self) -> bool:
        """Whether the sequential test has its verdict."""
        return self._sprt is not None and bool(self._sprt.verdict(self.all_scores.counts))

    def progress(self) -> str:
        """The score of the first engine in short."""
        total = self.all_scores
        wins, draws, losses = total.results
        words = [f"+{wins} ={draws} -{losses}", f"Elo {elo_text(estimate(total.counts))}"]
        if self._sprt is not None:
            words.append(f"LLR {sprt_text(self._sprt, total.counts)}")
        return "  ".join(words)

    def table(self) -> Table:
        """One line for each pairing, and where there are several, one for all games of the first engine."""
        head = ["pairing", "games", "W", "D", "L", "score", "LL LD DD/WL WD WW", "Elo ± 95 %", "LOS"]
        head += ["LLR (bounds), elo0 to elo1"] if self._sprt is not None else []
        rows = [*self.scores, self.all_scores] if len(self.scores) > 1 else self.scores
        return make_table("", head, [score.cells(self._sprt) for score in rows])

    def as_json(self) -> dict[str, Any]:
        """All results."""
        return {"pairings": [score.as_json(self._sprt) for score in self.scores]}
