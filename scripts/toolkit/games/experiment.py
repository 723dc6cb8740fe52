"""Experiments: many pairs of games between two settings of one engine; shared by `tune_search` and `factorial_test`.

Invariants: which settings meet in a pair, and in which direction each of them is changed, follows from its number and
the seed. A pair with a forfeit is noted and teaches nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from chess.engine import Option
from rich.table import Table

from toolkit.console import make_table
from toolkit.engines.client import Engine
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engine
from toolkit.games import runs
from toolkit.games.pairs import Patience
from toolkit.games.tournament import PairingScore


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
    runs.add_arguments(parser, "random")
    return parser


def find_numbers(engine: EngineSpec) -> dict[str, tuple[Option, int]]:
    """The engine's options that are whole numbers, by name, and their values in `engine`. Raises EngineError."""
    chosen = {name.lower(): value for name, value in engine.options}
    with Engine(engine) as running:
        spins = [option for option in running.options.values() if option.type == "spin"]
    return {spin.name: (spin, int(chosen.get(spin.name.lower(), spin.default) or 0)) for spin in spins}


class Experiment(runs.Run):
    """The pairs of one engine against itself."""

    def __init__(self, words: argparse.Namespace, engine: EngineSpec, method: Method, pairs: int) -> None:
        """Raises ProgramError and OSError."""
        sides = [replace(engine, name=f"{engine.name} {side}") for side in ("plus", "minus")]
        super().__init__(words, sides, Patience())
        self._method = method
        self._pairs = pairs

    def total(self) -> int:
        """How many pairs there are."""
        return self._pairs

    def pairs(self) -> Iterator[tuple[str, EngineSpec, EngineSpec, int]]:
        """The settings are asked for when the pair begins: by then more may have been learnt."""
        plus, minus = self.engines
        for number in range(1, self._pairs + 1):
            if str(number) not in self.done:
                pairing = self._method.pairing(number)
                yield str(number), _with_values(plus, pairing.plus), _with_values(minus, pairing.minus), number - 1

    def count(self, key: str, games: runs.PairRecord) -> None:
        """Learn from a pair."""
        number = int(key)
        if number < 1 or key != str(number):
            raise ValueError(f"{key} is no pair of this experiment")
        plus, minus = self.engines
        score = PairingScore(plus.name, minus.name)
        score.add_pair(games)
        if all(game["fault"] is None for game in games):
            self._method.learn(number, self._method.pairing(number).directions, score.wins - score.losses)

    def settings(self) -> dict[str, Any]:
        """What makes an experiment the same experiment."""
        return {**super().settings(), **self._method.settings()}

    def progress(self) -> str:
        """What the method shows."""
        return self._method.progress()

    def table(self) -> Table:
        """That of the method."""
        return make_table(f"{len(self.done)} pairs", *self._method.table())

    def as_json(self) -> dict[str, Any]:
        """All results."""
        return {**super().as_json(), **self._method.figures()}


def _with_values(engine: EngineSpec, values: Mapping[str, int]) -> EngineSpec:
    changed = {option.lower() for option in values}
    kept = [(option, value) for option, value in engine.options if option.lower() not in changed]
    return replace(engine, options=(*kept, *((option, str(value)) for option, value in values.items())))


def run_experiment(words: argparse.Namespace, pairs: int, make_method: Callable[[EngineSpec], Method]) -> int:
    """Begin an experiment with this command line, play it to its end or an interruption, and report.

    Raises ProgramError and OSError for what cannot be begun.
    """
    engine = parse_engine(words.engine)
    return Experiment(words, engine, make_method(engine), pairs).run()
