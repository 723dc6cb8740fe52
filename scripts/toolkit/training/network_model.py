"""The network in floating point: forward, loss and gradient of a batch of positions.

One hidden layer serves both views. A unit's output is the square of its sum, cut off below 0 and above 1. What the
views of both sides give is weighted and added up, by weights of their own for one to four pieces, five to eight, and so
on. The result is in units of OUTPUT_CP.

A weight of the hidden layer is the sum of one for the region of the own king and one for all regions. So what a region
has too few positions for is learnt from all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit

from evaluation.network.shape import INPUTS, KING_REGION, KING_REGIONS, PIECE_SQUARES
from toolkit.training.network_inputs import NO_PIECE, Inputs

Floats = npt.NDArray[np.float32]
# The `map` of a pool of threads, or the built-in one.
Run = Callable[..., Iterable[Any]]

OUTPUT_CP: Final = 100.0
# Rows that a thread works on at a time: what they need fits the processor's caches. Invariant: the sums do not depend
# on the number of threads.
SLICE: Final = 1024
# The input of the own king on a1.
OWN_KING: Final = 5 * 64


@dataclass
class Network:
    """regions: [region * PIECE_SQUARES + input, unit]. common: [input, unit]. hidden_bias: [unit]. output: [bucket, 2 *
    unit], the side to move's view first. output_bias: [bucket].
    """

    regions: Floats
    common: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @property
    def units(self) -> int:
        """The size of the hidden layer."""
        return len(self.hidden_bias)

    @property
    def buckets(self) -> int:
        """Into how many groups the numbers of pieces fall."""
        return len(self.output_bias)

    def hidden(self) -> Floats:
        """The weights of the hidden layer, as `regions`."""
        return self.regions + np.tile(self.common, (KING_REGIONS, 1))

    def arrays(self) -> list[Floats]:
        """All parameters."""
        return [getattr(self, each.name) for each in fields(self)]

    def like(self, value: float = 0.0) -> Network:
        """One of the same shape, full of a number."""
        return Network(*(np.full_like(array, value) for array in self.arrays()))


@dataclass(frozen=True)
class Batch:
    """Rows to learn from. static_cp: of the features. expected: the expected result, from 0 to 1. Side to move's view.

    weight: how much the row counts.
    """

    inputs: Inputs
    buckets: npt.NDArray[np.intp]
    static_cp: Floats
    expected: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.inputs)

    def rows(self, chosen: Any) -> Batch:
        """Some of them."""
        return Batch(*(getattr(self, each.name)[chosen] for each in fields(self)))


def new_network(units: int, buckets: int, seed: int) -> Network:
    """Before the first step: its outputs are small."""
    chance = np.random.default_rng(seed)
    common = chance.normal(0, 0.12, (PIECE_SQUARES, units)).astype(np.float32)
    output = chance.normal(0, 0.02, (1, 2 * units)).astype(np.float32).repeat(buckets, axis=0)
    regions = np.zeros((INPUTS, units), np.float32)
    return Network(regions, common, np.full(units, 0.3, np.float32), output, np.zeros(buckets, np.float32))


def joined(hidden: Floats, hidden_bias: Floats, output: Floats, output_bias: Floats) -> Network:
    """A network from its weights of the hidden layer as a whole. Their mean over the regions is the common part."""
    common = hidden.reshape(KING_REGIONS, PIECE_SQUARES, -1).mean(axis=0)
    return Network(hidden - np.tile(common, (KING_REGIONS, 1)), common, hidden_bias, output, output_bias)


def matrix(inputs: Inputs) -> Any:
    """Which rows of `regions` each position of one view has, as a sparse matrix of ones. Each has one own king."""
    is_active = inputs != NO_PIECE
    counts = np.count_nonzero(is_active, axis=1)
    ends = np.zeros(len(inputs) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    king = inputs[(inputs >= OWN_KING) & (inputs < OWN_KING + 64)] - OWN_KING
    first_row = PIECE_SQUARES * np.array(KING_REGION, np.int32)[king]
    indices = inputs[is_active] + np.repeat(first_row, counts)
    return sparse.csr_array((np.ones(len(indices), np.float32), indices, ends), shape=(len(inputs), INPUTS))


def outputs(network: Network, inputs: Inputs, buckets: npt.NDArray[np.intp]) -> Floats:
    """In centipawns, the side to move's view."""
    hidden = network.hidden()
    found = np.empty(len(inputs), np.float32)
    for first in range(0, len(inputs), SLICE):
        rows = slice(first, first + SLICE)
        total = network.output_bias[buckets[rows]]
        for view in range(2):
            cut = np.clip(matrix(inputs[rows, view]) @ hidden + network.hidden_bias, 0, 1)
            total += _weighted(cut * cut, _half(network, view), buckets[rows])
        found[rows] = OUTPUT_CP * total
    return found


