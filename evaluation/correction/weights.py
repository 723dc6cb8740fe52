"""The numbers of a network as the kernel reads them. All search threads share one object, and none writes to it."""

from __future__ import annotations

from evaluation.correction.network import Network
from evaluation.correction.shape import BUCKETS, INPUTS, UNITS
from evaluation.typed import copy_i8s, copy_i16s, i8s, i16s, ints


class CorrectionWeights:
    """`hidden`: [input * UNITS + unit], then a row of zeros. `output`: [bucket * 2 * UNITS + unit], ours first."""

    # 8 bits, as in the file: fewer bytes to read from memory.
    hidden = i8s((INPUTS + 1) * UNITS)
    hidden_bias = i16s(UNITS)
    output = i16s(BUCKETS * 2 * UNITS)
    output_bias = ints(BUCKETS)

    def __init__(self, network: Network) -> None:
        copy_i8s(self.hidden, network.hidden)
        copy_i16s(self.hidden_bias, network.hidden_bias)
        copy_i16s(self.output, network.output)
        self.output_bias = list(network.output_bias)
