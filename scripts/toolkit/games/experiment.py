"""Experiments: many pairs of games between two settings of one engine; shared by `tune_search` and `factorial_test`.

Invariants: which settings meet in a pair, and in which direction each of them is changed, follows from its number and
the seed. A pair with a forfeit is noted and teaches nothing.
"""

from __future__ import annotations

import argparse
import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chess.engine import Option

from toolkit.engines.client import Engine
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec
from toolkit.games import runs
from toolkit.games.runs import PairRecord, Plan
from toolkit.games.tournament import PairingScore


@dataclass(frozen=True)
class Pairing:
    """Two settings that meet. plus, minus: values of options by name; both name the same options.

    directions: how each thing under test is changed: 1 towards `plus`, -1 towards `minus`, 0 for neither.
    """

    plus: dict[str, int]
    minus: dict[str, int]
    directions: tuple[int, ...]


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


class Experiment(Plan):
    """One engine against itself. Subclasses say what is tried in which pair, and what is learnt from it."""

    def __init__(self, engine: EngineSpec, total: int, seed: int) -> None:
        super().__init__([replace(engine, name=f"{engine.name} {side}") for side in ("plus", "minus")], total)
        self._seed = seed

    def chance(self, number: int) -> random.Random:
        """What decides pair `number`."""
        return random.Random(f"{self._seed} {number}")

    @abstractmethod
    def pairing(self, number: int) -> Pairing:
        """The settings of pair `number`, from 0. Directions depend on the number alone."""

    @abstractmethod
    def learn(self, number: int, directions: Sequence[int], result: float) -> None:
        """Take the result of a pair: the games that `plus` won less those that it lost."""

    def pair(self, number: int) -> tuple[EngineSpec, EngineSpec, int]:
        """The settings are asked for when the pair begins: by then more may have been learnt."""
        pairing = self.pairing(number)
        plus, minus = self.engines
        return _with_values(plus, pairing.plus), _with_values(minus, pairing.minus), number

    def count(self, number: int, games: PairRecord) -> None:
        """Learn from a pair."""
        score = PairingScore(*(engine.name for engine in self.engines))
        score.add_pair(games)
        if all(game["fault"] is None for game in games):
            wins, _, losses = score.results
            self.learn(number, self.pairing(number).directions, wins - losses)


def _with_values(engine: EngineSpec, values: Mapping[str, int]) -> EngineSpec:
    changed = {option.lower() for option in values}
    kept = [(option, value) for option, value in engine.options if option.lower() not in changed]
    return replace(engine, options=(*kept, *((option, str(value)) for option, value in values.items())))
