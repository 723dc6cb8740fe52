"""The Syzygy tables in memory, and the prober: WDL (win, draw or loss) and DTZ (distance to zeroing the clock).

Reading order: `probe_wdl` and `probe_dtz` are the two questions. A stored value is arbitrary where a capture is best,
and ignores en passant. So `_value` plays out both, beside `_stored_value`. `_locate` finds the section of a position,
and its number with `_lead_pieces`, `_lead_pawns` and `_position_number`. `_stored` and `_decode` find the value of that
number.

Invariants: the results equal those of `probe_wdl` and `probe_dtz` of `chess.syzygy.Tablebase`. The position is left as
it was. For any bytes in a file, nothing outside it is read, and every loop ends soon. A number from the file has its
bounds checked, here or when `syzygy_files` reads the header.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from mmap import mmap

import chess.syzygy

from evaluation.base.bitboards import ALL, PAWN
from evaluation.base.typed import (
    address_of,
    byte_at,
    compiled,
    i64,
    i64s,
    inline,
    ints,
    lsb,
    popcount,
    u64,
    u64_pointer,
    u64s_of,
    void,
)
from uci_engine.board.moves import EN_PASSANT, NO_SQUARE, NOISY, QUIET, SCRATCH, from_square, move_type, to_square
from uci_engine.board.position import Position
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
    LENGTHS,
    LIST_SIZES,
    LISTS,
    MAX_DISTANCE_PLIES,
    NO_SECOND,
    PADDED_BLOCKS,
    PAWNS,
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

# Values for the side to move. 1 is a cursed win and -1 a blessed loss: the fifty-move rule makes both a draw. A stored
# value is one of these less LOSS. It assumes halfmove clock 0, and leaves out captures that are better.
LOSS = -2
DRAW = 0
WIN = 2
# The material key of two kings.
BARE_KINGS = 0x11 << 48
# FAILED: not in the tables. NONE: no capture en passant.
FAILED = -3
NONE = -4
# Not in the tables. Greater than any DTZ.
UNKNOWN = MAX_DISTANCE_PLIES + 1
# MISSING: no table, or a damaged one. OTHER_SIDE: the table has only the other side to move.
MISSING = -1
OTHER_SIDE = -2
# The DTZ for each value, from LOSS to WIN, where the next ply is a capture or pawn move; 100 more for 1 and -1.
NEXT_PLY = ints(5, chess.syzygy.WDL_TO_DTZ)
# Kinds of moves. Captures en passant and pawn moves are not among the captures.
CAPTURE, CAPTURE_EN_PASSANT, PAWN_MOVE, OTHER_MOVE = range(4)
# The length of a symbol before it is found.
NO_LENGTH: u64 = 256
# The most blocks to pass on the way from the index to a number. A sound table needs a few hundred.
MAX_BLOCK_STEPS = 1 << 16
# Hash slots: all materials of up to seven pieces, both colours, at a low load. A prime number.
SLOTS = 8209

# Flags of a section with distances. Without a flag for plies they are counted in moves, which is enough where one ply
# more changes no result. Those of cursed wins and blessed losses are always counted in moves.
WINS_IN_PLIES = 4
LOSSES_IN_PLIES = 8
# The list for each value, from LOSS to WIN. There is one for wins, losses, cursed wins and blessed losses, in this
# order.
LIST_OF = ints(5, chess.syzygy.WDL_TO_MAP)

# The board's symmetries bring the first piece into the triangle a1-d1-d4. BELOW numbers the squares under the long
# diagonal, KINGS the placings of two kings (-1: impossible). LEAD_PAWN_STARTS, by number of leading pawns less one and
# square of the leading pawn, has the number of the first position.
TRIANGLE = ints(64, chess.syzygy.TRIANGLE)
BELOW = ints(64, chess.syzygy.LOWER)
KINGS = ints(640, [number for row in chess.syzygy.KK_IDX for number in row])
PAWN_NUMBERS = ints(64, chess.syzygy.PTWIST)
LEAD_PAWN_STARTS = ints(320, [row[place] for row in chess.syzygy.PAWNIDX for place in chess.syzygy.FLAP])
# Indexed by k * 64 + n: the ways to choose k out of n.
CHOOSE = i64s(512, [math.comb(n, k) for k in range(8) for n in range(64)])


@inline
def kind_of(position: Position, move: int) -> int:
    """The kind of a move. There are no castling moves in the tables."""
    if position.squares[to_square(move)]:
        return CAPTURE
    if position.squares[from_square(move)] >> 1 != PAWN:
        return OTHER_MOVE
    return CAPTURE_EN_PASSANT if move_type(move) == EN_PASSANT else PAWN_MOVE


def read_symbols(pattern: bytes) -> array.array[int] | None:
    """Symbols as left | right << 12 | length << 24. A symbol of length n stands for n + 1 values.

    None when a symbol contains itself, contains none that exists, or stands for too many values. See
    `syzygy_files.ReadSymbols`.
    """
    count: int = len(pattern) // 3
    numbers = array.array("Q", bytes(8 * count))
    symbols = u64s_of(numbers)
    index: int
    entry: u64
    for index in range(count):
        entry = pattern[3 * index] | pattern[3 * index + 1] << 8 | pattern[3 * index + 2] << 16
        if entry >> 12 != NO_SECOND:
            if entry & 0xFFF >= count or entry >> 12 >= count:
                return None
            entry |= NO_LENGTH << 24
        symbols[index] = entry
    # The length of a symbol follows from those of its halves. One that never follows belongs to a circular symbol.
    unknown: int = count
    before: int = count + 1
    while unknown < before:
        before = unknown
        unknown = 0
        for index in range(count):
            entry = symbols[index] & 0xFFFFFF
            if symbols[index] >> 24 == NO_LENGTH:
                first: u64 = symbols[entry & 0xFFF] >> 24
                second: u64 = symbols[entry >> 12] >> 24
                if first == NO_LENGTH or second == NO_LENGTH:
                    unknown += 1
                elif first + second >= 255:
                    return None
                else:
                    symbols[index] = entry | (first + second + 1) << 24
    return None if unknown else numbers


class SyzygyProber:
    """Tables to probe, and the scratch memory for it: one prober for each search.

    It generates moves into the scratch part of the move buffer, which is large enough for seven pieces.
    """

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

    def share(self, other: SyzygyProber) -> None:
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
        key = self._key(counts)
        slot = self._slot(key)
        self.numbers[slot] = key
        self.numbers[(2 if table.has_distances else 1) * SLOTS + slot] = entry

    def _key(self, counts: Sequence[int]) -> int:
        """The `material_key` of a position with `Material.counts`."""
        return sum(
            counts[piece_type] << 8 * piece_type + 4 | counts[8 + piece_type] << 8 * piece_type
            for piece_type in chess.PIECE_TYPES
        )

    # Results -------------------------------------------------------------------------------------------------------

    def probe_wdl(self, position: Position) -> int:
        """The WDL value for the side to move at halfmove clock 0, or FAILED.

        2, 1, 0, -1, -2: win, cursed win, draw, blessed loss, loss.
        """
        if self._is_too_large(position):
            return FAILED
        return self._value(position, LOSS, WIN, SCRATCH)

    def _is_too_large(self, position: Position) -> bool:
        pieces = position.by_colour[0] | position.by_colour[1]
        return position.castling_rights != 0 or popcount(pieces) > self.max_pieces

    def _value(self, position: Position, alpha: int, beta: int, start: int) -> int:
        """The value of a position, or `alpha` if that is more. Moves are generated from offset `start`."""
        value: int = self._best(position, CAPTURE, alpha, beta, start)
        if value == FAILED or value >= beta:
            return value
        stored = self._stored_value(position)
        if stored == FAILED:
            return FAILED
        if stored > value:
            value = stored
        if position.ep_square == NO_SQUARE:
            return value
        en_passant = self._best(position, CAPTURE_EN_PASSANT, NONE, WIN, start)
        if en_passant == FAILED:
            return FAILED
        return en_passant if self._is_en_passant_best(position, en_passant, value, start) else value

    def _best(self, position: Position, kind: int, alpha: int, beta: int, start: int) -> int:
        """The value of the best move of a kind, or of one that gives `beta`; `alpha` if that is more.

        A missing table is ignored if another move gives `beta`.
        """
        best: int = alpha
        failed: bool = False
        end: int = position.generate(NOISY | QUIET if kind == PAWN_MOVE else NOISY, start)
        for index in range(start, end):
            move = position.moves[index]
            if kind_of(position, move) != kind:
                continue
            position.make(move)
            value = self._value(position, -beta, -best, end)
            position.unmake(move)
            if value == FAILED:
                failed = True
            elif -value > best:
                best = -value
                if best >= beta:
                    return best
        return FAILED if failed else best

    def _is_en_passant_best(self, position: Position, en_passant: int, value: int, start: int) -> bool:
        """Whether a capture en passant is the best move. `value`: of the best other move.

        A capture resets the halfmove clock. So at equal values it is the better move, unless both lose.
        """
        if en_passant == NONE:
            return False
        if en_passant > value or (en_passant == value and value >= DRAW):
            return True
        if value != DRAW:
            return False
        # Without en passant it would be stalemate, if there are no other moves.
        end: int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            if move_type(position.moves[index]) != EN_PASSANT:
                return False
        return True

    # Distances -----------------------------------------------------------------------------------------------------

    def probe_dtz(self, position: Position) -> int:
        """The DTZ at halfmove clock 0: plies to the next capture, pawn move or mate, or UNKNOWN.

        Positive for a win, negative for a loss, 0 for a draw. Beyond 100 for a cursed win and a blessed loss: by 100
        more than the plies if the rule ends the game only after the next capture or pawn move. It may be one ply off
        where that changes no result, as in the files.
        """
        if self._is_too_large(position):
            return UNKNOWN
        return self._distance(position, SCRATCH)

    def _distance(self, position: Position, start: int) -> int:
        captured = self._best(position, CAPTURE, LOSS, WIN, start)
        if captured == FAILED:
            return UNKNOWN
        value: int = captured
        if captured < WIN:
            stored = self._stored_value(position)
            if stored == FAILED:
                return UNKNOWN
            if stored > value:
                value = stored
        if position.ep_square != NO_SQUARE:
            en_passant = self._best(position, CAPTURE_EN_PASSANT, NONE, WIN, start)
            if en_passant == FAILED:
                return UNKNOWN
            if self._is_en_passant_best(position, en_passant, value, start):
                return NEXT_PLY[en_passant - LOSS]
        if value == DRAW:
            return 0
        if value > DRAW:
            if captured == value:
                return NEXT_PLY[value - LOSS]
            best = self._best(position, PAWN_MOVE, LOSS, value, start)
            if best == FAILED:
                return UNKNOWN
            if best == value:
                return NEXT_PLY[value - LOSS]
        plies = self._stored_distance(position, value)
        if plies >= 0:
            return NEXT_PLY[value - LOSS] + (plies if value > DRAW else -plies)
        if plies == OTHER_SIDE:
            return self._distance_from_replies(position, value, start)
        return UNKNOWN

    def _distance_from_replies(self, position: Position, value: int, start: int) -> int:
        """The DTZ from the positions after each move, where the table has only the other side to move.

        For a win, captures and pawn moves are known not to win.
        """
        best: int = UNKNOWN if value > DRAW else NEXT_PLY[value - LOSS]
        end: int = position.generate(NOISY | QUIET, start)
        for index in range(start, end):
            move = position.moves[index]
            if kind_of(position, move) != OTHER_MOVE:
                continue
            position.make(move)
            # This goes no deeper: the table has these pieces with the other side to move.
            after = self._distance(position, end)
            is_mate: bool = False
            if after == -1 and position.checkers:
                is_mate = position.generate(NOISY | QUIET, end) == end
            position.unmake(move)
            if after == UNKNOWN:
                return UNKNOWN
            plies: int = UNKNOWN
            if value < DRAW:
                plies = -1 - after
            elif after < 0:
                plies = 1 if is_mate else 1 - after
            if plies < best:
                best = plies
        return best

    # Positions -----------------------------------------------------------------------------------------------------

    def _slot(self, key: u64) -> int:
        """The slot of a key, or the free slot for it."""
        slot: int = key % SLOTS
        while self.numbers[slot] != key and self.numbers[slot]:
            slot = (slot + 1) % SLOTS
        return slot

    def _stored_value(self, position: Position) -> int:
        """The stored value of a position, or FAILED."""
        if position.material_key == BARE_KINGS:
            return DRAW
        record = self._locate(position, self.numbers[SLOTS + self._slot(position.material_key)])
        if record < 0:
            return FAILED
        stored = self._stored(record)
        return stored + LOSS if stored >= 0 else FAILED

    def _stored_distance(self, position: Position, value: int) -> int:
        """The stored distance of a position with this value, not a draw: plies (0 to 131070) until the next capture or
        pawn move, less one. MISSING without a table, OTHER_SIDE if the table has only the other side to move.
        """
        slot = self._slot(position.material_key)
        record = self._locate(position, self.numbers[2 * SLOTS + slot])
        if record < 0:
            return record
        plies = self._stored(record)
        if plies < 0:
            return MISSING
        flags: int = self.numbers[record + FLAGS]
        if flags & IS_MAPPED:
            row: int = LIST_OF[value - LOSS]
            if plies >= self.numbers[record + LIST_SIZES + row]:
                return MISSING
            width: int = 2 if flags & IS_WIDE_MAP else 1
            place: i64 = self.numbers[record + LISTS + row] + plies * width
            plies = self._number(self.numbers[record + FILE], place, width)
        in_plies: int = 0
        if value == LOSS:
            in_plies = LOSSES_IN_PLIES
        elif value == WIN:
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
        count = popcount(position.by_colour[0] | position.by_colour[1])
        lead: int = self.numbers[record + GROUP_SIZES]
        pawns: int = self.numbers[record + PAWNS]
        sides: int = self.numbers[record + SIDES]
        if pawns:
            self._place(position, record, mirrored, 0, lead)
            record += self._lead_pawn(lead) * sides * RECORD
        if sides == 2:
            record += side * RECORD
        elif self.numbers[record + SIDE] != side:
            return OTHER_SIDE
        self._place(position, record, mirrored, lead if pawns else 0, count)
        lead_number = self._lead_pawns(lead, count) if pawns else self._lead_pieces(record, count)
        self.number = self._position_number(record, lead_number)
        return record

    def _place(self, position: Position, record: i64, mirror: int, first: int, end: int) -> void:
        """List the squares of pieces `first` to `end - 1` in the order of the table, from White's or Black's side.

        The position has as many pieces of each kind as the table.
        """
        index = first
        while index < end:
            piece: int = self.numbers[record + PIECES + index]
            pieces: u64 = position.by_type[piece & 7] & position.by_colour[(piece >> 3) ^ 1 ^ mirror]
            while pieces:
                self.squares[index] = lsb(pieces) ^ (56 if mirror else 0)
                index += 1
                pieces &= pieces - 1

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
        lead: int = self.numbers[record + GROUP_SIZES]
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
        number: i64 = LEAD_PAWN_STARTS[(count - 1) * 64 + self.squares[0]]
        for index in range(1, count):
            pawn = PAWN_NUMBERS[self.squares[index]]
            size = 1
            for other in range(1, count):
                if PAWN_NUMBERS[self.squares[other]] < pawn:
                    size += 1
            number += CHOOSE[size * 64 + pawn]
        return number

    def _position_number(self, record: i64, lead: i64) -> i64:
        """The number of the position. Each further group is a set of squares that the groups before it leave free."""
        number: i64 = lead * self.numbers[record + FACTORS]
        first: int = self.numbers[record + GROUP_SIZES]
        groups: int = self.numbers[record + GROUPS]
        pawns: int = self.numbers[record + PAWNS]
        for group in range(1, groups):
            end = first + self.numbers[record + GROUP_SIZES + group]
            sum: i64 = 0
            for index in range(first, end):
                free_square = self.squares[index]
                size = 1
                for other in range(end):
                    if self.squares[other] < self.squares[index]:
                        if other < first:
                            free_square -= 1
                        else:
                            size += 1
                if group == 1 and pawns == 2:
                    free_square -= 8
                sum += CHOOSE[size * 64 + free_square]
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
        for _ in range(MAX_BLOCK_STEPS + 1):
            if offset >= 0 and block >= blocks:
                return MISSING
            size: i64 = self._number(file, sizes + 2 * block, 2)
            if offset > size:
                offset -= size + 1
                block += 1
            elif offset >= 0:
                place = self.numbers[record + DATA] + (block << self.numbers[record + BLOCK_BITS])
                return self._decode(record, place, offset)
            elif block == 0:
                return MISSING
            else:
                block -= 1
                offset += self._number(file, sizes + 2 * block, 2) + 1
        return MISSING

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
