"""Training the network: Adam over batches of positions (D. P. Kingma and J. Ba, 2015), and checkpoints of it.

The step grows over the first batches and sinks to LAST_RATE of its largest along half a cosine. The parameters with the
least loss on the validation games are kept. Invariant: a run that goes on from a checkpoint finds the same network as
one that was not broken off.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from numba import njit

from evaluation.files import replaced
from evaluation.network.shape import HIDDEN_LIMIT, MAX_SUM, OUTPUT_LIMIT, PIECE_SQUARES
from toolkit.console import show_progress
from toolkit.errors import ProgramError
from toolkit.training.network_model import (
    FAST,
    OUTPUT_SCALE,
    Batch,
    Gradient,
    Loss,
    Network,
    Run,
    add_gradient,
    outputs,
    put_like_beside_like,
)
from toolkit.training.positions import words_of

Arrays = list[npt.NDArray[Any]]

FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
# The arrays of a `State`.
PARTS: Final = ("parameters", "best", "first", "second")
EPSILON: Final = 1e-9
WARM_UP_BATCHES: Final = 50
# Positions of one game, or of its neighbours in the file, that stay together in a batch (see `network_model`).
BLOCK: Final = 64
# Positions that are put into order at a time: whole blocks.
ORDERED: Final = 1024 * BLOCK
# How many networks `best_mixture` tries between two.
MIXTURES: Final = 8
# What is left of the largest step at the end.
LAST_RATE: Final = 0.02
# A weight of the hidden layer, the sum of its two parts, and one of the output are at most this, so that they can be
# written to the file.
MAX_HIDDEN: Final = (HIDDEN_LIMIT - 1) / MAX_SUM
MAX_OUTPUT: Final = (OUTPUT_LIMIT - 1) / OUTPUT_SCALE


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
    decay: float = 0.01
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


def new_state(start: Arrays) -> State:
    """Before the first epoch."""
    first, second = ([np.zeros_like(array) for array in start] for _ in range(2))
    return State([array.copy() for array in start], [array.copy() for array in start], first, second)


class Fit:
    """One run, on the threads of the processor."""

    def __init__(
        self, batch: Batch, train: npt.NDArray[np.intp], validation: npt.NDArray[np.intp], plan: Plan, state: State
    ) -> None:
        """train: the rows to learn from. `state`: of the arrays of a network."""
        self.state = state
        self._plan = plan
        self._train = in_order(batch.records, train, plan.threads)
        self._network = Network(*state.parameters)
        self._hidden = self._network.hidden()
        self._batch = batch
        self._validation = batch.rows(validation)
        # One for each thread, with their parts of the hidden layer in one array.
        self._gradients = [Gradient.of(self._network) for _ in range(plan.threads)]
        self._of_hidden = np.zeros((plan.threads, *self._hidden.shape), self._hidden.dtype)
        for gradient, of_hidden in zip(self._gradients, self._of_hidden, strict=True):
            gradient.hidden = of_hidden

    def run(
        self,
        after_epoch: Callable[[State], None] = lambda state: None,
        after_batch: Callable[[int], None] = lambda positions: None,
    ) -> State:
        """Go on until the end, and call the functions after each epoch and each batch."""
        state, plan = self.state, self._plan
        while state.epoch < plan.epochs and state.epoch - state.best_epoch < plan.patience:
            chance = np.random.default_rng([plan.seed, state.epoch])
            losses = self._epoch(chance, after_batch)
            state.epoch += 1
            state.history.append(losses)
            if losses[1] < state.best_loss:
                state.best_loss, state.best_epoch = losses[1], state.epoch
                state.best = [array.copy() for array in state.parameters]
            after_epoch(state)
        return state

    def _epoch(self, chance: np.random.Generator, after_batch: Callable[[int], None]) -> tuple[float, float]:
        """Each position once, in an order of its own, into the state.

        Returns the mean loss on the way, and that of the validation at the end.
        """
        blocks = np.split(self._train, range(BLOCK, len(self._train), BLOCK))
        order = chance.permutation(len(blocks))
        total = weights = 0.0
        per_batch = max(self._plan.batch // BLOCK, 1)
        with ThreadPoolExecutor(self._plan.threads) as pool:
            for first in range(0, len(order), per_batch):
                rows = np.concatenate([blocks[each] for each in order[first : first + per_batch]])
                lost, weight = self._add_gradients(pool, rows)
                self._step(pool, weight)
                total, weights = total + lost, weights + weight
                after_batch(len(rows))
            return total / weights, mean_loss(self._network, self._validation, self._plan.loss, pool.map)

    def _add_gradients(self, pool: ThreadPoolExecutor, rows: npt.NDArray[np.intp]) -> tuple[float, float]:
        """The sums of the losses and of the weights. Each thread has a part of the rows."""

        def of_some(some: npt.NDArray[np.intp], gradient: Gradient) -> tuple[float, float]:
            batch = self._batch.rows(some)
            lost = add_gradient(self._network, self._hidden, batch, self._plan.loss, gradient)
            return lost, float(batch.weight.sum())

        losses, weights = zip(
            *pool.map(of_some, np.array_split(rows, self._plan.threads), self._gradients), strict=True
        )
        return sum(losses), sum(weights)

    def _next_rate(self) -> float:
        """Count a step, and return how large it is."""
        state, plan = self.state, self._plan
        state.steps += 1
        batches = math.ceil(len(self._train) / plan.batch) * plan.epochs
        cosine = (1 + math.cos(math.pi * min(state.steps / batches, 1.0))) / 2
        return plan.rate * min(1.0, state.steps / WARM_UP_BATCHES) * (LAST_RATE + (1 - LAST_RATE) * cosine)

    def _step(self, pool: ThreadPoolExecutor, weight: float) -> None:
        state, plan = self.state, self._plan
        adam = (self._next_rate(), plan.decay, 1 - FIRST_DECAY**state.steps, 1 - SECOND_DECAY**state.steps)
        layers = list(zip(state.parameters, state.first, state.second, strict=True))
        ends = np.linspace(0, PIECE_SQUARES, plan.threads + 1).astype(int).tolist()

        def of_some(rows: tuple[int, int]) -> None:
            step_hidden(*rows, self._of_hidden, 1 / weight, *layers[0], *layers[1], self._hidden, adam)

        # A list, so that all are waited for.
        list(pool.map(of_some, pairwise(ends)))
        for place, (parameters, firsts, seconds) in enumerate(layers[2:], start=1):
            arrays = [gradient.arrays()[place] for gradient in self._gradients]
            slopes = np.sum(arrays, axis=0) / weight
            step(parameters.ravel(), firsts.ravel(), seconds.ravel(), slopes.ravel(), adam)
            for array in arrays:
                array[:] = 0
        output = self._network.output
        output.clip(-MAX_OUTPUT, MAX_OUTPUT, out=output)


@njit(**FAST)  # type: ignore[untyped-decorator]
def step(parameters: Any, firsts: Any, seconds: Any, slopes: Any, adam: Any) -> None:
    """A step of some parameters. firsts, seconds: the moments of the gradient. adam: the rate, the decay, and what
    makes both moments unbiased.
    """
    rate, decay, unbiased_first, unbiased_second = adam
    for place in range(len(parameters)):
        firsts[place] += (1 - FIRST_DECAY) * (slopes[place] - firsts[place])
        seconds[place] += (1 - SECOND_DECAY) * (slopes[place] * slopes[place] - seconds[place])
        direction = firsts[place] / unbiased_first / (math.sqrt(seconds[place] / unbiased_second) + EPSILON)
        parameters[place] -= rate * (direction + decay * parameters[place])


@njit(**FAST)  # type: ignore[untyped-decorator]
def step_hidden(
    begin: int,
    end: int,
    of_hidden: Any,
    share: float,
    regions: Any,
    regions_first: Any,
    regions_second: Any,
    common: Any,
    common_first: Any,
    common_second: Any,
    hidden: Any,
    adam: Any,
) -> None:
    """A step of some inputs of the hidden layer, in all regions.

    of_hidden: [part, ...]: the gradient, in parts; afterwards they are 0. share: of the gradient that counts.
    """
    parts, _, units = of_hidden.shape
    of_common = np.empty(units, hidden.dtype)
    for row in range(begin, end):
        of_common[:] = 0
        for place in range(row, len(hidden), PIECE_SQUARES):
            slopes = of_hidden[0, place]
            for part in range(1, parts):
                for unit in range(units):
                    slopes[unit] += of_hidden[part, place, unit]
                    of_hidden[part, place, unit] = 0
            for unit in range(units):
                slopes[unit] *= share
                of_common[unit] += slopes[unit]
        step(common[row], common_first[row], common_second[row], of_common, adam)
        for unit in range(units):
            common[row, unit] = min(max(common[row, unit], -MAX_HIDDEN), MAX_HIDDEN)
        for place in range(row, len(hidden), PIECE_SQUARES):
            step(regions[place], regions_first[place], regions_second[place], of_hidden[0, place], adam)
            for unit in range(units):
                shared = common[row, unit]
                regions[place, unit] = min(max(regions[place, unit], -MAX_HIDDEN - shared), MAX_HIDDEN - shared)
                hidden[place, unit] = regions[place, unit] + shared
                of_hidden[0, place, unit] = 0


def in_order(records: npt.NDArray[Any], places: npt.NDArray[np.intp], threads: int) -> npt.NDArray[np.intp]:
    """These places of records, those of each block in an order that is fast to work on."""
    ordered, words = places.copy(), words_of(records)
    parts = np.split(ordered, range(ORDERED, len(ordered), ORDERED))
    with ThreadPoolExecutor(threads) as pool, show_progress("ordering", len(ordered)) as advance:

        def order(part: npt.NDArray[np.intp]) -> int:
            put_like_beside_like(words, part, BLOCK)
            return len(part)

        for count in pool.map(order, parts):
            advance(count)
    return ordered


def mean_loss(network: Network | None, batch: Batch, loss: Loss, run: Run = map) -> float:
    """The mean loss a position, weighted; of the features alone without a network. run: see `outputs`."""
    scores_cp = batch.static_cp if network is None else batch.static_cp + outputs(network, batch, run)
    return float(np.average(loss.of(scores_cp, batch.expected), weights=batch.weight))


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
