"""The network in floating point, its outputs and gradient, and the same in whole numbers, as the engine has it.

One hidden layer serves both views. A unit's output is the square of its sum, cut off below 0 and above 1. What the
views of both sides give is weighted and added up, by weights of their own for one to four pieces, five to eight, and so
on. The result is in units of OUTPUT_CP.

A weight of the hidden layer is the sum of one for the region of the own king and one for all regions. So what a region
has too few positions for is learnt from all.

Positions of one game are worked on one after another, like beside like. From one to the next few inputs change. So the
sums of the hidden layer are updated by these alone, as in the engine. The gradient of an input's weights is a sum of
slopes over all positions that have the input: what has come together up to the last of them, less what had before the
first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import expit

from evaluation.base.record import BLACK, BLACK_TO_MOVE, CASTLING_ROOK
from evaluation.network import file as engine
from evaluation.network.shape import (
    BUCKETS,
    HIDDEN_BIAS_LIMIT,
    HIDDEN_LIMIT,
    INPUTS,
    KING_REGION,
    KING_REGIONS,
    MAX_OUTPUT_BIAS,
    MAX_SUM,
    OUTPUT_LIMIT,
    OUTPUT_SHIFT,
    PIECE_SQUARES,
    PIECES_PER_BUCKET,
    SQUARE_SHIFT,
    UNITS,
)
from toolkit.errors import ProgramError
from toolkit.training.positions import words_of

Floats = npt.NDArray[np.float32]
# The `map` of a pool of threads, or the built-in one.
Run = Callable[..., Any]

OUTPUT_CP: Final = 100.0
# Rows that `outputs` works on at a time. Rounding errors of the sums add up no longer than that.
SLICE: Final = 4096
# As a record has them.
ROOK: Final = 3
KING: Final = 5
# Where more squares differ, the sums are added up anew.
MAX_CHANGES: Final = 14
# [the own king's square as its view sees it]: where the rows of its region begin.
FIRST_ROW: Final = PIECE_SQUARES * np.array(KING_REGION, np.int64)
# [colour of the view, a piece's four bits in a record + 1]: where its rows begin in those of a region.
ROWS_OF: Final = np.array(
    [
        [0]
        + [
            64 * (6 * ((code < BLACK) != view) + (ROOK if code & 7 == CASTLING_ROOK else code & 7))
            for code in range(16)
        ]
        for view in (False, True)
    ],
    np.int64,
)

# One centipawn of the output, and what an active unit's square stands for there.
ONE_CP = 1 << OUTPUT_SHIFT
SQUARE_OF_ONE = MAX_SUM**2 / (1 << SQUARE_SHIFT)
# What stands for a weight of 1 of the output.
OUTPUT_SCALE = OUTPUT_CP * ONE_CP / SQUARE_OF_ONE


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

    def hidden(self) -> Floats:
        """The weights of the hidden layer, as `regions`."""
        return self.regions + np.tile(self.common, (KING_REGIONS, 1))

    def arrays(self) -> list[Floats]:
        """All parameters."""
        return [getattr(self, each.name) for each in fields(self)]


@dataclass(frozen=True)
class Batch:
    """Rows to learn from, those of a game together.

    records: see `positions.RECORD`. static_cp: of the features. expected: the expected result, from 0 to 1. Side to
    move's view. weight: how much the row counts.
    """

    records: npt.NDArray[Any]
    static_cp: Floats
    expected: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, chosen: Any) -> Batch:
        """Some of them."""
        return Batch(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def columns(self) -> list[npt.NDArray[Any]]:
        """As `_learn` takes them."""
        return [words_of(self.records), self.static_cp, self.expected, self.weight]


@dataclass
class Gradient:
    """Of a sum of losses, by the weights as a whole and the other parameters of a network."""

    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def of(cls, network: Network) -> Gradient:
        """Zeros."""
        arrays = (network.regions, network.hidden_bias, network.output, network.output_bias)
        return cls(*(np.zeros_like(array) for array in arrays))

    def arrays(self) -> list[Floats]:
        return [self.hidden, self.hidden_bias, self.output, self.output_bias]


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


@dataclass(frozen=True)
class Loss:
    """scale_cp: of the sum of features and network. power: of the difference of promised and expected result."""

    scale_cp: float
    power: float = 2.0

    def of(self, scores_cp: npt.NDArray[Any], expected: Floats) -> npt.NDArray[Any]:
        """The loss of each row."""
        return np.asarray(np.abs(expit(scores_cp / self.scale_cp) - expected) ** self.power)


def outputs(network: Network, batch: Batch, run: Run = map) -> Floats:
    """In centipawns, the side to move's view. `run`: the `map` of a pool of threads."""
    hidden, unused = network.hidden(), Gradient.of(network)
    found = np.empty(len(batch), hidden.dtype)

    def fill(first: int) -> None:
        rows = slice(first, first + SLICE)
        columns, arrays = batch.rows(rows).columns(), network.arrays()[2:]
        _learn(*columns, hidden, *arrays, 1.0, 2.0, False, *unused.arrays(), found[rows])

    for _ in run(fill, range(0, len(batch), SLICE)):
        pass
    return found


