"""The network of the policy, against NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tests.support.kernel import is_compiled
from uci_engine.policy import convolution
from uci_engine.policy.convolution import CHANNELS, LAYERS, MAX_CHANNEL, MAX_VECTOR, ONE, VECTOR

Array = npt.NDArray[np.int64]


def vectors_by_numpy(planes: Array, shifts: Array, biases: Array, weights: Array) -> Array:
    """The vectors of all squares. `planes`: [rank, file, channel]."""

    def convolved(board: Array, layer: int) -> Array:
        size = CHANNELS * 9 * CHANNELS
        kernel = weights[layer * size : (layer + 1) * size].reshape(CHANNELS, 3, 3, CHANNELS)
        border = np.pad(board, ((1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(border, (3, 3), axis=(0, 1))
        sums: Array = np.einsum("xyckl,oklc->xyo", windows, kernel) >> shifts[layer]
        return sums + biases[layer * CHANNELS : (layer + 1) * CHANNELS]

    board = convolved(planes, 0).clip(0, MAX_CHANNEL)
    for layer in range(1, LAYERS, 2):
        inner = convolved(board, layer).clip(0, MAX_CHANNEL)
        board = (convolved(inner, layer + 1) + board).clip(0, MAX_CHANNEL)
    sums: Array = board.reshape(64, CHANNELS) @ weights[-2 * VECTOR * CHANNELS :].reshape(2 * VECTOR, CHANNELS).T
    vectors: Array = ((sums >> shifts[LAYERS]) + biases[-2 * VECTOR :]).clip(-MAX_VECTOR, MAX_VECTOR)
    return vectors


@pytest.mark.parametrize("seed", range(5 if is_compiled() else 1))
def test_the_scores_are_those_of_the_formula(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    shifts = drawn.integers(10, 13, convolution.SHIFTS)
    biases, weights = (drawn.integers(-250, 260, size) for size in (convolution.BIASES, convolution.WEIGHTS))
    data = shifts.astype("<i1").tobytes() + biases.astype("<i2").tobytes() + weights.astype("<i2").tobytes()
    network = convolution.Convolution(convolution.ConvolutionWeights(data))
    planes = np.zeros((64, CHANNELS), np.int64)
    for plane in range(CHANNELS):
        value, squares = int(drawn.integers(0, ONE + 1)), [int(each) for each in drawn.permutation(64)[:plane]]
        network.set_plane(plane, sum(1 << square for square in squares), value)
        planes[squares, plane] = value
    network.run()
    vectors = vectors_by_numpy(planes.reshape(8, 8, CHANNELS), shifts, biases, weights)
    assert len({int(each) for each in vectors.flat}) > 100
    expected = vectors[:, :VECTOR] @ vectors[:, VECTOR:].T
    assert [[network.score(start, end) for end in range(64)] for start in range(64)] == expected.tolist()


@pytest.mark.parametrize("size", [0, convolution.FILE_BYTES - 1, convolution.FILE_BYTES + 1])
def test_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="size"):
        convolution.ConvolutionWeights(bytes(size))
