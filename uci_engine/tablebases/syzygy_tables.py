"""The Syzygy tables in memory: the stored result (WDL) and distance (DTZ) of a position, at compiled speed.

Reading order: `result` and `distance` look a position up. `_locate` finds its section, and its number with
`_lead_pieces`, `_lead_pawns` and `_position_number`. `_stored` and `_decode` find the value under that number.

Invariants: for any bytes in a file, nothing outside it is read, and every loop ends soon. A number from the file has
its bounds checked, here or when `syzygy_files` reads the header. No position is changed.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from mmap import mmap

import chess

from evaluation.base.bitboards import ALL, PAWN, QUEEN
from evaluation.base.typed import (
    address_of,
    byte_at,
    compiled,
    i64,
    i64s,
    ints,
    lsb,
    popcount,
    u64,
    u64_pointer,
    u64s_of,
    void,
)
from uci_engine.board.position import Position
from uci_engine.tablebases import syzygy_files
from uci_engine.tablebases.syzygy_files import (
    BLOCK_BITS,
    BLOCKS,
    CODE,
    CONSTANT,
    DATA,
    FACTORS,
    FILE,
    FILE_BYTES,
    FLAGS,
    GROUP_SIZES,
    GROUPS,
    INDEX,
    INDEX_BITS,
    IS_MAPPED,
    IS_WIDE_MAP,
    LEAD,
    LENGTHS,
    LIST_SIZES,
    LISTS,
    PADDED_BLOCKS,
    PAWNS,
    PIECE_COUNT,
    PIECES,
    POSITIONS,
    RECORD,
    SHORTEST,
    SIDE,
    SIDES,
    SIZES,
    SYMMETRIC,
    Table,
)

# A stored result, for the side to move, is 0 to 4: loss, blessed loss, draw, cursed win, win. It assumes halfmove clock
# 0, and leaves out captures that are better.
DRAWN = 2
# MISSING: no table, or a damaged one. OTHER_SIDE: the table has only the other side to move.
MISSING = -1
OTHER_SIDE = -2
# The most blocks to pass on the way from the index to a number. A sound table needs a few hundred.
MAX_BLOCK_STEPS = 1 << 16
# Hash slots: all materials of up to seven pieces, both colours, at a low load.
SLOTS = 8192

# Flags of a section with distances. Without a flag for plies they are counted in moves, which is enough where one ply
# more changes no result. Those of cursed wins and blessed losses are always counted in moves.
WINS_IN_PLIES = 4
LOSSES_IN_PLIES = 8
# The list for each result: there is one for wins, losses, cursed wins and blessed losses, in this order.
LIST_OF = ints(5, [1, 3, 0, 2, 0])

# The board's symmetries bring the first piece into the triangle a1-d1-d4, whose squares off the diagonal come first.
# BELOW numbers the squares under the long diagonal, KINGS the placings of two kings (-1: impossible).
TRIANGLE = ints(64, [-1] * 64)
for _number, _name in enumerate(("b1", "c1", "d1", "c2", "d2", "d3", "a1", "b2", "c3", "d4")):
    TRIANGLE[chess.parse_square(_name)] = _number
BELOW = ints(64, [-1] * 64)
for _number, _square in enumerate(square for square in chess.SQUARES if square % 8 > square // 8):
    BELOW[_square] = _number


def _king_pairs() -> list[int]:
    """Number the placings of two kings. With the first on the diagonal, the second is not above it; both on it are
    last.
    """
    numbers = [-1] * 640
    pairs: list[tuple[bool, int, int]] = []
    firsts = [square for square in chess.SQUARES if TRIANGLE[square] >= 0]
    for first in sorted(firsts, key=lambda square: TRIANGLE[square]):
        for second in chess.SQUARES:
            side = [(square % 8 > square // 8) - (square % 8 < square // 8) for square in (first, second)]
            if chess.square_distance(first, second) > 1 and (side[0] or side[1] >= 0):
                pairs.append((not any(side), len(pairs), TRIANGLE[first] * 64 + second))
    for number, (_last, _order, place) in enumerate(sorted(pairs)):
        numbers[place] = number
    return numbers


KINGS = ints(640, _king_pairs())
PAWN_NUMBERS = ints(64, syzygy_files.PAWN_NUMBERS)
LEAD_PAWN_STARTS = ints(384, [start for row in syzygy_files.LEAD_PAWN_STARTS for start in row])
# Indexed by k * 64 + n: the ways to choose k out of n.
CHOOSE = i64s(512, [math.comb(n, k) for k in range(8) for n in range(64)])


class SymbolReader:
    """Reads the symbols of a section: pairs of symbols, or values. See `syzygy_files.ReadSymbols`."""

    left = ints(4096)
    right = ints(4096)
    length = ints(4096)

    def read(self, pattern: bytes) -> array.array[int] | None:
        """Numbers left | right << 12 | length << 24. A symbol of length n stands for n + 1 values.

        None when a symbol contains itself, contains none that exists, or stands for too many values.
        """
        count: int = len(pattern) // 3
        if count > 4095:
            return None
        index: int
        for index in range(count):
            self.left[index] = pattern[3 * index] | (pattern[3 * index + 1] & 15) << 8
            self.right[index] = pattern[3 * index + 2] << 4 | pattern[3 * index + 1] >> 4
            self.length[index] = 0 if self.right[index] == 0xFFF else -1
            if self.length[index] and (self.left[index] >= count or self.right[index] >= count):
                return None
        # The length of a symbol follows from those of its halves. One that never follows belongs to a circular symbol.
        changed = True
        while changed:
            changed = False
            for index in range(count):
                if self.length[index] < 0:
                    first = self.length[self.left[index]]
                    second = self.length[self.right[index]]
                    if first >= 0 and second >= 0:
                        if first + second + 1 > 255:
                            return None
                        self.length[index] = first + second + 1
                        changed = True
        numbers = array.array("I", bytes(4 * count))
        for index in range(count):
            if self.length[index] < 0:
                return None
            entry: u64 = self.length[index]
            entry = entry << 24 | self.right[index] << 12 | self.left[index]
            numbers[index] = entry
        return numbers


class SyzygyTables:
    """The tables and the scratch memory of one prober."""

    kept: object  # what the pointer points to
    files: list[memoryview]
    # SLOTS keys of materials, SLOTS entries of tables of results and SLOTS of distances, 0 for none; then the sections.
    # An entry is twice the place of the table's first section, plus 1 with exchanged colours.
    numbers: u64_pointer
    squares = ints(8)
    number: i64
    max_pieces: int

    def __init__(self) -> None:
        self.load([])

    # Called while no search runs --------------------------------------------------------------------

    def load(self, tables: Sequence[tuple[bytes | mmap, Table]]) -> None:
        """Replace the tables: pairs of a file's bytes and its `Table`."""
        self.files = [memoryview(data) for data, _table in tables]
        numbers = array.array("Q", bytes(8 * SLOTS * 3))
        for index, (data, table) in enumerate(tables):
            code = len(numbers) + RECORD * len(table.sections)
            codes: list[int] = []
            for section in table.sections:
                section[FILE] = address_of(self.files[index]) if compiled else index
                section[FILE_BYTES] = len(data)
                section[CODE] = code + len(codes)
                codes += section[RECORD:]
            for section in table.sections:
                numbers.extend(section[:RECORD])
            numbers.extend(codes)
        self.kept = numbers
        self.numbers = u64s_of(numbers)
        self.max_pieces = 0
        place = SLOTS * 3
        for _data, table in tables:
            counts = table.material.counts
            self.max_pieces = max(self.max_pieces, sum(counts))
            self._enter(table, counts, 2 * place)
            if not table.material.symmetric:
                self._enter(table, counts[8:] + counts[:8], 2 * place + 1)
            place += sum(map(len, table.sections))

    def share(self, other: SyzygyTables) -> None:
        """Hold the tables that another holds now, and no others. The room to probe them stays this one's own."""
        self.files = other.files
        self.kept = other.kept
        self.numbers = other.numbers
        self.max_pieces = other.max_pieces

    def drop(self, counts: Sequence[int]) -> None:
        """Forget a damaged table, given by the counts of its `Material`."""
        for order in (counts, [*counts[8:], *counts[:8]]):
            slot = self._slot(self._key(order))
            self.numbers[SLOTS + slot] = 0
            self.numbers[2 * SLOTS + slot] = 0

    def _enter(self, table: Table, counts: Sequence[int], entry: int) -> None:
        key: int = self._key(counts)
        slot = self._slot(key)
        self.numbers[slot] = key
        self.numbers[(2 if table.has_distances else 1) * SLOTS + slot] = entry

    def _key(self, counts: Sequence[int]) -> int:
        """The key of `Material.counts`, as `_material` finds it for a position."""
        return sum(
            counts[piece_type] << (3 * piece_type - 3) | counts[8 + piece_type] << (3 * piece_type + 12)
            for piece_type in range(1, 6)
        )

    # Positions -----------------------------------------------------------------------------------------------------

    def _material(self, position: Position) -> int:
        """The key of a position's pieces: without the kings, three bits for each piece type and colour."""
        key: int = 0
        for piece_type in range(PAWN, QUEEN + 1):
            pieces = position.by_type[piece_type]
            if pieces:
                key += popcount(pieces & position.by_colour[1]) << (3 * piece_type - 3)
                key += popcount(pieces & position.by_colour[0]) << (3 * piece_type + 12)
        return key

    def _slot(self, key: int) -> int:
        """The slot of a key, or the free slot for it."""
        wide: u64 = key
        slot: int = ((wide * 0x1E3779B1) >> 15) & (SLOTS - 1)
        while self.numbers[slot] != wide and self.numbers[slot]:
            slot = (slot + 1) & (SLOTS - 1)
        return slot

    def result(self, position: Position) -> int:
        """The stored result of a position: 0 to 4 (see DRAWN), or MISSING."""
        key = self._material(position)
        if key == 0:
            return DRAWN
        record = self._locate(position, self.numbers[SLOTS + self._slot(key)])
        if record < 0:
            return MISSING
        return self._stored(record)

    def distance(self, position: Position, result: int) -> int:
        """The stored distance of a position with this result, not a draw: plies (0 to 131070) until the next capture or
        pawn move, less one. MISSING without a table, OTHER_SIDE if the table has only the other side to move.
        """
        slot = self._slot(self._material(position))
        record = self._locate(position, self.numbers[2 * SLOTS + slot])
        if record < 0:
            return record
        plies = self._stored(record)
        if plies < 0:
            return MISSING
        flags: int = self.numbers[record + FLAGS]
        if flags & IS_MAPPED:
            row: int = LIST_OF[result]
            if plies >= self.numbers[record + LIST_SIZES + row]:
                return MISSING
            width: int = 2 if flags & IS_WIDE_MAP else 1
            place: i64 = self.numbers[record + LISTS + row] + plies * width
            plies = self._number(self.numbers[record + FILE], place, width)
        in_plies: int = 0
        if result == 0:
            in_plies = LOSSES_IN_PLIES
        elif result == 4:
            in_plies = WINS_IN_PLIES
        return plies if flags & in_plies else 2 * plies

    def _locate(self, position: Position, entry: i64) -> i64:
        """The record of a position's section, or MISSING or OTHER_SIDE. Sets `number` to the position's number."""
        if entry == 0:
            return MISSING
        record: i64 = entry >> 1
        mirrored: int = entry & 1
        if self.numbers[record + SYMMETRIC]:
            # Both sides have the same pieces, and the table has White to move.
            mirrored = position.turn ^ 1
        side: int = position.turn ^ 1 ^ mirrored
        count: int = self.numbers[record + PIECE_COUNT]
        lead: int = self.numbers[record + LEAD]
        pawns: int = self.numbers[record + PAWNS]
        sides: int = self.numbers[record + SIDES]
        if pawns:
            if not self._place(position, record, mirrored, 0, lead):
                return MISSING
            file: int = self._lead_pawn(lead)
            record += file * sides * RECORD
        if sides == 2:
            record += side * RECORD
        elif self.numbers[record + SIDE] != side:
            return OTHER_SIDE
        lead_number: i64
        if pawns:
            if not self._place(position, record, mirrored, lead, count):
                return MISSING
            lead_number = self._lead_pawns(lead, count)
        else:
            if not self._place(position, record, mirrored, 0, count):
                return MISSING
            lead_number = self._lead_pieces(record, count)
        if lead_number < 0:
            return MISSING
        self.number = self._position_number(record, lead_number)
        return record

    def _place(self, position: Position, record: i64, mirror: int, first: int, end: int) -> bool:
        """List the squares of pieces `first` to `end - 1` in the order of the table, from White's or Black's side."""
        index = first
        while index < end:
            piece: int = self.numbers[record + PIECES + index]
            pieces: u64 = position.by_type[piece & 7] & position.by_colour[(piece >> 3) ^ 1 ^ mirror]
            if pieces == 0:
                return False
            while pieces:
                if index == end:
                    return False
                self.squares[index] = lsb(pieces) ^ (56 if mirror else 0)
                index += 1
                pieces &= pieces - 1
        return True

    def _reflect(self, pieces: int, change: int) -> void:
        """Flip files (7), ranks (56) or, with 0, the long diagonal."""
        for index in range(pieces):
            square = self.squares[index]
            self.squares[index] = square ^ change if change else (square >> 3) | ((square & 7) << 3)

    def _lead_pieces(self, record: i64, pieces: int) -> i64:
        """The number of the leading two kings or three pieces, after turning the board as its symmetries allow."""
        if self.squares[0] & 4:
            self._reflect(pieces, 7)
        if self.squares[0] & 32:
            self._reflect(pieces, 56)
        lead: int = self.numbers[record + LEAD]
        for index in range(lead):
            side = (self.squares[index] >> 3) - (self.squares[index] & 7)
            if side > 0:
                self._reflect(pieces, 0)
            if side:
                break
        first = self.squares[0]
        second = self.squares[1]
        if lead == 2:
            return KINGS[TRIANGLE[first] * 64 + second]
        third = self.squares[2]
        # Occupied squares do not count.
        beyond_first = 1 if second > first else 0
        beyond_both = (1 if third > first else 0) + (1 if third > second else 0)
        if first & 7 != first >> 3:
            return (TRIANGLE[first] * 63 + second - beyond_first) * 62 + third - beyond_both
        number: i64 = 6 * 63 * 62
        if second & 7 != second >> 3:
            return number + ((first & 7) * 28 + BELOW[second]) * 62 + third - beyond_both
        number += 4 * 28 * 62
        second_place = (first & 7) * 7 + (second & 7) - beyond_first
        if third & 7 != third >> 3:
            return number + second_place * 28 + BELOW[third]
        return number + 4 * 7 * 28 + second_place * 6 + (third & 7) - beyond_both

    def _lead_pawn(self, count: int) -> int:
        """Bring the leading pawn to the front; returns its file, counted from the nearer edge."""
        for index in range(1, count):
            if PAWN_NUMBERS[self.squares[index]] > PAWN_NUMBERS[self.squares[0]]:
                square = self.squares[0]
                self.squares[0] = self.squares[index]
                self.squares[index] = square
        file = self.squares[0] & 7
        return file if file < 4 else 7 - file

    def _lead_pawns(self, count: int, pieces: int) -> i64:
        """The number of the leading pawns, on the board's left half."""
        if self.squares[0] & 4:
            self._reflect(pieces, 7)
        for index in range(1, count):
            square = self.squares[index]
            place = index
            while place > 1 and PAWN_NUMBERS[self.squares[place - 1]] < PAWN_NUMBERS[square]:
                self.squares[place] = self.squares[place - 1]
                place -= 1
            self.squares[place] = square
        if PAWN_NUMBERS[self.squares[0]] < 0:
            return -1
        number: i64 = LEAD_PAWN_STARTS[count * 64 + self.squares[0]]
        for index in range(1, count):
            if PAWN_NUMBERS[self.squares[index]] < 0:
                return -1
            number += CHOOSE[(count - index) * 64 + PAWN_NUMBERS[self.squares[index]]]
        return number

    def _position_number(self, record: i64, lead: i64) -> i64:
        """The number of the position. Each further group is a set of squares that the groups before it leave free."""
        number: i64 = lead * self.numbers[record + FACTORS]
        first: int = self.numbers[record + GROUP_SIZES]
        groups: int = self.numbers[record + GROUPS]
        pawns: int = self.numbers[record + PAWNS]
        for group in range(1, groups):
            size: int = self.numbers[record + GROUP_SIZES + group]
            end = first + size
            # Sort by square.
            for index in range(first + 1, end):
                square = self.squares[index]
                place = index
                while place > first and self.squares[place - 1] > square:
                    self.squares[place] = self.squares[place - 1]
                    place -= 1
                self.squares[place] = square
            sum: i64 = 0
            for index in range(first, end):
                square = self.squares[index]
                for earlier in range(first):
                    if self.squares[earlier] < self.squares[index]:
                        square -= 1
                if group == 1 and pawns == 2:
                    square -= 8
                if square < 0:
                    return -1
                sum += CHOOSE[(index - first + 1) * 64 + square]
            number += sum * self.numbers[record + FACTORS + group]
            first = end
        return number

    # Values --------------------------------------------------------------------------------------------------------

    def _byte(self, file: i64, place: i64) -> int:
        """One byte of a file, within its bounds."""
        return byte_at(file, place) if compiled else self.files[file][place]

    def _number(self, file: i64, place: i64, count: int) -> i64:
        """A number of up to four bytes, the lowest first."""
        number: i64 = 0
        for index in range(count):
            byte: i64 = self._byte(file, place + index)
            number |= byte << (8 * index)
        return number

    def _code(self, file: i64, place: i64, count: int) -> u64:
        """Bytes as one number, the highest first."""
        number: u64 = 0
        for index in range(count):
            number = (number << 8) | self._byte(file, place + index)
        return number

    def _stored(self, record: i64) -> int:
        """The value stored under `number`, 0 to 4095, or MISSING. The sparse index leads to its block."""
        if self.numbers[record + CONSTANT]:
            return self.numbers[record + CONSTANT] - 1
        number: i64 = self.number
        if number < 0 or number >= self.numbers[record + POSITIONS]:
            return MISSING
        file = self.numbers[record + FILE]
        bits: int = self.numbers[record + INDEX_BITS]
        entry: i64 = number >> bits
        place: i64 = self.numbers[record + INDEX] + 6 * entry
        block: i64 = self._number(file, place, 4)
        # The index knows the block of the middle of each stretch of numbers.
        one: i64 = 1
        offset: i64 = number - (entry << bits) - (one << (bits - 1)) + self._number(file, place + 4, 2)
        sizes: i64 = self.numbers[record + SIZES]
        blocks: i64 = self.numbers[record + BLOCKS]
        if block >= self.numbers[record + PADDED_BLOCKS]:
            return MISSING
        steps: int = 0
        while offset < 0:
            if block == 0 or steps == MAX_BLOCK_STEPS:
                return MISSING
            steps += 1
            block -= 1
            offset += self._number(file, sizes + 2 * block, 2) + 1
        while block < blocks:
            size: i64 = self._number(file, sizes + 2 * block, 2)
            if offset <= size:
                break
            if steps == MAX_BLOCK_STEPS:
                return MISSING
            steps += 1
            offset -= size + 1
            block += 1
        if block >= blocks:
            return MISSING
        return self._decode(record, self.numbers[record + DATA] + (block << self.numbers[record + BLOCK_BITS]), offset)

    def _decode(self, record: i64, place: i64, offset: i64) -> int:
        """The value `offset` values after the start of a block."""
        file = self.numbers[record + FILE]
        end: i64 = self.numbers[record + FILE_BYTES]
        shortest: int = self.numbers[record + SHORTEST]
        lengths: int = self.numbers[record + LENGTHS]
        base: i64 = self.numbers[record + CODE]
        if place + 8 > end:
            return MISSING
        code: u64 = self._code(file, place, 8)
        place += 8
        empty: int = 0
        symbols: i64 = base + 2 * lengths
        symbol: i64 = 0
        entry: u64 = 0
        while True:
            # The longest code has base 0, so the loop finds a length.
            level = 0
            while level + 1 < lengths and code < self.numbers[base + level]:
                level += 1
            length: int = shortest + level
            symbol = self.numbers[base + lengths + level] + ((code - self.numbers[base + level]) >> (64 - length))
            entry = self.numbers[symbols + symbol]
            spans: i64 = entry >> 24
            if offset <= spans:
                break
            offset -= spans + 1
            code = (code << length) & ALL
            empty += length
            if empty >= 32:
                empty -= 32
                if place + 4 > end:
                    return MISSING
                code |= self._code(file, place, 4) << empty
                place += 4
        # The symbol covers the value: go down to it through pairs of ever shorter symbols.
        while entry >> 24:
            symbol = entry & 0xFFF
            half: i64 = self.numbers[symbols + symbol] >> 24
            if offset > half:
                offset -= half + 1
                symbol = (entry >> 12) & 0xFFF
            entry = self.numbers[symbols + symbol]
        return entry & 0xFFF
