"""Training the network of the learned correction: Adam over batches of positions, with checkpoints.

The step grows over the first batches and sinks to nothing along half a cosine. The parameters with the least loss on
the validation games are kept. Invariant: a run that was broken off and resumed finds the same parameters as one that
was not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from evaluation.correction.shape import HIDDEN_LIMIT, MAX_SUM
from lib.errors import ProgramError
from lib.files import replaced
from lib.training.correction_model import Batch, Loss, Network, add_gradient, corrections, new_network

FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
EPSILON: Final = 1e-9
WARM_UP_BATCHES: Final = 50
# What is left of the largest step at the end.
LAST_RATE: Final = 0.02
# The networks of a checkpoint, in the order of `State`.
PARTS: Final = ("network", "best", "first", "second")
# Both parts of a weight of the hidden layer are at most this, so that their sum can be written to the file.
MAX_HIDDEN: Final = (HIDDEN_LIMIT - 1) / MAX_SUM / 2


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

    @property
    def loss(self) -> Loss:
        """What is made small."""
        return Loss(self.scale_cp, self.power)


@dataclass
class State:
    """Where a run is: all that a checkpoint holds. Losses are means a position."""

    network: Network
    best: Network
    first: Network
    second: Network
    steps: int = 0
    epoch: int = 0
    best_loss: float = math.inf
    best_epoch: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)


def new_state(units: int, buckets: int, seed: int) -> State:
    """Before the first epoch."""
    network = new_network(units, buckets, seed)
    return State(network, network.copy(), network.like(), network.like())


class Fit:
    """One run."""

    def __init__(
        self, batch: Batch, train: npt.NDArray[np.intp], validation: npt.NDArray[np.intp], plan: Plan, state: State
    ) -> None:
        self.state = state
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
        state, plan = self.state, self._plan
        while state.epoch < plan.epochs and state.epoch - state.best_epoch < plan.patience:
            train_loss = self._epoch(after_batch)
            state.epoch += 1
            loss = mean_loss(state.network, self._validation, plan.loss)
            state.history.append((train_loss, loss))
            if loss < state.best_loss:
                state.best_loss, state.best_epoch = loss, state.epoch
                state.best = state.network.copy()
            after_epoch(state)
        return state

    def _epoch(self, after_batch: Callable[[int], None]) -> float:
        """Each position once, in an order of its own; returns the mean loss on the way."""
        order = np.random.default_rng([self._plan.seed, self.state.epoch]).permutation(self._train)
        total = weights = 0.0
        for first in range(0, len(order), self._plan.batch):
            batch = self._batch.rows(order[first : first + self._plan.batch])
            gradient = self.state.network.like()
            weight = float(batch.weight.sum())
            total += add_gradient(self.state.network, batch, self._plan.loss, gradient)
            weights += weight
            self._step(gradient, weight)
            after_batch(len(batch))
        return total / weights

    def _step(self, gradient: Network, weight: float) -> None:
        state, plan = self.state, self._plan
        batches = math.ceil(len(self._train) / plan.batch) * plan.epochs
        state.steps += 1
        cosine = (1 + math.cos(math.pi * state.steps / batches)) / 2
        rate = plan.rate * min(1.0, state.steps / WARM_UP_BATCHES) * (LAST_RATE + (1 - LAST_RATE) * cosine)
        unbiased = (1 - FIRST_DECAY**state.steps, 1 - SECOND_DECAY**state.steps)
        arrays = (each.arrays() for each in (state.network, gradient, state.first, state.second))
        for parameter, slope, first, second in zip(*arrays, strict=True):
            slope /= weight
            first += (1 - FIRST_DECAY) * (slope - first)
            second += (1 - SECOND_DECAY) * (slope * slope - second)
            step = first / unbiased[0] / (np.sqrt(second / unbiased[1]) + EPSILON)
            parameter -= rate * (step + plan.decay * parameter)
        for part in (state.network.regions, state.network.common):
            np.clip(part, -MAX_HIDDEN, MAX_HIDDEN, out=part)


def mean_loss(network: Network | None, batch: Batch, loss: Loss) -> float:
    """The mean loss a position, weighted; of the features alone without a network."""
    scores_cp = batch.static_cp
    if network is not None:
        scores_cp = scores_cp + corrections(network, batch.inputs, batch.buckets)
    losses, _ = loss.of(scores_cp, batch.expected)
    return float(np.average(losses, weights=batch.weight))


def save_checkpoint(path: Path, state: State, settings: Mapping[str, Any]) -> None:
    """Write all of a state: the file is all new or all old. Raises OSError."""
    numbers = {"steps": state.steps, "epoch": state.epoch, "best_loss": state.best_loss, "best_epoch": state.best_epoch}
    facts = {"settings": dict(settings), "numbers": numbers, "history": state.history}
    arrays: dict[str, Any] = {
        f"{part}_{name}": array for part in PARTS for name, array in asdict(getattr(state, part)).items()
    }
    with replaced(path) as file:
        np.savez(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)


def load_checkpoint(path: Path, settings: Mapping[str, Any], like: State) -> State:
    """The state in a file, of the shape of `like`. Raises ProgramError for another run's or a damaged file, OSError."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            facts = json.loads(file["facts"].tobytes())
            parts = {part: Network(**{name: file[f"{part}_{name}"] for name in asdict(like.network)}) for part in PARTS}
        found, numbers = facts["settings"], facts["numbers"]
        history = [(float(train), float(validation)) for train, validation in facts["history"]]
        networks = (parts["network"], parts["best"], parts["first"], parts["second"])
        state = State(*networks, **numbers, history=history)
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ProgramError(f"{path} is no checkpoint: {error}") from None
    shapes = [[array.shape for array in each.arrays()] for each in (like.network, *parts.values())]
    if any(shape != shapes[0] for shape in shapes):
        raise ProgramError(f"{path} is of another shape")
    changed = [name for name in settings if found.get(name) != json.loads(json.dumps(settings[name]))]
    if changed:
        raise ProgramError(f"{path} is of another run: {', '.join(changed)} differ")
    return state
