"""Training the network: Adam over batches of positions.

The step grows over the first batches and sinks to LAST_RATE of its largest along half a cosine. Invariant: the network
does not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.network.shape import HIDDEN_LIMIT, KING_REGIONS, MAX_SUM
from lib.training.descent import State
from lib.training.network_model import Batch, Loss, Network, add_gradient, outputs

EPSILON: Final = 1e-9
WARM_UP_BATCHES: Final = 50
# How many networks `best_mixture` tries between two.
MIXTURES: Final = 8
# What is left of the largest step at the end.
LAST_RATE: Final = 0.02
# A weight of the hidden layer, the sum of its two parts, is at most this, so that it can be written to the file.
MAX_HIDDEN: Final = (HIDDEN_LIMIT - 1) / MAX_SUM


@dataclass(frozen=True)
class Plan:
    """How a run goes.

    scale_cp, power: see `Loss`. rate: the largest step of a parameter. decay: with a step of 1, so much of a parameter
    would be lost; it keeps the network from learning games by heart. batch: positions. patience: so many epochs without
    a better validation loss end the run.
    """

    scale_cp: float
    power: float = 2.0
    epochs: int = 20
    patience: int = 5
    rate: float = 0.002
    decay: float = 1.0
    batch: int = 8192
    seed: int = 0
    threads: int = 1

    @property
    def loss(self) -> Loss:
        """What is made small."""
        return Loss(self.scale_cp, self.power)


class Fit:
    """One run."""

    def __init__(
        self, batch: Batch, train: npt.NDArray[np.intp], validation: npt.NDArray[np.intp], plan: Plan, state: State
    ) -> None:
        """`state`: of the arrays of a network."""
        self.state = state
        self._network = Network(*state.parameters)
        self._batch = batch
        self._train = train
        self._validation = batch.rows(validation)
        self._plan = plan

    def run(
        self,
        after_epoch: Callable[[State], None] = lambda state: None,
        after_batch: Callable[[int], None] = lambda positions: None,
    ) -> State:
        """Go on until the end, and call the functions after each epoch and each batch."""
        plan = self._plan
        with ThreadPoolExecutor(plan.threads) as pool:
            train = partial(self._epoch, pool, after_batch)
            losses = (train, lambda: mean_loss(self._network, self._validation, plan.loss))
            return self.state.descend(plan.epochs, plan.patience, *losses, after_epoch)

    def _epoch(self, pool: ThreadPoolExecutor, after_batch: Callable[[int], None]) -> float:
        """Each position once, in an order of its own; returns the mean loss on the way."""
        order = np.random.default_rng([self._plan.seed, self.state.epoch]).permutation(self._train)
        total = weights = 0.0
        for first in range(0, len(order), self._plan.batch):
            batch = self._batch.rows(order[first : first + self._plan.batch])
            gradient = self._network.like()
            weight = float(batch.weight.sum())
            total += add_gradient(self._network, batch, self._plan.loss, gradient, pool.map)
            weights += weight
            self._step(gradient, weight)
            after_batch(len(batch))
        return total / weights

    def _step(self, gradient: Network, weight: float) -> None:
        state, plan = self.state, self._plan
        batches = math.ceil(len(self._train) / plan.batch) * plan.epochs
        moments = state.moments([slope / weight for slope in gradient.arrays()])
        cosine = (1 + math.cos(math.pi * state.steps / batches)) / 2
        rate = plan.rate * min(1.0, state.steps / WARM_UP_BATCHES) * (LAST_RATE + (1 - LAST_RATE) * cosine)
        for parameter, (first, second) in zip(state.parameters, moments, strict=True):
            step = first / (np.sqrt(second) + EPSILON)
            parameter -= rate * (step + plan.decay * parameter)
        regions, common = self._network.regions, self._network.common
        np.clip(common, -MAX_HIDDEN, MAX_HIDDEN, out=common)
        everywhere = np.tile(common, (KING_REGIONS, 1))
        np.clip(regions, -MAX_HIDDEN - everywhere, MAX_HIDDEN - everywhere, out=regions)


def mean_loss(network: Network | None, batch: Batch, loss: Loss) -> float:
    """The mean loss a position, weighted; of the features alone without a network."""
    scores_cp = batch.static_cp
    if network is not None:
        scores_cp = scores_cp + outputs(network, batch.inputs, batch.buckets)
    losses, _ = loss.of(scores_cp, batch.expected)
    return float(np.average(losses, weights=batch.weight))


def best_mixture(start: Network, end: Network, validation: Batch, loss: Loss) -> tuple[float, Network]:
    """Of the networks on the way from one to another, the one with the least loss, and the share of `end` in it.

    What is trained further on other positions forgets some of what it knew. The mean of both often knows more than
    either: M. Wortsman et al., "Robust fine-tuning of zero-shot models", 2022.
    """
    found = []
    for step in range(MIXTURES + 1):
        share = step / MIXTURES
        pairs = zip(start.arrays(), end.arrays(), strict=True)
        mixed = Network(*((1 - share) * before + share * after for before, after in pairs))
        found.append((mean_loss(mixed, validation, loss), share, mixed))
    _, share, mixed = min(found, key=lambda each: each[0])
    return share, mixed
