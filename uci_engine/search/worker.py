"""A worker: one thread's searcher, with aspiration windows and iterative deepening.

`MainSearch` calls `search_window` of worker 0 once for each aspiration window. The other workers search
alone in `run`. `RootAnalysis` calls `search_move`. All of them call `Searcher._root`.

Invariant: `run` never takes the GIL, so many workers cannot delay the UCI thread.
"""

from __future__ import annotations

import cython

from uci_engine import score as scores
from uci_engine.search import parameters

INFINITE = scores.INFINITE
MATE_BOUND = scores.MATE_BOUND
MAX_PLY = scores.MAX_PLY
ASPIRATION_DEPTH = parameters.ASPIRATION_DEPTH
MAX_ASPIRATION_WINDOW_CP = parameters.MAX_ASPIRATION_WINDOW_CP


class Worker:
    """Runs a searcher and holds its last result: `pv()`, `score`, `depth`, ... Depth 0 means that there is no result.

    Another thread may read the fields and call `stop`.
    """

    def __init__(self, searcher):
        self.searcher = searcher
        if not cython.compiled:
            self.pv_moves = [0] * MAX_PLY
        self.clear_result()

    def reset(self, node_limit):
        """Clear the last result, the counters and the stop flag. `node_limit`: 0 for no limit."""
        self.searcher.begin(node_limit)
        self.clear_result()

    def clear_result(self):
        """Clear the last result."""
        self.has_result = False
        self.failed_high = False
        self.finished = False
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.pv_length = 0

    def set_up(self, board, node_limit):
        """`reset`, and set up a position. Call `searcher.set_root` next."""
        self.reset(node_limit)
        self.searcher.position.set_board(board)

    def stop(self):
        """End the search soon. The stop flag stays set until `reset`."""
        self.searcher.stop()

    def pv(self):
        """The principal variation of the last result. It begins with the best root move."""
        return [self.pv_moves[index] for index in range(self.pv_length)]

    # Called by `ParallelSearch`, for the workers but worker 0
    # ------------------------------------------------------------

    def run(self, first_depth, last_depth, pv_index=0, skip_size=0, skip_phase=0):
        """Iterative deepening of the root moves from `pv_index` on, until `last_depth`, a stop or the node limit.

        `skip_size`: search and skip blocks of this many depths alternately, 0 to skip none. `skip_phase`: the offset of
        the blocks.
        """
        start: cython.int = first_depth
        last: cython.int = last_depth
        first: cython.int = pv_index
        size: cython.int = skip_size
        phase: cython.int = skip_phase
        with cython.nogil:
            self._iterate(start, last, first, size, phase)

    # Called by `RootAnalysis` -----------------------------------------------------------------------------------------

    def search_move(self, depth, score, half_window_cp):
        """Search the root to one depth, with an aspiration window around `score`. Returns whether it has finished.

        `half_window_cp`: half the width of the first window, 0 for a full window.
        """
        asked_depth: cython.int = depth
        centre: cython.int = score
        half: cython.int = half_window_cp
        self.clear_result()
        with cython.nogil:
            self._search_line(asked_depth, 0, self.searcher.root_count, centre, half)
        return self.finished

    # Called by `MainSearch`, for worker 0 -----------------------------------------------------------------------------

    def begin_line(self, depth, pv_index, end, score):
        """Begin a line of MultiPV: the root moves from `pv_index` to `end` - 1, with a window around `score`.

        `search_window` does the search. The best move is moved to `pv_index`.
        """
        self._begin_line(depth, pv_index, end, score, self._half_window(depth))

    def search_window(self):
        """Search the line with the current window.

        Returns True after a fail high or low. The window is then widened: call again.

        If it returns False, the line is `finished` or was interrupted. `failed_high`: the score was above the window.
        `has_result`: a search of this line has found a best move. Even if it was interrupted, the result is valid.
        """
        with cython.nogil:
            again = self._search_window()
        return again

    # Without the GIL --------------------------------------------------------------------------------------------------

    def _iterate(
        self,
        first_depth: cython.int,
        last_depth: cython.int,
        pv_index: cython.int,
        skip_size: cython.int,
        skip_phase: cython.int,
    ) -> cython.int:
        """The iterative deepening of `run`."""
        for depth in range(first_depth, last_depth + 1):
            if skip_size and (depth + skip_phase) // skip_size % 2:
                continue
            if not self._search_line(depth, pv_index, self.searcher.root_count, self.score, self._half_window(depth)):
                return 0
        return 0

    def _search_line(
        self, depth: cython.int, pv_index: cython.int, end: cython.int, score: cython.int, half_window_cp: cython.int
    ) -> cython.bint:
        """Search a line with widening windows. Returns whether it has finished."""
        self._begin_line(depth, pv_index, end, score, half_window_cp)
        while self._search_window():
            pass
        return self.finished

    def _begin_line(
        self, depth: cython.int, pv_index: cython.int, end: cython.int, score: cython.int, half_window_cp: cython.int
    ) -> cython.int:
        self.has_result = False
        self.line_depth = depth
        self.pv_index = pv_index
        self.searcher.root_end = end
        self.open_window(score, half_window_cp)
        return 0

    def _search_window(self) -> cython.bint:
        """See `search_window`."""
        self.failed_high = False
        self.finished = False
        if self.searcher.stop_requested:
            return False
        score: cython.int = self.searcher._root(self.line_depth, self.alpha, self.beta, self.pv_index)
        if self.searcher.root_moves_done and score > self.alpha:
            self._save_result(score)
        if self.searcher.stopped:
            return False
        if self.alpha < score < self.beta:
            self.finished = True
            return False
        self.failed_high = score >= self.beta
        self.widen_window(score)
        return True

    def _half_window(self, depth: cython.int) -> cython.int:
        """Half the width of the first window at a depth, 0 for a full window."""
        return self.searcher.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0

    def open_window(self, score: cython.int, half_window_cp: cython.int) -> cython.int:
        """Open a window around a score. It is full if the half width is 0, and for mate scores and -INFINITE."""
        self.half_window = half_window_cp
        if half_window_cp == 0 or score >= MATE_BOUND or score <= -MATE_BOUND:
            self.half_window = 2 * INFINITE
        self.alpha = max(score - self.half_window, -INFINITE)
        self.beta = min(score + self.half_window, INFINITE)
        return 0

    def widen_window(self, score: cython.int) -> cython.int:
        """Widen the window on the side that failed."""
        self.half_window = 2 * self.half_window if self.half_window < MAX_ASPIRATION_WINDOW_CP else 2 * INFINITE
        if score <= self.alpha:
            # A shift rounds down on both cores; C's division rounds towards zero.
            self.beta = (self.alpha + self.beta) >> 1
            self.alpha = max(score - self.half_window, -INFINITE)
        else:
            self.beta = min(score + self.half_window, INFINITE)
        return 0

    def _save_result(self, score: cython.int) -> cython.int:
        """Save the PV and the score of the best root move. They stay valid when the searcher goes on."""
        self.has_result = True
        self.depth = self.line_depth
        self.score = score
        self.seldepth = self.searcher.seldepth
        self.is_lower_bound = score >= self.beta
        self.pv_length = self.searcher.pv_length[0]
        for index in range(self.pv_length):
            self.pv_moves[index] = self.searcher.pv_table[index]
        return 0
