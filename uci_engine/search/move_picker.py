"""The staged move picker: likely best moves first, and nothing generated before it is needed.

`search` asks it for one move at a time. What must stay true: every legal move (in quiescence, every capture and
promotion worth looking at) comes exactly once, and the order depends on scores and move numbers alone, never on the
order of generation, so that both boards give one tree.

Stages: the table's move; captures and promotions that do not lose material, the most valuable victim first; two killer
moves; the other quiet moves by history; losing captures. In check: the table's move, then all evasions in one go.

Histories tell how often a move was best, against how often it was tried in vain; they stay within ±2 ** 14. A quiet
move has one by its squares, and three by its piece and target square after the move played one, two and four plies
before (continuation histories); a capture has one by its piece, target square and victim.
"""

import array

import cython

if not cython.compiled:
    from evaluation.bitboards import (
        BB,
        BISHOP,
        KNIGHT,
        KNIGHT_ATTACKS,
        PAWN,
        QUEEN,
        ROOK,
        bishop_attacks,
        i64,
        lsb,
        pawn_attacks,
        rook_attacks,
    )
    from uci_engine.board.moves import EN_PASSANT, NOISY, PROMOTION, QUIET, from_square, move_type, promotion, to_square

    # Continuations reach so many plies back, before the root too.
    PLIES_BACK = 4
    # Continuations by colour, piece and target of the earlier move, piece and target of this one; two tables of them.
    CONTINUATIONS = 1 << 19
    # A capture history weighs as much as half a minor piece.
    CAPTURE_HISTORY_SHIFT = 6

ROOM = 320
PLIES = 128
(
    TABLE,
    GENERATE_NOISY,
    GOOD_NOISY,
    FIRST_KILLER,
    SECOND_KILLER,
    GENERATE_QUIET,
    QUIETS,
    BAD_NOISY,
    GENERATE_EVASIONS,
    EVASIONS,
    GENERATE_QUIESCENCE,
    QUIESCENCE,
    DONE,
) = range(13)
# Above every history score, so that among evasions captures come first.
CAPTURE_BASE = 1 << 20
# What a quiet move gains in the order by taking a piece out of reach of pieces worth less, or loses by going there.
ESCAPES = [0, 0, 6000, 6000, 8000, 12000, 0]
# Victims by piece type; the attacker's type is subtracted, so that the cheapest piece takes first.
VICTIM = [0, 10, 30, 31, 50, 90, 0]


