"""The network in training: in floating point, its gradient, its fit, and the same in whole numbers, for the engine.

One hidden layer serves both views. A unit's output is the square of its sum, cut off below 0 and above 1. What the
views of both sides give is weighted and added up, by weights of their own for one to four pieces, five to eight, and so
on. The result is in units of OUTPUT_CP.

A weight of the hidden layer is the sum of one for the region of the own king and one for all regions. So what a region
has too few positions for is learnt from all.

Positions of one game are worked on one after another, like beside like. From one to the next few inputs change. So the
sums of the hidden layer are updated by these alone, as in the engine. The gradient of an input's weights is a sum of
slopes over all positions that have the input: what has come together up to the last of them, less what had before the
first.

The fit is Adam over batches of positions (D. P. Kingma and J. Ba, 2015). The step grows over the first batches and
sinks to LAST_RATE of its largest along half a cosine. The parameters with the least loss on the validation games are
kept. Invariant: a run that goes on from a checkpoint finds the same network as one that was not broken off.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import chess
import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import expit

from evaluation import set_up
from evaluation.files import replaced
from evaluation.network import file as network_file
from evaluation.network.file import (
    HIDDEN_BIAS_LIMIT,
    HIDDEN_LIMIT,
    INPUTS,
    KING_REGION,
    KING_REGIONS,
    MAX_SUM,
    MAX_TERMS_CP,
    MIN_PIECES,
    OUTPUT_BUCKETS,
    OUTPUT_LIMIT,
    OUTPUT_SHIFT,
    PIECE_SQUARES,
    PIECES_PER_BUCKET,
    SQUARE_SHIFT,
    UNITS,
)
from evaluation.weights import Weights
from toolkit.console import show_progress
from toolkit.errors import ProgramError
from toolkit.training.positions import Rows, counts_of, pieces_of, set_up_each, white_to_move
from uci_engine.core import load

Floats = npt.NDArray[np.float32]
Arrays = list[npt.NDArray[Any]]
# The `map` of a pool of threads, or the built-in one.
Run = Callable[..., Any]

OUTPUT_CP: Final = 100.0
# Rows that `outputs` works on at a time. Rounding errors of the sums add up no longer than that.
SLICE: Final = 4096
# Where more squares differ, the sums are added up anew.
MAX_CHANGES: Final = 14
# [the own king's square as its view sees it]: where the rows of its region begin.
FIRST_ROW: Final = PIECE_SQUARES * np.array(KING_REGION, np.int64)
# [colour of the view, piece as `pieces_of` has it]: where its rows begin in those of a region.
ROWS_OF: Final = np.array(
    [[64 * (6 * ((piece & 1) != view) + (piece >> 1) - 1) for piece in range(14)] for view in (0, 1)], np.int64
)

# One centipawn of the output, and what an active unit's square stands for there.
ONE_CP = 1 << OUTPUT_SHIFT
SQUARE_OF_ONE = MAX_SUM**2 / (1 << SQUARE_SHIFT)
# What stands for a weight of 1 of the output.
OUTPUT_SCALE = OUTPUT_CP * ONE_CP / SQUARE_OF_ONE
FIRST_DECAY: Final = 0.9
SECOND_DECAY: Final = 0.999
# The arrays of a `State`.
PARTS: Final = ("parameters", "best", "first", "second")
EPSILON: Final = 1e-9
WARM_UP_BATCHES: Final = 50
# Positions of one game, or of its neighbours in the file, that stay together in a batch (see the module).
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


@dataclass
class TrainedNetwork:
    """regions: [region * PIECE_SQUARES + input, unit]. common: [input, unit]. hidden_bias: [unit]. output: [bucket, 2 *
    unit], the side to move's view first. output_bias: [bucket].
    """

    regions: Floats
    common: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    def hidden(self) -> Floats:
        """The weights of the hidden layer, as `regions`."""
        return self.regions + np.tile(self.common, (KING_REGIONS, 1))

    def arrays(self) -> list[Floats]:
        """All parameters."""
        return [getattr(self, each.name) for each in fields(self)]


@dataclass(frozen=True)
class Batch(Rows):
    """Rows to learn from, those of a game together.

    records: see `positions.RECORD`. static_cp: of the features. expected: the expected result, from 0 to 1. Side to
    move's view. weight: how much the row counts.
    """

    static_cp: Floats
    expected: Floats
    weight: Floats

    def columns(self) -> list[npt.NDArray[Any]]:
        """As `_learn` takes them."""
        turns = white_to_move(self.records)
        return [pieces_of(self.records), turns, self.static_cp, self.expected, self.weight]


@dataclass
class Gradient:
    """Of a sum of losses, by the weights as a whole and the other parameters of a network."""

    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def of(cls, network: TrainedNetwork) -> Gradient:
        """Zeros."""
        arrays = (network.regions, network.hidden_bias, network.output, network.output_bias)
        return cls(*(np.zeros_like(array) for array in arrays))

    def arrays(self) -> list[Floats]:
        return [self.hidden, self.hidden_bias, self.output, self.output_bias]


def new_network(units: int, buckets: int, seed: int) -> TrainedNetwork:
    """Before the first step: its outputs are small."""
    chance = np.random.default_rng(seed)
    common = chance.normal(0, 0.12, (PIECE_SQUARES, units)).astype(np.float32)
    output = chance.normal(0, 0.02, (1, 2 * units)).astype(np.float32).repeat(buckets, axis=0)
    regions = np.zeros((INPUTS, units), np.float32)
    return TrainedNetwork(regions, common, np.full(units, 0.3, np.float32), output, np.zeros(buckets, np.float32))


def outputs(network: TrainedNetwork, batch: Batch, run: Run = map) -> Floats:
    """In centipawns, the side to move's view. `run`: the `map` of a pool of threads."""
    hidden, unused = network.hidden(), Gradient.of(network)
    found = np.empty(len(batch), hidden.dtype)

    def fill(first: int) -> None:
        rows = slice(first, first + SLICE)
        columns, arrays = batch.rows(rows).columns(), network.arrays()[2:]
        _learn(*columns, hidden, *arrays, 1.0, False, *unused.arrays(), found[rows])

    for _ in run(fill, range(0, len(batch), SLICE)):
        pass
    return found


