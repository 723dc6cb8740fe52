#!/usr/bin/env python3
"""A factorial test: the Elo of many changes to an engine's options, all measured by the same games.

    python scripts/factorial_test.py --engine "cmd='secateur --tuning' nodes=20000" --pairs 3000 --concurrency 2 \\
        --change no-null-move:null_move_depth=100 --change lmr_count=2 \\
        --openings 8moves_v3.pgn.zip --order random --journal factorial.journal

Every change is one or more options of the engine, spin options with non-default values. In each pair of
games every change is given to one of the two sides at random, or with a --share below 0.5 often to neither. So a pair
says something about every change in which its sides differ, and thousands of games measure all of them nearly as well
as a match of that length measures one. Give large changes, as switching a pruning off, a share of 0.1. The same command
with --resume goes on where it was killed. The result is for choosing: let `match.py --sprt` say whether the choice
gains.

This is a two-level factorial design (R. A. Fisher, "The Design of Experiments", 1935), analysed by logistic regression.
It assumes that Elo adds up; an interaction of two changes is divided between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from chess.engine import EngineError
from rich.table import Table

from toolkit.console import at_least_one, make_table, run_program
from toolkit.elo import fit_elo
from toolkit.engines.spec import EngineSpec, parse_engine
from toolkit.errors import ProgramError
from toolkit.games.experiment import Experiment, Pairing, find_numbers, make_parser
from toolkit.games.runs import Run

# A wide prior about no difference, in Elo: it keeps a change finite that has won every pair so far.
PRIOR_ELO = 1000.0

# The values that each change gives to options by name, by its label.
Changes = Mapping[str, Mapping[str, int]]


class FactorialTest(Experiment):
    """Which side of which pair has which changes, and what came of it.

    share: the chance (above 0, at most 1/2) of a change to be on the one side, and the same to be on the other. With
    1/2 the sides differ in every change; less keeps them close to the engine as it is, for changes of large effect.
    """

    def __init__(
        self,
        engine: EngineSpec,
        changes: Changes,
        defaults: Mapping[str, int],
        pairs: int,
        share: float = 0.5,
        seed: int = 0,
    ) -> None:
        """defaults: the values of all options that changes name, where no change is made. Raises ProgramError."""
        super().__init__(engine, pairs, seed)
        if not 0 < share <= 0.5:
            raise ProgramError(f"a share of {share:g} is not above 0 and at most 0.5")
        self._changes = changes
        self._defaults = defaults
        self._share = share
        self._directions: list[Sequence[int]] = []
        self._results: list[float] = []

    def pairing(self, number: int) -> Pairing:
        """The settings of the two sides of pair `number`."""
        directions = self.directions(number)
        return Pairing(self.values(directions, 1), self.values(directions, -1), directions)

    def directions(self, number: int) -> tuple[int, ...]:
        """For pair `number` and each change: 1 if the first side has it, -1 if the second, 0 if neither."""
        chance = self.chance(number)
        drawn = (chance.random() for _ in self._changes)
        return tuple(1 if part < self._share else -1 if part < 2 * self._share else 0 for part in drawn)

    def values(self, directions: Sequence[int], side: int) -> dict[str, int]:
        """The values of all options for the first side (1) or the second (-1)."""
        values = dict(self._defaults)
        for change, direction in zip(self._changes.values(), directions, strict=True):
            if direction == side:
                values.update(change)
        return values

    def learn(self, number: int, directions: Sequence[int], result: float) -> None:
        """Take a pair's result: the games that the first side won less those that it lost."""
        self._directions.append(directions)
        self._results.append(result)

    def effects(self) -> list[dict[str, Any]]:
        """What the pairs say of each change, the best first. error_elo: half the width of the 95 % interval."""
        directions = np.asarray(self._directions, float).reshape(len(self._results), len(self._changes))
        scores = (np.asarray(self._results, float) + 2) / 4
        elo, errors = fit_elo(directions, scores, 0.0, np.zeros(len(self._changes)), PRIOR_ELO)
        tried = np.count_nonzero(directions, axis=0)
        found = [
            {"label": label, "elo": float(elo[n]), "error_elo": float(errors[n]), "pairs": int(tried[n])}
            for n, label in enumerate(self._changes)
        ]
        return sorted(found, key=lambda effect: effect["elo"], reverse=True)

    def settings(self) -> dict[str, Any]:
        """The changes."""
        return {"changes": self._changes, "defaults": self._defaults, "share": self._share}

    def progress(self) -> str:
        """Nothing: estimates of a few pairs would mislead."""
        return ""

    def table(self) -> Table:
        """A row for each change, the best first."""
        rows = [
            [each["label"], f"{each['elo']:+.1f}", f"{each['error_elo']:.1f}", str(each["pairs"])]
            for each in self.effects()
        ]
        return make_table("", ["change", "Elo", "± (95 %)", "pairs"], rows)

    def as_json(self) -> dict[str, Any]:
        """The effects."""
        return {"changes": self.effects()}


def parse_changes(texts: Sequence[str]) -> Changes:
    """Changes from texts like `[LABEL:]NAME=VALUE[,NAME=VALUE...]`. Raises ProgramError."""
    changes: dict[str, dict[str, int]] = {}
    for text in texts:
        label, _, words = text.rpartition(":")
        change = changes.setdefault(label or text, {})
        for word in words.split(","):
            name, _, number = word.strip().partition("=")
            try:
                change[name.strip()] = int(number)
            except ValueError:
                raise ProgramError(f"--change {text!r}: {word.strip()!r} is not NAME=NUMBER") from None
    return changes


def defaults_of(engine: EngineSpec, changes: Changes) -> dict[str, int]:
    """The engine's own values of the options that changes name. Raises ProgramError."""
    numbers = find_numbers(engine)
    defaults: dict[str, int] = {}
    for change in changes.values():
        for name, value in change.items():
            if name not in numbers:
                raise ProgramError(f"{engine.name} has no number called {name!r}")
            if name in defaults:
                raise ProgramError(f"two changes set {name}")
            option, defaults[name] = numbers[name]
            try:
                option.parse(value)
            except EngineError as error:
                raise ProgramError(str(error)) from None
    return defaults


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = make_parser(__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--change", action="append", required=True, metavar="[LABEL:]NAME=VALUE[,...]", help="once for each change"
    )
    parser.add_argument("--share", type=float, default=0.5, help="chance of a change to be on either side (0.5)")
    parser.add_argument("--pairs", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    words = parser.parse_args(arguments)
    engine = parse_engine(words.engine)
    changes = parse_changes(words.change)
    defaults = defaults_of(engine, changes)
    return Run(words, FactorialTest(engine, changes, defaults, words.pairs, words.share, words.seed)).run()


if __name__ == "__main__":
    run_program(main)
