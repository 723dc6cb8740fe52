"""The network in whole numbers, as the engine has it."""

from __future__ import annotations

import numpy as np

from evaluation.network import file as engine
from evaluation.network.shape import (
    BUCKETS,
    HIDDEN_BIAS_LIMIT,
    HIDDEN_LIMIT,
    INPUTS,
    MAX_OUTPUT_BIAS,
    MAX_SUM,
    OUTPUT_LIMIT,
    OUTPUT_SHIFT,
    SQUARE_SHIFT,
    UNITS,
)
from toolkit.errors import ProgramError
from toolkit.training.network_model import OUTPUT_CP, Network, joined

# One centipawn of the output, and what an active unit's square stands for there.
ONE_CP = 1 << OUTPUT_SHIFT
SQUARE_OF_ONE = MAX_SUM**2 / (1 << SQUARE_SHIFT)
# What stands for a weight of 1 of the output.
OUTPUT_SCALE = OUTPUT_CP * ONE_CP / SQUARE_OF_ONE


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
