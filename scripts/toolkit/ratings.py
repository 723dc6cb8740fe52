"""Elo of several things at once, from pairs of games: logistic regression (Bradley and Terry's model).

A weak prior keeps finite what has won every game.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from toolkit.elo import DEVIATIONS_95

Floats = NDArray[np.float64]

# One Elo in the units of the logistic curve.
LOGITS_PER_ELO = math.log(10) / 400
MAX_ROUNDS = 100


def fit_elo(
    sides: Floats, scores: Floats, known_elo: Floats | float, expected_elo: Floats, prior_elo: float
) -> tuple[Floats, Floats]:
    """The Elo of each thing, and half the width of its 95 % interval.

    sides: a row for each pair of games; 1 for what its first side has, -1 for what its second side has, 0 for neither.
    scores: of the first side in each pair, 0 to 1. known_elo: by how much it was known to be stronger.
    expected_elo and prior_elo: mean and standard deviation of the prior.

    The errors are those that the scatter of the pairs shows (White's sandwich), as the games of a pair depend on each
    other.
    """
    pairs, things = sides.shape
    centre = expected_elo * LOGITS_PER_ELO
    ridge = np.eye(things) / (prior_elo * LOGITS_PER_ELO) ** 2
    found = centre.copy()
    for _ in range(MAX_ROUNDS):
        likely = 1 / (1 + np.exp(-(sides @ found + known_elo * LOGITS_PER_ELO)))
        curvature = 2 * sides.T @ (sides * (likely * (1 - likely))[:, None]) + ridge
        step = np.linalg.solve(curvature, 2 * sides.T @ (scores - likely) - ridge @ (found - centre))
        found += np.clip(step, -1, 1)
        if np.max(np.abs(step), initial=0) < 1e-9:
            break
    # The second part is what the fit has taken up itself. It keeps few pairs that happen to be equal from proving much.
    squares = (scores - likely) ** 2 + likely * (1 - likely) / 2 * things / max(pairs, 1)
    scatter = 4 * sides.T @ (sides * squares[:, None]) + ridge
    inverse = np.linalg.inv(curvature)
    errors = DEVIATIONS_95 * np.sqrt(np.diag(inverse @ scatter @ inverse))
    return found / LOGITS_PER_ELO, errors / LOGITS_PER_ELO
