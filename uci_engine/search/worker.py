"""A worker: one thread's iterative deepening and its aspiration windows.

Worker 0 has a manager (`search_manager`), which it calls after each line and each depth, and when a search fails high.
Workers of other threads have none.

Invariant: a worker without a manager does not touch Python between `run` and its return, so that hundreds of them
cannot keep the GIL from the threads that listen.
"""

import cython

from uci_engine import score as scores
from uci_engine.search import parameters

INFINITE = scores.INFINITE
MATE_BOUND = scores.MATE_BOUND
MAX_PLY = scores.MAX_PLY
WIDEST_WINDOW_CP = parameters.WIDEST_WINDOW_CP
# Shallower scores are no good centre for a window.
ASPIRATION_DEPTH = 4
# As many as there can be root moves.
MAX_LINES = 256
# What the manager is told.
FAILED_HIGH, LINE_SEARCHED, DEPTH_SEARCHED = range(3)


class Worker:
    """A searcher and the best root move of its last search: `pv()`, `score`, `depth` and so on; depth 0: none yet.

    `root_depth` and `line` tell what is being searched. Another thread may read the fields, and may call `stop`.
    """

    def __init__(self, searcher):
        self.searcher = searcher
        self.manager = None
        self.error = None
        if not cython.compiled:
            self.pv_moves = [0] * MAX_PLY
            self.line_scores = [0] * MAX_LINES
            self.line_ends = [0] * MAX_LINES
        self.clear()

    def clear(self):
        """Forget the last search and its counts."""
        self.searcher.nodes = 0
        self.searcher.table_hits = 0
        self.root_depth = 0
        self.line = 0
        self.set_lines(0, (), ())

    def set_up(self, board, node_limit):
        """Set a position up and begin to count; a stop that came before is forgotten. `node_limit`: 0 for no limit.

        The root moves of the searcher and the lines are to be set next.
        """
        self.searcher.position.set_board(board)
        self.searcher.begin(node_limit)
        self.clear()

    def set_lines(self, first, line_scores, line_ends):
        """Set the lines to search at each depth, from line `first` on. Line n is the best root move from number n on.

        `line_scores`: the last score of each, -INFINITE where there is none. `line_ends`: the number after the last
        root move of each.
        """
        self.has_result = False
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.pv_length = 0
        self.first_line = first
        self.end_line = first + len(line_scores)
        for index, (score, end) in enumerate(zip(line_scores, line_ends, strict=True), start=first):
            self.line_scores[index] = score
            self.line_ends[index] = end

    def run(self, first_depth, last_depth, skip_size=0, skip_phase=0):
        """Search depth after depth until `last_depth` is finished, a stop or the limit of nodes comes, or the manager
        ends the search.

        `skip_size`: search so many depths, skip as many, and so on (0: skip none); `skip_phase` moves that pattern
        down. An exception of the manager ends the search and is raised here.
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
        """Search all root moves to one depth, in a window about `score`; false when interrupted. No manager is called.

        `half_window_cp`: half the width of the first window, 0 for one that is wide open.
        """
        asked_depth: cython.int = depth
        centre: cython.int = score
        half: cython.int = half_window_cp
        self.set_lines(0, (), ())
        with cython.nogil:
            finished = self._aspirate(asked_depth, 0, self.searcher.root_count, centre, half, False)
        return finished

    def stop(self):
        """End the search soon."""
        self.searcher.stop()

    def pv(self):
        """The best root move and the moves expected after it."""
        return [self.pv_moves[index] for index in range(self.pv_length)]

    # Iterative deepening ---------------------------------------------------------------------------------------------

    def _iterate(self, first_depth, last_depth):
        for depth in range(first_depth, last_depth + 1):
            if self.skip_size and (depth + self.skip_phase) // self.skip_size % 2:
                continue
            self.root_depth = depth
            half = self.searcher.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0
            finished: cython.bint = True
            for line in range(self.first_line, self.end_line):
                self.line = line
                finished = self._aspirate(
                    depth, line, self.line_ends[line], self.line_scores[line], half, self.manager is not None
                )
                if self.has_result:
                    self.line_scores[line] = self.score
                if self.manager is not None and not self._tell(LINE_SEARCHED, finished):
                    return 0
                if not finished:
                    break
            if self.manager is not None and not self._tell(DEPTH_SEARCHED, finished):
                return 0
            if not finished:
                return 0
        return 0

    def _aspirate(self, depth, first, end, score, half_window_cp, tells):
        """Search root moves from `first` up to `end` in a window about `score`, widened until the score lies inside.

        False when interrupted. `tells`: the manager hears of a fail high.
        """
        self.has_result = False
        self.searcher.root_end = end
        self.open_window(score, half_window_cp)
        while not self.searcher.stop_wanted:
            value: cython.int = self.searcher._root(depth, self.alpha, self.beta, first)
            if self.searcher.root_done and value > self.alpha:
                self._keep(depth, value)
            if self.searcher.stopped:
                return False
            if self.alpha < value < self.beta:
                return True
            if value >= self.beta and tells and not self._tell(FAILED_HIGH, False):
                return False
            self.widen_window(value)
        return False

    def open_window(self, score, half_window_cp):
        """Open a window about a score: wide open if the half width is 0, the score a mate, or there is no score yet."""
        self.half_window = half_window_cp
        if half_window_cp == 0 or score >= MATE_BOUND or score <= -MATE_BOUND:
            self.half_window = 2 * INFINITE
        self.alpha = max(score - self.half_window, -INFINITE)
        self.beta = min(score + self.half_window, INFINITE)
        return 0

    def widen_window(self, score):
        """Widen the window on the side where the score lies outside."""
        self.half_window = 2 * self.half_window if self.half_window < WIDEST_WINDOW_CP else 2 * INFINITE
        if score <= self.alpha:
            # A shift rounds down on both cores; C's division rounds towards zero.
            self.beta = (self.alpha + self.beta) >> 1
            self.alpha = max(score - self.half_window, -INFINITE)
        else:
            self.beta = min(score + self.half_window, INFINITE)
        return 0

    def _keep(self, depth, score):
        self.has_result = True
        self.depth = depth
        self.score = score
        self.seldepth = self.searcher.seldepth
        self.is_lower_bound = score >= self.beta
        self.pv_length = self.searcher.pv_length[0]
        for index in range(self.pv_length):
            self.pv_moves[index] = self.searcher.pv[index]
        return 0

    def _tell(self, event, finished):
        """Call the manager, with the GIL; false when the search is to end. After an exception nothing more is told."""
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
