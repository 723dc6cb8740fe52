"""The fit of all weights of the evaluation at once, by SciPy's L-BFGS.

What is made small is the logistic loss of the positions and a prior: a weight is about as far from where it began as
its deviation. Positions soon outweigh it where there are many, and it decides where there are none. The weights with
the least loss on the validation games are kept.

With 1.46 million positions and 21 500 weights deviations of 30 cp for small terms and of 4, 8, 16 cp for large tables
ended at losses of 0.48118, 0.48068, 0.48033 on held-back games, and 100 with 16 at 0.47988.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from evaluation.catalogue import CATALOGUE
from toolkit.training.examples import Examples, Floats
from toolkit.training.model import add_up, columns_of, shares, slices

# Of each weight from where it began, in centipawns: of terms with few weights, and with at least LARGE.
DEVIATION_CP: Final = 300.0
DEVIATION_OF_LARGE_CP: Final = 16.0
LARGE: Final = 512
# Almost no position shows what mop-up is worth: scores beyond --max-score are left out.
MOP_UP: Final = tuple(term.name for term in CATALOGUE if term.name.startswith("mop_up_"))
DEVIATION_OF_MOP_UP_CP: Final = 0.01
# The variance of a result that is as often promised as not, to a half: no more than a guess of the loss's curvature.
USUAL_VARIANCE: Final = 0.2
# Of L-BFGS: how many steps it remembers.
MEMORY: Final = 20


@dataclass(frozen=True)
class Plan:
    """How a fit goes.

    scale: centipawns, see toolkit.training.examples. patience: so many iterations without a better validation loss end
    the fit.
    """

    scale: float
    iterations: int = 200
    patience: int = 15
    threads: int = 1


@dataclass
class Fit:
    """What has come of a fit. Losses are means a position; the history has those of training and of validation."""

    weights: Floats
    loss: float
    best: int
    history: list[tuple[float, float]]


def deviations_cp() -> Floats:
    """For each weight, in both phases."""
    found = np.full((len(columns_of([])), 1), DEVIATION_CP)
    found[columns_of(term.name for term in CATALOGUE if term.size >= LARGE)] = DEVIATION_OF_LARGE_CP
    found[columns_of(MOP_UP)] = DEVIATION_OF_MOP_UP_CP
    return found


def fit_weights(
    train: Examples,
    validation: Examples,
    start: Floats,
    free: npt.NDArray[np.bool_],
    plan: Plan,
    after_iteration: Callable[[Fit], None] = lambda fit: None,
) -> Fit:
    """Fit the columns that are free; the others stay as in `start`. The weights do not depend on `plan.threads`."""
    parts, held_back = slices(train), slices(validation)
    precision = 1 / deviations_cp()[free] ** 2
    # Weights that count often take small steps, rare ones large steps.
    unit = 1 / np.sqrt(_curvature(train, plan.scale)[free] + precision)

    def weights_of(units: Floats) -> Floats:
        weights = start.copy()
        weights[free] += unit * units.reshape(-1, 2)
        return weights

    with ThreadPoolExecutor(plan.threads) as pool:

        def cost(units: Floats) -> tuple[float, Floats]:
            sums = add_up(parts, weights_of(units), plan.scale, pool.map)
            moved = unit * units.reshape(-1, 2)
            loss = sums.loss + float((precision * moved**2).sum()) / 2
            gradient = unit * (sums.gradient[free] + precision * moved)
            return loss / len(train), gradient.ravel() / len(train)

        def validation_loss(weights: Floats) -> float:
            return add_up(held_back, weights, plan.scale, pool.map).loss / len(validation)

        fit = Fit(start, validation_loss(start), 0, [])

        def after(intermediate_result: Any) -> None:
            weights = weights_of(intermediate_result.x)
            loss = validation_loss(weights)
            fit.history.append((float(intermediate_result.fun), loss))
            if loss < fit.loss:
                fit.weights, fit.loss, fit.best = weights, loss, len(fit.history)
            after_iteration(fit)
            if len(fit.history) - fit.best >= plan.patience:
                raise StopIteration

        options = {"maxiter": plan.iterations, "maxcor": MEMORY, "ftol": 1e-9, "gtol": 1e-9}
        minimize(cost, np.zeros(unit.size), jac=True, method="L-BFGS-B", callback=after, options=options)
    return fit


def _curvature(examples: Examples, scale: float) -> Floats:
    """About the second derivative of the sum of the losses by each weight."""
    taper = shares(examples.coefficients).astype(np.float64)
    squares = examples.coefficients.matrix.astype(np.float64).power(2).T
    share = np.column_stack([taper[:, 0], taper[:, 1:].mean(axis=1)])
    return np.asarray(USUAL_VARIANCE * (squares @ share**2) / scale**2)
