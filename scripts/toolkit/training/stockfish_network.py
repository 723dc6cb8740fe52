"""The network of Stockfish 15, evaluated for many positions.

Stockfish writes its network to a file on its command `export_net FILE`. Its command `eval` calls the same number "NNUE
evaluation", but that is far slower.

A view is a colour's. An input is a piece on a square as a view sees it, together with where the view's own king
stands: 32 places, since the files are mirrored so that the king is on e to h. The first layer adds up the rows of the
active inputs: 1024 sums a view, and 8 more that go straight to the output. Three small layers follow, of their own for
each of eight numbers of pieces. All numbers are whole.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import chess
import numpy as np
import numpy.typing as npt
from numba import njit

from toolkit.console import Advance
from toolkit.errors import ProgramError
from toolkit.training.positions import MAX_SCORE_CP, pieces_of, white_to_move

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
# What stands for 1 in a layer, and the shifts of their product and of the small layers' weights.
ONE: Final = 127
ONE_SHIFT: Final = 7
WEIGHT_SHIFT: Final = 6
OUTPUT_SCALE: Final = 16
# Of the output that goes straight to the end.
SKIP_SCALE: Final = 600 * OUTPUT_SCALE
# Stockfish's unit: as many are a pawn, at which it wins half of its games.
UNITS_PER_PAWN: Final = 361

# Positions that a thread scores at a time.
NETWORK_BATCH: Final = 16384

# What a file holds after its head. The hashes are of the layers' shapes.
LAYERS: Final = np.dtype(
    [
        ("hash", "<u4"),
        ("second_bias", "<i4", SECOND),
        ("second", "i1", (SECOND, SUMS)),
        ("third_bias", "<i4", THIRD),
        ("third", "i1", (THIRD, THIRD_INPUTS)),
        ("last_bias", "<i4"),
        ("last", "i1", THIRD),
    ]
)
NETWORK: Final = np.dtype(
    [
        ("hash", "<u4"),
        ("bias", "<i2", SUMS),
        ("weights", "<i2", (INPUTS, SUMS)),
        ("straight", "<i4", (INPUTS, BUCKETS)),
        ("layers", LAYERS, BUCKETS),
    ]
)

Array = npt.NDArray[Any]


class StockfishNetwork(NamedTuple):
    """bias: [sum]. weights: [input, sum]. straight: [input, bucket]. layers: [bucket], each of LAYERS."""

    bias: Array
    weights: Array
    straight: Array
    layers: Array


def read_network(path: Path) -> StockfishNetwork:
    """Raises ProgramError for a file that is no such network, OSError."""
    data = path.read_bytes()
    version, shape, length = np.frombuffer(data[:12].ljust(12), "<u4").tolist()
    if (version, shape) != (VERSION, SHAPE):
        raise ProgramError(f"{path} is no network of Stockfish 15")
    # Before the numbers stand the words of those who made it.
    first = 12 + length
    if len(data) < first + NETWORK.itemsize:
        raise ProgramError(f"{path} is cut off")
    if len(data) > first + NETWORK.itemsize:
        raise ProgramError(f"{path} is longer than a network of Stockfish 15")
    found = np.frombuffer(data, NETWORK, 1, first)[0]
    return StockfishNetwork(*(found[name].copy() for name in StockfishNetwork._fields))


def scores_of_network(
    network: StockfishNetwork, records: Array, threads: int = 1, advance: Advance = lambda steps=1, text=None: None
) -> npt.NDArray[np.int16]:
    """What the network says of positions, in centipawns of Stockfish 15, White's view.

    It is fastest where the positions of a game stand together. Raises ProgramError for a damaged record.
    """

    def score(first: int) -> Array:
        part = records[first : first + NETWORK_BATCH]
        units = _units(network, pieces_of(part), white_to_move(part))
        return np.clip(np.rint(units * 100 / UNITS_PER_PAWN), -MAX_SCORE_CP, MAX_SCORE_CP).astype(np.int16)

    scores = [np.empty(0, np.int16)]
    with ThreadPoolExecutor(threads) as pool:
        for part in pool.map(score, range(0, len(records), NETWORK_BATCH)):
            scores.append(part)
            advance(len(part))
    return np.concatenate(scores)


@njit(nogil=True, cache=True)
def _units(network: StockfishNetwork, pieces: Array, white_to_move: Array) -> Array:
    """The output for each position, White's view. pieces: as `pieces_of` gives them."""
    found = np.empty(len(pieces), np.int64)
    # For each view and square of its king: the pieces of the last such position, and the sums of their inputs. Most
    # pieces stand where they stood.
    old = np.zeros((2, 64, 64), np.uint8)
    sums = np.empty((2, 64, SUMS), np.int32)
    sums[:] = network.bias
    straight = np.zeros((2, 64, BUCKETS), np.int32)
    halves = np.empty((2, SUMS // 2), np.uint8)
    for index in range(len(pieces)):
        board, turn = pieces[index], int(white_to_move[index])
        bucket = (int(np.count_nonzero(board)) - 1) // PIECES_PER_BUCKET
        difference = 0
        for half, view in enumerate((turn, 1 - turn)):
            king = int(np.argmax(board == 2 * chess.KING + view))
            _update(network, view, king, old[view, king], board, sums[view, king], straight[view, king])
            _multiply(sums[view, king], halves[half])
            difference += straight[view, king, bucket] * (1 - 2 * half)
        output = _quotient(difference, 2) + _deep(network.layers[bucket], halves.ravel())
        found[index] = _quotient(output, OUTPUT_SCALE) * (2 * turn - 1)
    return found


@njit(nogil=True)
def _update(
    network: StockfishNetwork, view: int, king: int, old: Array, board: Array, sums: Array, straight: Array
) -> None:
    """Turn the sums of the old pieces into those of the board's."""
    for square in range(64):
        if old[square] != board[square]:
            for piece, sign in ((old[square], -1), (board[square], 1)):
                if piece:
                    row = _input(view, king, piece, square)
                    _add(sums, network.weights[row], sign)
                    _add(straight, network.straight[row], sign)
            old[square] = board[square]


@njit(nogil=True)
def _input(view: int, king: int, piece: int, square: int) -> int:
    turned = (0 if view else 56) ^ (7 if king & 7 < 4 else 0)
    seen_king = king ^ turned
    place = (7 - (seen_king >> 3)) * 4 + 7 - (seen_king & 7)
    kind = 10 if piece >> 1 == chess.KING else 2 * ((piece >> 1) - 1) + (piece & 1 != view)
    return (place * KINDS + kind) * 64 + (square ^ turned)


@njit(nogil=True)
def _add(sums: Array, row: Array, sign: int) -> None:
    for place in range(len(sums)):
        sums[place] += sign * row[place]


@njit(nogil=True)
def _multiply(sums: Array, half: Array) -> None:
    """Half as many inputs of the second layer: each is the product of two sums."""
    for place in range(len(half)):
        first = min(max(sums[place], 0), ONE)
        second = min(max(sums[len(half) + place], 0), ONE)
        half[place] = first * second >> ONE_SHIFT


@njit(nogil=True)
def _deep(layers: Any, inputs: Array) -> int:
    """The output of the small layers."""
    second = np.empty(SECOND, np.int64)
    for output in range(SECOND):
        second[output] = _dot(layers.second[output], inputs) + layers.second_bias[output]
    third_inputs = np.zeros(THIRD_INPUTS, np.uint8)
    for place in range(SECOND - 1):
        third_inputs[place] = min(second[place] ** 2 >> (2 * WEIGHT_SHIFT + ONE_SHIFT), ONE)
        third_inputs[SECOND - 1 + place] = _cut(second[place])
    deep = int(layers.last_bias) + _quotient(second[-1] * SKIP_SCALE, ONE << WEIGHT_SHIFT)
    for output in range(THIRD):
        third = _dot(layers.third[output], third_inputs) + layers.third_bias[output]
        deep += int(layers.last[output]) * _cut(third)
    return deep


@njit(nogil=True)
def _dot(weights: Array, inputs: Array) -> int:
    # In 32 bits, of which the compiler makes vector code.
    total = np.int32(0)
    for place in range(len(inputs)):
        total += np.int32(weights[place]) * np.int32(inputs[place])
    return int(total)


@njit(nogil=True)
def _cut(value: int) -> int:
    return min(max(value >> WEIGHT_SHIFT, 0), ONE)


@njit(nogil=True)
def _quotient(number: int, divisor: int) -> int:
    """Rounded towards zero."""
    return number // divisor if number >= 0 else -(-number // divisor)
