"""The network of Stockfish 15, evaluated for many positions at once.

Stockfish writes its network to a file on its command `export_net FILE`. Its command `eval` calls the same number "NNUE
evaluation", but that is a hundred times as slow.

A view is a colour's. An input is a piece on a square as a view sees it, together with where the view's own king
stands: 32 places, since the files are mirrored so that the king is on e to h. The first layer adds up the rows of the
active inputs: 1024 sums a view, and 8 more that go straight to the output. Three small layers follow, of their own for
each of eight numbers of pieces.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy import sparse

from toolkit.errors import ProgramError
from toolkit.training.positions import pieces_of, white_to_move

Floats = npt.NDArray[np.float32]

VERSION: Final = 0x7AF32F20
SHAPE: Final = 0x1C102EF2
# The kings' places, the kinds of pieces (own and enemy's, both kings are one) and the squares.
KING_PLACES: Final = 32
KINDS: Final = 11
INPUTS: Final = KING_PLACES * KINDS * 64
SUMS: Final = 1024
BUCKETS: Final = 8
PIECES_PER_BUCKET: Final = 4
# Outputs of the second layer: the last goes straight to the end.
SECOND: Final = 16
THIRD_INPUTS: Final = 32
THIRD: Final = 32
# What stands for 1 in a layer, and the shift of the small layers' weights.
ONE: Final = 127
WEIGHT_SHIFT: Final = 6
OUTPUT_SCALE: Final = 16
# Of the output that goes straight to the end.
SKIP_SCALE: Final = 600 * OUTPUT_SCALE / (ONE << WEIGHT_SHIFT)
# Stockfish's unit: as many are a pawn, at which it wins half of its games.
UNITS_PER_PAWN: Final = 361
# Rows that are worked on at a time.
SLICE: Final = 1024


@dataclass(frozen=True)
class Layers:
    """The small layers for one number of pieces: each has biases [output] and weights [output, input]."""

    second_bias: Floats
    second: Floats
    third_bias: Floats
    third: Floats
    last_bias: Floats
    last: Floats


@dataclass(frozen=True)
class StockfishNetwork:
    """bias: [sum]. weights: [input, sum]. straight: [input, bucket]. layers: [bucket]. digest: of the file, SHA-256."""

    bias: Floats
    weights: Floats
    straight: Floats
    layers: tuple[Layers, ...]
    digest: str


class _Reader:
    """Numbers from a file, one array after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._place = 0

    def skip(self, count: int) -> None:
        """Leave out so many bytes."""
        self._place += count

    def array(self, kind: str, *shape: int) -> npt.NDArray[Any]:
        """The next numbers. Raises ValueError where the file ends before."""
        count = int(np.prod(shape))
        found = np.frombuffer(self._data, kind, count, self._place)
        self._place += found.nbytes
        return found.reshape(shape)

    @property
    def left(self) -> int:
        """How many bytes come yet."""
        return len(self._data) - self._place


def read_network(path: Path) -> StockfishNetwork:
    """Raises ProgramError for a file that is no such network, OSError."""
    data = path.read_bytes()
    reader = _Reader(data)
    try:
        version, shape, length = reader.array("<u4", 3).tolist()
        if (version, shape) != (VERSION, SHAPE):
            raise ProgramError(f"{path} is no network of Stockfish 15")
        # The words of those who made it, and the hash of the first layer.
        reader.skip(length + 4)
        bias = reader.array("<i2", SUMS).astype(np.float32)
        weights = reader.array("<i2", INPUTS, SUMS).astype(np.float32)
        straight = reader.array("<i4", INPUTS, BUCKETS).astype(np.float32)
        layers = tuple(_read_layers(reader) for _ in range(BUCKETS))
    except ValueError:
        raise ProgramError(f"{path} is cut off") from None
    if reader.left:
        raise ProgramError(f"{path} is longer than a network of Stockfish 15")
    return StockfishNetwork(bias, weights, straight, layers, hashlib.sha256(data).hexdigest())