def add_gradient(network: Network, hidden: Floats, batch: Batch, loss: Loss, gradient: Gradient) -> float:
    """Add the gradient of a batch to `gradient`; returns its weighted loss. hidden: see `Network.hidden`."""
    columns, arrays = batch.columns(), network.arrays()[2:]
    found = np.empty(len(batch), hidden.dtype)
    lost = _learn(*columns, hidden, *arrays, loss.scale_cp, loss.power, True, *gradient.arrays(), found)
    return float(lost)


# For the compiler: sums may be taken in any order.
FAST: Final[Any] = {
    "nogil": True,
    "cache": True,
    "fastmath": {"reassoc", "contract", "nsz", "nnan"},
    "error_model": "numpy",
}


@njit(**FAST)  # type: ignore[untyped-decorator]
def _decode(row: Any, squares: Any, kings: Any) -> int:
    """Fill in a position's 64 squares, 0 or a piece's four bits + 1, and both kings; returns the number of pieces."""
    place = 0
    for square in range(64):
        squares[square] = 0
        if row[0] >> np.uint64(square) & np.uint64(1):
            code = np.int64(row[1 + (place >> 4)] >> np.uint64(4 * (place & 15)) & np.uint64(15))
            squares[square] = code + 1
            if code & 7 == KING:
                kings[1 - (code >> 3)] = square
            place += 1
    return place


@njit(**FAST)  # type: ignore[untyped-decorator]
def put_like_beside_like(words: Any, places: Any, size: int) -> None:
    """Bring each run of so many places of rows into an order in which `_learn` has little to update.

    The next one is always that of the rest whose inputs differ least. words: see `positions.words_of`.
    """
    # [place of the run]: 64 squares with 0 or a piece's four bits + 1, the region of each view, pieces.
    squares, views, pieces = np.zeros((size, 64), np.uint8), np.zeros((size, 2), np.int64), np.zeros(size, np.int64)
    kings = np.zeros(2, np.int64)
    for begin in range(0, len(places), size):
        run = places[begin : begin + size]
        for each in range(len(run)):
            pieces[each] = _decode(words[run[each]], squares[each], kings)
            for view in range(2):
                orientation = _orientation(view, kings[view])
                views[each, view] = 64 * FIRST_ROW[kings[view] ^ orientation] + orientation
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
    words: Any,
    static_cp: Any,
    expected: Any,
    weight: Any,
    hidden: Any,
    hidden_bias: Any,
    output: Any,
    output_bias: Any,
    scale_cp: float,
    power: float,
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
    # [square]: 0, or a piece's four bits + 1.
    squares, before = np.zeros(64, np.int64), np.zeros(64, np.int64)
    everything = np.arange(64)
    changed = np.zeros(64, np.int64)
    kings = np.zeros(2, np.int64)
    first_rows, orientations = np.full(2, -1), np.zeros(2, np.int64)
    lost = 0.0
    for row in range(len(words)):
        place, changes = _decode(words[row], squares, kings), 0
        for square in range(64):
            if squares[square] != before[square]:
                changed[changes] = square
                changes += 1
        for view in range(2):
            king = kings[view]
            orientation = _orientation(view, king)
            first_row = FIRST_ROW[king ^ orientation]
            places = changed[:changes]
            if first_row != first_rows[view] or orientation != orientations[view] or changes > MAX_CHANGES:
                # All inputs go, and others come.
                for square in range(64):
                    if learns and row and before[square]:
                        old = first_rows[view] + ROWS_OF[view, before[square]]
                        _add(of_hidden[old + (square ^ orientations[view])], slopes[view])
                sums[view] = hidden_bias
                before_view = np.zeros(64, np.int64)
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
        squares, before = before, squares

        us = 0 if words[row, 3] & np.uint64(BLACK_TO_MOVE) else 1
        bucket = (place - 1) // PIECES_PER_BUCKET
        total = output_bias[bucket]
        total += _weighted_squares(sums[us], output[bucket, :units])
        total += _weighted_squares(sums[1 - us], output[bucket, units:])
        found[row] = OUTPUT_CP * total
        if not learns:
            continue
        promised = 1 / (1 + np.exp(-(static_cp[row] + OUTPUT_CP * total) / scale_cp))
        error = promised - expected[row]
        lost += weight[row] * abs(error) ** power
        by_total = power * abs(error) ** (power - 1) * np.sign(error) * promised * (1 - promised) / scale_cp
        slope = hidden.dtype.type(by_total * OUTPUT_CP * weight[row])
        of_output_bias[bucket] += slope
        ours, theirs = of_output[bucket, :units], of_output[bucket, units:]
        _slopes_of_view(sums[us], output[bucket, :units], slope, ours, slopes[us])
        _slopes_of_view(sums[1 - us], output[bucket, units:], slope, theirs, slopes[1 - us])
    if learns:
        for view in range(2):
            for square in range(64):
                if before[square]:
                    old = first_rows[view] + ROWS_OF[view, before[square]]
                    _add(of_hidden[old + (square ^ orientations[view])], slopes[view])
            _add(of_hidden_bias, slopes[view])
    return lost


