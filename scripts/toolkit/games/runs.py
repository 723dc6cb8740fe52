"""Runs of many pairs of games: what is played, on all workers; the journal and the PGN; how the engines behaved.

Invariants: which pairs are played follows from the settings, so that a run can be continued. A pair counts once,
however often it is reported. The journal is written first, and a game that is in it is in the PGN exactly once.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from evaluation.files import replaced
from toolkit.console import (
    add_run_arguments,
    make_table,
    new_file,
    run_to_end,
    say,
    show_progress,
    standard_output,
    write_json,
)
from toolkit.engines.client import identified
from toolkit.engines.spec import EngineSpec, require_limits
from toolkit.errors import ProgramError
from toolkit.games import adjudication, openings
from toolkit.games.pairs import FAULT_KINDS, Effort, PairJob, Patience, play_pair
from toolkit.journal import Journal, journal_beside
from toolkit.pool import Task, run_tasks

# The records of the two games of a pair, as `play_pair` gives them.
PairRecord = Sequence[Mapping[str, Any]]


def add_arguments(parser: argparse.ArgumentParser, order: openings.Order) -> None:
    """The options of every run of games. order: the usual one of its openings."""
    openings.add_arguments(parser, order)
    adjudication.add_arguments(parser)
    add_run_arguments(parser, "what --resume needs (the PGN's name and .journal)")
    parser.add_argument("--pgn", type=new_file, metavar="FILE", help="write the games")


def pairs_of(games: int) -> int:
    """How many pairs `--games` asks for. Raises ProgramError for an odd number."""
    if games % 2:
        raise ProgramError(f"--games {games}: openings are played in pairs of games")
    return games // 2


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


class Run(ABC):
    """The pairs that are to be played, and what came of them."""

    def __init__(self, words: argparse.Namespace, engines: Sequence[EngineSpec], patience: Patience) -> None:
        """words: with the options of `add_arguments`. Every engine is started once. Raises ProgramError and OSError."""
        require_limits(engines)
        self._words = words
        self._patience = patience
        self._rules = adjudication.rules_of(words)
        adjudication.check_tables(self._rules)
        self._book = openings.book_of(words)
        self.engines = identified(engines)
        self.conduct = {engine.name: EngineConduct() for engine in engines}
        self.done: set[str] = set()

    @abstractmethod
    def pairs(self) -> Iterator[tuple[str, EngineSpec, EngineSpec, int]]:
        """Every pair: its key, who meets, and the number of its opening, from 0. Those in `done` may be left out."""

    @abstractmethod
    def count(self, key: str, games: PairRecord) -> None:
        """Count a pair. Raises ValueError, LookupError or TypeError for what is no pair of this run."""

    @abstractmethod
    def total(self) -> int:
        """How many pairs there are."""

    @abstractmethod
    def progress(self) -> str:
        """What to show while games are played."""

    @abstractmethod
    def table(self) -> Table:
        """What came of it."""

    def is_decided(self) -> bool:
        """Whether nothing more need be played."""
        return False

    def settings(self) -> dict[str, Any]:
        """What makes a run the same run, as JSON."""
        return {
            "engines": [engine.as_json() for engine in self.engines],
            "openings": openings.openings_as_json(self._words),
            "rules": asdict(self._rules),
            "patience": asdict(self._patience),
            "pgn": self._words.pgn is not None,
        }

    def add(self, key: str, games: PairRecord) -> bool:
        """Count a pair; False, and nothing done, if it has been counted before."""
        if key in self.done:
            return False
        self.count(key, games)
        self.done.add(key)
        for game in games:
            for name in (game["white"], game["black"]):
                self.conduct[name].add_game(name, game)
        return True

    def run(self) -> int:
        """Play what is left, until it is decided, where the command line says, and report; returns the exit code.

        Raises ProgramError and OSError for what cannot be begun.
        """
        words = self._words
        path = words.journal or (words.pgn and journal_beside(words.pgn))
        with Journal(path, self.settings(), resume=words.resume) as journal:
            archive = Archive(journal, words.pgn, self)
            code = run_to_end(lambda: self._play(archive))
        # Without a game there is nothing to show beside the complaint.
        if self.done or not code:
            standard_output().print(self.table())
            self._show_conduct()
            if words.json is not None:
                write_json(words.json, self.as_json())
        return code

    def _play(self, archive: Archive) -> None:
        if self.is_decided():
            return
        words, total = self._words, self.total()
        openings.warn_of_repetition(self._book, total, [engine.control for engine in self.engines])
        results = run_tasks(play_pair, self._tasks(), workers=words.concurrency, cluster=words.cluster)
        with closing(results), show_progress("pairs", total, len(self.done)) as advance:
            for key, games in results:
                archive.add(key, games)
                advance(1, self.progress())
                if self.is_decided():
                    return

    def _tasks(self) -> Iterator[Task]:
        for key, first, second, number in self.pairs():
            if key not in self.done:
                opening, with_pgn = self._book.opening(number), self._words.pgn is not None
                yield Task(key, PairJob(first, second, opening, number + 1, self._rules, self._patience, with_pgn))

    def _show_conduct(self) -> None:
        """Show forfeits by engine and kind, the clocks, and what the engines used; then each forfeit in its words."""
        plurals = {"time loss": "time losses", "illegal move": "illegal moves", "crash": "crashes"}
        kinds = [plurals.get(kind, f"{kind}s") for kind in FAULT_KINDS]
        head = ["engine", *kinds, "worst overstep", "least on clock", "time a move", "nodes a second"]
        rows = []
        for name, conduct in self.conduct.items():
            clock = "-" if conduct.min_clock_ms is None else f"{conduct.min_clock_ms:.0f} ms"
            counts = [str(conduct.faults[kind]) for kind in FAULT_KINDS]
            rows.append([name, *counts, f"{conduct.overstep_ms:.1f} ms", clock, *conduct.effort.cells()])
        standard_output().print(make_table("", head, rows))
        for name, conduct in self.conduct.items():
            for detail in conduct.details:
                say(f"{name}: {detail}")

    def as_json(self) -> dict[str, Any]:
        """The results, with the settings, and how the engines behaved."""
        conduct = {name: conduct.as_json() for name, conduct in self.conduct.items()}
        return {"settings": self.settings(), "pairs": len(self.done), "conduct": conduct}


class Archive:
    """Journal and PGN of a run. The journal rules: with a PGN it holds each game's."""

    def __init__(self, journal: Journal, pgn_path: Path | None, run: Run) -> None:
        """Count what the journal holds.

        The PGN may be missing or lack games: it is written anew from the journal, so a kill between the two is mended.
        Raises ProgramError when it has other games, OSError when it cannot be written.
        """
        self._journal = journal
        self._pgn_path = pgn_path
        self._run = run
        pgns: list[bytes] = []

        def take(entry: Mapping[str, Any]) -> None:
            if run.add(entry["key"], entry["games"]) and pgn_path is not None:
                pgns.extend(game["pgn"].encode() for game in entry["games"])

        journal.replay(take)
        if pgn_path is None:
            return
        if pgn_path.exists() and not b"".join(pgns).startswith(pgn_path.read_bytes()):
            raise ProgramError(f"{pgn_path} has games that are not in the journal: remove it, or name another")
        if pgns:
            with replaced(pgn_path) as file:
                file.writelines(pgns)

    def add(self, key: str, games: PairRecord) -> None:
        """Count a pair and keep it."""
        if not self._run.add(key, games):
            return
        self._journal.append({"key": key, "games": list(games)})
        if self._pgn_path is not None:
            with self._pgn_path.open("ab") as file:
                file.writelines(game["pgn"].encode() for game in games)
