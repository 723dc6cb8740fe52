"""Games of the engine against itself, for training: played without the GIL, with what is kept of them.

`scripts/selfplay.py` uses it. A kept position is a row of ROW numbers:

    0-7     bitboards: White's pieces, then pawns to kings of both sides, then rooks that may castle
    8-12    whether White is to move, en passant square (64: none), halfmove clock, ply, score in 16 bits (White's view)
    13-15   whether it is quiet, its best move captures or promotes, it lies ahead of a search

Invariant: the same start, seed and settings give the same game, with empty tables and histories.
"""

from __future__ import annotations

from evaluation.base.bitboards import ALL, BB
from evaluation.base.typed import i64, ints, nogil, u64, u64s, void
from uci_engine.board.moves import NOISY, QUIET, SCRATCH
from uci_engine.board.position import Position
from uci_engine.score import INFINITE, MAX_DEPTH
from uci_engine.search.search import Searcher

# A game of more plies is a draw. The board's stack has room for them, and for what a search adds.
MAX_PLIES = 600
MAX_KEPT = 8192
RESIGN_MOVES = 10
ROW = 16
# The result of a game, White's view.
LOST, DRAWN, WON, NOT_PLAYED = range(4)
# A position ahead of a search is at most so many random moves off its line.
MAX_RANDOM_PLIES = 2
# The multiplier of George Marsaglia's xorshift generator with Sebastiano Vigna's star (2016).
STAR = 0x2545F4914F6CDD1D


