#!/usr/bin/env python3
"""Tune an engine's numbers by playing: SPSA over pairs of games.

    python scripts/tune_search.py --engine "cmd='secateur --tuning' tc=1+0.01" --tune all \\
        --iterations 5000 --openings 8moves_v3.pgn.zip --order random --concurrency 2 --journal tune.journal

Any UCI engine will do whose numbers are spin options. `--tune NAME[=STEP]` names one of them, and how far it is moved
at the end: if that is not said, a twentieth of its range, or a quarter of its value where that is less. `--tune all`
takes every number whose name is in small letters, as those of `secateur --tuning` are. The same command with --resume
goes on where it was killed. What comes out is a proposal: let `match.py --sprt` say whether it gains.
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
from workshop.spsa import Dial, Spsa

# Steps that nobody has named: of the range, but of the value where the range also holds what switches a thing off.
STEP_RANGE_SHARE = 0.05
STEP_VALUE_SHARE = 0.25
LEAST_STEP = 0.5


class TuneError(Exception):
    """The run cannot begin or go on; the message says why."""


def find_dials(engine: EngineSpec, wanted: list[str]) -> list[Dial]:
    """The dials that the words of --tune name, as the engine declares them. Raises TuneError, LaunchError."""
    spins = find_numbers(engine)
    steps: dict[str, float | None] = {}
    for word in wanted:
        name, equals, number = word.partition("=")
        names = [spin for spin in spins if spin == spin.lower()] if name == "all" and not equals else [name]
        for known in names:
            if known not in spins:
                raise TuneError(f"{engine.name} has no number called {known!r}")
            steps[known] = float(number) if equals else None
    dials = []
    for name, step in steps.items():
        option = spins[name]
        least, most, value = int(option.min or 0), int(option.max or 0), int(option.default or 0)
        usual = (most - least) * STEP_RANGE_SHARE
        if value:
            usual = min(usual, abs(value) * STEP_VALUE_SHARE)
        dials.append(Dial(name, value, least, most, step or max(usual, LEAST_STEP)))
    if not dials:
        raise TuneError("nothing to tune: --tune names no number")
    return dials


class Run:
    """A run of the tuner: what has been learnt, and the journal of it."""

    def __init__(self, spsa: Spsa, journal: Journal | None) -> None:
        self.spsa = spsa
        self._journal = journal
        self.done: set[int] = set()
        self.faults: list[str] = []
        for entry in journal.entries if journal is not None else []:
            self._learn(entry)

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        """Take the result of an iteration, once."""
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

    def _learn(self, entry: dict[str, Any]) -> None:
        if entry["key"] in self.done:
            return
        self.done.add(entry["key"])
        self.faults += entry["faults"]
        # A pair with a forfeit says nothing about the numbers.
        if not entry["faults"]:
            self.spsa.learn(entry["key"], entry["directions"], entry["result"])


def tasks(run: Run, words: argparse.Namespace, engine: EngineSpec, book: OpeningBook, rules: Rules) -> Iterator[Task]:
    """The iterations that are still to be played; each is made when it is taken, from the values of that moment."""
    for number in range(1, words.iterations + 1):
        if number not in run.done:
            perturbation = run.spsa.perturbation(number)
            job = SettingsJob(
                engine,
                perturbation.plus,
                perturbation.minus,
                perturbation.directions,
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
    parser.add_argument("--tune", action="append", required=True, metavar="NAME[=STEP]", help="once for each, or all")
    parser.add_argument("--iterations", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    parser.add_argument("--rate", type=float, default=0.002, help="how fast the numbers move at the end (0.002)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--openings", type=Path, metavar="FILE", help=".pgn or .epd, also in a .zip or .gz")
    parser.add_argument("--order", choices=("file", "random"), default="random")
    parser.add_argument("--concurrency", type=at_least_one, default=1, metavar="N")
    parser.add_argument("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler instead")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="what --resume needs")
    parser.add_argument("--resume", action="store_true", help="go on from the journal, if there is one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the values")
    add_arguments(parser)
    return parser.parse_args(arguments)


def begin(words: argparse.Namespace) -> tuple[Run, EngineSpec, OpeningBook, Rules]:
    """Everything that a run needs. Raises TuneError, SpecError, LaunchError, OpeningError, JournalError, OSError and
    ValueError."""
    engine = parse_engine(words.engine)
    if str(engine.control) == "no limit":
        raise TuneError(f"no tc=, nodes=, movetime= or depth= for {engine.name}")
    if words.rate <= 0:
        raise TuneError(f"--rate {words.rate:g} is not above 0")
    if words.resume and words.journal is None:
        raise TuneError("--resume needs the --journal that was begun")
    rules = rules_of(words)
    if words.cluster is None:
        check_tables(rules)
    book = start_position()
    if words.openings is not None:
        book = read_openings(words.openings, order=words.order, seed=words.seed)
    dials = find_dials(engine, words.tune)
    spsa = Spsa(dials, words.iterations, words.rate, words.seed)
    journal = None
    if words.journal is not None:
        settings = {
            "engine": engine.as_json(),
            "dials": [asdict(dial) for dial in dials],
            "iterations": words.iterations,
            "rate": words.rate,
            "seed": words.seed,
            "openings": None if words.openings is None else words.openings.name,
            "order": words.order,
            "rules": asdict(rules),
        }
        journal = Journal(words.journal, settings, resume=words.resume)
    return Run(spsa, journal), engine, book, rules


def play(words: argparse.Namespace, run: Run, engine: EngineSpec, book: OpeningBook, rules: Rules) -> None:
    """Play what is left. Raises TuneError, OpeningError, PoolError."""
    to_play = tasks(run, words, engine, book, rules)
    results = run_tasks(play_settings_pair, to_play, workers=words.concurrency, cluster=words.cluster)
    with closing(results), show_progress("pairs", words.iterations, len(run.done)) as advance:
        for result in results:
            if result.error is not None:
                raise TuneError(result.complaint)
            run.add(result.key, result.value)
            advance(1, ", ".join(f"{name} {value}" for name, value in run.spsa.tuned().items())[:120])


def report(words: argparse.Namespace, run: Run) -> None:
    """The table of values, and the JSON file."""
    spsa = run.spsa
    rows = [
        [dial.name, str(dial.value), f"{value:.1f}", str(round(value)), f"{dial.minimum} to {dial.maximum}"]
        for dial, value in zip(spsa.dials, spsa.values, strict=True)
    ]
    standard_output().print(make_table(f"{len(run.done)} pairs", ["number", "before", "exact", "tuned", "range"], rows))
    for fault in sorted(set(run.faults)):
        standard_output().print(f"{run.faults.count(fault)} {fault}", markup=False, soft_wrap=True)
    if words.json is not None:
        write_json(words.json, {"pairs": len(run.done), "tuned": spsa.tuned(), "faults": run.faults})


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    words = parse_arguments(arguments)
    try:
        run, engine, book, rules = begin(words)
    except (TuneError, SpecError, LaunchError, OpeningError, JournalError, ValueError, OSError) as error:
        complain(str(error))
        return 1
    failures = (TuneError, OpeningError, PoolError, OSError)
    code = run_to_end(lambda: play(words, run, engine, book, rules), run.close, failures)
    report(words, run)
    return code


if __name__ == "__main__":
    run_program(main)
