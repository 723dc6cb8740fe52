"""Experiments: many pairs of games between two settings of one engine; shared by `tune_search` and `factorial_test`.

Invariants: each pair counts once, also when a run is continued from its journal. Which settings meet in a pair, and in
which direction each of them is changed, follows from its number and the seed. A pair with a forfeit is noted and
teaches nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Protocol

from toolkit.console import add_run_arguments, make_table, run_to_end, say, show_progress, standard_output, write_json
from toolkit.engines.engine import Engine, EngineOption, identified
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engine, require_limits
from toolkit.games import adjudication, openings
from toolkit.games.clock import Patience
from toolkit.games.game import PairJob, play_pair
from toolkit.games.record import Effort
from toolkit.games.tournament import PairingScore
from toolkit.journal import Journal
from toolkit.pool import Task, run_tasks

SIDES = ("plus", "minus")


@dataclass(frozen=True)
class Pairing:
    """Two settings that meet. plus, minus: values of options by name; both name the same options.

    directions: how each thing under test is changed: 1 towards `plus`, -1 towards `minus`, 0 for neither.
    """

    plus: dict[str, int]
    minus: dict[str, int]
    directions: tuple[int, ...]


class Method(Protocol):
    """What is tried in which pair, and what is learnt from it."""

    def pairing(self, number: int) -> Pairing:
        """The settings of pair `number`, from 1. Directions depend on the number alone."""

    def learn(self, number: int, directions: Sequence[int], result: float) -> None:
        """Take the result of a pair: the games that `plus` won less those that it lost."""

    def settings(self) -> dict[str, Any]:
        """What a journal must agree on."""

    def progress(self) -> str:
        """What to show while games are played."""

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of the result."""

    def figures(self) -> dict[str, Any]:
        """The result for JSON."""


def make_parser(description: str) -> argparse.ArgumentParser:
    """A command line with the options that all experiments have."""
    parser = argparse.ArgumentParser(description=description, epilog=f"An engine is {ENGINE_SYNTAX}.")
    parser.add_argument("--engine", required=True, metavar="'KEY=VALUE ...'", help="with nodes=, tc= or another limit")
    openings.add_arguments(parser, "random")
    add_run_arguments(parser)
    adjudication.add_arguments(parser)
    return parser


def find_numbers(engine: EngineSpec) -> dict[str, EngineOption]:
    """The engine's options that are whole numbers, by name; what `engine` sets is the default. Raises EngineError."""
    chosen = {name.lower(): value for name, value in engine.options}
    with Engine(engine) as running:
        spins = [option for option in running.options.values() if option.kind == "spin"]
    return {spin.name: replace(spin, default=chosen.get(spin.name.lower(), spin.default) or "0") for spin in spins}


class Experiment:
    """The pairs of a run: those that are done, the journal of them, and those still to be played."""

    def __init__(self, words: argparse.Namespace, engine: EngineSpec, method: Method) -> None:
        """Open the journal, if one is wanted, and learn what is in it. Raises ProgramError and OSError."""
        self._words = words
        self._engine = engine
        self._method = method
        self._rules = adjudication.rules_of(words)
        adjudication.check_tables(self._rules)
        self._book = openings.book_of(words)
        settings = {
            "engine": engine.as_json(),
            "openings": openings.openings_as_json(words),
            "rules": asdict(self._rules),
            **method.settings(),
        }
        self._journal = Journal(words.journal, settings, resume=words.resume)
        self._faults: list[str] = []
        self._effort = Effort()
        self._done: set[int] = set()
        self._journal.replay(self._take)

    def run(self, pairs: int) -> int:
        """Play what is left of so many pairs, and report; returns the exit code."""
        code = run_to_end(lambda: self._play(pairs), self._journal.close)
        if code and not self._done:
            return code
        method, output = self._method, standard_output()
        output.print(make_table(f"{len(self._done)} pairs", *method.table()))
        time, rate = self._effort.cells()
        say(f"{time} a move, {rate} nodes a second")
        for fault in sorted(set(self._faults)):
            say(f"{self._faults.count(fault)} {fault}")
        if self._words.json is not None:
            found = {**method.figures(), "faults": self._faults, **asdict(self._effort)}
            write_json(self._words.json, {"pairs": len(self._done), **found})
        return code

    def _play(self, pairs: int) -> None:
        words = self._words
        openings.warn_of_repetition(self._book, pairs, [self._engine.control])
        results = run_tasks(play_pair, self._tasks(pairs), workers=words.concurrency, cluster=words.cluster)
        with closing(results), show_progress("pairs", pairs, len(self._done)) as advance:
            for key, games in results:
                entry = {"key": int(key), **self._judge(games)}
                self._journal.append(entry)
                self._take(entry)
                advance(1, self._method.progress())

    def _tasks(self, pairs: int) -> Iterator[Task]:
        """The pairing is asked for when the pair begins: by then more may have been learnt."""
        for number in range(1, pairs + 1):
            if number not in self._done:
                pairing = self._method.pairing(number)
                first, second = self._side("plus", pairing.plus), self._side("minus", pairing.minus)
                opening = self._book.opening(number - 1)
                yield Task(str(number), PairJob(first, second, opening, number, self._rules, Patience()))

    def _side(self, name: str, values: Mapping[str, int]) -> EngineSpec:
        """The engine with these values. Two engines of one description are told apart by their names."""
        changed = {option.lower() for option in values}
        kept = [(option, value) for option, value in self._engine.options if option.lower() not in changed]
        options = (*kept, *((option, str(value)) for option, value in values.items()))
        return replace(self._engine, name=f"{self._engine.name} {name}", options=options)

    def _judge(self, games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        score = PairingScore(*(f"{self._engine.name} {side}" for side in SIDES))
        score.add_pair(games)
        faults = [f"{game['fault']}: {game['detail']}" for game in games if game["fault"] is not None]
        effort = sum((Effort(*each) for game in games for each in game["effort"].values()), Effort())
        return {"result": score.wins - score.losses, "faults": faults, "effort": astuple(effort)}

    def _take(self, entry: Mapping[str, Any]) -> None:
        number = entry["key"]
        if number in self._done:
            return
        if type(number) is not int or number < 1 or entry["result"] not in range(-2, 3):
            raise ValueError("it is no pair of this experiment")
        self._done.add(number)
        self._faults += entry["faults"]
        self._effort += Effort(*entry["effort"])
        if not entry["faults"]:
            self._method.learn(number, self._method.pairing(number).directions, entry["result"])


def run_experiment(words: argparse.Namespace, pairs: int, make_method: Callable[[EngineSpec], Method]) -> int:
    """Begin an experiment with this command line, play it to its end or an interruption, and report.

    Raises ProgramError and OSError for what cannot be begun.
    """
    parsed = parse_engine(words.engine)
    require_limits([parsed])
    (engine,) = identified([parsed])
    return Experiment(words, engine, make_method(engine)).run(pairs)
