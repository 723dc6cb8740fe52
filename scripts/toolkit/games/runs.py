"""Runs of many pairs of games: what is played, on all workers; the journal and the PGN; how the engines behaved.

Invariants: which pairs are played follows from the settings, so that a run can be continued, and may grow. A pair
counts once. The journal is written first, and a game that is in it is in the PGN exactly once.
"""

from __future__ import annotations

import argparse
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.table import Table

from evaluation.files import replace_file
from toolkit.console import (
    add_run_arguments,
    make_table,
    new_file,
    note,
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
from toolkit.games.pairs import FAULTS, Conduct, PairJob, play_pair
from toolkit.journal import Journal
from toolkit.pool import Task, run_tasks

# The records of the two games of a pair, as `play_pair` gives them.
PairRecord = Sequence[Mapping[str, Any]]


class Plan(ABC):
    """What is played, and what is learnt from it. `total`: how many pairs there are, numbered from 0."""

    def __init__(self, engines: Sequence[EngineSpec], total: int) -> None:
        self.engines = tuple(engines)
        self.total = total

    @abstractmethod
    def pair(self, number: int) -> tuple[EngineSpec, EngineSpec, int]:
        """Who meets in a pair, and the number of its opening, from 0. Asked when the pair begins."""

    @abstractmethod
    def count(self, number: int, games: PairRecord) -> None:
        """Take the games of a pair. Raises ValueError, LookupError or TypeError for what is no pair of this plan."""

    def is_decided(self) -> bool:
        """Whether nothing more need be played."""
        return False

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What makes a plan the same plan, as JSON, besides its engines."""

    @abstractmethod
    def progress(self) -> str:
        """What to show while games are played."""

    @abstractmethod
    def table(self) -> Table:
        """What came of it."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """What came of it, for JSON."""


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


def conduct_as_json(conduct: Conduct) -> dict[str, Any]:
    """How an engine behaved, with counts of every kind of forfeit, those of zero too."""
    counts = Counter(kind for kind, _ in conduct.forfeits)
    least_ms = conduct.min_clock_ms if math.isfinite(conduct.min_clock_ms) else None
    return {**asdict(conduct), "min_clock_ms": least_ms, "faults": {kind: counts[kind] for kind in FAULTS}}


def conduct_cells(conduct: Conduct) -> list[str]:
    """Counts of forfeits, worst overstep, least time on the clock, mean time of a move, and nodes a second."""
    counts = Counter(kind for kind, _ in conduct.forfeits)
    clock = f"{conduct.min_clock_ms:.0f} ms" if math.isfinite(conduct.min_clock_ms) else "-"
    time = f"{1000 * conduct.seconds / conduct.moves:.1f} ms" if conduct.moves else "-"
    rate = f"{conduct.nodes / conduct.seconds:.0f}" if conduct.nodes and conduct.seconds else "-"
    return [*(str(counts[kind]) for kind in FAULTS), f"{conduct.overstep_ms:.1f} ms", clock, time, rate]


class Run:
    """A plan that is played, where and as a command line says."""

    def __init__(self, words: argparse.Namespace, plan: Plan, margin_ms: float = 0.0) -> None:
        """words: with the options of `add_arguments`. Every engine is started once. Raises ProgramError and OSError."""
        require_limits(plan.engines)
        self._words = words
        self._plan = plan
        self._margin_ms = margin_ms
        self._rules = adjudication.rules_of(words)
        self._book = openings.book_of(words)
        self._engines = {engine.name: engine for engine in identified(plan.engines)}
        self._conduct = {name: Conduct() for name in self._engines}
        self._done: set[int] = set()

    def run(self) -> int:
        """Play what is left, until it is decided, and report; returns the exit code.

        Raises ProgramError and OSError for what cannot be begun.
        """
        words, plan = self._words, self._plan
        path = words.journal or (words.pgn and words.pgn.with_name(f"{words.pgn.name}.journal"))
        with Journal(path, self._settings(), resume=words.resume) as journal:
            pgns: list[bytes] = []
            journal.replay(lambda entry: pgns.append(self._count(entry)))
            if words.pgn is not None:
                mend_pgn(words.pgn, b"".join(pgns))
            code = run_to_end(lambda: self._play(journal))
        # Without a game there is nothing to show beside the complaint.
        if self._done or not code:
            say(f"{len(self._done)} of {plan.total} pairs")
            standard_output().print(plan.table())
            self._show_conduct()
            if words.json is not None:
                conduct = {name: conduct_as_json(conduct) for name, conduct in self._conduct.items()}
                head = {"settings": self._settings(), "pairs": len(self._done), "conduct": conduct}
                write_json(words.json, {**head, **plan.as_json()})
        return code

    def _settings(self) -> dict[str, Any]:
        """What makes a run the same run, as JSON."""
        return {
            "engines": [engine.as_json() for engine in self._engines.values()],
            "openings": openings.openings_as_json(self._words),
            "rules": asdict(self._rules),
            "margin_ms": self._margin_ms,
            "pgn": self._words.pgn is not None,
            **self._plan.settings(),
        }

    def _count(self, entry: Mapping[str, Any]) -> bytes:
        """Count a pair, and return its PGN, if it is wanted.

        Raises ValueError, LookupError or TypeError for what is no entry of this run.
        """
        number, games = entry["pair"], entry["games"]
        if type(number) is not int or number < 0 or number in self._done:
            raise ValueError(f"{number} is no pair that is left")
        self._plan.count(number, games)
        self._done.add(number)
        for game in games:
            for name in (game["white"], game["black"]):
                self._conduct[name].add(Conduct(**game["conduct"][name]))
        return b"" if self._words.pgn is None else "".join(game["pgn"] for game in games).encode()

    def _play(self, journal: Journal) -> None:
        words, plan = self._words, self._plan
        if plan.is_decided():
            return
        on_a_clock = any(engine.control.base_seconds or engine.control.movetime_seconds for engine in plan.engines)
        if plan.total > len(self._book) and not on_a_clock:
            counts = f"{len(self._book)} openings for {plan.total} pairs"
            note(f"warning: {counts}: without a clock, engines may play the same games again")
        results = run_tasks(play_pair, self._tasks(), workers=words.concurrency, cluster=words.cluster)
        with closing(results), show_progress("pairs", plan.total, len(self._done)) as advance:
            for key, games in results:
                entry = {"pair": int(key), "games": games}
                pgn = self._count(entry)
                journal.append(entry)
                if words.pgn is not None:
                    with words.pgn.open("ab") as file:
                        file.write(pgn)
                forfeits = sum(len(conduct.forfeits) for conduct in self._conduct.values())
                advance(1, f"{plan.progress()}  forfeits {forfeits}")
                if plan.is_decided():
                    return

    def _tasks(self) -> Iterator[Task]:
        for number in range(self._plan.total):
            if number not in self._done:
                *sides, opening = self._plan.pair(number)
                first, second = (replace(side, identity=self._engines[side.name].identity) for side in sides)
                settings = (self._rules, self._margin_ms, self._words.pgn is not None)
                yield Task(str(number), PairJob(first, second, self._book.opening(opening), opening + 1, *settings))

    def _show_conduct(self) -> None:
        """Forfeits by engine and kind, the clocks, and what the engines used; then each forfeit in its words."""
        plurals = {"time loss": "time losses", "illegal move": "illegal moves", "crash": "crashes"}
        kinds = [plurals.get(kind, f"{kind}s") for kind in FAULTS]
        head = ["engine", *kinds, "worst overstep", "least on clock", "time a move", "nodes a second"]
        rows = [[name, *conduct_cells(conduct)] for name, conduct in self._conduct.items()]
        standard_output().print(make_table("", head, rows))
        for name, conduct in self._conduct.items():
            for kind, detail in conduct.forfeits:
                say(f"{name}: {kind}: {detail}")


def mend_pgn(path: Path, games: bytes) -> None:
    """Have a file hold the games of the journal, which rules: a kill may have come between the two.

    Raises ProgramError when the file has other games, OSError.
    """
    if path.exists() and not games.startswith(path.read_bytes()):
        raise ProgramError(f"{path} has games that are not in the journal: remove it, or name another")
    if games:
        replace_file(path, games)