def _read_layers(reader: _Reader) -> Layers:
    reader.skip(4)
    arrays = []
    for outputs, inputs in ((SECOND, SUMS), (THIRD, THIRD_INPUTS), (1, THIRD)):
        arrays.append(reader.array("<i4", outputs).astype(np.float32))
        arrays.append(reader.array("<i1", outputs, inputs).astype(np.float32))
    return Layers(*arrays)


@cache
def input_table() -> npt.NDArray[np.int32]:
    """[view of a colour (White is 1), its king's square, piece * 64 + square]: the input."""
    table = np.zeros((2, 64, 14 * 64), np.int32)
    for view in range(2):
        for king in range(64):
            turned = (0 if view else 56) ^ (7 if king & 7 < 4 else 0)
            seen_king = king ^ turned
            place = (7 - (seen_king >> 3)) * 4 + 7 - (seen_king & 7)
            for piece in range(2, 14):
                kind = 10 if piece >> 1 == chess.KING else 2 * ((piece >> 1) - 1) + (piece & 1 != view)
                for square in range(64):
                    table[view, king, 64 * piece + square] = (place * KINDS + kind) * 64 + (square ^ turned)
    return table


def static_scores(network: StockfishNetwork, records: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What the network says of positions, in centipawns of Stockfish 15, White's view."""
    scores = np.empty(len(records), np.float64)
    for first in range(0, len(records), SLICE):
        part = records[first : first + SLICE]
        scores[first : first + SLICE] = _scores(network, part)
    return scores


def _scores(network: StockfishNetwork, records: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    pieces = pieces_of(records)
    rows, squares = np.nonzero(pieces)
    numbers = pieces[rows, squares].astype(np.intp) * 64 + squares
    counts = np.count_nonzero(pieces, axis=1)
    ends = np.concatenate([[0], np.cumsum(counts)])
    turns = white_to_move(records).astype(np.intp)
    bucket = (counts - 1) // PIECES_PER_BUCKET
    halves, straight = [], []
    for view in (turns, turns ^ 1):
        king = (pieces == (12 + view)[:, None].astype(np.uint8)).argmax(axis=1)
        inputs = input_table()[view[rows], king[rows], numbers]
        active = sparse.csr_array((np.ones(len(inputs), np.float32), inputs, ends), shape=(len(records), INPUTS))
        sums = np.clip(active @ network.weights + network.bias, 0, ONE)
        halves.append(np.floor(sums[:, : SUMS // 2] * sums[:, SUMS // 2 :] / 128))
        straight.append((active @ network.straight)[np.arange(len(records)), bucket])
    joined = np.concatenate(halves, axis=1)
    deep = np.empty(len(records), np.float64)
    for number, layers in enumerate(network.layers):
        chosen = bucket == number
        if chosen.any():
            deep[chosen] = _deep(layers, joined[chosen])
    units = np.trunc((np.trunc((straight[0] - straight[1]) / 2) + deep) / OUTPUT_SCALE)
    return np.asarray(np.where(turns == 1, 1, -1) * units * 100 / UNITS_PER_PAWN, np.float64)


def _deep(layers: Layers, inputs: Floats) -> npt.NDArray[np.float64]:
    """The output of the small layers."""
    second = inputs @ layers.second.T + layers.second_bias
    whole = second[:, :-1].astype(np.float64)
    squares = np.minimum(np.floor(whole * whole / (1 << (2 * WEIGHT_SHIFT + 7))), ONE)
    third_inputs = np.zeros((len(inputs), THIRD_INPUTS), np.float32)
    third_inputs[:, : 2 * (SECOND - 1)] = np.concatenate([squares, _cut(whole)], axis=1)
    third = third_inputs @ layers.third.T + layers.third_bias
    last = _cut(third) @ layers.last[0] + layers.last_bias[0]
    return np.asarray(last + np.trunc(second[:, -1].astype(np.float64) * SKIP_SCALE), np.float64)


def _cut(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.clip(np.floor(sums / (1 << WEIGHT_SHIFT)), 0, ONE)
