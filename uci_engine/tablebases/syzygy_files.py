"""The headers of Syzygy files, read and checked once.

A file holds sections: one for each side to move and, with pawns, for each file (a to d) of the leading pawn. A section
puts the pieces into groups and numbers the positions by them in a mixed radix. Its values are compressed: pairs of
symbols are replaced by symbols, and symbols are written as a canonical Huffman code, in blocks. A sparse index leads to
the blocks.

Invariants: for any bytes, `TableReader.read` returns a `Table` with every number in the bounds of the file and the
format, or raises a `TableError` with one message. Reading a header always ends.
"""

from __future__ import annotations

import itertools
import math
import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import chess
from chess.syzygy import PFACTOR, is_tablename

WDL_SUFFIX = ".rtbw"
DTZ_SUFFIX = ".rtbz"
MAGIC = {WDL_SUFFIX: bytes.fromhex("71e8235d"), DTZ_SUFFIX: bytes.fromhex("d7660ca5")}
MAX_PIECES = 7
# Files are padded to 64 bytes and end with a checksum.
LINE_BYTES = 64
CHECKSUM_BYTES = 16

# Ways to place the leading group of a table without pawns: two kings, or three different pieces.
LEAD_SIZES = {2: 462, 3: 31332}
# Bits and bytes of the format.
IS_SPLIT, HAS_PAWNS = 1, 2
IS_CONSTANT = 0x80
IS_BLACK, IS_MAPPED, IS_WIDE_MAP = 1, 2, 16
NO_SECOND = 0xFFF
MAX_CODE_BITS = 32
# The maximum distance: twice the largest number stored, 100 for a cursed win or blessed loss, and two moves.
MAX_DISTANCE_PLIES = 2 * 0xFFFF + 102
# More than any file needs. They bound the work of a probe.
MAX_INDEX_BITS = 24
MAX_BLOCK_BITS = 15


class TableError(ValueError):
    """A file is not a valid table; the text is one message without the file's name."""


ReadSymbols = Callable[[bytes], Sequence[int] | None]
"""Turns symbol patterns (3 bytes each) into left | right << 12 | length << 24; None for patterns that do not end."""


@dataclass(frozen=True, slots=True)
class Material:
    """The material in a table's name, the first side as White. `counts` is by piece: its type, plus 8 for Black."""

    name: str
    counts: tuple[int, ...]

    @staticmethod
    def of(name: str) -> Material:
        """The material of this name. Raises TableError for a name that no table has."""
        if not is_tablename(name, piece_count=MAX_PIECES):
            raise TableError("its name is not the name of a table")
        counts = [0] * 16
        for colour, side in enumerate(name.split("v")):
            for letter in side:
                counts[8 * colour + chess.PIECE_SYMBOLS.index(letter.lower())] += 1
        return Material(name, tuple(counts))

    @property
    def piece_count(self) -> int:
        return sum(self.counts)

    @property
    def symmetric(self) -> bool:
        return self.counts[:8] == self.counts[8:]

    @property
    def has_pawns(self) -> bool:
        return bool(self.counts[1] or self.counts[9])

    @property
    def pawn_groups(self) -> list[int]:
        """The pawns of the sides that have some, those of the side with fewer first."""
        pawns = [pawn for pawn in (1, 9) if self.counts[pawn]]
        return sorted(pawns, key=lambda pawn: self.counts[pawn])

    @property
    def lead(self) -> int:
        """The number of pieces in the leading group, without pawns."""
        return 3 if sum(count == 1 for count in self.counts) >= 3 else 2


Section = list[int]
"""One compressed run of values: RECORD numbers, of which those below are places in this list. Then follow, by code
length from SHORTEST on, the least code, in the highest of 64 bits, and then its symbol; and at last all symbols.
"""
# Places in the file: INDEX, SIZES, DATA and LISTS. CONSTANT is 0, or one more than the only value. LISTS and
# LIST_SIZES are offset and length of four lists, where distances are stored as places in one of them. FILE, FILE_BYTES
# and CODE, where the code and symbols are, are filled in by `syzygy`.
(
    SIDES, SIDE, SYMMETRIC, PAWNS, CONSTANT, FILE, FILE_BYTES, INDEX, SIZES, DATA, BLOCKS,
    PADDED_BLOCKS, BLOCK_BITS, INDEX_BITS, SHORTEST, LENGTHS, CODE, POSITIONS, FLAGS, GROUPS,
) = range(20)  # fmt: skip
# Pieces (piece type, plus 8 for Black), the sizes of their groups, and the factors of these.
PIECES = 20
GROUP_SIZES = 27
FACTORS = 34
LISTS = 41
LIST_SIZES = 45
RECORD = 49


