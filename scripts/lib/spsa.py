"""Simultaneous perturbation: find good values of many settings at once from the results of noisy games.

Each iteration moves every setting a step up or down, at random, plays the two vectors so made against each other, and
moves every setting towards the better side. Steps and rates sink as Spall's method wants (J. C. Spall, "Implementation
of the simultaneous perturbation algorithm for stochastic optimization", 1998), with the constants of chess engines.

Invariant: the random choices of an iteration depend on the seed and its number alone, so that a run can be continued.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lib.pairing import Pairing

# Exponents of the sinking rate and step, and the stability constant as a share of all iterations.
RATE_EXPONENT = 0.602
STEP_EXPONENT = 0.101
STABILITY_SHARE = 0.1


@dataclass(frozen=True)
class Parameter:
    """A tunable parameter: whole numbers from `minimum` to `maximum`; `step` is tried in the last iteration."""

    name: str
    value: int
    minimum: int
    maximum: int
    step: float


class Spsa:
    """The state of a run."""

    def __init__(self, parameters: Sequence[Parameter], iterations: int, rate: float = 0.002, seed: int = 0) -> None:
        """`rate`: how far a parameter moves in the last iteration, in units of its step for each point of result."""
        self.parameters = tuple(parameters)
        self.values = [float(parameter.value) for parameter in parameters]
        self._iterations = iterations
        self._rate = rate
        self._seed = seed

    def perturbation(self, number: int) -> Pairing:
        """The two vectors of an iteration, from 1, about the values as they are now."""
        chance = random.Random(f"{self._seed} {number}")
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
        """Take an iteration's result: the games that `plus` has won less those that it has lost."""
        stability = STABILITY_SHARE * self._iterations
        for index, (parameter, direction) in enumerate(zip(self.parameters, directions, strict=True)):
            last_rate = self._rate * parameter.step**2
            rate = last_rate * ((stability + self._iterations) / (stability + number)) ** RATE_EXPONENT
            value = self.values[index] + rate * result * direction / self._step(parameter, number)
            self.values[index] = min(max(value, parameter.minimum), parameter.maximum)

    def tuned(self) -> dict[str, int]:
        """The values now, as whole numbers."""
        return {parameter.name: round(value) for parameter, value in zip(self.parameters, self.values, strict=True)}

    def _step(self, parameter: Parameter, number: int) -> float:
        return float(parameter.step * (self._iterations / number) ** STEP_EXPONENT)


def _whole(value: float, share: float, parameter: Parameter) -> int:
    return min(max(int((value + share) // 1), parameter.minimum), parameter.maximum)
