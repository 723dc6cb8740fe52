"""Games of the engine against itself, for training: played without the GIL, with what is kept of them.

`scripts/selfplay.py` uses it. Kept positions are packed as `evaluation.base.record` says.

Invariant: the same start, seed and settings give the same game, with empty tables and histories.
"""

from __future__ import annotations

from evaluation.base.bitboards import ALL, BB
from evaluation.base.record import AHEAD, BLACK, BLACK_TO_MOVE, CAPTURE, CASTLING_ROOK, FIRST, MAX_SCORE_CP
from evaluation.base.record import QUIET as QUIET_FLAG
from evaluation.base.typed import i64, ints, lsb, nogil, u64, u64s, void
from uci_engine.board.moves import NOISY, QUIET, SCRATCH
from uci_engine.board.position import Position
from uci_engine.score import INFINITE, MAX_DEPTH
from uci_engine.search.search import Searcher
from uci_engine.search.worker import Worker

# A game of more plies is a draw. The board's stack has room for them, and for what a search adds.
MAX_PLIES = 600
MAX_KEPT = 8192
WORDS = 4  # of a record
# The result of a game, White's view, as records have it.
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

    worker: Worker
    searcher: Searcher
    scout: Searcher
    position: Position  # of the searcher
    scout_position: Position

    # Settings. A number of moves that is 0 switches its rule off.
    nodes: i64  # of each search
    resign_cp: int  # lost, if the mover has this or less for so many of its moves in a row
    resign_moves: int
    resign_both: bool  # and only if the other side has seen it won for so many
    draw_cp: int  # drawn, if both sides have this or less for so many moves without a capture or a pawn's move
    draw_moves: int
    draw_from: int  # full moves
    max_moves: int  # full moves after which a game is drawn
    max_opening_cp: int  # the game is not played if the first score is beyond; 0: it always is
    ahead: int  # positions to keep ahead of each search besides its own, see `_keep_ahead`

    # The game
    random: u64
    first_ply: int
    result: int
    kept: int
    words = u64s(WORDS * MAX_KEPT)
    path = ints(1024)
    lost = ints(2)  # moves in a row, by colour
    won = ints(2)
    level = ints(2)

    def __init__(self, worker: Worker, scout: Searcher) -> None:
        self.worker = worker
        self.searcher = worker.searcher
        self.scout = scout
        self.position = self.searcher.position
        self.scout_position = scout.position
        self.random = 1
        self.result = NOT_PLAYED

    def play(self, first_ply: int, seed: u64) -> None:
        """Play a game from the position of both searchers, which has been `first_ply` plies from the start.

        Afterwards `result` is set, `records` gives what is kept, and the searchers stand at the end of the game.
        """
        self.random = (seed * STAR & ALL) | 1
        self.first_ply = first_ply
        self.kept = 0
        side: int
        for side in range(2):
            self.lost[side] = 0
            self.won[side] = 0
            self.level[side] = 0
        with nogil:
            self.result = self._play()

    def records(self) -> list[int]:
        """The words of the kept positions, WORDS of 64 bits each; none of a game that was not played."""
        if self.result == NOT_PLAYED:
            return []
        number: int
        result: u64 = self.result
        first: u64 = FIRST
        for number in range(self.kept):
            self.words[WORDS * number + 3] |= result << 48 | first << 56
            first = 0
        return [self.words[index] for index in range(WORDS * self.kept)]

    # Without the GIL --------------------------------------------------------------------------------------------------

    def _play(self) -> int:
        for ply in range(MAX_PLIES):
            if self.position.is_draw(0):
                return DRAWN
            self.worker.reset(self.nodes)
            if self.searcher.set_all_root_moves() == 0:
                if self.position.checkers == 0:
                    return DRAWN
                return LOST if self.position.turn else WON
            if ply and self.max_moves and self._moves(ply) > self.max_moves:
                return DRAWN
            self._think()
            score = self.worker.score
            if ply == 0 and self.max_opening_cp and (score > self.max_opening_cp or score < -self.max_opening_cp):
                return NOT_PLAYED
            move: int = self.worker.pv_moves[0]
            if self.position.checkers == 0:
                flags = CAPTURE if self.position.is_noisy(move) else 0
                if self._is_quiet():
                    flags |= QUIET_FLAG
                self._keep(score if self.position.turn else -score, flags, self.first_ply + ply)
            self._keep_ahead()
            mover = self.position.turn
            self.position.make(move)
            self.scout_position.make(move)
            if self._is_resigned(mover, score):
                return LOST if mover else WON
            if self._is_agreed(mover, score, self._moves(ply + 1)):
                return DRAWN
        return DRAWN

    def _think(self) -> void:
        """Search the position. The root moves are set and the nodes are limited."""
        self.searcher.table.new_search()
        self.worker.deepen(1, MAX_DEPTH)
        # The last depth is interrupted, often before it has a result. Then that of the depth before it counts. If there
        # is none: too few nodes for the first move of depth 1.
        if self.worker.depth == 0:
            self.worker.reset(0)
            self.searcher.set_all_root_moves()
            self.worker.deepen(1, 1)

    def _is_resigned(self, mover: int, score: int) -> bool:
        self.lost[mover] = self.lost[mover] + 1 if score <= -self.resign_cp else 0
        self.won[mover] = self.won[mover] + 1 if score >= self.resign_cp else 0
        if self.resign_both and self.won[mover ^ 1] < self.resign_moves:
            return False
        return self.resign_moves > 0 and self.lost[mover] >= self.resign_moves

    def _moves(self, ply: int) -> int:
        """The number of the full move to which a ply of the game belongs."""
        return ((self.first_ply + ply) >> 1) + 1

    def _is_agreed(self, mover: int, score: int, moves: int) -> bool:
        """Whether the game is drawn by level scores at a full move."""
        self.level[mover] = self.level[mover] + 1 if -self.draw_cp <= score <= self.draw_cp else 0
        if self.position.halfmove_clock == 0:
            self.level[0] = 0
            self.level[1] = 0
        level = min(self.level[0], self.level[1])
        return self.draw_moves > 0 and moves >= self.draw_from and level >= self.draw_moves

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
        """Keep positions that the search has met: some way along its line, then random moves off it, then the captures
        of a quiescence search to their end. Those that are not quiet are left out. They have no scores.
        """
        for _ in range(self.ahead):
            made = self._below(self.worker.pv_length + 1)
            for index in range(made):
                self.path[index] = self.worker.pv_moves[index]
                self.scout_position.make(self.path[index])
            for _ in range(self._below(MAX_RANDOM_PLIES + 1)):
                move = self._random_move()
                if move:
                    self.path[made] = move
                    self.scout_position.make(move)
                    made += 1
            self._quiescence_score()
            for index in range(self.scout.pv_length[0]):
                self.path[made] = self.scout.pv_table[index]
                self.scout_position.make(self.path[made])
                made += 1
            # Not so where an entry of the table has cut the line short.
            if self._is_quiet():
                self._keep(0, QUIET_FLAG | AHEAD, 0)
            for index in range(made):
                self.scout_position.unmake(self.path[made - 1 - index])

    def _random_move(self) -> int:
        """A legal move of the scout, 0 if there is none. It does not depend on the order of generation."""
        self._below(1)
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

    def _keep(self, score_cp: int, flags: int, ply: int) -> void:
        """Pack the scout's position. `score_cp`: White's view."""
        if self.kept == MAX_KEPT:
            return
        occupied = self.scout_position.by_colour[0] | self.scout_position.by_colour[1]
        rooks: u64 = 0
        for index in range(4):
            if self.scout_position.castling_rights >> index & 1:
                rooks |= BB[self.scout_position.rook_squares[index]]
        start = WORDS * self.kept
        self.words[start] = occupied
        self.words[start + 1] = 0
        self.words[start + 2] = 0
        squares = occupied
        place = 0
        while squares:
            square = lsb(squares)
            squares &= squares - 1
            code: u64 = CASTLING_ROOK if rooks & BB[square] else (self.scout_position.squares[square] >> 1) - 1
            if self.scout_position.squares[square] & 1 == 0:
                code |= BLACK
            self.words[start + 1 + (place >> 4)] |= code << (4 * (place & 15))
            place += 1
        turn_ep: u64 = self.scout_position.ep_square | (0 if self.scout_position.turn else BLACK_TO_MOVE)
        halfmove: u64 = min(self.scout_position.halfmove_clock, 255)
        fullmove: u64 = (ply >> 1) + 1
        score: u64 = max(-MAX_SCORE_CP, min(score_cp, MAX_SCORE_CP)) & 0xFFFF
        flag_bits: u64 = flags
        self.words[start + 3] = turn_ep | halfmove << 8 | fullmove << 16 | score << 32 | flag_bits << 56
        self.kept += 1
