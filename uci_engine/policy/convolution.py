"""The network of the policy: convolutions over the board, in whole numbers. One caller owns a `Convolution`.

It reads planes of the board. The first convolution, BLOCKS residual blocks of two, all of 3 x 3 squares and with ReLU,
give each square CHANNELS numbers. From these each square has one vector for what leaves it and one for what goes to it.
The score of a move is the product of the two.

Invariant: no sum overflows, because `pack` in scripts/fit_policy.py has checked it for the numbers of the file.
"""

from __future__ import annotations

from evaluation.base.typed import copy_i8s, copy_i16s, i8s, i16s, i64, lsb, u64, void

CHANNELS = 48
BLOCKS = 4
LAYERS = 1 + 2 * BLOCKS
# The length of the vectors.
VECTOR = 32
# A convolution has so many weights for each of its channels, for 3 x 3 squares.
TAPS = 9 * CHANNELS
# What stands for 1 in a channel, and the greatest number there.
ONE = 256
MAX_CHANNEL = 4095
# The greatest number of a vector, with either sign: a product of two fits in 32 bits.
MAX_VECTOR = 8000
# A board with a border, where every channel is 0. Two of them: a block reads one and writes the other.
WIDTH = 10
BOARD = WIDTH * WIDTH * CHANNELS
# The numbers of a file: the shift of each sum, then biases in units of ONE, then weights.
SHIFTS = LAYERS + 1
BIASES = LAYERS * CHANNELS + 2 * VECTOR
WEIGHTS = LAYERS * CHANNELS * TAPS + 2 * VECTOR * CHANNELS
FILE_BYTES = SHIFTS + 2 * BIASES + 2 * WEIGHTS


class ConvolutionWeights:
    """The numbers of a network, as in its file. All callers share one object, and none writes to it.

    `weights`: [layer][channel][row][column][channel that is read], then [vector's number][channel that is read].
    """

    shifts = i8s(SHIFTS)
    biases = i16s(BIASES)
    weights = i16s(WEIGHTS)

    def __init__(self, data: bytes) -> None:
        if len(data) != FILE_BYTES:
            raise ValueError("a network of the policy has another size")
        copy_i8s(self.shifts, data[:SHIFTS])
        copy_i16s(self.biases, data[SHIFTS : SHIFTS + 2 * BIASES])
        copy_i16s(self.weights, data[SHIFTS + 2 * BIASES :])


class Convolution:
    """The network for one position: set its planes, `run`, then ask for the `score` of moves."""

    numbers: ConvolutionWeights
    boards = i16s(2 * BOARD)  # [board][square with border][channel]
    vectors = i16s(64 * 2 * VECTOR)  # [square][what leaves it, what goes to it]

    def __init__(self, numbers: ConvolutionWeights) -> None:
        self.numbers = numbers

    def set_plane(self, plane: int, squares: u64, value: int) -> None:
        """Give some squares of a plane a value, ONE for "yes". All others are 0 at first. A position is set once."""
        while squares:
            square = lsb(squares)
            squares &= squares - 1
            self.boards[self._at(square) + plane] = value

    def run(self) -> None:
        """Compute the vectors."""
        self._convolve(0, BOARD, 0, False)
        layer: int
        for layer in range(1, LAYERS, 2):
            self._convolve(BOARD, 0, layer, False)
            self._convolve(0, BOARD, layer + 1, True)
        self._make_vectors()

    def score(self, start: int, end: int) -> int:
        """The score of a move between two squares, in units of 1 / ONE²."""
        first: i64 = start * 2 * VECTOR
        second: i64 = end * 2 * VECTOR + VECTOR
        total: int = 0
        index: i64
        for index in range(VECTOR):
            total += self.vectors[first + index] * self.vectors[second + index]
        return total

    def _at(self, square: int) -> i64:
        """Where the channels of a square begin on a board."""
        return ((square >> 3) * WIDTH + (square & 7) + WIDTH + 1) * CHANNELS

    def _convolve(self, source: i64, target: i64, layer: int, adds: bool) -> void:
        """A convolution with ReLU from one board to the other. The second of a block adds what stands there."""
        shift = self.numbers.shifts[layer]
        square: int
        channel: int
        for square in range(64):
            corner: i64 = source + self._at(square) - (WIDTH + 1) * CHANNELS
            place: i64 = target + self._at(square)
            weight: i64 = layer * CHANNELS * TAPS
            for channel in range(CHANNELS):
                total = self._sum(corner, weight) + self._sum(corner + WIDTH * CHANNELS, weight + 3 * CHANNELS)
                total += self._sum(corner + 2 * WIDTH * CHANNELS, weight + 6 * CHANNELS)
                weight += TAPS
                total = (total >> shift) + self.numbers.biases[layer * CHANNELS + channel]
                if adds:
                    total += self.boards[place + channel]
                self.boards[place + channel] = 0 if total < 0 else MAX_CHANNEL if total > MAX_CHANNEL else total

    def _sum(self, begin: i64, weight: i64) -> int:
        """The weighted sum over a row of three squares. Vector code: indices of 64 bits, products of 16."""
        total: int = 0
        index: i64
        for index in range(3 * CHANNELS):
            total += self.boards[begin + index] * self.numbers.weights[weight + index]
        return total

    def _make_vectors(self) -> void:
        shift = self.numbers.shifts[LAYERS]
        square: int
        number: int
        index: i64
        for square in range(64):
            begin: i64 = BOARD + self._at(square)
            for number in range(2 * VECTOR):
                weight: i64 = LAYERS * CHANNELS * TAPS + number * CHANNELS
                total: int = 0
                for index in range(CHANNELS):
                    total += self.boards[begin + index] * self.numbers.weights[weight + index]
                total = (total >> shift) + self.numbers.biases[LAYERS * CHANNELS + number]
                self.vectors[square * 2 * VECTOR + number] = max(-MAX_VECTOR, min(total, MAX_VECTOR))
