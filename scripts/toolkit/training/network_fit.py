"""Training the network: Adam over batches of positions (D. P. Kingma and J. Ba, 2015), and checkpoints of it.

The step grows over the first batches and sinks to LAST_RATE of its largest along half a cosine. The parameters with the
least loss on the validation games are kept. Invariants: the network does not depend on the number of threads, and a run
that goes on from a checkpoint finds the same network as one that was not broken off.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from evaluation.network.shape import HIDDEN_LIMIT, KING_REGIONS, MAX_SUM
from toolkit.errors import ProgramError
from toolkit.files import replaced
from toolkit.training.network_model import Batch, Loss, Network, add_gradient, outputs

Arrays = list[npt.NDArray[Any]]

FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
# The arrays of a `State`.
PARTS: Final = ("parameters", "best", "first", "second")
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


@dataclass
class State:
    """Where a fit is: all that a checkpoint holds.

    first, second: the moments of the gradient. Losses are means a position: of training and of validation.
    """

    parameters: Arrays
    best: Arrays
    first: Arrays
    second: Arrays
    steps: int = 0
    epoch: int = 0
    best_loss: float = math.inf
    best_epoch: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)

    def moments(self, gradient: Arrays) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Take one gradient in. Returns the unbiased moments, first and second, for each array of parameters."""
        self.steps += 1
        for slope, first, second in zip(gradient, self.first, self.second, strict=True):
            first += (1 - FIRST_DECAY) * (slope - first)
            second += (1 - SECOND_DECAY) * (slope * slope - second)
        unbiased = (1 - FIRST_DECAY**self.steps, 1 - SECOND_DECAY**self.steps)
        moments = zip(self.first, self.second, strict=True)
        return [(first / unbiased[0], second / unbiased[1]) for first, second in moments]


def new_state(start: Arrays) -> State:
    """Before the first epoch."""
    first, second = ([np.zeros_like(array) for array in start] for _ in range(2))
    return State([array.copy() for array in start], [array.copy() for array in start], first, second)


def settings_of(plan: Plan) -> dict[str, Any]:
    """What a checkpoint must agree on: all of a plan but the number of threads."""
    return {name: value for name, value in asdict(plan).items() if name != "threads"}


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
        state, plan = self.state, self._plan
        with ThreadPoolExecutor(plan.threads) as pool:
            while state.epoch < plan.epochs and state.epoch - state.best_epoch < plan.patience:
                train_loss = self._epoch(pool, after_batch)
                state.epoch += 1
                loss = mean_loss(self._network, self._validation, plan.loss)
                state.history.append((train_loss, loss))
                if loss < state.best_loss:
                    state.best_loss, state.best_epoch = loss, state.epoch
                    state.best = [array.copy() for array in state.parameters]
                after_epoch(state)
        return state

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


def save_checkpoint(path: Path, state: State, settings: Mapping[str, Any]) -> None:
    """Write all of a state: the file is all new or all old. Raises OSError."""
    numbers = {"steps": state.steps, "epoch": state.epoch, "best_loss": state.best_loss, "best_epoch": state.best_epoch}
    facts = {"settings": dict(settings), "numbers": numbers, "history": state.history}
    arrays = {f"{part}_{place}": array for part in PARTS for place, array in enumerate(getattr(state, part))}
    with replaced(path) as file:
        np.savez(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)


def load_checkpoint(path: Path, settings: Mapping[str, Any], like: State) -> State:
    """The state in a file, of the shape of `like`. Raises ProgramError for another run's or a damaged file, OSError."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            facts = json.loads(file["facts"].tobytes())
            places = range(len(like.parameters))
            parts: dict[str, Any] = {part: [file[f"{part}_{place}"] for place in places] for part in PARTS}
        found, numbers = facts["settings"], facts["numbers"]
        history = [(float(train), float(validation)) for train, validation in facts["history"]]
        state = State(**parts, **numbers, history=history)
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ProgramError(f"{path} is no checkpoint: {error}") from None
    if any([array.shape for array in part] != [array.shape for array in like.parameters] for part in parts.values()):
        raise ProgramError(f"{path} is of another shape")
    changed = [name for name in settings if found.get(name) != json.loads(json.dumps(settings[name]))]
    if changed:
        raise ProgramError(f"{path} is of another run: {', '.join(changed)} differ")
    return state
