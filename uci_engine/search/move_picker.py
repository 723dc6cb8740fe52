"""The staged move picker: best moves first, each stage generated only when it is reached.

Stages: the TT move; captures and promotions that do not lose material, by MVV-LVA and capture history; two killer
moves; the other quiet moves by history; bad captures. In check, in quiescence and in ProbCut: the TT move, then all
others at once.

Invariant: every legal move (with `noisy_only`, every capture and promotion) comes exactly once, except for the quiet
moves that `skip_quiets` skips. The order depends only on scores, with ties broken by the encoded move, and never on the
order of generation. So both boards give the same tree.
"""

from __future__ import annotations

from evaluation.base.bitboards import BB, PAWN, QUEEN
from evaluation.base.typed import i64, i64s, ints, void
from uci_engine.board.moves import (
    EN_PASSANT,
    MAX_MOVES,
    NOISY,
    PROMOTION,
    QUIET,
    from_square,
    move_type,
    promotion,
    to_square,
)
from uci_engine.board.position import Position
from uci_engine.score import MAX_PLY
from uci_engine.search.history import Histories
from uci_engine.search.stack import SearchStack

(
    TT_MOVE,
    GENERATE_NOISY,
    GOOD_NOISY,
    FIRST_KILLER,
    SECOND_KILLER,
    GENERATE_QUIET,
    QUIETS,
    BAD_NOISY,
    GENERATE_AT_ONCE,
    AT_ONCE,
    DONE,
) = range(11)
# Above every history score, so that captures come first among evasions.
CAPTURE_BASE = 1 << 20
# Values of captured pieces by piece type (most valuable victim), and of promotions on the same scale: a pawn is 160.
# The attacker's piece type, 1 to 6, decides between equal victims (least valuable attacker). A promotion to a queen
# ranks between the capture of a rook and that of a queen. Underpromotions come last.
MVV_VALUES = ints(7, [0, 160, 480, 496, 800, 1440, 0])
QUEEN_PROMOTION_VALUE = 1280
UNDERPROMOTION_VALUE = -640
# In 64ths. Capture history is within ±2 ** 14, so it counts at most about as much as a rook.
CAPTURE_HISTORY_WEIGHT = 3
# By piece type: the bonus for moving away from an attack by a less valuable piece, and the malus for moving into one.
THREAT_BONUS = ints(7, [0, 0, 6000, 6000, 8000, 12000, 0])


