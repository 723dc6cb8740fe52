"""The output of the network for a board. One search thread owns an `Inference`.

A slot for each ply holds the sums of the hidden layer and the pieces that they belong to. A new position starts from
the slot of its ply (a sibling) or of the ply before (its parent), whichever differs in fewer squares, and applies the
difference: two or three squares. Where a king has come into another region, its view starts from a slot that holds the
last position with the king in that region. Nothing is kept up to date while moves are made. A position that needs no
score costs nothing.

Invariant: the result depends only on the pieces and the side to move.
"""

from __future__ import annotations

from evaluation.base.base_board import BaseBoard
from evaluation.base.bitboards import KING
from evaluation.base.typed import copy_i8s, copy_i16s, i8s, i16, i16s, i64, inline, ints, lsb, popcount, u64, u64s, void
from evaluation.network.file import (
    INPUTS,
    KING_REGION,
    KING_REGIONS,
    MAX_NETWORK_CP,
    MAX_SUM,
    MIN_PIECES,
    OUTPUT_BUCKETS,
    OUTPUT_SHIFT,
    PIECE_SQUARES,
    PIECES_PER_BUCKET,
    SQUARE_SHIFT,
    UNITS,
    Network,
)

# A power of two. A ply shares its slot with those that differ by a multiple of it.
PLY_SLOTS = 128
# After them: one for each view, region of its king, and half of the board that the king is on.
SLOTS = PLY_SLOTS + 4 * KING_REGIONS
# And one for the sums without a piece, for `contribution`.
WITHOUT_PIECE = SLOTS
# The row of the hidden layer that adds nothing.
NO_INPUT = INPUTS * UNITS
# [colour of the view * 14 + piece]: where the rows of the piece begin in those of a region, one for each square.
ROWS_OF = ints(
    28,
    [
        (6 * (piece & 1 != view) + (piece >> 1) - 1) * 64 * UNITS if piece >= 2 else NO_INPUT
        for view in range(2)
        for piece in range(14)
    ],
)
# [the own king's square as its view sees it]: its region.
REGION = ints(64, KING_REGION)


@inline
def activation(total: i16) -> i16:
    """The output of a unit: the square of its sum, cut off, from 0 to 255.

    In 16 bits throughout: so the C compiler finds products of 16 bits to add up.
    """
    cut: i16 = 0 if total < 0 else MAX_SUM if total > MAX_SUM else total
    square: i16 = cut * cut
    return square >> SQUARE_SHIFT


class NetworkWeights:
    """The numbers of a network. All search threads share one object, and none writes to it.

    `hidden`: [input * UNITS + unit], then a row of zeros. `output`: [bucket * 2 * UNITS + unit], ours first.
    """

    # 8 bits, as in the file: fewer bytes to read from memory.
    hidden = i8s((INPUTS + 1) * UNITS)
    hidden_bias = i16s(UNITS)
    output = i16s(OUTPUT_BUCKETS * 2 * UNITS)
    output_bias = ints(OUTPUT_BUCKETS)

    def __init__(self, network: Network) -> None:
        copy_i8s(self.hidden, network.hidden)
        copy_i16s(self.hidden_bias, network.hidden_bias)
        copy_i16s(self.output, network.output)
        self.output_bias = list(network.output_bias)


