"""A run of many pairs of games between settings of one engine: what `tune_search` and `factorial_test` have in common.

What must stay true: each pair counts once, also when a run is continued from its journal; a pair with a forfeit is
noted and teaches nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from lib.console import (
    at_least_one,
    complain,
    make_table,
    run_to_end,
    show_progress,
    standard_output,
    write_json,
)
from lib.engines.playing import LaunchError
from lib.engines.spec import EngineSpec, SpecError, parse_engine
from lib.games.adjudication import Rules, add_arguments, check_tables, rules_of
from lib.games.clock import Patience
from lib.games.openings import OpeningBook, OpeningError, read_openings, start_position
from lib.games.settings import SettingsJob, play_settings_pair
from lib.journal import Journal, JournalError
from lib.pairing import Pairing
from lib.pool import PoolError, Task, run_tasks

Subject = TypeVar("Subject")


class RunError(Exception):
    """The run cannot begin or go on; the message says why."""


@dataclass(frozen=True)
class Games:
    """How the games are played: by which engine, from which openings, by which rules."""

    engine: EngineSpec
    book: OpeningBook
    rules: Rules


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that both programs have."""
    parser.add_argument("--engine", required=True, metavar="'KEY=VALUE ...'", help="with nodes=, tc= or another limit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    parser.add_argument("--order", choices=("file", "random"), default="random")
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N")
    parser.add_argument("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler instead")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="what --resume needs")
    parser.add_argument("--resume", action="store_true", help="go on from the journal, if there is one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    add_arguments(parser)


def games_of(words: argparse.Namespace) -> Games:
    """What the command line says of the games. Raises RunError, SpecError, OpeningError, OSError and ValueError."""
    engine = parse_engine(words.engine)
    if str(engine.control) == "no limit":
        raise RunError(f"no tc=, nodes=, movetime= or depth= for {engine.name}")
    if words.resume and words.journal is None:
        raise RunError("--resume needs the --journal that was begun")
    rules = rules_of(words)
    if words.cluster is None:
        check_tables(rules)
    book = start_position()
    if words.openings is not None:
        book = read_openings(words.openings, order=words.order, seed=words.seed)
    return Games(engine, book, rules)


class SettingsRun:
    """The pairs of a run that are done, and the journal of them."""

    def __init__(
        self,
        words: argparse.Namespace,
        games: Games,
        settings: dict[str, Any],
        learn: Callable[[int, tuple[int, ...], float], None],
    ) -> None:
        """`settings`: what a journal must agree on beyond the games. `learn(number, directions, result)` is called once
        for each pair without a forfeit, those of the journal first; the result is games that the plus side won less
        those it lost. Raises JournalError, OSError."""
        self._words = words
        self._games = games
        self._journal = self._open_journal(settings)
        self._learn = learn
        self.done: set[int] = set()
        self.faults: list[str] = []
        for entry in self._journal.entries if self._journal is not None else []:
            self._take(entry)

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        """Take what `play_settings_pair` says of a pair, once."""
        entry = {"key": int(key), **outcome}
        if entry["key"] in self.done:
            return
        if self._journal is not None:
            self._journal.append(entry)
        self._take(entry)

    def close(self) -> None:
        """Nothing can be added after this."""
        if self._journal is not None:
            self._journal.close()

    def play(self, pairs: int, pairing: Callable[[int], Pairing], progress: Callable[[], str] = str) -> None:
        """Play what is left of pairs 1 to `pairs`; `pairing(number)` is asked when the pair begins, and
        `progress()` what to show, by default nothing.

        Raises RunError, OpeningError, PoolError, OSError.
        """
        tasks = self._tasks(pairs, pairing)
        words = self._words
        results = run_tasks(play_settings_pair, tasks, workers=words.concurrency, cluster=words.cluster)
        with closing(results), show_progress("pairs", pairs, len(self.done)) as advance:
            for result in results:
                if result.error is not None:
                    raise RunError(result.complaint)
                self.add(result.key, result.value)
                advance(1, progress())

    def report(self, head: list[str], rows: list[list[str]], figures: dict[str, Any]) -> None:
        """Print the table and the forfeits, and write the figures to the JSON file, if one is wanted."""
        standard_output().print(make_table(f"{len(self.done)} pairs", head, rows))
        for fault in sorted(set(self.faults)):
            standard_output().print(f"{self.faults.count(fault)} {fault}", markup=False, soft_wrap=True)
        if self._words.json is not None:
            write_json(self._words.json, {"pairs": len(self.done), **figures, "faults": self.faults})

    def _open_journal(self, settings: dict[str, Any]) -> Journal | None:
        words = self._words
        if words.journal is None:
            return None
        common = {
            "engine": self._games.engine.as_json(),
            "seed": words.seed,
            "openings": None if words.openings is None else words.openings.name,
            "order": words.order,
            "rules": asdict(self._games.rules),
        }
        return Journal(words.journal, {**common, **settings}, resume=words.resume)

    def _tasks(self, pairs: int, pairing: Callable[[int], Pairing]) -> Iterator[Task]:
        games = self._games
        keep_engines = self._words.cluster is None
        for number in range(1, pairs + 1):
            if number not in self.done:
                opening = games.book.opening(number - 1)
                job = SettingsJob(games.engine, pairing(number), opening, games.rules, Patience(), keep_engines)
                yield Task(str(number), job)

    def _take(self, entry: dict[str, Any]) -> None:
        if entry["key"] in self.done:
            return
        self.done.add(entry["key"])
        self.faults += entry["faults"]
        if not entry["faults"]:
            self._learn(entry["key"], tuple(entry["directions"]), entry["result"])


def carry_out(
    begin: Callable[[], tuple[Subject, SettingsRun]],
    play: Callable[[Subject, SettingsRun], None],
    report: Callable[[Subject, SettingsRun], None],
) -> int:
    """Begin a run, play it to its end or an interruption, and report; returns the exit code."""
    try:
        subject, run = begin()
    except (RunError, SpecError, LaunchError, OpeningError, JournalError, ValueError, OSError) as error:
        complain(str(error))
        return 1
    failures = (RunError, OpeningError, PoolError, OSError)
    code = run_to_end(lambda: play(subject, run), run.close, failures)
    report(subject, run)
    return code
