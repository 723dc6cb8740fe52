"""What every fit by gradient descent has: its state, the moments of Adam, the run over epochs, and checkpoints.

D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", 2015. The parameters with the least loss on the
validation games are kept. Invariant: a fit that goes on from a checkpoint finds the same parameters as one that was not
broken off.
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

from lib.errors import ProgramError
from lib.files import replaced

Arrays = list[npt.NDArray[Any]]

FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
# The arrays of a `State`.
PARTS: Final = ("parameters", "best", "first", "second")


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

    def descend(
        self,
        epochs: int,
        patience: int,
        train: Callable[[], float],
        validate: Callable[[], float],
        after_epoch: Callable[[State], None],
    ) -> State:
        """Go on until so many epochs are done, or `patience` epochs went by without a better validation loss.

        train: goes through one epoch. Both functions return the mean loss.
        """
        while self.epoch < epochs and self.epoch - self.best_epoch < patience:
            train_loss = train()
            self.epoch += 1
            loss = validate()
            self.history.append((train_loss, loss))
            if loss < self.best_loss:
                self.best_loss, self.best_epoch = loss, self.epoch
                self.best = _copied(self.parameters)
            after_epoch(self)
        return self


def new_state(start: Arrays) -> State:
    """Before the first epoch."""
    first, second = ([np.zeros_like(array) for array in start] for _ in range(2))
    return State(_copied(start), _copied(start), first, second)


def settings_of(plan: Any) -> dict[str, Any]:
    """What a checkpoint must agree on: all of a plan but the number of threads."""
    return {name: value for name, value in asdict(plan).items() if name != "threads"}


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


def _copied(arrays: Arrays) -> Arrays:
    return [array.copy() for array in arrays]