def quantised(network: Network) -> engine.Network:
    """The nearest whole numbers. Raises ProgramError for another shape, or numbers that are out of bounds."""
    if network.regions.shape != (INPUTS, UNITS) or network.output.shape != (BUCKETS, 2 * UNITS):
        raise ProgramError(f"the engine's network has {UNITS} units and {BUCKETS} buckets")
    hidden = np.rint(network.hidden() * MAX_SUM)
    bias = np.rint(network.hidden_bias * MAX_SUM)
    output = np.rint(network.output * OUTPUT_SCALE)
    # Half a centipawn: the output is rounded down.
    output_bias = np.rint(network.output_bias * OUTPUT_CP * ONE_CP) + ONE_CP // 2
    for name, numbers, bound in (
        ("weights of the hidden layer", hidden, HIDDEN_LIMIT - 1),
        ("biases of the hidden layer", bias, HIDDEN_BIAS_LIMIT - 1),
        ("weights of the output", output, OUTPUT_LIMIT - 1),
        ("biases of the output", output_bias, MAX_OUTPUT_BIAS),
    ):
        if np.abs(numbers).max() > bound:
            raise ProgramError(f"{name} are up to {np.abs(numbers).max():.0f}, more than {bound}")
    hidden_bytes = np.ascontiguousarray(hidden, "i1").tobytes()
    bias_bytes, output_bytes = (np.ascontiguousarray(each, "<i2").tobytes() for each in (bias, output))
    return engine.Network(hidden_bytes, bias_bytes, output_bytes, tuple(int(each) for each in output_bias))


def floating(network: engine.Network) -> Network:
    """The network to go on from, of which `quantised` makes the same numbers again."""
    hidden = np.frombuffer(network.hidden, "i1").reshape(INPUTS, UNITS).astype(np.float32) / np.float32(MAX_SUM)
    bias = np.frombuffer(network.hidden_bias, "<i2").astype(np.float32) / np.float32(MAX_SUM)
    output = np.frombuffer(network.output, "<i2").reshape(BUCKETS, 2 * UNITS)
    output_bias = np.array(network.output_bias, np.float64) - ONE_CP // 2
    return joined(
        hidden,
        bias,
        (output / OUTPUT_SCALE).astype(np.float32),
        (output_bias / (OUTPUT_CP * ONE_CP)).astype(np.float32),
    )
