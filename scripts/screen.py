#!/usr/bin/env python3
"""What each of many changes to an engine's options is worth, all measured by the same games.

    python scripts/screen.py --engine "cmd='secateur --tuning' nodes=20000" --pairs 3000 --concurrency 2 \\
        --change no-null-move:null_move_depth=100 --change late_move_count=2 \\
        --openings 8moves_v3.pgn.zip --order random --journal screen.journal

Every change is one or more options of the engine, whole numbers, with other values than the defaults. In each pair of
games every change is given to one of the two sides at random, or with a --share below 0.5 often to neither, and a
regression tells them apart: so many games weigh each change nearly as well as a match would that tried it alone. Give
large changes, as switching a pruning off, a share of 0.1. The same command with --resume goes on where it was killed.
What comes out is for choosing: let `match.py --sprt` say whether what was chosen gains.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workshop.console import (
    at_least_one,
    complain,
    make_table,
    run_program,
    run_to_end,
    show_progress,
    standard_output,
    write_json,
)
from workshop.engines.playing import LaunchError
from workshop.engines.spec import ENGINE_SYNTAX, EngineSpec, SpecError, parse_engine
from workshop.games.adjudication import Rules, add_arguments, check_tables, rules_of
from workshop.games.clock import Patience
from workshop.games.openings import OpeningBook, OpeningError, read_openings, start_position
from workshop.games.settings import SettingsJob, find_numbers, play_settings_pair
from workshop.journal import Journal, JournalError
from workshop.pool import PoolError, Task, run_tasks
from workshop.screening import Design, Factor, Worth, worths


class ScreenError(Exception):
    """The run cannot begin or go on; the message says why."""


def parse_change(text: str) -> Factor:
    """A factor from `[LABEL:]NAME=VALUE[,NAME=VALUE...]`. Raises ScreenError."""
    label, colon, rest = text.partition(":")
    values = {}
    for word in (rest if colon else text).split(","):
        name, _, number = word.strip().partition("=")
        try:
            values[name.strip()] = int(number)
        except ValueError:
            raise ScreenError(f"--change {text!r}: {word.strip()!r} is not NAME=NUMBER") from None
    return Factor(label.strip() if colon else text, values)


def defaults_of(engine: EngineSpec, factors: list[Factor]) -> dict[str, int]:
    """The engine's own values of the options that factors name. Raises ScreenError, LaunchError."""
    numbers = find_numbers(engine)
    defaults = {}
    for factor in factors:
        for name, value in factor.values.items():
            if name not in numbers:
                raise ScreenError(f"{engine.name} has no number called {name!r}")
            least, most = int(numbers[name].min or 0), int(numbers[name].max or 0)
            if not least <= value <= most:
                raise ScreenError(f"{name} goes from {least} to {most}, not to {value}")
            defaults[name] = int(numbers[name].default or 0)
    return defaults


class Run:
    """A run: the pairs played, and the journal of them."""

    def __init__(self, design: Design, journal: Journal | None) -> None:
        self.design = design
        self._journal = journal
        self.done: set[int] = set()
        self.faults: list[str] = []
        self._directions: list[list[int]] = []
        self._results: list[float] = []
        for entry in journal.entries if journal is not None else []:
            self._learn(entry)

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        """Take the result of a pair, once."""
        entry = {"key": int(key), **outcome}
        if entry["key"] in self.done:
            return
        if self._journal is not None:
            self._journal.append(entry)
        self._learn(entry)

    def close(self) -> None:
        """Nothing can be added after this."""
        if self._journal is not None:
            self._journal.close()

    def worths(self) -> list[Worth]:
        """What the pairs so far say of each change."""
        return worths(self.design.factors, self._directions, self._results)

    def _learn(self, entry: dict[str, Any]) -> None:
        if entry["key"] in self.done:
            return
        self.done.add(entry["key"])
        self.faults += entry["faults"]
        # A pair with a forfeit says nothing about the changes.
        if not entry["faults"]:
            self._directions.append(entry["directions"])
            self._results.append(entry["result"])