@dataclass(frozen=True, slots=True)
class Table:
    """A valid file. `sections`: by file of the leading pawn (one or four), then by side to move (one or two)."""

    material: Material
    has_distances: bool
    sections: list[Section]


@dataclass(slots=True)
class TableReader:
    """Reads and checks the header of a file, once; raises TableError."""

    data: bytes | mmap.mmap
    material: Material
    suffix: str
    read_symbols: ReadSymbols
    place: int = 0

    def read(self) -> Table:
        material = self.material
        if len(self.data) % LINE_BYTES != CHECKSUM_BYTES:
            raise TableError(f"its size of {len(self.data)} bytes is not that of a table")
        if self.take(4) != MAGIC[self.suffix]:
            raise TableError("it does not begin like a table")
        layout = self.take_byte()
        is_wdl = self.suffix == WDL_SUFFIX
        if bool(layout & HAS_PAWNS) != material.has_pawns:
            raise TableError("it is not a table of what its name says")
        if is_wdl and bool(layout & IS_SPLIT) == material.symmetric:
            raise TableError("it is not split by side to move as it must be")
        sides = 2 if is_wdl and not material.symmetric else 1
        files = 4 if material.has_pawns else 1
        sections = [section for file in range(files) for section in self.take_order(file, sides)]
        self.align(2)
        for section in sections:
            self.take_code(section)
        if not is_wdl:
            for section in sections:
                self.take_map(section)
            self.align(2)
        self.take_bodies(sections)
        return Table(material, not is_wdl, sections)

    # Bytes ---------------------------------------------------------------------------------------------------------

    def take(self, count: int) -> bytes:
        if self.place + count > len(self.data) - CHECKSUM_BYTES:
            raise TableError("it ends too early")
        self.place += count
        return self.data[self.place - count : self.place]

    def take_byte(self) -> int:
        return self.take(1)[0]

    def take_number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")

    def align(self, step: int) -> None:
        self.place += -self.place % step

    # Pieces -----------------------------------------------------------------------------------------------------------

    def take_order(self, file: int, sides: int) -> list[Section]:
        """The order of the pieces, for one file of the leading pawn."""
        two_pawn_groups = len(self.material.pawn_groups) == 2
        orders = self.take(2 if two_pawn_groups else 1)
        pieces = self.take(self.material.piece_count)
        return [
            self.section(
                [order >> 4 * side & 15 for order in orders], [piece >> 4 * side & 15 for piece in pieces], file, sides
            )
            for side in range(sides)
        ]

    def section(self, orders: list[int], pieces: list[int], file: int, sides: int) -> Section:
        """Check one order of the pieces, and find the mixed radix: a factor for each group."""
        material = self.material
        if tuple(pieces.count(piece) for piece in range(16)) != material.counts:
            raise TableError("it is not a table of the pieces in its name")
        pawns = material.pawn_groups
        groups = [material.counts[pawn] for pawn in pawns] or [material.lead]
        if pawns:
            expected = [pawn for pawn in pawns for _ in range(material.counts[pawn])]
            if pieces[: len(expected)] != expected:
                raise TableError("its pawns do not come first")
        elif material.lead == 2 and sorted(pieces[:2]) != [chess.KING, 8 + chess.KING]:
            raise TableError("its kings do not come first")
        elif material.lead == 3 and any(material.counts[piece] != 1 for piece in pieces[:3]):
            raise TableError("its first pieces are not three different ones")
        groups += [len(list(run)) for _, run in itertools.groupby(pieces[sum(groups) :])]
        firsts = [sum(groups[:number]) for number in range(len(groups))]
        runs = list(zip(firsts, groups, strict=True))
        if any(material.counts[pieces[first]] != size for first, size in (runs if pawns else runs[1:])):
            raise TableError("its pieces are not grouped by type")
        if len(set(orders)) != len(orders) or max(orders) >= len(groups):
            raise TableError("its order of the pieces is impossible")
        factors, positions = self.mixed_radix(orders, groups, file)
        section = [0] * RECORD
        section[SIDES], section[SYMMETRIC], section[PAWNS] = sides, material.symmetric, len(pawns)
        section[POSITIONS], section[GROUPS] = positions, len(groups)
        for place, numbers in ((PIECES, pieces), (GROUP_SIZES, groups), (FACTORS, factors)):
            section[place : place + len(numbers)] = numbers
        return section

    def mixed_radix(self, orders: list[int], groups: list[int], file: int) -> tuple[list[int], int]:
        """The factor of each group, and the number of positions. `orders` are the ranks of the leading groups."""
        factors = [0] * len(groups)
        positions = 1
        special = len(orders)
        free = 64 - sum(groups[:special])
        others = iter(range(special, len(groups)))
        for rank in range(len(groups)):
            group = orders.index(rank) if rank in orders else next(others)
            factors[group] = positions
            if group == 0:
                pawns = self.material.has_pawns
                positions *= PFACTOR[groups[0] - 1][file] if pawns else LEAD_SIZES[groups[0]]
            elif group < special:
                positions *= math.comb(48 - groups[0], groups[1])
            else:
                positions *= math.comb(free, groups[group])
                free -= groups[group]
        return factors, positions

    # Values --------------------------------------------------------------------------------------------------------

    def take_code(self, section: Section) -> None:
        """How a section's values are compressed: the Huffman code and the symbols."""
        section[FLAGS] = self.take_byte()
        if self.suffix == DTZ_SUFFIX and not self.material.symmetric:
            # Distances are stored for one side to move only.
            section[SIDE] = section[FLAGS] & IS_BLACK
        if section[FLAGS] & IS_CONSTANT:
            constant = self.take_byte()
            # With distances the byte has no meaning: all are 0.
            section[CONSTANT] = 1 + (constant if self.suffix == WDL_SUFFIX else 0)
            if section[CONSTANT] > 5:
                raise TableError("it holds a value that is none")
            return
        section[BLOCK_BITS], section[INDEX_BITS], padding = self.take(3)
        section[BLOCKS] = self.take_number(4)
        section[PADDED_BLOCKS] = section[BLOCKS] + padding
        longest, shortest = self.take(2)
        if not 1 <= shortest <= longest <= MAX_CODE_BITS:
            raise TableError("its code is impossible")
        if not 1 <= section[INDEX_BITS] <= MAX_INDEX_BITS or section[BLOCK_BITS] > MAX_BLOCK_BITS:
            raise TableError("its blocks are of an impossible size")
        if section[BLOCKS] == 0:
            raise TableError("it has no blocks")
        firsts = [self.take_number(2) for _ in range(shortest, longest + 1)]
        count = self.take_number(2)
        symbols = self.read_symbols(self.take(3 * count))
        self.place += count & 1
        if not symbols:
            raise TableError("its symbols are circular or point at nothing")
        if self.suffix == WDL_SUFFIX and any(
            symbol >> 12 & NO_SECOND == NO_SECOND and symbol & NO_SECOND > 4 for symbol in symbols
        ):
            raise TableError("it holds a value that is none")
        section[SHORTEST], section[LENGTHS] = shortest, len(firsts)
        section += [*self.least_codes(shortest, firsts, len(symbols)), *firsts, *symbols]

    def least_codes(self, shortest: int, firsts: list[int], symbols: int) -> list[int]:
        """The least code of each length, in the highest of 64 bits. Each code must have one of the `symbols`."""
        base = 0
        bases = [0]
        for shorter, longer in zip(reversed(firsts[:-1]), reversed(firsts[1:]), strict=True):
            base += shorter - longer
            if base < 0 or base & 1:
                raise TableError("its code is impossible")
            base >>= 1
            bases.append(base)
        bases.reverse()
        above = 1 << 64
        codes = []
        for length, (base, first) in enumerate(zip(bases, firsts, strict=True), start=shortest):
            aligned = base << (64 - length)
            # Codes of this length are those from its base up to the base of the next shorter length.
            if aligned > above or aligned >> 64:
                raise TableError("its code is impossible")
            if above > aligned and first + (above - 1 - aligned >> 64 - length) >= symbols:
                raise TableError("its code has no symbols")
            above = aligned
            codes.append(aligned)
        return codes

    def take_map(self, section: Section) -> None:
        """The four lists that turn stored values into distances."""
        if not section[FLAGS] & IS_MAPPED:
            return
        if section[FLAGS] & IS_WIDE_MAP:
            self.align(2)
        width = 2 if section[FLAGS] & IS_WIDE_MAP else 1
        for number in range(4):
            section[LIST_SIZES + number] = self.take_number(width)
            section[LISTS + number] = self.place
            self.take(width * section[LIST_SIZES + number])

    def take_bodies(self, sections: list[Section]) -> None:
        """Find the indexes, block sizes and blocks, which must fill the file exactly."""
        compressed = [section for section in sections if not section[CONSTANT]]
        for section in compressed:
            section[INDEX] = self.place
            self.take(6 * -(-section[POSITIONS] >> section[INDEX_BITS]))
        for section in compressed:
            section[SIZES] = self.place
            self.take(2 * section[PADDED_BLOCKS])
        for section in compressed:
            self.align(LINE_BYTES)
            section[DATA] = self.place
            self.take(section[BLOCKS] << section[BLOCK_BITS])
        self.align(LINE_BYTES)
        if self.place + CHECKSUM_BYTES != len(self.data):
            raise TableError(f"it has {len(self.data)} bytes where its header promises {self.place + CHECKSUM_BYTES}")
