"""A network: its shape, the scales of its whole numbers, and its file.

    bytes                           content
    24                              magic
    4 * 4                           version, INPUTS, UNITS, OUTPUT_BUCKETS
    INPUTS * UNITS                  weights of the hidden layer: [input][unit]
    2 * UNITS                       its biases
    2 * OUTPUT_BUCKETS * 2 * UNITS  weights of the output: [bucket][the side to move's units, then the other side's]
    4 * OUTPUT_BUCKETS              its biases
    4                               CRC-32 of all before it

Numbers are little-endian, those of the network with a sign. Invariant: no score by a `Network` overflows, because its
numbers are within the bounds:

- A sum of 32 pieces fits in 16 bits: -32 * 128 - 8192 = -12288 to 32 * 127 + 8191 = 12255.
- An output fits in 32 bits: 2 * UNITS * 255 * OUTPUT_LIMIT + MAX_OUTPUT_BIAS < 2**31.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from evaluation.files import read_start

# A view's pieces on squares: own pawn to king, then the enemy's.
PIECE_SQUARES = 768
# They have weights of their own for each region of the own king.
KING_REGIONS = 8
# [the own king's square as the view sees it]: its region. A view is mirrored so that the king is on the files e to h.
KING_REGION = [*[0] * 5, 1, 2, 3, *[4] * 6, 5, 5, *[6] * 16, *[7] * 32]
INPUTS = 6144
# The hidden layer.
UNITS = 512
# The output has weights of its own for one to four pieces, five to eight, and so on.
OUTPUT_BUCKETS = 8
PIECES_PER_BUCKET = 4
# What stands for 1 in the hidden layer: sums are cut off there. It is the largest number whose square has 15 bits, so
# that the C compiler can take eight squares at a time.
MAX_SUM = 181
# Squares are shifted by this, so that they stay below 256.
SQUARE_SHIFT = 7
# One centipawn is 1 << OUTPUT_SHIFT.
OUTPUT_SHIFT = 14
# Bounds of the file: weights and biases of the hidden layer, and weights of the output, are from minus this to this
# minus 1. Weights of the hidden layer have 8 bits there.
HIDDEN_LIMIT = 128
HIDDEN_BIAS_LIMIT = 8192
OUTPUT_LIMIT = 8192
MAX_OUTPUT_BIAS = 8_388_607
# The output is cut off beyond, in centipawns.
MAX_NETWORK_CP = 1000
# With fewer pieces it is 0.
MIN_PIECES = 5
# Beyond this score of the terms there is none either: the lead decides, and the network takes time.
MAX_TERMS_CP = 600

MAGIC: Final = b"Secateur network\n\0\0\0\0\0\0\0"
VERSION: Final = 4
_BEGINNING: Final = struct.pack("<24s4I", MAGIC, VERSION, INPUTS, UNITS, OUTPUT_BUCKETS)
_SIZES: Final = {"hidden": INPUTS * UNITS, "hidden_bias": 2 * UNITS, "output": 2 * OUTPUT_BUCKETS * 2 * UNITS}
_BODY: Final = struct.Struct(f"<{''.join(f'{size}s' for size in _SIZES.values())}{OUTPUT_BUCKETS}i")
_CHECKSUM: Final = struct.Struct("<I")
FILE_BYTES: Final = len(_BEGINNING) + _BODY.size + _CHECKSUM.size
# The network of the package.
DEFAULT_FILE: Final = Path(__file__).with_name("default.network")


class NetworkError(ValueError):
    """A network that cannot be used. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Network:
    """The numbers of a network, checked on construction.

    The bytes are numbers of 8 bits for `hidden`, and of 16 bits for the others, as in the file. Raises NetworkError.
    """

    hidden: bytes
    hidden_bias: bytes
    output: bytes
    output_bias: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, size in _SIZES.items():
            if len(getattr(self, name)) != size:
                raise NetworkError(f"{name} has {len(getattr(self, name))} bytes, not {size}")
        if not _is_within(self.hidden_bias, HIDDEN_BIAS_LIMIT):
            raise NetworkError(f"a bias of the hidden layer is beyond ±{HIDDEN_BIAS_LIMIT}, so a sum could overflow")
        if not _is_within(self.output, OUTPUT_LIMIT):
            raise NetworkError(f"a weight of the output is beyond ±{OUTPUT_LIMIT}, so it could overflow")
        if len(self.output_bias) != OUTPUT_BUCKETS or any(abs(bias) > MAX_OUTPUT_BIAS for bias in self.output_bias):
            raise NetworkError(
                f"the output needs {OUTPUT_BUCKETS} biases within ±{MAX_OUTPUT_BIAS}, or it could overflow"
            )

    @classmethod
    def parse(cls, data: bytes) -> Network:
        """The network of a file's bytes. Raises NetworkError."""
        if not data.startswith(_BEGINNING):
            shape = f"{INPUTS} x {UNITS} x {OUTPUT_BUCKETS}"
            raise NetworkError(f"it is not a network of Secateur, version {VERSION}, of {shape}")
        if len(data) != FILE_BYTES:
            raise NetworkError(f"it has {'more' if len(data) > FILE_BYTES else 'fewer'} than {FILE_BYTES} bytes")
        if zlib.crc32(data[: -_CHECKSUM.size]) != _CHECKSUM.unpack(data[-_CHECKSUM.size :])[0]:
            raise NetworkError("it is damaged: its checksum does not fit")
        hidden, hidden_bias, output, *output_bias = _BODY.unpack_from(data, len(_BEGINNING))
        return cls(hidden, hidden_bias, output, tuple(output_bias))

    def pack(self) -> bytes:
        """The bytes of a file that `parse` reads back."""
        data = _BEGINNING + _BODY.pack(self.hidden, self.hidden_bias, self.output, *self.output_bias)
        return data + _CHECKSUM.pack(zlib.crc32(data))

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a file; a pipe is refused. Raises NetworkError when it cannot be read or is not valid."""
        return cls.parse(read_start(path, FILE_BYTES + 1, NetworkError))


@cache
def default_network() -> Network:
    """The network of the package. RuntimeError: its file is missing or damaged."""
    try:
        return Network.load(DEFAULT_FILE)
    except NetworkError as error:
        raise RuntimeError(f"the built-in network cannot be used ({error})") from error


def _is_within(numbers: bytes, limit: int) -> bool:
    """Whether all numbers are from -limit to limit - 1. `limit` is a multiple of 256: the higher bytes decide."""
    high = limit // 256
    return not numbers[1::2].translate(None, bytes([*range(high), *range(256 - high, 256)]))
