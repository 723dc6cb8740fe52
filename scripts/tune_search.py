#!/usr/bin/env python3
"""Tune an engine's numbers by playing: SPSA over pairs of games.

    python scripts/tune_search.py --engine "cmd='secateur --tuning' tc=1+0.01" --tune all \\
        --iterations 5000 --openings 8moves_v3.pgn.zip --order random --concurrency 2 --journal tune.journal

Any UCI engine will do whose numbers are spin options. `--tune NAME[=STEP]` names one of them, and how far it is moved
at the end. The default step is a twentieth of its range, or a quarter of its value if that is less. `--tune all` takes
every number whose name is in lower case, as those of `secateur --tuning` are. The same command with --resume
goes on where it was killed, also with more iterations. The result is a proposal: let `match.py --sprt` say whether it
gains.

SPSA is simultaneous perturbation stochastic approximation. Each iteration moves every parameter a step up or down at
random, plays the two parameter vectors against each other, and moves every parameter towards the better side. Step
sizes and learning rates decay as in J. C. Spall, "Implementation of the simultaneous perturbation algorithm for
stochastic optimization", 1998.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from toolkit.console import above_zero, at_least_one, make_table, run_program
from toolkit.engines.spec import EngineSpec, parse_engine
from toolkit.errors import ProgramError
from toolkit.games.experiment import Experiment, Pairing, find_numbers, make_parser
from toolkit.games.runs import Run

# Exponents of the sinking rate and step, and the stability constant as a share of all iterations.
RATE_EXPONENT = 0.602
STEP_EXPONENT = 0.101
STABILITY_SHARE = 0.1
# Steps that are not given: of the range, but of the value where the range also holds what switches a thing off.
STEP_RANGE_SHARE = 0.05
STEP_VALUE_SHARE = 0.25
MIN_STEP = 0.5


@dataclass(frozen=True)
class Parameter:
    """A tunable parameter: whole numbers from `minimum` to `maximum`; `step` is tried in the last iteration."""

    name: str
    value: int
    minimum: int
    maximum: int
    step: float


class Spsa(Experiment):
    """The state of a run.

    Invariant: the random choices of an iteration depend on the seed and its number alone. A run may grow: what has been
    played is then learnt from as if all iterations had been asked for at once.
    """

    def __init__(
        self, engine: EngineSpec, parameters: Sequence[Parameter], iterations: int, rate: float = 0.002, seed: int = 0
    ) -> None:
        """`rate`: how far a parameter moves in the last iteration, in units of its step for each point of result."""
        super().__init__(engine, iterations, seed)
        self.parameters = tuple(parameters)
        self.values = [float(parameter.value) for parameter in parameters]
        self._rate = rate

    def pairing(self, number: int) -> Pairing:
        """The two vectors of an iteration, from 0, about the values as they are now."""
        chance = self.chance(number)
        directions = tuple(chance.choice((-1, 1)) for _ in self.parameters)
        rounding = [chance.random() for _ in self.parameters]
        plus, minus = {}, {}
        for parameter, value, direction, share in zip(self.parameters, self.values, directions, rounding, strict=True):
            step = direction * self._step(parameter, number)
            # Rounded at random, both the same way, so that fractions count in the long run.
            plus[parameter.name] = _whole(value + step, share, parameter)
            minus[parameter.name] = _whole(value - step, share, parameter)
        return Pairing(plus, minus, directions)

    def learn(self, number: int, directions: Sequence[int], result: float) -> None:
        """Take the result of an iteration: the games that `plus` has won less those that it has lost."""
        stability = STABILITY_SHARE * self.total
        for index, (parameter, direction) in enumerate(zip(self.parameters, directions, strict=True)):
            last_rate = self._rate * parameter.step**2
            rate = last_rate * ((stability + self.total) / (stability + number + 1)) ** RATE_EXPONENT
            value = self.values[index] + rate * result * direction / self._step(parameter, number)
            self.values[index] = min(max(value, parameter.minimum), parameter.maximum)

    def tuned(self) -> dict[str, int]:
        """The values now, as whole numbers."""
        return {each.name: round(value) for each, value in zip(self.parameters, self.values, strict=True)}

    def settings(self) -> dict[str, Any]:
        """The parameters."""
        parameters = [asdict(parameter) for parameter in self.parameters]
        return {"parameters": parameters, "rate": self._rate}

    def progress(self) -> str:
        """The values now, as far as there is room."""
        return ", ".join(f"{name} {value}" for name, value in self.tuned().items())[:120]

    def table(self) -> Table:
        """A row for each parameter."""
        rows = [
            [each.name, str(each.value), f"{value:.1f}", str(round(value)), f"{each.minimum} to {each.maximum}"]
            for each, value in zip(self.parameters, self.values, strict=True)
        ]
        return make_table("", ["number", "before", "exact", "tuned", "range"], rows)

    def as_json(self) -> dict[str, Any]:
        """The tuned values."""
        return {"tuned": self.tuned()}

    def _step(self, parameter: Parameter, number: int) -> float:
        return float(parameter.step * (self.total / (number + 1)) ** STEP_EXPONENT)


def _whole(value: float, share: float, parameter: Parameter) -> int:
    return min(max(int((value + share) // 1), parameter.minimum), parameter.maximum)


def find_parameters(engine: EngineSpec, wanted: list[str]) -> list[Parameter]:
    """The tunable parameters that --tune names, as the engine declares them. Raises ProgramError."""
    spins = find_numbers(engine)
    steps: dict[str, float | None] = {}
    for word in wanted:
        name, equals, number = word.partition("=")
        try:
            step = above_zero(number) if equals else None
        except argparse.ArgumentTypeError as error:
            raise ProgramError(f"--tune {word}: {error}") from None
        names = [spin for spin in spins if spin == spin.lower()] if name == "all" and not equals else [name]
        for known in names:
            if known not in spins:
                raise ProgramError(f"{engine.name} has no number called {known!r}")
            # What is named by itself has its own step, whatever the order.
            steps[known] = step or steps.get(known)
    parameters = []
    for name, step in steps.items():
        spin, value = spins[name]
        least, most = spin.min or 0, spin.max or 0
        usual = (most - least) * STEP_RANGE_SHARE
        if value:
            usual = min(usual, abs(value) * STEP_VALUE_SHARE)
        parameters.append(Parameter(name, value, least, most, step or max(usual, MIN_STEP)))
    if not parameters:
        raise ProgramError("nothing to tune: --tune names no number")
    return parameters


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = make_parser(__doc__.partition("\n\n")[0])
    parser.add_argument("--tune", action="append", required=True, metavar="NAME[=STEP]", help="once for each, or all")
    parser.add_argument("--iterations", type=at_least_one, default=2000, metavar="N", help="pairs of games (2000)")
    parser.add_argument("--rate", type=above_zero, default=0.002, help="how fast the numbers move at the end (0.002)")
    words = parser.parse_args(arguments)
    engine = parse_engine(words.engine)
    parameters = find_parameters(engine, words.tune)
    return Run(words, Spsa(engine, parameters, words.iterations, words.rate, words.seed)).run()


if __name__ == "__main__":
    run_program(main)
