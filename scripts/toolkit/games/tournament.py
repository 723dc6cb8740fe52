"""A tournament: who plays whom, the score of each pairing, and both as table and JSON."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import permutations
from typing import Any

from rich.table import Table

from toolkit.console import make_table
from toolkit.elo import Estimate, Pentanomial, Sprt, estimate, pentanomial
from toolkit.engines.spec import EngineSpec
from toolkit.games.pairs import Patience
from toolkit.games.runs import PairRecord, Run

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


class PairingScore:
    """The results of two engines against each other, seen from the first one."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        self.wins = self.draws = self.losses = 0
        # Points of the first engine in each pair of games, 0 to 2.
        self.pairs: list[float] = []

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def counts(self) -> Pentanomial:
        return pentanomial(self.pairs)

    def add_pair(self, games: PairRecord) -> None:
        """Count the two games of a pair. Raises ValueError for other games."""
        colors = [(game["white"], game["black"]) for game in games]
        if sorted(colors) != sorted(permutations((self.first, self.second))):
            raise ValueError("no two games of this pairing")
        total = 0.0
        for game in games:
            points = POINTS[game["result"]]
            if game["white"] != self.first:
                points = 1.0 - points
            self.wins += points == 1.0
            self.draws += points == 0.5
            self.losses += points == 0.0
            total += points
        self.pairs.append(total)

    def as_json(self, sprt: Sprt | None) -> dict[str, Any]:
        """Everything that is known about the pairing; what is infinite is None."""
        statistics = asdict(estimate(self.counts))
        data: dict[str, Any] = {
            "first": self.first,
            "second": self.second,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
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
            str(self.games),
            str(self.wins),
            str(self.draws),
            str(self.losses),
            f"{result.score:.1%}" if self.games else "-",
            " ".join(map(str, self.counts)),
            elo_text(result),
            f"{result.superiority:.1%}" if self.games else "-",
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


class Tournament(Run):
    """Pairings of engines, each of so many pairs of games; a sequential test may end it."""

    def __init__(
        self,
        words: argparse.Namespace,
        engines: Sequence[EngineSpec],
        pairings: Sequence[tuple[int, int]],
        pairs_each: int,
        margin_ms: float,
        sprt: Sprt | None = None,
    ) -> None:
        """pairings: numbers of the engines that meet."""
        super().__init__(words, engines, Patience(margin_ms=margin_ms))
        self._pairs_each = pairs_each
        self._sprt = sprt
        self.scores = {
            (first, second): PairingScore(engines[first].name, engines[second].name) for first, second in pairings
        }

    @property
    def all_scores(self) -> PairingScore:
        """The first engine against all others, taken together."""
        scores = list(self.scores.values())
        if len(scores) == 1:
            return scores[0]
        total = PairingScore(scores[0].first, "all")
        for score in scores:
            total.wins += score.wins
            total.draws += score.draws
            total.losses += score.losses
            total.pairs += score.pairs
        return total

    def total(self) -> int:
        """How many pairs there are."""
        return self._pairs_each * len(self.scores)

    def pairs(self) -> Iterator[tuple[str, EngineSpec, EngineSpec, int]]:
        """One opening for all pairings before the next."""
        for number in range(self._pairs_each):
            for first, second in self.scores:
                yield f"{first}-{second}-{number}", self.engines[first], self.engines[second], number

    def count(self, key: str, games: PairRecord) -> None:
        """Count a pair for its pairing."""
        first, second, number = map(int, key.split("-"))
        if key != f"{first}-{second}-{number}":
            raise ValueError(f"{key} is no pair of this tournament")
        self.scores[first, second].add_pair(games)

    def settings(self) -> dict[str, Any]:
        """What makes a tournament the same tournament."""
        sprt = self._sprt and asdict(self._sprt)
        return {**super().settings(), "pairings": list(self.scores), "sprt": sprt}

    def is_decided(self) -> bool:
        """Whether the sequential test has its verdict."""
        return self._sprt is not None and bool(self._sprt.verdict(self.all_scores.counts))

    def progress(self) -> str:
        """The score of the first engine in short, and how many forfeits there were."""
        total = self.all_scores
        words = [f"+{total.wins} ={total.draws} -{total.losses}", f"Elo {elo_text(estimate(total.counts))}"]
        if self._sprt is not None:
            words.append(f"LLR {sprt_text(self._sprt, total.counts)}")
        words.append(f"forfeits {sum(conduct.faults.total() for conduct in self.conduct.values())}")
        return "  ".join(words)

    def table(self) -> Table:
        """One line for each pairing, and where there are several, one for all games of the first engine."""
        head = ["pairing", "games", "W", "D", "L", "score", "LL LD DD/WL WD WW", "Elo ± 95 %", "LOS"]
        head += ["LLR (bounds), elo0 to elo1"] if self._sprt is not None else []
        scores = list(self.scores.values())
        rows = [*scores, self.all_scores] if len(scores) > 1 else scores
        return make_table("", head, [score.cells(self._sprt) for score in rows])

    def as_json(self) -> dict[str, Any]:
        """All results."""
        return {**super().as_json(), "pairings": [score.as_json(self._sprt) for score in self.scores.values()]}
