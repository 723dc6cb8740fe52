"""The checksum at the end of a Syzygy file, which changes with every bit of the file.

Syzygy's generator hashes its files in pieces of 16 MiB with CityHashCrc256, from Pike and Alakuijala's CityHash 1.0
(MIT licence), and hashes those hashes with CityHash128. One piece is enough here. Six lanes of 64 bits take up 40 bytes
a step: each lane becomes its neighbour, rotated, multiplied, and added to a word of the file. Five CRC-32C sums are
taken of the lanes. At the end, lanes and sums are mixed.

Invariant: `fits` is true of every undamaged file. A test reads real files.
"""

from __future__ import annotations

import array
import sys

from evaluation.base.bitboards import ALL
from evaluation.base.typed import ints, nogil, u64, u64_pointer, u64s, u64s_of, void
from uci_engine.tablebases.syzygy_files import CHECKSUM_BYTES

MAX_BYTES = 1 << 24
K0 = 0xC3A5C85C97CB3127
K1 = 0xB492B66FBE98F273
K3 = 0xC949D7C7509E6557
POLYNOMIAL = 0x82F63B78
MULTIPLIER = 0x9DDFEA08EB382D69
# In words.
STEP = 5
ROUND = 30
# How far each lane is rotated; plain steps flip the lowest bit.
TURNS = ints(5, [41, 27, 41, 33, 25])


def crc_of_byte(byte: u64) -> u64:
    """CRC-32C of a byte."""
    for _ in range(8):
        byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


CRC = u64s(256, [crc_of_byte(byte) for byte in range(256)])


def turned(word: u64, places: int) -> u64:
    """Rotated to the right."""
    return ((word >> places) | (word << (64 - places))) & ALL


def shifted(word: u64) -> u64:
    """XOR of the value and its high bits."""
    return word ^ (word >> 47)


def joined(first: u64, second: u64) -> u64:
    """Two words hashed into one."""
    word: u64 = shifted(((first ^ second) * MULTIPLIER) & ALL)
    return (shifted(((second ^ word) * MULTIPLIER) & ALL) * MULTIPLIER) & ALL


def crc_of(crc: u64, word: u64) -> u64:
    """A CRC-32C carried on by eight bytes."""
    for _ in range(8):
        crc = (crc >> 8) ^ CRC[(crc ^ word) & 255]
        word >>= 8
    return crc


class Checksum:
    """The hash, and room to compute it."""

    words: u64_pointer
    lanes = u64s(6)
    sums = u64s(5)
    result = u64s(4)

    def fits(self, data: bytes) -> bool:
        """Whether the last CHECKSUM_BYTES of a file, of which 64 or more and a multiple of 8 are before them, are their
        checksum. True for a file of more than MAX_BYTES.
        """
        size: int = len(data) - CHECKSUM_BYTES
        if size > MAX_BYTES:
            return True
        missing = max(8 * ROUND - size, 0)
        seed: u64 = 0xFFFFFFFF ^ size if missing else 0
        words = array.array("Q", data[:size] + bytes(missing))
        if sys.byteorder == "big":
            words.byteswap()
        self.words = u64s_of(words)
        count: int = len(words)
        with nogil:
            self._run(count, seed)
            self._finish()
        return data[size:] == b"".join(word.to_bytes(8, "little") for word in (self.result[0], self.result[1]))

    def _step(self, place: int, plain: bool) -> void:
        """Take up five words; `plain` steps do not multiply."""
        first = self.lanes[0]
        for index in range(5):
            lane = turned(self.lanes[index + 1], TURNS[index] ^ (1 if plain else 0))
            if not plain:
                lane = (lane * K0) & ALL
            lane = (lane + self.words[place + index]) & ALL
            self.lanes[index] = lane
            self.sums[index] = crc_of(self.sums[index], lane)
        self.lanes[5] = first

    def _run(self, size: int, seed: u64) -> void:
        """CityHashCrc256 of at least ROUND words, into `result`."""
        length: u64 = 8 * size
        self.lanes[0] = (self.words[7] + K0) & ALL
        self.lanes[1] = (self.words[12] + K0) & ALL
        self.lanes[2] = joined(self.lanes[1], length)
        self.lanes[3] = (self.words[15] * K0 + length) & ALL
        self.lanes[4] = (self.words[23] + seed) & ALL
        self.lanes[5] = (self.lanes[2] + self.lanes[3]) & ALL
        start = self.lanes[2]
        other = self.lanes[3]
        for index in range(5):
            self.sums[index] = 0
        self.sums[0] = seed
        place = 0
        # Whole rounds of three pairs of steps; then what is left, the last step overlapping the one before.
        whole = size - size % ROUND
        while place < whole:
            self._step(place, True)
            self._step(place + STEP, False)
            place += 2 * STEP
        while place + STEP <= size:
            self._step(place, False)
            place += STEP
        if place < size:
            self._step(size - STEP, False)

        a = self.lanes[0]
        b = self.lanes[1]
        c = self.lanes[2]
        d = self.lanes[3]
        e = self.lanes[4]
        f = self.sums[0]
        g = self.sums[1]
        h = self.sums[2]
        i = self.sums[3]
        j = (self.sums[4] + (i << 32)) & ALL
        a = joined(a, j)
        h = (h + (g << 32)) & ALL
        b = (b + h) & ALL
        c = (joined(c, f) + i) & ALL
        d = joined(d, (e + start) & ALL)
        j = (j + e) & ALL
        i = (i + joined(h, self.lanes[5])) & ALL
        e = (joined(a, d) + j) & ALL
        f = (joined(b, c) + a) & ALL
        g = (joined(j, i) + c) & ALL
        self.result[0] = (e + f + g + h) & ALL
        a = (shifted(((a + g) * K0) & ALL) * K0 + b) & ALL
        self.result[1] = (other + a + self.result[0]) & ALL
        a = (shifted((a * K0) & ALL) * K0 + c) & ALL
        self.result[2] = (a + self.result[1]) & ALL
        a = (shifted(((a + e) * K0) & ALL) * K0) & ALL
        self.result[3] = (a + self.result[2]) & ALL

    def _finish(self) -> void:
        """CityHash128 of the 32 bytes in `result`, into its first half."""
        a = self.result[0] ^ K3
        b = self.result[1]
        third = self.result[2]
        fourth = self.result[3]
        a = (shifted((a * K1) & ALL) * K1) & ALL
        c = (b * K1 + (joined(third, turned((fourth + 16) & ALL, 16)) ^ fourth)) & ALL
        d = shifted((a + third) & ALL)
        a = joined(a, c)
        b = joined(d, b)
        self.result[0] = a ^ b
        self.result[1] = joined(b, a)
