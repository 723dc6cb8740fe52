"""A factorial test: the Elo of many changes at once, from games in which each is switched at random.

Each change is given to one of the two sides of a pair, or to neither. So a pair says something about every change in
which its sides differ, and thousands of games measure all of them as well as a match of that length measures one. This
is a two-level factorial design (R. A. Fisher, "The Design of Experiments", 1935), read by logistic regression. It
assumes that Elo adds up; what two changes gain only together is divided between them.

Invariant: which changes a pair tries depends on the seed and its number alone, so that a run can be continued.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lib.elo import DEVIATIONS_95
from lib.pairing import Pairing

# One Elo in the units of the logistic curve.
LOGITS_PER_ELO = math.log(10) / 400
# A wide prior about no difference, in Elo: it keeps a change finite that has won every pair so far.
PRIOR_ELO = 1000.0
MOST_ROUNDS = 50


@dataclass(frozen=True)
class Factor:
    """A change: its label, and the values it gives to options by name."""

    label: str
    values: dict[str, int]


@dataclass(frozen=True)
class Effect:
    """What a change was seen to gain: Elo and half the width of its 95 % interval, from the pairs that tried it."""

    label: str
    elo: float
    error_elo: float
    pairs: int


class Design:
    """Which side of which pair has which changes.

    share: the chance (above 0, at most 1/2) of a change to be on the one side, and the same to be on the other. With
    1/2 the sides differ in every change; less keeps them close to the engine as it is, for changes of large effect.
    """

    def __init__(self, factors: Sequence[Factor], defaults: dict[str, int], share: float = 0.5, seed: int = 0) -> None:
        """defaults: the values of all options that factors name, where no factor changes them."""
        if not 0 < share <= 0.5:
            raise ValueError(f"a share of {share:g} is not above 0 and at most 0.5")
        names = [name for factor in factors for name in factor.values]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two changes set {', '.join(twice)}")
        labels = [factor.label for factor in factors]
        if len(set(labels)) < len(labels):
            raise ValueError("two changes have the same label")
        self.factors = tuple(factors)
        self._defaults = {name: defaults[name] for name in names}
        self._share = share
        self._seed = seed

    def pairing(self, number: int) -> Pairing:
        """The settings of the two sides of pair `number`."""
        directions = self.directions(number)
        return Pairing(self.settings(directions, 1), self.settings(directions, -1), directions)

    def directions(self, number: int) -> tuple[int, ...]:
        """For pair `number` and each factor: 1 if the first side has it, -1 if the second, 0 if neither."""
        chance = random.Random(f"{self._seed} {number}")
        drawn = (chance.random() for _ in self.factors)
        return tuple(1 if part < self._share else -1 if part < 2 * self._share else 0 for part in drawn)

    def settings(self, directions: Sequence[int], side: int) -> dict[str, int]:
        """The values of all options for the first side (1) or the second (-1)."""
        values = dict(self._defaults)
        for factor, direction in zip(self.factors, directions, strict=True):
            if direction == side:
                values.update(factor.values)
        return values


def estimate_effects(
    factors: Sequence[Factor], directions: Sequence[Sequence[int]], results: Sequence[float]
) -> list[Effect]:
    """The Elo of each factor, in the order of the factors.

    directions: of every pair. results: games that the first side won less those it lost, -2 to 2, of every pair.
    The errors are those that the scatter of the results shows (White's sandwich), not those of a fair coin.
    """
    changes: NDArray[np.float64] = np.asarray(directions, float).reshape(len(results), len(factors))
    scores = (np.asarray(results, float) + 2) / 4
    ridge = np.eye(len(factors)) / (PRIOR_ELO * LOGITS_PER_ELO) ** 2
    effects = np.zeros(len(factors))
    expected, curvature = _expected_and_curvature(changes, effects, ridge)
    for _ in range(MOST_ROUNDS):
        slope = changes.T @ (scores - expected) - ridge @ effects
        step = np.linalg.solve(curvature, slope)
        effects += np.clip(step, -1, 1)
        expected, curvature = _expected_and_curvature(changes, effects, ridge)
        if np.max(np.abs(step), initial=0) < 1e-9:
            break
    # What the effects have taken up themselves is missing from the scatter.
    free = len(results) / max(len(results) - len(factors), 1)
    scatter = changes.T @ (changes * (free * (scores - expected) ** 2)[:, None]) + ridge
    inverse = np.linalg.inv(curvature)
    errors = DEVIATIONS_95 * np.sqrt(np.diag(inverse @ scatter @ inverse))
    tried = np.count_nonzero(changes, axis=0)
    return [
        Effect(factor.label, float(effect) / LOGITS_PER_ELO, float(error) / LOGITS_PER_ELO, int(count))
        for factor, effect, error, count in zip(factors, effects, errors, tried, strict=True)
    ]


def _expected_and_curvature(
    changes: NDArray[np.float64], effects: NDArray[np.float64], ridge: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The score expected of each pair, and the curvature of the likelihood, at these effects."""
    expected = 1 / (1 + np.exp(-changes @ effects))
    return expected, changes.T @ (changes * (expected * (1 - expected))[:, None]) + ridge
