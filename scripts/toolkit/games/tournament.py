"""A tournament: who plays whom with which opening, and what came of it.

Invariants: the schedule depends on the settings alone, so that it can be continued. A pair of games counts once,
however often it is reported. A game that is in the journal is in the PGN exactly once.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from evaluation.files import replaced
from toolkit.console import show_progress
from toolkit.elo import Pentanomial, pentanomial
from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from toolkit.games.adjudication import Rules
from toolkit.games.clock import Patience
from toolkit.games.game import PairJob, play_pair
from toolkit.games.openings import OpeningBook, warn_of_repetition
from toolkit.games.record import FAULT_KINDS, Effort
from toolkit.journal import Journal
from toolkit.pool import Task, run_tasks

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


@dataclass(frozen=True)
class Settings:
    """What makes a tournament the same tournament.

    pairings: numbers of the engines that meet. openings: how the book was chosen, as JSON.
    """

    engines: tuple[EngineSpec, ...]
    pairings: tuple[tuple[int, int], ...]
    openings: Mapping[str, Any]
    rules: Rules
    patience: Patience

    def as_json(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "engines": [engine.as_json() for engine in self.engines],
            "pairings": self.pairings,
            "openings": dict(self.openings),
            "rules": asdict(self.rules),
            "patience": asdict(self.patience),
        }


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

    def add_pair(self, games: Sequence[Mapping[str, Any]]) -> None:
        """Count the two games of a pair."""
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


class EngineConduct:
    """How an engine behaved: its forfeits by kind, how near it came to losing on time, and what it used."""

    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()
        self.details: list[str] = []
        self.overstep_ms = 0.0
        self.min_clock_ms: float | None = None
        self.effort = Effort()

    def add_game(self, name: str, game: Mapping[str, Any]) -> None:
        """Take what the record of a game says about this engine."""
        if game["guilty"] == name:
            self.faults[game["fault"]] += 1
            self.details.append(f"{game['fault']}: {game['detail']} ({game['white']} - {game['black']})")
        self.overstep_ms = max(self.overstep_ms, game["overstep_ms"].get(name, 0.0))
        left_ms = game["min_clock_ms"].get(name)
        if left_ms is not None:
            self.min_clock_ms = left_ms if self.min_clock_ms is None else min(left_ms, self.min_clock_ms)
        self.effort += Effort(*game["effort"][name])

    def as_json(self) -> dict[str, Any]:
        """Counts of every kind, those of zero too."""
        return {
            **{kind: self.faults[kind] for kind in FAULT_KINDS},
            "details": self.details,
            "overstep_ms": self.overstep_ms,
            "min_clock_ms": self.min_clock_ms,
            **asdict(self.effort),
        }


class Tournament:
    """The schedule and the score."""

    def __init__(self, settings: Settings, book: OpeningBook, pairs: int) -> None:
        """pairs: of games for each pairing."""
        self.settings = settings
        self._book = book
        self._pairs = pairs
        self._done: set[str] = set()
        engines = settings.engines
        self.scores = {
            (first, second): PairingScore(engines[first].name, engines[second].name)
            for first, second in settings.pairings
        }
        self.conduct = {engine.name: EngineConduct() for engine in engines}

    @property
    def total(self) -> PairingScore:
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

    def warn_of_repetition(self) -> None:
        """Of games, if that is to be feared."""
        warn_of_repetition(self._book, self._pairs, [engine.control for engine in self.settings.engines])

    @property
    def pairs_scheduled(self) -> int:
        return self._pairs * len(self.scores)

    @property
    def pairs_done(self) -> int:
        return len(self._done)

    def tasks(self) -> Iterator[Task]:
        """The pairs that are still to be played, one opening for all pairings before the next. Raises ProgramError."""
        engines = self.settings.engines
        for number in range(self._pairs):
            for first, second in self.scores:
                key = f"{first}-{second}-{number}"
                if key in self._done:
                    continue
                opening, rules, patience = self._book.opening(number), self.settings.rules, self.settings.patience
                pair = (engines[first], engines[second], opening, number + 1)
                yield Task(key, PairJob(*pair, rules, patience))

    def add(self, key: str, games: Sequence[Mapping[str, Any]]) -> bool:
        """Count a pair; False, and nothing done, if it has been counted before."""
        if key in self._done:
            return False
        first, second, number = map(int, key.split("-"))
        score = self.scores[first, second]
        colors = [(game["white"], game["black"]) for game in games]
        if key != f"{first}-{second}-{number}" or sorted(colors) != sorted(permutations((score.first, score.second))):
            raise ValueError(f"{key} is no pair of games of this tournament")
        self._done.add(key)
        score.add_pair(games)
        for game in games:
            for name in (game["white"], game["black"]):
                self.conduct[name].add_game(name, game)
        return True


class Archive:
    """Journal and PGN of a tournament. The journal rules: it holds each game's PGN, and is written first."""

    def __init__(self, journal: Journal, pgn_path: Path | None, tournament: Tournament) -> None:
        """Count what the journal holds.

        The PGN may be missing or lack games: it is written anew from the journal, so a kill between the two is mended.
        Raises ProgramError when it has other games, OSError when it cannot be written.
        """
        self._journal = journal
        self._pgn_path = pgn_path
        self._tournament = tournament
        pgns: list[bytes] = []

        def take(entry: Mapping[str, Any]) -> None:
            if tournament.add(entry["key"], entry["games"]):
                pgns.extend(game["pgn"].encode() for game in entry["games"])

        journal.replay(take)
        if pgn_path is None:
            return
        if pgn_path.exists() and not b"".join(pgns).startswith(pgn_path.read_bytes()):
            raise ProgramError(f"{pgn_path} has games that are not in the journal: remove it, or name another")
        if pgns:
            with replaced(pgn_path) as file:
                file.writelines(pgns)

    def add(self, key: str, games: Sequence[Mapping[str, Any]]) -> None:
        """Count a pair and keep it."""
        if not self._tournament.add(key, games):
            return
        self._journal.append({"key": key, "games": list(games)})
        if self._pgn_path is not None:
            with self._pgn_path.open("ab") as file:
                file.writelines(game["pgn"].encode() for game in games)


def play(
    words: argparse.Namespace,
    tournament: Tournament,
    archive: Archive,
    progress: Callable[[], str] = str,
    is_decided: Callable[[], bool] = bool,
) -> None:
    """Play what is left, until it is decided, where the command line says. Raises ProgramError.

    progress: what to show beside the number of pairs.
    """
    if is_decided():
        return
    tournament.warn_of_repetition()
    results = run_tasks(play_pair, tournament.tasks(), workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("pairs", tournament.pairs_scheduled, tournament.pairs_done) as advance:
        for key, games in results:
            archive.add(key, games)
            advance(1, progress())
            if is_decided():
                return
