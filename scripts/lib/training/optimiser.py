"""Adam: all weights fitted at once, by the gradient of the loss over one batch of positions after another.

D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", 2015. The step sinks to nothing along half a
cosine. The weights with the least loss on the validation games are kept, and a run ends early when those have not come
for some epochs. Invariant: a run that was broken off and resumed finds the same weights as one that was not, on any
number of threads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from lib.errors import ProgramError
from lib.files import replaced
from lib.training.examples import Examples, Floats
from lib.training.model import SLICE, add_up, slices
from lib.training.priors import Penalty

FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
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

    def as_json(self) -> dict[str, Any]:
        """What a checkpoint must agree on."""
        names = ("scale", "epochs", "patience", "rate_cp", "batch", "seed")
        return {name: getattr(self, name) for name in names}


@dataclass
class State:
    """Where a run is: all that a checkpoint holds. Both losses are means a position, without priors."""

    weights: Floats
    best: Floats
    first: Floats
    second: Floats
    steps: int = 0
    epoch: int = 0
    best_loss: float = math.inf
    best_epoch: int = 0
    history: list[tuple[float, float]] = field(default_factory=list)


def new_state(start: Floats) -> State:
    """Before the first epoch."""
    return State(start.copy(), start.copy(), np.zeros_like(start), np.zeros_like(start))


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
        """`free`: the columns that are fitted; the others stay as the state has them."""
        self.state = state
        self._train = slices(train)
        self._validation = slices(validation)
        self._count = len(train)
        self._penalty = penalty
        self._free = free[:, None]
        self._plan = plan

    def run(self, after_epoch: Callable[[State], None] = lambda state: None) -> State:
        """Go on until the end, and call the function after each epoch."""
        state = self.state
        with ThreadPoolExecutor(self._plan.threads) as pool:
            if not state.epoch:
                state.best_loss = self._validation_loss(pool)
            while state.epoch < self._plan.epochs and state.epoch - state.best_epoch < self._plan.patience:
                train_loss = self._epoch(pool)
                state.epoch += 1
                loss = self._validation_loss(pool)
                state.history.append((train_loss, loss))
                if loss < state.best_loss:
                    state.best_loss, state.best_epoch = loss, state.epoch
                    state.best = state.weights.copy()
                after_epoch(state)
        return state

    def _epoch(self, pool: ThreadPoolExecutor) -> float:
        """Each batch once, in an order of its own; returns the mean loss on the way."""
        order = np.random.default_rng([self._plan.seed, self.state.epoch]).permutation(len(self._train))
        size = self._plan.batch // SLICE
        total = 0.0
        batches = math.ceil(len(order) / size)
        for number in range(batches):
            parts = [self._train[index] for index in order[number * size : number * size + size]]
            sums = add_up(parts, self.state.weights, self._plan.scale, pool.map)
            total += sums.loss
            gradient = sums.gradient / sums.count + self._penalty.gradient(self.state.weights) / self._count
            self._step(np.where(self._free, gradient, 0.0), batches)
        return total / self._count

    def _step(self, gradient: Floats, batches: int) -> None:
        state, plan = self.state, self._plan
        state.steps += 1
        state.first += (1 - FIRST_DECAY) * (gradient - state.first)
        state.second += (1 - SECOND_DECAY) * (gradient**2 - state.second)
        first = state.first / (1 - FIRST_DECAY**state.steps)
        second = state.second / (1 - SECOND_DECAY**state.steps)
        rate = plan.rate_cp * (1 + math.cos(math.pi * (state.steps - 1) / (batches * plan.epochs))) / 2
        state.weights -= rate * first / (np.sqrt(second) + EPSILON)

    def _validation_loss(self, pool: ThreadPoolExecutor) -> float:
        sums = add_up(self._validation, self.state.weights, self._plan.scale, pool.map)
        return sums.loss / sums.count


def save_checkpoint(path: Path, state: State, settings: Mapping[str, Any]) -> None:
    """Write all of a state: the file is all new or all old. Raises OSError."""
    numbers = {"steps": state.steps, "epoch": state.epoch, "best_loss": state.best_loss, "best_epoch": state.best_epoch}
    facts = {"settings": dict(settings), "numbers": numbers, "history": state.history}
    with replaced(path) as file:
        np.savez(
            file,
            facts=np.frombuffer(json.dumps(facts).encode(), np.uint8),
            weights=state.weights,
            best=state.best,
            first=state.first,
            second=state.second,
        )


def load_checkpoint(path: Path, settings: Mapping[str, Any], shape: Sequence[int]) -> State:
    """The state in a file. Raises ProgramError for another run's file or a damaged one, OSError."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            facts = json.loads(file["facts"].tobytes())
            arrays = {name: file[name] for name in ("weights", "best", "first", "second")}
        found, numbers = facts["settings"], facts["numbers"]
        history = [(float(train), float(validation)) for train, validation in facts["history"]]
        state = State(**arrays, **numbers, history=history)
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ProgramError(f"{path} is no checkpoint: {error}") from None
    if any(array.shape != tuple(shape) for array in arrays.values()):
        raise ProgramError(f"{path} is of another catalogue")
    changed = [name for name in settings if found.get(name) != json.loads(json.dumps(settings[name]))]
    if changed:
        raise ProgramError(f"{path} is of another run: {', '.join(changed)} differ")
    return state