def add_gradient(network: TrainedNetwork, hidden: Floats, batch: Batch, scale_cp: float, gradient: Gradient) -> float:
    """Add the gradient of a batch to `gradient`; returns its weighted loss. hidden: see `TrainedNetwork.hidden`."""
    columns, arrays = batch.columns(), network.arrays()[2:]
    found = np.empty(len(batch), hidden.dtype)
    lost = _learn(*columns, hidden, *arrays, scale_cp, True, *gradient.arrays(), found)
    return float(lost)


# For the compiler: sums may be taken in any order.
FAST: Final[Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz", "nnan"},
    "error_model": "numpy",
}


@njit(**FAST)  # type: ignore[untyped-decorator]
def put_like_beside_like(boards: Any, places: Any, size: int) -> None:
    """Bring each run of so many places into an order in which `_learn` has little to update.

    The next one is always that of the rest whose inputs differ least. boards: of each place, see `pieces_of`.
    """
    # [place of the run]: the region of each view, pieces.
    views, pieces = np.zeros((size, 2), np.int64), np.zeros(size, np.int64)
    for begin in range(0, len(places), size):
        run, squares = places[begin : begin + size], boards[begin : begin + size]
        for each in range(len(run)):
            pieces[each] = np.count_nonzero(squares[each])
            for view in range(2):
                king = _king(squares[each], view)
                orientation = _orientation(view, king)
                views[each, view] = 64 * FIRST_ROW[king ^ orientation] + orientation
        order = np.arange(len(run))
        for each in range(1, len(run)):
            last, nearest, least = order[each - 1], each, 1 << 30
            for place in range(each, len(run)):
                other = order[place]
                changed = 0
                for square in range(64):
                    here, there = squares[last, square], squares[other, square]
                    changed += ((here > 0) + (there > 0)) if here != there else 0
                cost = 0
                for view in range(2):
                    is_same = views[last, view] == views[other, view]
                    cost += changed if is_same else pieces[last] + pieces[other]
                if cost < least:
                    nearest, least = place, cost
            order[each], order[nearest] = order[nearest], order[each]
        run[:] = run[order]