def _half(network: Network, view: int) -> Floats:
    """The output weights of one view."""
    return network.output[:, view * network.units : (view + 1) * network.units]


def _weighted(squares: Floats, weights: Floats, buckets: npt.NDArray[np.intp]) -> Floats:
    return np.take_along_axis(squares @ weights.T, buckets[:, None], axis=1)[:, 0]


@dataclass(frozen=True)
class Loss:
    """scale_cp: of the sum of features and network. power: of the difference of promised and expected result."""

    scale_cp: float
    power: float = 2.0

    def of(self, scores_cp: Floats, expected: Floats) -> tuple[npt.NDArray[Any], Floats]:
        """The loss of each row, and its slope by the score."""
        promised = expit(scores_cp / self.scale_cp)
        error = promised - expected
        size = np.abs(error)
        slope = self.power * size ** (self.power - 1) * np.sign(error) * promised * (1 - promised) / self.scale_cp
        return size**self.power, slope.astype(np.float32)


def add_gradient(network: Network, batch: Batch, loss: Loss, total: Network, run: Run = map) -> float:
    """Add the gradient of a batch to `total`; returns its weighted loss. `run`: the `map` of a pool of threads."""
    hidden = network.hidden()
    views = [matrix(batch.inputs[:, view]) for view in range(2)]
    # The slope of the loss by the sums of both views.
    slopes = np.empty((2, len(batch), network.units), hidden.dtype)

    def of_slice(first: int) -> tuple[float, Floats, Floats]:
        """The loss, and its slopes by the biases and by the weights of the output."""
        rows = slice(first, first + SLICE)
        part = batch.rows(rows)
        cuts = [np.clip(views[view][rows] @ hidden + network.hidden_bias, 0, 1) for view in range(2)]
        squares = [cut * cut for cut in cuts]
        out = network.output_bias[part.buckets]
        for view in range(2):
            out += _weighted(squares[view], _half(network, view), part.buckets)
        losses, slope = loss.of(part.static_cp + OUTPUT_CP * out, part.expected)
        slope *= OUTPUT_CP * part.weight
        # A row for each bucket: the slope of the rows that are in it.
        spread = np.zeros((network.buckets, len(part)), np.float32)
        spread[part.buckets, np.arange(len(part))] = slope
        for view in range(2):
            back = spread.T @ _half(network, view)
            # The slope of the square; 0 where it was cut off.
            back *= 2 * cuts[view]
            back[cuts[view] >= 1] = 0
            slopes[view, rows] = back
        of_output = np.concatenate([spread @ squares[view] for view in range(2)], axis=1)
        return float(np.sum(losses * part.weight)), spread.sum(axis=1), of_output

    sum_of_losses = 0.0
    for lost, of_bias, of_output in run(of_slice, range(0, len(batch), SLICE)):
        sum_of_losses += lost
        total.output_bias += of_bias
        total.output += of_output
    total.hidden_bias += slopes.sum(axis=(0, 1))
    ours, theirs = run(lambda view: views[view].T @ slopes[view], range(2))
    of_hidden = ours + theirs
    total.regions += of_hidden
    total.common += of_hidden.reshape(KING_REGIONS, PIECE_SQUARES, network.units).sum(axis=0)
    return sum_of_losses