class MovePicker:
    """One picker for all plies of one search. `begin` starts a ply, `next` returns its moves and then 0."""

    position: Position
    stack: SearchStack
    histories: Histories
    scored_moves = i64s(MAX_PLY * MAX_MOVES)  # [ply * MAX_MOVES + n]: (score << 16) + move, or a bad capture
    stage = ints(MAX_PLY)
    stage_after_tt_move = ints(MAX_PLY)
    cursor = ints(MAX_PLY)
    end = ints(MAX_PLY)
    bad_end = ints(MAX_PLY)
    tt_move = ints(MAX_PLY)
    skips_quiets = ints(MAX_PLY)

    def __init__(self, position: Position, stack: SearchStack, histories: Histories) -> None:
        self.position = position
        self.stack = stack
        self.histories = histories

    def begin(self, ply: int, tt_move: int, noisy_only: bool) -> void:
        """Start a ply. `tt_move`: legal, or 0. `noisy_only`: unless in check, only captures and promotions come."""
        in_check: bool = self.position.checkers != 0
        if noisy_only and not in_check:
            if tt_move and not self.position.is_noisy(tt_move):
                tt_move = 0
        else:
            # Quiet moves are ordered by threats, and the butterfly history is indexed by them.
            self.stack.find_threats(ply)
        after = GENERATE_AT_ONCE if noisy_only or in_check else GENERATE_NOISY
        self.tt_move[ply] = tt_move
        self.skips_quiets[ply] = 0
        self.stage[ply] = TT_MOVE if tt_move else after
        self.stage_after_tt_move[ply] = after

    def next(self, ply: int) -> int:
        """The next move of a started ply, or 0 when there are no more."""
        start = ply * MAX_MOVES
        tt_move = self.tt_move[ply]
        if self.stage[ply] == TT_MOVE:
            self.stage[ply] = self.stage_after_tt_move[ply]
            return tt_move

        if self.stage[ply] == GENERATE_NOISY:
            self.cursor[ply] = start
            self.end[ply] = self.position.generate(NOISY, start)
            self.bad_end[ply] = start
            self._score_noisy(start, self.end[ply])
            self.stage[ply] = GOOD_NOISY

        if self.stage[ply] == GOOD_NOISY:
            while self.cursor[ply] < self.end[ply]:
                move = self._select_best(ply)
                if move == tt_move:
                    continue
                if self.position.see_at_least(move, 0):
                    return move
                # Bad captures go to the front of the list, in order, and overwrite moves already returned.
                self.scored_moves[self.bad_end[ply]] = move
                self.bad_end[ply] += 1
            self.stage[ply] = FIRST_KILLER

        while FIRST_KILLER <= self.stage[ply] <= SECOND_KILLER:
            move = self.stack.killers[2 * ply + self.stage[ply] - FIRST_KILLER]
            self.stage[ply] += 1
            if move != tt_move and self._is_playable_killer(ply, move):
                return move

        if self.stage[ply] == GENERATE_QUIET:
            self.cursor[ply] = self.end[ply]
            self.end[ply] = self._generate_quiet(ply, self.cursor[ply])
            self.stage[ply] = QUIETS

        if self.stage[ply] == QUIETS:
            while self.cursor[ply] < self.end[ply]:
                move = self._select_best(ply)
                if move != tt_move and move != self.stack.killers[2 * ply] and move != self.stack.killers[2 * ply + 1]:
                    return move
            self.stage[ply] = BAD_NOISY
            self.cursor[ply] = start

        if self.stage[ply] == BAD_NOISY:
            if self.cursor[ply] < self.bad_end[ply]:
                self.cursor[ply] += 1
                return self.scored_moves[self.cursor[ply] - 1]
            self.stage[ply] = DONE

        if self.stage[ply] == GENERATE_AT_ONCE:
            self.cursor[ply] = start
            noisy_end = self.position.generate(NOISY, start)
            self.end[ply] = noisy_end
            self._score_noisy(start, noisy_end)
            if self.position.checkers:
                self.end[ply] = self._generate_quiet(ply, noisy_end)
            self.stage[ply] = AT_ONCE

        if self.stage[ply] == AT_ONCE:
            while self.cursor[ply] < self.end[ply]:
                move = self._select_best(ply)
                if move != tt_move:
                    return move
            self.stage[ply] = DONE
        return 0

    def skip_quiets(self, ply: int) -> void:
        """From now on return only quiet moves that give check."""
        if self.skips_quiets[ply] == 0:
            self.skips_quiets[ply] = 1
            if self.stage[ply] == QUIETS or self.stage[ply] == AT_ONCE:
                self._drop_skipped(ply)

    def _drop_skipped(self, ply: int) -> void:
        """Drop the remaining moves that are skipped."""
        kept = self.cursor[ply]
        for index in range(kept, self.end[ply]):
            move: int = self.scored_moves[index] & 0xFFFF
            if self.position.is_noisy(move) or not self._is_skipped(ply, move):
                self.scored_moves[kept] = self.scored_moves[index]
                kept += 1
        self.end[ply] = kept

    def _is_skipped(self, ply: int, move: int) -> bool:
        """Whether a quiet move is skipped."""
        return self.skips_quiets[ply] != 0 and not self.stack.gives_check(ply, move)

    def is_good_capture(self, ply: int) -> bool:
        """Whether the last move returned at a ply was a capture or promotion that loses no material."""
        return self.stage[ply] == GOOD_NOISY

    def _is_playable_killer(self, ply: int, move: int) -> bool:
        """Whether a killer is a quiet legal move here, and not skipped."""
        if move == 0 or self.position.is_noisy(move) or not self.position.is_legal(move):
            return False
        return not self._is_skipped(ply, move)

    def _score_noisy(self, start: int, end: int) -> void:
        for index in range(start, end):
            move = self.position.moves[index]
            score: i64 = CAPTURE_BASE + MVV_VALUES[self.position.squares[to_square(move)] >> 1]
            # Least valuable attacker.
            score -= self.position.squares[from_square(move)] >> 1
            if move_type(move) == PROMOTION:
                score += QUEEN_PROMOTION_VALUE if promotion(move) == QUEEN else UNDERPROMOTION_VALUE
            elif move_type(move) == EN_PASSANT:
                score += MVV_VALUES[PAWN]
            score += (self.histories.capture_history(move) * CAPTURE_HISTORY_WEIGHT) >> 6
            self.scored_moves[index] = (score << 16) + move

    def _generate_quiet(self, ply: int, start: int) -> int:
        """Generate and score the quiet moves that are not skipped, from `start` on. Returns the end."""
        kept = start
        for index in range(start, self.position.generate(QUIET, start)):
            move = self.position.moves[index]
            if self._is_skipped(ply, move):
                continue
            score: i64 = self.histories.quiet_history(ply, move)
            piece_type = self.position.squares[from_square(move)] >> 1
            if self.stack.threats[8 * ply + piece_type] & BB[from_square(move)]:
                score += THREAT_BONUS[piece_type]
            if self.stack.threats[8 * ply + piece_type] & BB[to_square(move)]:
                score -= THREAT_BONUS[piece_type]
            self.scored_moves[kept] = (score << 16) + move
            kept += 1
        return kept

    def _select_best(self, ply: int) -> int:
        """Take the remaining move with the highest score; of equal scores, the higher encoded move."""
        first = self.cursor[ply]
        end = self.end[ply]
        highest = self.scored_moves[first]
        # Two loops: the maximum alone compiles without a branch. To track its index takes one, which would mispredict.
        for index in range(first + 1, end):
            highest = max(highest, self.scored_moves[index])
        best = first
        while self.scored_moves[best] != highest:
            best += 1
        self.scored_moves[best] = self.scored_moves[first]
        self.cursor[ply] = first + 1
        return highest & 0xFFFF