@njit(**FAST)  # type: ignore[untyped-decorator]
def _king(squares: Any, colour: int) -> int:
    for square in range(64):
        if squares[square] == 2 * chess.KING + colour:
            return square
    return 0


@njit(**FAST)  # type: ignore[untyped-decorator]
def _orientation(view: int, king: int) -> int:
    """What turns squares so that a view sees its own king on the files e to h."""
    return (0 if view else 56) ^ (7 if king & 7 < 4 else 0)


@njit(**FAST)  # type: ignore[untyped-decorator]
def _add(numbers: Any, more: Any) -> None:
    for place in range(len(numbers)):
        numbers[place] += more[place]


@njit(**FAST)  # type: ignore[untyped-decorator]
def _subtract(numbers: Any, less: Any) -> None:
    for place in range(len(numbers)):
        numbers[place] -= less[place]


@njit(**FAST)  # type: ignore[untyped-decorator]
def _add_to_inputs(of_hidden: Any, squares: Any, view: int, first_row: int, orientation: int, slopes: Any) -> None:
    """Add slopes to all inputs of a view. squares: the pieces on them."""
    for square in range(64):
        if squares[square]:
            _add(of_hidden[first_row + ROWS_OF[view, squares[square]] + (square ^ orientation)], slopes)


@njit(**FAST)  # type: ignore[untyped-decorator]
def _weighted_squares(sums: Any, weights: Any) -> Any:
    """The weighted sum of what the units of one view give."""
    total = sums.dtype.type(0)
    for unit in range(len(sums)):
        cut = min(max(sums[unit], 0), 1)
        total += cut * cut * weights[unit]
    return total


@njit(**FAST)  # type: ignore[untyped-decorator]
def _slopes_of_view(sums: Any, weights: Any, slope: Any, of_weights: Any, slopes: Any) -> None:
    """Add the slopes by the weights and the sums of one view."""
    for unit in range(len(sums)):
        cut = min(max(sums[unit], 0), 1)
        of_weights[unit] += slope * cut * cut
        # The slope of the square: 0 where it was cut off.
        slopes[unit] += (slope * weights[unit] * 2 * cut) if cut < 1 else 0


@njit(**FAST)  # type: ignore[untyped-decorator]
def _learn(
    boards: Any,
    white_to_move: Any,
    static_cp: Any,
    expected: Any,
    weight: Any,
    hidden: Any,
    hidden_bias: Any,
    output: Any,
    output_bias: Any,
    scale_cp: float,
    learns: bool,
    of_hidden: Any,
    of_hidden_bias: Any,
    of_output: Any,
    of_output_bias: Any,
    found: Any,
) -> float:
    """Write the outputs of rows to `found`. If it learns, add their gradient to the arrays `of_...`, and return the sum
    of their weighted losses.
    """
    units = len(hidden_bias)
    # [colour of the view, unit]: the sums of the hidden layer, and all slopes by them so far.
    sums = np.zeros((2, units), hidden.dtype)
    slopes = np.zeros((2, units), hidden.dtype)
    nothing = np.zeros(64, boards.dtype)
    before, everything = nothing, np.arange(64)
    changed = np.zeros(64, np.int64)
    first_rows, orientations = np.full(2, -1), np.zeros(2, np.int64)
    lost = 0.0
    for row in range(len(boards)):
        squares, changes = boards[row], 0
        for square in range(64):
            if squares[square] != before[square]:
                changed[changes] = square
                changes += 1
        for view in range(2):
            king = _king(squares, view)
            orientation = _orientation(view, king)
            first_row = FIRST_ROW[king ^ orientation]
            places = changed[:changes]
            if first_row != first_rows[view] or orientation != orientations[view] or changes > MAX_CHANGES:
                # All inputs go, and others come.
                if learns:
                    _add_to_inputs(of_hidden, before, view, first_rows[view], orientations[view], slopes[view])
                sums[view] = hidden_bias
                before_view = nothing
                places = everything
            else:
                before_view = before
            first_rows[view], orientations[view] = first_row, orientation
            for square in places:
                if before_view[square]:
                    old = first_row + ROWS_OF[view, before_view[square]] + (square ^ orientation)
                    _subtract(sums[view], hidden[old])
                    if learns:
                        _add(of_hidden[old], slopes[view])
                if squares[square]:
                    new = first_row + ROWS_OF[view, squares[square]] + (square ^ orientation)
                    _add(sums[view], hidden[new])
                    if learns:
                        _subtract(of_hidden[new], slopes[view])
        before = squares

        us = int(white_to_move[row])
        bucket = (np.count_nonzero(squares) - 1) // PIECES_PER_BUCKET
        total = output_bias[bucket]
        total += _weighted_squares(sums[us], output[bucket, :units])
        total += _weighted_squares(sums[1 - us], output[bucket, units:])
        found[row] = OUTPUT_CP * total
        if not learns:
            continue
        promised = 1 / (1 + np.exp(-(static_cp[row] + OUTPUT_CP * total) / scale_cp))
        error = promised - expected[row]
        lost += weight[row] * error**2
        by_total = 2 * error * promised * (1 - promised) / scale_cp
        slope = hidden.dtype.type(by_total * OUTPUT_CP * weight[row])
        of_output_bias[bucket] += slope
        ours, theirs = of_output[bucket, :units], of_output[bucket, units:]
        _slopes_of_view(sums[us], output[bucket, :units], slope, ours, slopes[us])
        _slopes_of_view(sums[1 - us], output[bucket, units:], slope, theirs, slopes[1 - us])
    if learns:
        for view in range(2):
            _add_to_inputs(of_hidden, before, view, first_rows[view], orientations[view], slopes[view])
            _add(of_hidden_bias, slopes[view])
    return lost


