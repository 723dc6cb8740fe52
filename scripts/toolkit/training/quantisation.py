"""The network in whole numbers, as the engine has it, and what they say for many positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.network import file as engine
from evaluation.network.shape import (
    BUCKETS,
    HIDDEN_BIAS_LIMIT,
    HIDDEN_LIMIT,
    INPUTS,
    MAX_NETWORK_CP,
    MAX_OUTPUT_BIAS,
    MAX_SUM,
    OUTPUT_LIMIT,
    OUTPUT_SHIFT,
    SQUARE_SHIFT,
    UNITS,
)
from toolkit.errors import ProgramError
from toolkit.training.network_inputs import Inputs, bucket_of, has_output, inputs_of
from toolkit.training.network_model import OUTPUT_CP, SLICE, Network, joined, matrix
from toolkit.training.positions import white_to_move

# One centipawn of the output, and what an active unit's square stands for there.
ONE_CP = 1 << OUTPUT_SHIFT
SQUARE_OF_ONE = MAX_SUM**2 / (1 << SQUARE_SHIFT)


def quantised(network: Network) -> engine.Network:
    """The nearest whole numbers. Raises ProgramError for another shape, or numbers that are out of bounds."""
    if network.regions.shape != (INPUTS, UNITS) or network.output.shape != (BUCKETS, 2 * UNITS):
        raise ProgramError(f"the engine's network has {UNITS} units and {BUCKETS} buckets")
    hidden = np.rint(network.hidden() * MAX_SUM)
    bias = np.rint(network.hidden_bias * MAX_SUM)
    output = np.rint(network.output * OUTPUT_CP * ONE_CP / SQUARE_OF_ONE)
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
        (output * (SQUARE_OF_ONE / (OUTPUT_CP * ONE_CP))).astype(np.float32),
        (output_bias / (OUTPUT_CP * ONE_CP)).astype(np.float32),
    )


def whole_outputs(network: engine.Network, inputs: Inputs, buckets: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
    """The network's output, in centipawns, the side to move's view."""
    # Sums below 2 ** 24 are exact in floats of 32 bits, and SciPy adds them up fast.
    hidden = np.frombuffer(network.hidden, "i1").reshape(INPUTS, UNITS).astype(np.float32)
    bias = np.frombuffer(network.hidden_bias, "<i2").astype(np.float32)
    output = np.frombuffer(network.output, "<i2").reshape(BUCKETS, 2, UNITS).astype(np.float64)
    found = np.empty(len(inputs), np.int32)
    for first in range(0, len(inputs), SLICE):
        rows = slice(first, first + SLICE)
        total = np.array(network.output_bias, np.int64)[buckets[rows]]
        for view in range(2):
            cut = np.clip(matrix(inputs[rows, view]) @ hidden + bias, 0, MAX_SUM).astype(np.int32)
            products = ((cut * cut) >> SQUARE_SHIFT).astype(np.float64) @ output[:, view].T
            total += np.take_along_axis(products, buckets[rows, None], axis=1)[:, 0].astype(np.int64)
        found[rows] = np.clip(total >> OUTPUT_SHIFT, -MAX_NETWORK_CP, MAX_NETWORK_CP)
    return found


def white_outputs(
    network: engine.Network, records: npt.NDArray[Any], features_cp: npt.NDArray[Any]
) -> npt.NDArray[np.int32]:
    """What the engine adds to the features' scores `features_cp` of positions. Centipawns, both from White's view."""
    inputs = inputs_of(records)
    found = whole_outputs(network, inputs, bucket_of(inputs)) * has_output(inputs, features_cp)
    return np.where(white_to_move(records), found, -found)
