"""A worker: one thread's searcher, with aspiration windows and iterative deepening.

`MainSearch` calls `search_window` of worker 0 once for each aspiration window. The other workers search
alone in `run`. `RootAnalysis` calls `search_move`. All of them call `Searcher._root`.

Invariant: `run` never takes the GIL, so many workers cannot delay the UCI thread.
"""

from __future__ import annotations

import chess

from evaluation.typed import i64, ints, nogil
from uci_engine.score import INFINITE, MATE_BOUND, MAX_PLY
from uci_engine.search.parameters import ASPIRATION_DEPTH, MAX_ASPIRATION_WINDOW_CP
from uci_engine.search.search import Searcher


class Worker:
    """Runs a searcher and holds its last result: `pv()`, `score`, `depth`, ... Depth 0 means that there is no result.

    Another thread may read the fields and call `stop`.
    """

    searcher: Searcher

    # The line of MultiPV in search
    line_depth: int
    pv_index: int
    alpha: int
    beta: int
    half_window: int
    failed_high: bool
    finished: bool

    # The last result
    has_result: bool  # of this line and depth
    depth: int
    score: int
    seldepth: int
    is_lower_bound: bool
    pv_length: int
    pv_moves = ints(MAX_PLY)

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.clear_result()

    def reset(self, node_limit: i64) -> None:
        """Clear the last result, the counters and the stop flag. `node_limit`: 0 for no limit."""
        self.searcher.begin(node_limit)
        self.clear_result()

    def clear_result(self) -> None:
        """Clear the last result."""
        self.has_result = False
        self.failed_high = False
        self.finished = False
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.pv_length = 0

    def set_up(self, board: chess.Board, node_limit: i64) -> None:
        """`reset`, and set up a position. Call `searcher.set_root` next."""
        self.reset(node_limit)
        self.searcher.position.set_board(board)

    def stop(self) -> None:
        """End the search soon. The stop flag stays set until `reset`."""
        self.searcher.stop()

    def pv(self) -> list[int]:
        """The principal variation of the last result. It begins with the best root move."""
        return [self.pv_moves[index] for index in range(self.pv_length)]

    # Called by `ParallelSearch`, for the workers but worker 0
    # ------------------------------------------------------------

    def run(
        self, first_depth: int, last_depth: int, pv_index: int = 0, skip_size: int = 0, skip_phase: int = 0
    ) -> None:
        """Iterative deepening of the root moves from `pv_index` on, until `last_depth`, a stop or the node limit.

        `skip_size`: search and skip blocks of this many depths alternately, 0 to skip none. `skip_phase`: the offset of
        the blocks.
        """
        with nogil:
            self._iterate(first_depth, last_depth, pv_index, skip_size, skip_phase)

    # Called by `RootAnalysis` -----------------------------------------------------------------------------------------

    def search_move(self, depth: int, score: int, half_window_cp: int) -> bool:
        """Search the root to one depth, with an aspiration window around `score`. Returns whether it has finished.

        `half_window_cp`: half the width of the first window, 0 for a full window.
        """
        self.clear_result()
        with nogil:
            self._search_line(depth, 0, self.searcher.root_count, score, half_window_cp)
        return self.finished

    # Called by `MainSearch`, for worker 0 -----------------------------------------------------------------------------

    def begin_line(self, depth: int, pv_index: int, end: int, score: int) -> None:
        """Begin a line of MultiPV: the root moves from `pv_index` to `end` - 1, with a window around `score`.

        `search_window` does the search. The best move is moved to `pv_index`.
        """
        self._begin_line(depth, pv_index, end, score, self._half_window(depth))

    def search_window(self) -> bool:
        """Search the line with the current window.

        Returns True after a fail high or low. The window is then widened: call again.

        If it returns False, the line is `finished` or was interrupted. `failed_high`: the score was above the window.
        `has_result`: a search of this line has found a best move. Even if it was interrupted, the result is valid.
        """
        with nogil:
            again = self._search_window()
        return again

    # Without the GIL --------------------------------------------------------------------------------------------------

    def _iterate(self, first_depth: int, last_depth: int, pv_index: int, skip_size: int, skip_phase: int) -> int:
        """The iterative deepening of `run`."""
        for depth in range(first_depth, last_depth + 1):
            if skip_size and (depth + skip_phase) // skip_size % 2:
                continue
            if not self._search_line(depth, pv_index, self.searcher.root_count, self.score, self._half_window(depth)):
                return 0
        return 0

    def _search_line(self, depth: int, pv_index: int, end: int, score: int, half_window_cp: int) -> bool:
        """Search a line with widening windows. Returns whether it has finished."""
        self._begin_line(depth, pv_index, end, score, half_window_cp)
        while self._search_window():
            pass
        return self.finished

    def _begin_line(self, depth: int, pv_index: int, end: int, score: int, half_window_cp: int) -> int:
        self.has_result = False
        self.line_depth = depth
        self.pv_index = pv_index
        self.searcher.root_end = end
        self.open_window(score, half_window_cp)
        return 0

    def _search_window(self) -> bool:
        """See `search_window`."""
        self.failed_high = False
        self.finished = False
        if self.searcher.stop_requested:
            return False
        score: int = self.searcher._root(self.line_depth, self.alpha, self.beta, self.pv_index)
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

    def _half_window(self, depth: int) -> int:
        """Half the width of the first window at a depth, 0 for a full window."""
        return self.searcher.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0

    def open_window(self, score: int, half_window_cp: int) -> int:
        """Open a window around a score. It is full if the half width is 0, and for mate scores and -INFINITE."""
        self.half_window = half_window_cp
        if half_window_cp == 0 or score >= MATE_BOUND or score <= -MATE_BOUND:
            self.half_window = 2 * INFINITE
        self.alpha = max(score - self.half_window, -INFINITE)
        self.beta = min(score + self.half_window, INFINITE)
        return 0

    def widen_window(self, score: int) -> int:
        """Widen the window on the side that failed."""
        self.half_window = 2 * self.half_window if self.half_window < MAX_ASPIRATION_WINDOW_CP else 2 * INFINITE
        if score <= self.alpha:
            # A shift rounds down on both cores; C's division rounds towards zero.
            self.beta = (self.alpha + self.beta) >> 1
            self.alpha = max(score - self.half_window, -INFINITE)
        else:
            self.beta = min(score + self.half_window, INFINITE)
        return 0

    def _save_result(self, score: int) -> int:
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