def quantised(network: TrainedNetwork) -> network_file.Network:
    """The nearest whole numbers. Raises ProgramError, NetworkError for numbers that are out of bounds."""
    hidden = np.rint(network.hidden() * MAX_SUM)
    bias = np.rint(network.hidden_bias * MAX_SUM)
    output = np.rint(network.output * OUTPUT_SCALE)
    # Half a centipawn: the output is rounded down.
    output_bias = np.rint(network.output_bias * OUTPUT_CP * ONE_CP) + ONE_CP // 2
    for numbers, limit in ((hidden, HIDDEN_LIMIT), (bias, HIDDEN_BIAS_LIMIT), (output, OUTPUT_LIMIT)):
        if np.abs(numbers).max() >= limit:
            raise ProgramError(f"a number of the network is {np.abs(numbers).max():.0f}, more than {limit - 1}")
    hidden_bytes = np.ascontiguousarray(hidden, "i1").tobytes()
    bias_bytes, output_bytes = (np.ascontiguousarray(each, "<i2").tobytes() for each in (bias, output))
    return network_file.Network(hidden_bytes, bias_bytes, output_bytes, tuple(int(each) for each in output_bias))


def floating(network: network_file.Network) -> TrainedNetwork:
    """The network to go on from, of which `quantised` makes the same numbers again."""
    hidden = np.frombuffer(network.hidden, "i1").reshape(INPUTS, UNITS).astype(np.float32) / np.float32(MAX_SUM)
    bias = np.frombuffer(network.hidden_bias, "<i2").astype(np.float32) / np.float32(MAX_SUM)
    output = np.frombuffer(network.output, "<i2").reshape(OUTPUT_BUCKETS, 2 * UNITS)
    output_bias = np.array(network.output_bias, np.float64) - ONE_CP // 2
    # The mean over the regions is the common part.
    common = hidden.reshape(KING_REGIONS, PIECE_SQUARES, UNITS).mean(axis=0)
    return TrainedNetwork(
        hidden - np.tile(common, (KING_REGIONS, 1)),
        common,
        bias,
        (output / OUTPUT_SCALE).astype(np.float32),
        (output_bias / (OUTPUT_CP * ONE_CP)).astype(np.float32),
    )


# ---- The fit ----