class SelfPlay:
    """One engine that plays both sides. Set the fields, then call `play`.

    `scout` tests positions for quietness by quiescence searches. It has a table of its own: deeper entries of the
    games' table would cut these searches off.
    """

    searcher: Searcher
    scout: Searcher
    position: Position  # of the searcher
    scout_position: Position

    # Settings. A limit that is 0 is none.
    nodes: i64  # of each search
    resign_cp: int  # lost, if the mover is so far behind at RESIGN_MOVES moves in a row
    max_moves: int  # full moves after which a game is drawn
    max_opening_cp: int  # the game is not played if the first score is beyond
    ahead: int  # positions to keep ahead of each search besides its own, see `_keep_ahead`
    skipped_plies: int  # of the game, from the start position: nothing is kept of them

    # The game
    random: u64
    first_ply: int
    result: int
    kept: int
    rows = u64s(ROW * MAX_KEPT)
    path = ints(1024)
    lost = ints(2)  # moves in a row, by colour

    def __init__(self, searcher: Searcher, scout: Searcher) -> None:
        self.searcher = searcher
        self.scout = scout
        self.position = searcher.position
        self.scout_position = scout.position
        self.random = 1
        self.result = NOT_PLAYED

    def play(self, first_ply: int, seed: u64) -> None:
        """Play a game from the position of both searchers, which has been `first_ply` plies from the start.

        Afterwards `result` is set, `kept_rows` gives what is kept, and the searchers stand at the end of the game.
        """
        self.random = (seed * STAR & ALL) | 1
        self.first_ply = first_ply
        self.kept = 0
        self.lost[0] = self.lost[1] = 0
        with nogil:
            self.result = self._play()

    def kept_rows(self) -> list[int]:
        """The numbers of all kept positions, ROW of each."""
        return [self.rows[index] for index in range(ROW * self.kept)]

    # Without the GIL --------------------------------------------------------------------------------------------------

    def _play(self) -> int:
        for ply in range(MAX_PLIES):
            if self.position.is_draw(0):
                return DRAWN
            self.searcher.begin(self.nodes)
            if self.searcher.set_all_root_moves() == 0:
                if self.position.checkers == 0:
                    return DRAWN
                return LOST if self.position.turn else WON
            if ply and self.max_moves and (self.first_ply + ply >> 1) >= self.max_moves:
                return DRAWN
            self._think()
            score = self.searcher.score
            if ply == 0 and self.max_opening_cp and (score > self.max_opening_cp or score < -self.max_opening_cp):
                return NOT_PLAYED
            move: int = self.searcher.result_pv[0]
            if self.first_ply + ply >= self.skipped_plies:
                if self.position.checkers == 0:
                    white_cp = score if self.position.turn else -score
                    self._keep(self.first_ply + ply, white_cp, self._is_quiet(), self.position.is_noisy(move), False)
                self._keep_ahead()
            mover = self.position.turn
            self.position.make(move)
            self.scout_position.make(move)
            self.lost[mover] = self.lost[mover] + 1 if score <= -self.resign_cp else 0
            if self.resign_cp and self.lost[mover] >= RESIGN_MOVES:
                return LOST if mover else WON
        return DRAWN

    def _think(self) -> void:
        """Search the position. The root moves are set and the nodes are limited."""
        self.searcher.table.new_search()
        self.searcher.deepen(1, MAX_DEPTH, 0, 0)
        # The last depth is interrupted, often before it has a result. Then that of the depth before it counts. If there
        # is none: too few nodes for the first move of depth 1.
        if self.searcher.depth == 0:
            self.searcher.begin(0)
            self.searcher.set_all_root_moves()
            self.searcher.deepen(1, 1, 0, 0)

    def _is_quiet(self) -> bool:
        """Whether a quiescence search finds nothing better than the static eval. False in check."""
        if self.scout_position.checkers:
            return False
        return self._quiescence_score() == self.scout.evaluator.evaluate(self.scout_position)

    def _quiescence_score(self) -> int:
        """Of the position of the scout, as if its last move were irreversible: the search damps evals by the halfmove
        clock.
        """
        clock = self.scout_position.halfmove_clock
        self.scout_position.halfmove_clock = 0
        self.scout.begin(0)
        score = self.scout._quiescence(-INFINITE, INFINITE, 0)
        self.scout_position.halfmove_clock = clock
        return score

    def _keep_ahead(self) -> void:
        """Keep positions ahead of the search: some way along its line, then random moves off it, then the captures
        of a quiescence search to their end. Those that are not quiet are left out. They have no scores.
        """
        for _ in range(self.ahead):
            made = self._below(self.searcher.result_length + 1)
            for index in range(made):
                self.path[index] = self.searcher.result_pv[index]
                self.scout_position.make(self.path[index])
            for _ in range(self._below(MAX_RANDOM_PLIES + 1)):
                move = self._random_move()
                if move:
                    self.path[made] = move
                    self.scout_position.make(move)
                    made += 1
            self._quiescence_score()
            for index in range(self.scout.stack.pv_length[0]):
                self.path[made] = self.scout.stack.pv_table[index]
                self.scout_position.make(self.path[made])
                made += 1
            # Not so where an entry of the table has cut the line short.
            if self._is_quiet():
                self._keep(0, 0, True, False, True)
            for index in range(made):
                self.scout_position.unmake(self.path[made - 1 - index])

    def _random_move(self) -> int:
        """A legal move of the scout, 0 if there is none. It does not depend on the order of generation."""
        self._below(1)  # draws a new number
        chosen = 0
        least: u64 = ALL
        for index in range(SCRATCH, self.scout_position.generate(NOISY | QUIET, SCRATCH)):
            move: u64 = self.scout_position.moves[index]
            draw: u64 = (move * STAR & ALL) ^ self.random
            if draw < least:
                least = draw
                chosen = self.scout_position.moves[index]
        return chosen

    def _below(self, count: int) -> int:
        """The next random number, from 0 to before `count`."""
        self.random ^= self.random >> 12
        self.random ^= self.random << 25 & ALL
        self.random ^= self.random >> 27
        high: u64 = (self.random * STAR & ALL) >> 33
        return high % count

    def _keep(self, ply: int, white_cp: int, is_quiet: bool, is_capture: bool, is_ahead: bool) -> void:
        """Keep the scout's position."""
        if self.kept == MAX_KEPT:
            return
        row = ROW * self.kept
        self.kept += 1
        self.rows[row] = self.scout_position.by_colour[1]
        for kind in range(1, 7):
            self.rows[row + kind] = self.scout_position.by_type[kind]
        self.rows[row + 7] = 0
        for index in range(4):
            if self.scout_position.castling_rights >> index & 1:
                self.rows[row + 7] |= BB[self.scout_position.rook_squares[index]]
        self.rows[row + 8] = self.scout_position.turn
        self.rows[row + 9] = self.scout_position.ep_square
        self.rows[row + 10] = self.scout_position.halfmove_clock
        self.rows[row + 11] = ply
        self.rows[row + 12] = white_cp & 0xFFFF
        self.rows[row + 13] = is_quiet
        self.rows[row + 14] = is_capture
        self.rows[row + 15] = is_ahead