class MovePicker:
    """One picker for all plies of one search, with the killers and histories it orders by.

    `begin` opens a ply, `next` gives its moves and then 0. Plies run from 0 to 127.
    """

    def __init__(self, position):
        self.position = position
        if not cython.compiled:
            self.entries = [0] * (PLIES * ROOM)
            self.stage = [0] * PLIES
            self.cursor = [0] * PLIES
            self.end = [0] * PLIES
            self.bad_end = [0] * PLIES
            self.tt_moves = [0] * PLIES
            self.skipping = [0] * PLIES
            self.killers = [0] * (2 * PLIES)
            self.played = [0] * (PLIES + PLIES_BACK)
            self.threats = [0] * 7
            self.history = [0] * 8192
            self.captures = [0] * 8192
        self.forget()

    def forget(self):
        """Empty the killers and the histories: a new game."""
        index: cython.int
        for index in range(2 * PLIES):
            self.killers[index] = 0
        for index in range(8192):
            self.history[index] = 0
            self.captures[index] = 0
        if cython.compiled:
            for index in range(2 * CONTINUATIONS):
                self.continuations[index] = 0
        else:
            self.continuations = array.array("h", bytes(4 * CONTINUATIONS))

    def begin(self, ply, tt_move, quiescence):
        """Open a ply. `tt_move` (0: none) may be any number; it is given first if it is legal and of the kind."""
        if tt_move and not self.position.is_legal(tt_move):
            tt_move = 0
        if self.position.checkers:
            after = GENERATE_EVASIONS
        elif quiescence:
            if tt_move and not self.position.is_noisy(tt_move):
                tt_move = 0
            after = GENERATE_QUIESCENCE
        else:
            after = GENERATE_NOISY
        self.tt_moves[ply] = tt_move
        self.skipping[ply] = 0
        # While the table's move is out, `end` remembers what comes after it.
        self.stage[ply] = TABLE if tt_move else after
        self.end[ply] = after
        return 0

    def next(self, ply):
        """The next move of an open ply, or 0 when there are no more."""
        start = ply * ROOM
        tt_move = self.tt_moves[ply]
        if self.stage[ply] == TABLE:
            self.stage[ply] = self.end[ply]
            return tt_move

        if self.stage[ply] == GENERATE_NOISY:
            end = self.position.generate(NOISY, start)
            self._score_noisy(ply, start, end)
            self.bad_end[ply] = start
            self.stage[ply] = GOOD_NOISY

        if self.stage[ply] == GOOD_NOISY:
            while self.cursor[ply] < self.end[ply]:
                move = self._pick(ply)
                if move == tt_move:
                    continue
                if self.position.see_at_least(move, 0):
                    return move
                # A loser keeps its place in line in the room that is already picked clean.
                self.entries[self.bad_end[ply]] = move
                self.bad_end[ply] += 1
            self.stage[ply] = FIRST_KILLER

        if self.stage[ply] == FIRST_KILLER:
            self.stage[ply] = SECOND_KILLER
            move = self.killers[2 * ply]
            if move != tt_move and self._usable_killer(ply, move):
                return move

        if self.stage[ply] == SECOND_KILLER:
            self.stage[ply] = GENERATE_QUIET
            move = self.killers[2 * ply + 1]
            if move != tt_move and self._usable_killer(ply, move):
                return move

        if self.stage[ply] == GENERATE_QUIET:
            quiet_start = self.end[ply]
            end = self.position.generate(QUIET, quiet_start)
            self._score_quiet(ply, quiet_start, end, self.skipping[ply] != 0)
            self.stage[ply] = QUIETS

        if self.stage[ply] == QUIETS:
            while self.cursor[ply] < self.end[ply]:
                move = self._pick(ply)
                if move != tt_move and move != self.killers[2 * ply] and move != self.killers[2 * ply + 1]:
                    return move
            self.stage[ply] = BAD_NOISY
            self.cursor[ply] = start

        if self.stage[ply] == BAD_NOISY:
            if self.cursor[ply] < self.bad_end[ply]:
                self.cursor[ply] += 1
                return self.entries[self.cursor[ply] - 1]
            self.stage[ply] = DONE

        if self.stage[ply] == GENERATE_EVASIONS:
            end = self.position.generate(NOISY, start)
            self._score_noisy(ply, start, end)
            quiet_end = self.position.generate(QUIET, end)
            self._score_quiet(ply, end, quiet_end, False)
            self.cursor[ply] = start
            self.stage[ply] = EVASIONS

        if self.stage[ply] == EVASIONS:
            while self.cursor[ply] < self.end[ply]:
                move = self._pick(ply)
                if move != tt_move:
                    return move
            self.stage[ply] = DONE

        if self.stage[ply] == GENERATE_QUIESCENCE:
            end = self.position.generate(NOISY, start)
            self._score_noisy(ply, start, end)
            self.stage[ply] = QUIESCENCE

        if self.stage[ply] == QUIESCENCE:
            while self.cursor[ply] < self.end[ply]:
                move = self._pick(ply)
                if move != tt_move:
                    return move
            self.stage[ply] = DONE
        return 0

    def skip_quiets(self, ply):
        """Give no more quiet moves at this ply but those that check; in check, all the same."""
        if self.skipping[ply] == 0:
            self.skipping[ply] = 1
            if self.stage[ply] == QUIETS:
                self.end[ply] = self._keep_checks(self.cursor[ply], self.end[ply])
        return 0

    def _keep_checks(self, start, end):
        """Move the entries of checks to the front, in their order; returns where they end."""
        kept = start
        for index in range(start, end):
            if self.position.gives_check(self.entries[index] & 0xFFFF):
                self.entries[kept] = self.entries[index]
                kept += 1
        return kept

    def is_losing(self, ply):
        """Whether the last move of a ply came from the captures that lose material."""
        return self.stage[ply] == BAD_NOISY

    def _usable_killer(self, ply, move):
        """A killer is tried where it is quiet and legal; elsewhere it must not be skipped among the quiet moves."""
        if move == 0 or self.position.is_noisy(move) or not self.position.is_legal(move):
            return False
        return self.skipping[ply] == 0 or self.position.gives_check(move)

    def _score_noisy(self, ply, start, end):
        for index in range(start, end):
            move = self.position.moves[index]
            score = CAPTURE_BASE + 16 * VICTIM[self.position.squares[to_square(move)] >> 1]
            score -= self.position.squares[from_square(move)] >> 1
            if move_type(move) == PROMOTION:
                # Queens before all but the richest captures, the other promotions last.
                score += 16 * 80 if promotion(move) == QUEEN else -16 * 40
            elif move_type(move) == EN_PASSANT:
                score += 16 * VICTIM[1]
            score += self.captures[self._capture_index(move)] >> CAPTURE_HISTORY_SHIFT
            entry: i64 = score
            self.entries[index] = (entry << 16) + move
        self.cursor[ply] = start
        self.end[ply] = end
        return 0

    def _score_quiet(self, ply, start, end, checks_only):
        self._find_threats()
        kept = start
        for index in range(start, end):
            move = self.position.moves[index]
            if checks_only and not self.position.gives_check(move):
                continue
            entry: i64 = self.history_of(ply, move)
            kind = self.position.squares[from_square(move)] >> 1
            if self.threats[kind] & BB[from_square(move)]:
                entry += ESCAPES[kind]
            if self.threats[kind] & BB[to_square(move)]:
                entry -= ESCAPES[kind]
            self.entries[kept] = (entry << 16) + move
            kept += 1
        self.cursor[ply] = start
        self.end[ply] = kept
        return 0

    def _find_threats(self):
        """For each kind of the mover's pieces, the squares where an enemy piece worth less would take it."""
        us = self.position.turn
        theirs = self.position.by_colour[1 - us]
        occupied = theirs | self.position.by_colour[us]
        pawns = theirs & self.position.by_type[PAWN]
        attacks = pawn_attacks(pawns, 1 - us)
        self.threats[KNIGHT] = attacks
        self.threats[BISHOP] = attacks
        pieces = theirs & self.position.by_type[KNIGHT]
        while pieces:
            attacks |= KNIGHT_ATTACKS[lsb(pieces)]
            pieces &= pieces - 1
        pieces = theirs & self.position.by_type[BISHOP]
        while pieces:
            attacks |= bishop_attacks(lsb(pieces), occupied)
            pieces &= pieces - 1
        self.threats[ROOK] = attacks
        pieces = theirs & self.position.by_type[ROOK]
        while pieces:
            attacks |= rook_attacks(lsb(pieces), occupied)
            pieces &= pieces - 1
        self.threats[QUEEN] = attacks
        return 0

    def _pick(self, ply):
        """Take the best entry that is left; equal scores go by the higher move number."""
        first = self.cursor[ply]
        end = self.end[ply]
        highest = self.entries[first]
        # Two plain loops: where the best stands cannot be predicted, so the first one must compile without a branch.
        for index in range(first + 1, end):
            highest = max(highest, self.entries[index])
        best = first
        while self.entries[best] != highest:
            best += 1
        self.entries[best] = self.entries[first]
        self.cursor[ply] = first + 1
        return highest & 0xFFFF

    def clear_killers(self, ply):
        """Forget a ply's killers: those of another part of the tree."""
        self.killers[2 * ply] = 0
        self.killers[2 * ply + 1] = 0
        return 0

    def note(self, ply, move):
        """The move about to be played at a ply, 0 for a pass: what follows is judged by it."""
        piece = self.position.squares[from_square(move)] >> 1
        self.played[ply + PLIES_BACK] = (piece << 6) | (to_square(move)) if move else 0
        return 0

    def was_pass(self, ply):
        """Whether the move noted at a ply, from 0, was a pass."""
        return self.played[ply + PLIES_BACK] == 0

    def last_target(self, ply):
        """Where the move noted before a ply went; 0 for a pass or no move."""
        return self.played[ply + PLIES_BACK - 1] & 63

    def last_moves(self, ply):
        """The two moves noted before a ply, by piece and target, as one number below 2 ** 18."""
        return (self.played[ply + PLIES_BACK - 1] << 9) | self.played[ply + PLIES_BACK - 2]

    def history_of(self, ply, move):
        """A quiet move's histories for the side to move, added up."""
        place = self._continuation_index(move)
        return (
            self.history[self.position.turn * 4096 + (move & 4095)]
            + self.continuations[place + (self.played[ply + PLIES_BACK - 1] << 9)]
            + self.continuations[CONTINUATIONS + place + (self.played[ply + PLIES_BACK - 2] << 9)]
            + (self.continuations[CONTINUATIONS + place + (self.played[ply + PLIES_BACK - 4] << 9)] >> 1)
        )

    def capture_history_of(self, move):
        """The history of a capture or promotion."""
        return self.captures[self._capture_index(move)]

    def adjust(self, ply, move, bonus):
        """Move a quiet move's histories up, or down by a negative bonus (at most 2 ** 14)."""
        place = self._continuation_index(move)
        index = self.position.turn * 4096 + (move & 4095)
        self.history[index] = _drawn(self.history[index], bonus)
        index = place + (self.played[ply + PLIES_BACK - 1] << 9)
        self.continuations[index] = _drawn(self.continuations[index], bonus)
        index = CONTINUATIONS + place + (self.played[ply + PLIES_BACK - 2] << 9)
        self.continuations[index] = _drawn(self.continuations[index], bonus)
        index = CONTINUATIONS + place + (self.played[ply + PLIES_BACK - 4] << 9)
        self.continuations[index] = _drawn(self.continuations[index], bonus)
        return 0

    def adjust_made(self, move, bonus):
        """Move the history by squares of the quiet move that the other side has just made."""
        index = (1 - self.position.turn) * 4096 + (move & 4095)
        self.history[index] = _drawn(self.history[index], bonus)
        return 0

    def adjust_capture(self, move, bonus):
        """Move the history of a capture or promotion up, or down by a negative bonus."""
        index = self._capture_index(move)
        self.captures[index] = _drawn(self.captures[index], bonus)
        return 0

    def reward(self, ply, move, bonus):
        """Remember a quiet move that refuted the ply: as its first killer and in the histories."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move
        self.adjust(ply, move, bonus)
        return 0

    def _continuation_index(self, move):
        """Where a move of the side to move stands in the continuations after no move at all."""
        return (self.position.turn << 18) | ((self.position.squares[from_square(move)] >> 1) << 6) | (to_square(move))

    def _capture_index(self, move):
        target = to_square(move)
        victim = 1 if move_type(move) == EN_PASSANT else self.position.squares[target] >> 1
        piece = self.position.squares[from_square(move)]
        return (piece << 9) | (target << 3) | victim


def _drawn(held, bonus):
    """A history drawn towards ±2 ** 14 by a bonus; the nearer it is, the less it moves."""
    size = bonus if bonus > 0 else -bonus
    return held + bonus - ((held * size) >> 14)