@dataclass(frozen=True)
class Plan:
    """How a run goes.

    scale_cp: at which features and network promise a result. rate: the largest step of a parameter. decay: with a step
    of 1, so much of a parameter would be lost; it keeps the network from learning games by heart. batch: positions.
    patience: so many epochs without a better validation loss end the run.
    """

    scale_cp: float
    epochs: int = 20
    patience: int = 6
    rate: float = 0.002
    decay: float = 0.01
    batch: int = 8192
    seed: int = 0
    threads: int = 1


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
        self._train = ordered_rows(batch.records, train, plan.threads)
        self._network = TrainedNetwork(*state.parameters)
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
            return total / weights, mean_loss(
                self._validation, outputs(self._network, self._validation, pool.map), self._plan.scale_cp
            )

    def _add_gradients(self, pool: ThreadPoolExecutor, rows: npt.NDArray[np.intp]) -> tuple[float, float]:
        """The sums of the losses and of the weights. Each thread has a part of the rows."""

        def of_some(some: npt.NDArray[np.intp], gradient: Gradient) -> tuple[float, float]:
            batch = self._batch.rows(some)
            lost = add_gradient(self._network, self._hidden, batch, self._plan.scale_cp, gradient)
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


def ordered_rows(records: npt.NDArray[Any], places: npt.NDArray[np.intp], threads: int) -> npt.NDArray[np.intp]:
    """These places of records, those of each block in an order that is fast to work on."""
    ordered = places.copy()
    parts = np.split(ordered, range(ORDERED, len(ordered), ORDERED))
    with ThreadPoolExecutor(threads) as pool, show_progress("ordering", len(ordered)) as advance:

        def order(part: npt.NDArray[np.intp]) -> int:
            put_like_beside_like(pieces_of(records[part]), part, BLOCK)
            return len(part)

        for count in pool.map(order, parts):
            advance(count)
    return ordered


def mean_loss(batch: Batch, outputs_cp: Any, scale_cp: float) -> float:
    """The mean loss a position, weighted, with these outputs of a network: the square of the error of the promise."""
    errors = expit((batch.static_cp + outputs_cp) / scale_cp) - batch.expected
    return float(np.average(errors**2, weights=batch.weight))


def best_mixture(
    start: TrainedNetwork, end: TrainedNetwork, validation: Batch, scale_cp: float
) -> tuple[float, TrainedNetwork]:
    """Of the networks on the way from one to another, the one with the least loss, and the share of `end` in it.

    What is trained further on other positions forgets some of what it knew. The mean of both often knows more than
    either: M. Wortsman et al., "Robust fine-tuning of zero-shot models", 2022.
    """
    found = []
    for step in range(MIXTURES + 1):
        share = step / MIXTURES
        pairs = zip(start.arrays(), end.arrays(), strict=True)
        mixed = TrainedNetwork(*((1 - share) * before + share * after for before, after in pairs))
        found.append((mean_loss(validation, outputs(mixed, validation), scale_cp), share, mixed))
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


# ---- Scores by the engine ----


def static_scores(records: npt.NDArray[Any], weights: Weights | None = None) -> npt.NDArray[np.int16]:
    """The scores of the features, side to move's view. weights: None: those of the engine.

    Raises ProgramError for a position that cannot be evaluated.
    """
    load()
    evaluator, board = set_up(chess.Board(), weights)
    return np.fromiter((evaluator.evaluate(board) for _ in set_up_each(records, board)), np.int16, len(records))


def network_scores(
    network: network_file.Network, records: npt.NDArray[Any], features_cp: npt.NDArray[Any]
) -> npt.NDArray[np.int16]:
    """What the engine adds to the scores of the features, `features_cp`. Raises as `static_scores` does."""
    load()
    evaluator, board = set_up(chess.Board(), network=network)
    added = (
        evaluator.network_score(board, score)
        for score, _ in zip(features_cp.tolist(), set_up_each(records, board), strict=True)
    )
    return np.fromiter(added, np.int16, len(records))


def has_output(records: npt.NDArray[Any], features_cp: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether the network adds anything to a position (see `evaluation.network`)."""
    white, black = counts_of(records)
    is_open = np.abs(features_cp) <= MAX_TERMS_CP
    return np.asarray((black > 1) & (white > 1) & (white + black >= MIN_PIECES) & is_open)