def tasks(run: Run, words: argparse.Namespace, engine: EngineSpec, book: OpeningBook, rules: Rules) -> Iterator[Task]:
    """The pairs that are still to be played."""
    for number in range(1, words.pairs + 1):
        if number not in run.done:
            directions = run.design.directions(number)
            job = SettingsJob(
                engine,
                run.design.settings(directions, 1),
                run.design.settings(directions, -1),
                directions,
                book.opening(number - 1),
                rules,
                Patience(),
                keep_engines=words.cluster is None,
            )
            yield Task(str(number), job)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], epilog=f"An engine is {ENGINE_SYNTAX}.")
    parser.add_argument("--engine", required=True, metavar="'KEY=VALUE ...'", help="with nodes=, tc= or another limit")
    parser.add_argument(
        "--change", action="append", required=True, metavar="[LABEL:]NAME=VALUE[,...]", help="once for each change"
    )
    parser.add_argument("--share", type=float, default=0.5, help="chance of a change to be on either side (0.5)")
    parser.add_argument("--pairs", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    parser.add_argument("--order", choices=("file", "random"), default="random")
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N")
    parser.add_argument("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler instead")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="what --resume needs")
    parser.add_argument("--resume", action="store_true", help="go on from the journal, if there is one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    add_arguments(parser)
    return parser.parse_args(arguments)


def begin(words: argparse.Namespace) -> tuple[Run, EngineSpec, OpeningBook, Rules]:
    """Everything that a run needs. Raises ScreenError, SpecError, LaunchError, OpeningError, JournalError, OSError and
    ValueError."""
    engine = parse_engine(words.engine)
    if str(engine.control) == "no limit":
        raise ScreenError(f"no tc=, nodes=, movetime= or depth= for {engine.name}")
    if words.resume and words.journal is None:
        raise ScreenError("--resume needs the --journal that was begun")
    rules = rules_of(words)
    if words.cluster is None:
        check_tables(rules)
    book = start_position()
    if words.openings is not None:
        book = read_openings(words.openings, order=words.order, seed=words.seed)
    factors = [parse_change(text) for text in words.change]
    defaults = defaults_of(engine, factors)
    design = Design(factors, defaults, words.share, words.seed)
    journal = None
    if words.journal is not None:
        settings = {
            "engine": engine.as_json(),
            "changes": [asdict(factor) for factor in factors],
            "defaults": defaults,
            "share": words.share,
            "seed": words.seed,
            "openings": None if words.openings is None else words.openings.name,
            "order": words.order,
            "rules": asdict(rules),
        }
        journal = Journal(words.journal, settings, resume=words.resume)
    return Run(design, journal), engine, book, rules


def play(words: argparse.Namespace, run: Run, engine: EngineSpec, book: OpeningBook, rules: Rules) -> None:
    """Play what is left. Raises ScreenError, OpeningError, PoolError."""
    to_play = tasks(run, words, engine, book, rules)
    results = run_tasks(play_settings_pair, to_play, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("pairs", words.pairs, len(run.done)) as advance:
        for result in results:
            if result.error is not None:
                raise ScreenError(result.complaint)
            run.add(result.key, result.value)
            advance(1, "")


def report(words: argparse.Namespace, run: Run) -> None:
    """The table, the best change first, and the JSON file."""
    found = sorted(run.worths(), key=lambda worth: worth.elo, reverse=True)
    rows = [[worth.label, f"{worth.elo:+.1f}", f"{worth.error_elo:.1f}", str(worth.pairs)] for worth in found]
    standard_output().print(make_table(f"{len(run.done)} pairs", ["change", "Elo", "± (95 %)", "pairs"], rows))
    for fault in sorted(set(run.faults)):
        standard_output().print(f"{run.faults.count(fault)} {fault}", markup=False, soft_wrap=True)
    if words.json is not None:
        changes = [asdict(worth) for worth in found]
        write_json(words.json, {"pairs": len(run.done), "changes": changes, "faults": run.faults})


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    try:
        run, engine, book, rules = begin(words)
    except (ScreenError, SpecError, LaunchError, OpeningError, JournalError, ValueError, OSError) as error:
        complain(str(error))
        return 1
    failures = (ScreenError, OpeningError, PoolError, OSError)
    code = run_to_end(lambda: play(words, run, engine, book, rules), run.close, failures)
    report(words, run)
    return code


if __name__ == "__main__":
    run_program(main)
