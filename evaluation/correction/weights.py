"""The numbers of a network as the kernel reads them. All search threads share one object, and none writes to it."""

from __future__ import annotations

import cython

from evaluation.correction.network import Network

if not cython.compiled:
    from evaluation.correction.network import numbers_of, small_numbers_of
    from evaluation.correction.shape import BUCKETS, INPUTS, UNITS

# The row of the hidden layer that adds nothing.
NO_INPUT = INPUTS * UNITS


class CorrectionWeights:
    """`hidden`: [input * UNITS + unit], then a row of zeros. `output`: [bucket * 2 * UNITS + unit], ours first."""

    def __init__(self, network: Network) -> None:
        if cython.compiled:
            self._take(network.hidden, network.hidden_bias, network.output)
        else:
            # Byte by byte, this would take longer than the rest of a start.
            self.hidden = [*small_numbers_of(network.hidden), *([0] * UNITS)]
            self.hidden_bias = numbers_of(network.hidden_bias)
            self.output = numbers_of(network.output)
        self.output_bias = list(network.output_bias)

    def _take(self, hidden: bytes, hidden_bias: bytes, output: bytes) -> cython.int:
        """Read numbers of 8 bits, and for the others of 16 bits, the lower byte first."""
        place: cython.p_uchar = hidden
        index: cython.int
        for index in range(INPUTS * UNITS):
            self.hidden[index] = place[index] - 256 if place[index] > 127 else place[index]
        for index in range(UNITS):
            self.hidden[NO_INPUT + index] = 0
        place = hidden_bias
        for index in range(UNITS):
            self.hidden_bias[index] = signed(place[2 * index] | place[2 * index + 1] << 8)
        place = output
        for index in range(BUCKETS * 2 * UNITS):
            self.output[index] = signed(place[2 * index] | place[2 * index + 1] << 8)
        return 0


def signed(number: cython.int) -> cython.int:
    """16 bits as a number with a sign."""
    return number - 65536 if number > 32767 else number
