"""A worker: one thread's iterative deepening and its aspiration windows.

Worker 0 has a manager (`search_manager`). It calls the manager after each line and each depth, and when a search fails
high. The other workers have no manager.

Invariant: a worker without a manager never takes the GIL inside `run`, so many workers cannot delay the UCI thread.
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
# At most one line per root move.
MAX_LINES = 256
# Events reported to the manager.
FAILED_HIGH, LINE_SEARCHED, DEPTH_SEARCHED = range(3)


class Worker:
    """Runs a searcher and holds its last result: `pv()`, `score`, `depth`, ... Depth 0 means that there is no result.

    `root_depth` and `pv_index` are the depth and the MultiPV index of the current search. Another thread may read the
    fields and call `stop`.
    """

    def __init__(self, searcher):
        self.searcher = searcher
        self.manager = None
        self.error = None
        if not cython.compiled:
            self.pv_moves = [0] * MAX_PLY
            self.pv_scores = [0] * MAX_LINES
            self.pv_ends = [0] * MAX_LINES
        self.clear()

    def clear(self):
        """Clear the last result and the counters."""
        self.searcher.nodes = 0
        self.searcher.table_hits = 0
        self.root_depth = 0
        self.pv_index = 0
        self.set_multipv(0, (), ())

    def set_up(self, board, node_limit):
        """Set up a position and reset the counters. An earlier stop is discarded. `node_limit`: 0 for no limit.

        Call `searcher.set_root` and `set_multipv` next.
        """
        self.searcher.position.set_board(board)
        self.searcher.begin(node_limit)
        self.clear()

    def set_multipv(self, first, pv_scores, pv_ends):
        """Set the lines (MultiPV) to search at each depth, and clear the last result.

        The lines have the indices `first`, `first` + 1 and so on. Line n searches the root moves from index n to its
        end index (exclusive) and moves the best of them to index n. The next line therefore leaves out this move.
        `pv_scores`: the last score of each line, -INFINITE if there is none. `pv_ends`: the end index of each line.
        """
        self.has_result = False
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.pv_length = 0
        self.first_line = first
        self.end_line = first + len(pv_scores)
        for index, (score, end) in enumerate(zip(pv_scores, pv_ends, strict=True), start=first):
            self.pv_scores[index] = score
            self.pv_ends[index] = end

    def run(self, first_depth, last_depth, skip_size=0, skip_phase=0):
        """Search depth after depth, to the end of `last_depth`, a stop, the node limit, or a manager that ends it.

        `skip_size`: search and skip blocks of this many depths alternately, 0 to skip none. `skip_phase`: the offset of
        the blocks. An exception of the manager ends the search and is raised here.
        """
        first: cython.int = first_depth
        last: cython.int = last_depth
        self.skip_size = skip_size
        self.skip_phase = skip_phase
        with cython.nogil:
            self._iterate(first, last)
        if self.error is not None:
            error = self.error
            self.error = None
            raise error

    def search_line(self, depth, score, half_window_cp):
        """Search all root moves to one depth, with an aspiration window around `score`. False if interrupted.

        `half_window_cp`: half the width of the first window, 0 for a full window. The manager is not called.
        """
        asked_depth: cython.int = depth
        centre: cython.int = score
        half: cython.int = half_window_cp
        self.set_multipv(0, (), ())
        with cython.nogil:
            finished = self._aspirate(asked_depth, 0, self.searcher.root_count, centre, half, False)
        return finished

    def stop(self):
        """End the search soon."""
        self.searcher.stop()

    def pv(self):
        """The principal variation of the last result. It begins with the best root move."""
        return [self.pv_moves[index] for index in range(self.pv_length)]

    # Iterative deepening ---------------------------------------------------------------------------------------------

    def _iterate(self, first_depth: cython.int, last_depth: cython.int) -> cython.int:
        for depth in range(first_depth, last_depth + 1):
            if self.skip_size and (depth + self.skip_phase) // self.skip_size % 2:
                continue
            self.root_depth = depth
            half = self.searcher.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0
            finished: cython.bint = True
            for index in range(self.first_line, self.end_line):
                self.pv_index = index
                finished = self._aspirate(
                    depth, index, self.pv_ends[index], self.pv_scores[index], half, self.manager is not None
                )
                if self.has_result:
                    self.pv_scores[index] = self.score
                if self.manager is not None and not self._notify(LINE_SEARCHED, finished):
                    return 0
                if not finished:
                    break
            if self.manager is not None and not self._notify(DEPTH_SEARCHED, finished):
                return 0
            if not finished:
                return 0
        return 0

    def _aspirate(
        self,
        depth: cython.int,
        first: cython.int,
        end: cython.int,
        score: cython.int,
        half_window_cp: cython.int,
        notify: cython.bint,
    ) -> cython.bint:
        """Search the root moves from index `first` to `end` (exclusive), with an aspiration window around `score`.

        The window is widened until the score is inside. False if interrupted. `notify`: report fail highs to the
        manager.
        """
        self.has_result = False
        self.searcher.root_end = end
        self.open_window(score, half_window_cp)
        while not self.searcher.stop_wanted:
            value: cython.int = self.searcher._root(depth, self.alpha, self.beta, first)
            if self.searcher.root_done and value > self.alpha:
                self._save_result(depth, value)
            if self.searcher.stopped:
                return False
            if self.alpha < value < self.beta:
                return True
            if value >= self.beta and notify and not self._notify(FAILED_HIGH, False):
                return False
            self.widen_window(value)
        return False

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

    def _save_result(self, depth: cython.int, score: cython.int) -> cython.int:
        """Save the PV and the score of the best root move. They stay valid when the searcher goes on."""
        self.has_result = True
        self.depth = depth
        self.score = score
        self.seldepth = self.searcher.seldepth
        self.is_lower_bound = score >= self.beta
        self.pv_length = self.searcher.pv_length[0]
        for index in range(self.pv_length):
            self.pv_moves[index] = self.searcher.pv[index]
        return 0

    def _notify(self, event: cython.int, finished: cython.bint) -> cython.bint:
        """Call the manager, with the GIL. False if the search must end.

        After an exception the manager is not called again.
        """
        if self.error is not None:
            return False
        try:
            if event == FAILED_HIGH:
                self.manager.failed_high()
            elif event == LINE_SEARCHED:
                self.manager.line_searched()
            else:
                return self.manager.depth_searched(finished)
        except BaseException as error:
            self.error = error
            return False
        return True
