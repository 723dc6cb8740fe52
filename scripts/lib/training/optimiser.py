"""The fit of all weights at once, by the gradient of the loss over one batch of positions after another.

The step sinks to nothing along half a cosine. Invariant: the weights do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lib.training.descent import State
from lib.training.examples import Examples, Floats
from lib.training.model import SLICE, add_up, slices
from lib.training.priors import Penalty

EPSILON: Final = 1e-12


@dataclass(frozen=True)
class Plan:
    """How a run goes.

    scale: centipawns, as in lib.training.examples. rate_cp: the largest step of a weight. batch: positions, a multiple
    of SLICE. patience: so many epochs without a better validation loss end the run.
    """

    scale: float
    epochs: int = 40
    patience: int = 15
    rate_cp: float = 1.0
    batch: int = 8 * SLICE
    seed: int = 0
    threads: int = 1


class Fit:
    """One run of the optimiser."""

    def __init__(
        self,
        train: Examples,
        validation: Examples,
        penalty: Penalty,
        free: npt.NDArray[np.bool_],
        plan: Plan,
        state: State,
    ) -> None:
        """`free`: the columns that are fitted; the others stay as the state has them. `state`: of the weights alone."""
        self.state = state
        self._train = slices(train)
        self._validation = slices(validation)
        self._count = len(train)
        self._penalty = penalty
        self._free = free[:, None]
        self._plan = plan

    def run(self, after_epoch: Callable[[State], None] = lambda state: None) -> State:
        """Go on until the end, and call the function after each epoch."""
        state, plan = self.state, self._plan
        with ThreadPoolExecutor(plan.threads) as pool:
            if not state.epoch:
                state.best_loss = self._validation_loss(pool)
            losses = (lambda: self._epoch(pool), lambda: self._validation_loss(pool))
            return state.descend(plan.epochs, plan.patience, *losses, after_epoch)

    def _epoch(self, pool: ThreadPoolExecutor) -> float:
        """Each batch once, in an order of its own; returns the mean loss on the way."""
        order = np.random.default_rng([self._plan.seed, self.state.epoch]).permutation(len(self._train))
        size = self._plan.batch // SLICE
        (weights,) = self.state.parameters
        total = 0.0
        batches = math.ceil(len(order) / size)
        for number in range(batches):
            parts = [self._train[index] for index in order[number * size : number * size + size]]
            sums = add_up(parts, weights, self._plan.scale, pool.map)
            total += sums.loss
            gradient = sums.gradient / sums.count + self._penalty.gradient(weights) / self._count
            self._step(np.where(self._free, gradient, 0.0), batches)
        return total / self._count

    def _step(self, gradient: Floats, batches: int) -> None:
        state, plan = self.state, self._plan
        ((first, second),) = state.moments([gradient])
        rate = plan.rate_cp * (1 + math.cos(math.pi * (state.steps - 1) / (batches * plan.epochs))) / 2
        state.parameters[0] -= rate * first / (np.sqrt(second) + EPSILON)

    def _validation_loss(self, pool: ThreadPoolExecutor) -> float:
        sums = add_up(self._validation, self.state.parameters[0], self._plan.scale, pool.map)
        return sums.loss / sums.count
