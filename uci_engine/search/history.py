"""The histories: scores of moves by their earlier cutoffs, for move ordering, pruning and reductions. Among them the
correction history: the average error of the static eval in similar positions.

There are four histories of moves, all indexed by side to move or piece colour. Which squares the enemy attacks is read
from the stack, so call its `find_threats` for the ply first.

- butterfly history: a quiet move by its from-square and to-square, and whether the enemy attacks these;
- continuation history: a quiet move by its piece type and to-square, after the move 1, 2 and 4 plies earlier (one
  table for 1 ply, one shared by 2 and 4 plies);
- pawn history: a quiet move by its piece type and to-square, with the squares of all pawns and kings (9 bits of their
  key);
- capture history: a capture or promotion by its piece, to-square and captured piece type.

The search corrects every static eval by the correction history, and updates it with the difference between a search's
score and the static eval. Five tables hold the errors, indexed by side to move and: by pawn structure (with the kings),
by White's pieces, by Black's pieces, by the moves 1 and 2 plies ago, by those 1 and 4 plies ago.

Gravity: a bonus moves a value v to v + bonus - v * |bonus| / 2 ** 14. So the value stays within ±2 ** 14, and old
entries decay.

Invariant: a bonus or malus is at most 2 ** 14 in size; otherwise values would leave their range.
"""

from __future__ import annotations

from evaluation.base.bitboards import ALL, BB, BISHOP, KING, KNIGHT, QUEEN, ROOK
from evaluation.base.typed import clear_i16s, i16s, ints, u64, void
from uci_engine.board.moves import EN_PASSANT, from_square, move_type, to_square
from uci_engine.board.position import Position
from uci_engine.search.stack import MAX_SEARCHED, PLIES_BACK, SearchStack

# Values stay within ±2 ** HISTORY_SHIFT.
HISTORY_SHIFT = 14
# Entries of the butterfly history: two colours, four kinds of squares, 4096 moves.
BUTTERFLY_SIZE = 1 << 15
# Entries of the capture history: 16 pieces, 64 squares, 8 captured piece types.
CAPTURE_SIZE = 1 << 13
# Entries of one continuation history: two colours, 512 earlier moves, 512 moves.
CONTINUATION_SIZE = 1 << 19
# Entries of the pawn history: 512 keys of pawns and kings, two colours, 512 moves.
PAWN_SIZE = 1 << 19

# After a TT cutoff, a quiet move that led to the node gets a malus if it was one of so many first moves.
EARLY_MOVES = 3

# The correction history: its tables, and the entries of each for one side to move.
TABLES = 5
BY_PAWNS = 1 << 14
BY_PIECES = 1 << 14
BY_MOVES = 1 << 16
CORRECTION_SIZE = 2 * (BY_PAWNS + 2 * BY_PIECES + 2 * BY_MOVES)
# Errors are in 256ths of a centipawn.
LIMIT = (1 << 15) - 1
# The highest 14 of 64 bits.
PIECES_SHIFT = 50

# Odd multipliers that spread the squares of a piece type over the highest bits.
KNIGHT_MIXER = 0x1D4C1B7E53F0A68B
BISHOP_MIXER = 0x61C88A2F7E3D94B5
ROOK_MIXER = 0x53A2646C8B15E79F
QUEEN_MIXER = 0x3851F7B92C4ED6A3
KING_MIXER = 0x75297A4D1E63C80D
# The weight of a new error is min(depth + 1, this) / 256.
MAX_CORRECTION_WEIGHT = 16