class Inference:
    """The network's slots and its output. Every board must have one king a side and at most 32 pieces.

    A view's squares are those of the board, each XOR its orientation: 0 or 56, and 7 more when the view is mirrored.
    When its orientation or the king's region changes, its sums are added up anew.
    """

    weights: NetworkWeights
    sums = i16s((SLOTS + 1) * 2 * UNITS)  # [(2 * slot + colour of the view) * UNITS + unit]
    sets = u64s(SLOTS * 8)  # [8 * slot]: white pieces; [8 * slot + piece type]: those of both colours
    squares = i8s(SLOTS * 64)  # [64 * slot + square]
    views = ints(SLOTS * 2)  # [2 * slot + colour of the view]: orientation and first row, -1 for an empty slot
    added = ints(64)  # rows
    removed = ints(64)

    def __init__(self, weights: NetworkWeights) -> None:
        self.weights = weights
        # Every slot has an empty board, and no view of a slot is up to date.
        index: int
        for index in range(SLOTS * 2 * UNITS):
            self.sums[index] = self.weights.hidden_bias[index % UNITS]
        for index in range(SLOTS * 2):
            self.views[index] = -1

    def score(self, board: BaseBoard) -> int:
        """The output in centipawns, from the side to move's view, within ±MAX_NETWORK_CP.

        It is 0 with fewer than MIN_PIECES pieces, and against a king alone.
        """
        white = board.by_colour[1]
        black = board.by_colour[0]
        if white & (white - 1) == 0 or black & (black - 1) == 0:
            return 0
        if popcount(white | black) < MIN_PIECES:
            return 0
        slot = board.stack_index & (PLY_SLOTS - 1)
        self._update(board, slot)
        return max(-MAX_NETWORK_CP, min(self._output(board, slot), MAX_NETWORK_CP))

    def contribution(self, board: BaseBoard, square: int) -> int:
        """How much the output falls without the inputs of the piece on a square, from the side to move's view.

        In centipawns, less than one from the exact number. Only these inputs go. The views stay as they are, and so do
        the weights of the output. So a king has a number, too. As the units are not linear, the contributions do not
        add up to the output.
        """
        slot = board.stack_index & (PLY_SLOTS - 1)
        self._update(board, slot)
        for view in range(2):
            orientation = self.views[2 * slot + view] & 63
            first_row = self.views[2 * slot + view] - orientation
            seen = first_row + (square ^ orientation) * UNITS
            self.removed[0] = ROWS_OF[14 * view + board.squares[square]] + seen
            self._add_up((2 * slot + view) * UNITS, (2 * WITHOUT_PIECE + view) * UNITS, 0, 1)
        return self._output(board, slot) - self._output(board, WITHOUT_PIECE)

    def _changed(self, board: BaseBoard, slot: int) -> u64:
        """The squares on which a board differs from a slot."""
        changed = board.by_colour[1] ^ self.sets[8 * slot]
        for index in range(1, 7):
            changed |= board.by_type[index] ^ self.sets[8 * slot + index]
        return changed

    def _update(self, board: BaseBoard, slot: int) -> void:
        """Fill a slot with a board's pieces, by their difference from those that another slot holds."""
        source = (slot - 1) & (PLY_SLOTS - 1)
        changed = self._changed(board, source)
        other = self._changed(board, slot)
        if popcount(other) < popcount(changed):
            source = slot
            changed = other
        for view in range(2):
            king = lsb(board.by_type[KING] & board.by_colour[view])
            orientation = (0 if view else 56) ^ (7 if king & 7 < 4 else 0)
            region = REGION[king ^ orientation]
            # Rows begin at multiples of 64, and orientations are less.
            seen = region * PIECE_SQUARES * UNITS + orientation
            if seen == self.views[2 * source + view]:
                self._apply(board, source, slot, view, changed, seen)
            else:
                of_region = PLY_SLOTS + 2 * (KING_REGIONS * view + region) + (orientation & 1)
                self._apply(board, of_region, of_region, view, self._changed(board, of_region), seen)
                self._hold(board, of_region)
                self._apply(board, of_region, slot, view, 0, seen)
        self._hold(board, slot)

    def _hold(self, board: BaseBoard, slot: i64) -> void:
        """Note the pieces of a slot."""
        index: i64
        self.sets[8 * slot] = board.by_colour[1]
        for index in range(1, 7):
            self.sets[8 * slot + index] = board.by_type[index]
        for index in range(64):
            self.squares[64 * slot + index] = board.squares[index]

    def _apply(self, board: BaseBoard, source: int, slot: int, view: int, changed: u64, seen: int) -> void:
        """Fill the sums of one view: those of another slot, with what differs on some squares. seen: see `views`."""
        orientation = seen & 63
        added = 0
        removed = 0
        while changed:
            square = lsb(changed)
            changed &= changed - 1
            row = seen - orientation + (square ^ orientation) * UNITS
            before = self.squares[64 * source + square]
            after = board.squares[square]
            if before:
                self.removed[removed] = ROWS_OF[14 * view + before] + row
                removed += 1
            if after:
                self.added[added] = ROWS_OF[14 * view + after] + row
                added += 1
        self.views[2 * slot + view] = seen
        self._add_up((2 * source + view) * UNITS, (2 * slot + view) * UNITS, added, removed)

    def _add_up(self, base: i64, target: i64, added: int, removed: int) -> void:
        """The sums at `target`: those at `base`, with some rows added and some taken away.

        Indices have 64 bits here, in `_output` and in `_hold`. With fewer bits the C compiler makes no vector code of
        the loops.
        """
        unit: i64
        while added < removed:
            self.added[added] = NO_INPUT
            added += 1
        while removed < added:
            self.removed[removed] = NO_INPUT
            removed += 1
        if added == 0:
            for unit in range(UNITS):
                self.sums[target + unit] = self.sums[base + unit]
        pair = 0
        # Two pairs at a time: most positions have come from a sibling, by two moves of one piece.
        while pair + 1 < added:
            plus: i64 = self.added[pair]
            minus: i64 = self.removed[pair]
            plus_too: i64 = self.added[pair + 1]
            minus_too: i64 = self.removed[pair + 1]
            for unit in range(UNITS):
                self.sums[target + unit] = (
                    self.sums[base + unit]
                    + (self.weights.hidden[plus + unit] - self.weights.hidden[minus + unit])
                    + (self.weights.hidden[plus_too + unit] - self.weights.hidden[minus_too + unit])
                )
            base = target
            pair += 2
        if pair < added:
            plus = self.added[pair]
            minus = self.removed[pair]
            for unit in range(UNITS):
                self.sums[target + unit] = (
                    self.sums[base + unit] + self.weights.hidden[plus + unit] - self.weights.hidden[minus + unit]
                )

    def _output(self, board: BaseBoard, slot: int) -> int:
        """The output in centipawns for the sums of a slot, rounded down, with the weights for a board's pieces."""
        bucket: int = (popcount(board.by_colour[0] | board.by_colour[1]) - 1) // PIECES_PER_BUCKET
        ours: i64 = (2 * slot + board.turn) * UNITS
        theirs: i64 = (2 * slot + (board.turn ^ 1)) * UNITS
        unit: i64
        total = self.weights.output_bias[bucket]
        place: i64 = bucket * 2 * UNITS
        for unit in range(UNITS):
            total += activation(self.sums[ours + unit]) * self.weights.output[place + unit]
        place += UNITS
        for unit in range(UNITS):
            total += activation(self.sums[theirs + unit]) * self.weights.output[place + unit]
        return total >> OUTPUT_SHIFT