class Histories:
    """The histories of one search thread, over one position and its search stack."""

    position: Position
    stack: SearchStack
    butterfly = i16s(BUTTERFLY_SIZE)  # [colour][to attacked][from attacked][to][from]
    capture = i16s(CAPTURE_SIZE)  # [piece * 512 + to * 8 + captured piece type]
    continuation = i16s(2 * CONTINUATION_SIZE)  # [table][colour][piece type, to of the earlier move][piece type, to]
    pawn = i16s(PAWN_SIZE)  # [pawn key][colour][piece type, to]
    errors = i16s(CORRECTION_SIZE)  # by pawns, White's pieces, Black's pieces, 2 plies, 4 plies; within ±LIMIT
    places = ints(TABLES)  # of the errors of the position, see `_find_places`

    def __init__(self, position: Position, stack: SearchStack) -> None:
        self.position = position
        self.stack = stack
        self.clear()

    def clear(self) -> None:
        clear_i16s(self.butterfly, BUTTERFLY_SIZE)
        clear_i16s(self.capture, CAPTURE_SIZE)
        clear_i16s(self.continuation, 2 * CONTINUATION_SIZE)
        clear_i16s(self.pawn, PAWN_SIZE)
        clear_i16s(self.errors, CORRECTION_SIZE)

    def quiet_history(self, ply: int, move: int) -> int:
        """The sum of a quiet move's histories; the continuation history of 4 plies ago counts half."""
        index = self._continuation_index(move)
        second = CONTINUATION_SIZE + index
        return (
            self.butterfly[self._butterfly_index(ply, move, self.position.turn)]
            + self.pawn[self._pawn_index(move)]
            + self.continuation[index + (self.stack.moved_piece_to[ply + PLIES_BACK - 1] << 9)]
            + self.continuation[second + (self.stack.moved_piece_to[ply + PLIES_BACK - 2] << 9)]
            + (self.continuation[second + (self.stack.moved_piece_to[ply + PLIES_BACK - 4] << 9)] >> 1)
        )

    def capture_history(self, move: int) -> int:
        return self.capture[self._capture_index(move)]

    def update_quiet(self, ply: int, move: int, bonus: int) -> void:
        """Add a bonus (a malus if negative) to the butterfly, pawn and continuation histories of a quiet move."""
        index = self._butterfly_index(ply, move, self.position.turn)
        self.butterfly[index] = _with_gravity(self.butterfly[index], bonus)
        index = self._pawn_index(move)
        self.pawn[index] = _with_gravity(self.pawn[index], bonus)
        move_index = self._continuation_index(move)
        self._update_continuation(ply, 1, move_index, bonus)
        self._update_continuation(ply, 2, move_index, bonus)
        self._update_continuation(ply, 4, move_index, bonus)

    def update_previous_in_butterfly(self, ply: int, bonus: int) -> void:
        """Add a bonus to the butterfly history of the quiet move that led to this ply."""
        index = self._butterfly_index(ply - 1, self.stack.move[ply - 1], 1 - self.position.turn)
        self.butterfly[index] = _with_gravity(self.butterfly[index], bonus)

    def update_previous_move(self, ply: int, bonus: int) -> void:
        """Add a bonus (a malus if negative) to the butterfly history of the quiet move that led to this ply, and to its
        continuation histories of 1 and 2 plies.
        """
        self.update_previous_in_butterfly(ply, bonus)
        move_index = ((1 - self.position.turn) << 18) | self.stack.moved_piece_to[ply + PLIES_BACK - 1]
        self._update_continuation(ply - 1, 1, move_index, bonus)
        self._update_continuation(ply - 1, 2, move_index, bonus)

    def update_capture(self, move: int, bonus: int) -> void:
        """Add a bonus (a malus if negative) to the history of a capture or promotion."""
        index = self._capture_index(move)
        self.capture[index] = _with_gravity(self.capture[index], bonus)

    def update_after_cutoff(self, ply: int, move: int, bonus: int, malus: int) -> void:
        """A move failed high: a bonus for it, a malus for the moves recorded in the stack as searched before it.

        A quiet move becomes a killer as well. Quiet moves get no malus after a capture fails high.
        """
        is_quiet: bool = not self.position.is_noisy(move)
        if is_quiet:
            self.stack.add_killer(ply, move)
            self.update_quiet(ply, move, bonus)
        else:
            self.update_capture(move, bonus)
        for index in range(self.stack.searched_count[ply]):
            searched = self.stack.searched[ply * MAX_SEARCHED + index]
            if self.position.is_noisy(searched):
                self.update_capture(searched, -malus)
            elif is_quiet:
                self.update_quiet(ply, searched, -malus)

    def update_after_tt_cutoff(self, ply: int, tt_move: int, bonus: int, malus: int) -> void:
        """After a TT score has failed high: a bonus for the TT move if it is quiet, a malus for an early quiet move
        that led here.
        """
        if self.position.is_legal(tt_move) and not self.position.is_noisy(tt_move):
            self.stack.find_threats(ply)
            self.update_quiet(ply, tt_move, bonus)
        if self.stack.is_quiet[ply - 1] and self.stack.move_count[ply - 1] <= EARLY_MOVES:
            self.update_previous_move(ply, -malus)

    def _update_continuation(self, ply: int, plies_back: int, move_index: int, bonus: int) -> void:
        """Add a bonus to the continuation history of the move so many plies before a ply. See `_continuation_index`."""
        table = 0 if plies_back == 1 else CONTINUATION_SIZE
        index = table + move_index + (self.stack.moved_piece_to[ply + PLIES_BACK - plies_back] << 9)
        self.continuation[index] = _with_gravity(self.continuation[index], bonus)

    def _butterfly_index(self, ply: int, move: int, colour: int) -> int:
        index = (colour << 14) | (move & 4095)
        if self.stack.attacked[ply] & BB[from_square(move)]:
            index |= 1 << 12
        if self.stack.attacked[ply] & BB[to_square(move)]:
            index |= 1 << 13
        return index

    def _continuation_index(self, move: int) -> int:
        """The offset of a move in a continuation table, without the earlier move. Add (earlier move << 9) to it."""
        piece_type = self.position.squares[from_square(move)] >> 1
        return (self.position.turn << 18) | (piece_type << 6) | to_square(move)

    def _pawn_index(self, move: int) -> int:
        key = self.position.pawn_key & 511
        piece_type = self.position.squares[from_square(move)] >> 1
        return (key << 10) | (self.position.turn << 9) | (piece_type << 6) | to_square(move)

    def _capture_index(self, move: int) -> int:
        captured = 1 if move_type(move) == EN_PASSANT else self.position.squares[to_square(move)] >> 1
        return (self.position.squares[from_square(move)] << 9) | (to_square(move) << 3) | captured

    # The correction history ----------------------------------------------------------------------------------------

    def correction(self, ply: int) -> int:
        """The sum of the five errors of the position: positive when static evals were too low, in 256ths of a
        centipawn.
        """
        self._find_places(ply)
        return (
            self.errors[self.places[0]]
            + self.errors[self.places[1]]
            + self.errors[self.places[2]]
            + self.errors[self.places[3]]
            + self.errors[self.places[4]]
        )

    def update_correction(self, ply: int, depth: int, error_cp: int) -> void:
        """Record that a search to `depth` scored the position `error_cp` above its static eval.

        Each error is an exponential moving average: the new one has the weight `weight` / 256.
        """
        self._find_places(ply)
        weight = min(depth + 1, MAX_CORRECTION_WEIGHT)
        error = max(-LIMIT, min(error_cp * 256, LIMIT))
        for table in range(TABLES):
            old = self.errors[self.places[table]]
            self.errors[self.places[table]] = old + (((error - old) * weight) >> 8)

    def _find_places(self, ply: int) -> void:
        turn = self.position.turn
        self.places[0] = turn * BY_PAWNS + (self.position.pawn_key & (BY_PAWNS - 1))
        self.places[1] = self._place_by_pieces(turn, 0)
        self.places[2] = self._place_by_pieces(turn, 1)
        self.places[3] = self._place_by_moves(turn, ply, 2)
        self.places[4] = self._place_by_moves(turn, ply, 4)

    def _place_by_pieces(self, turn: int, colour: int) -> int:
        pieces = self.position.by_colour[colour]
        mixed: u64 = (pieces & self.position.by_type[KNIGHT]) * KNIGHT_MIXER
        mixed ^= (pieces & self.position.by_type[BISHOP]) * BISHOP_MIXER
        mixed ^= (pieces & self.position.by_type[ROOK]) * ROOK_MIXER
        mixed ^= (pieces & self.position.by_type[QUEEN]) * QUEEN_MIXER
        mixed ^= (pieces & self.position.by_type[KING]) * KING_MIXER
        mixed &= ALL
        index: int = mixed >> PIECES_SHIFT
        return 2 * BY_PAWNS + (2 * turn + colour) * BY_PIECES + index

    def _place_by_moves(self, turn: int, ply: int, plies_back: int) -> int:
        """The place of the moves 1 and `plies_back` plies ago (2 or 4): of each the piece type and the to-square."""
        last_move = self.stack.moved_piece_to[ply + PLIES_BACK - 1]
        other_move = self.stack.moved_piece_to[ply + PLIES_BACK - plies_back]
        # 9 bits each, folded into 16.
        folded = other_move ^ (last_move << 7)
        table = turn if plies_back == 2 else 2 + turn
        return 2 * BY_PAWNS + 4 * BY_PIECES + table * BY_MOVES + folded


def _with_gravity(value: int, bonus: int) -> int:
    """A history value after an update with gravity: the nearer the limit, the smaller the change towards it."""
    size = bonus if bonus > 0 else -bonus
    return value + bonus - ((value * size) >> HISTORY_SHIFT)
