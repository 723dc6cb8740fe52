"""Iterative deepening without a word: what a helper thread runs, from its first depth to its end, without the GIL.

`team_search` sets a `QuietSearch` up for each helper and runs it in the helper's thread; `deepening` is its like for
the main search, with all that a quiet one does without: reports, clocks, several lines. What must stay true: between
`run` and its return Python is never needed, so that hundreds of helpers cannot keep Python's global lock from the
threads that listen; and a stop ends it within some hundred nodes.
"""

import cython

from uci_engine import score as scores
from uci_engine.search import parameters

NORMAL = parameters.NORMAL
INFINITE = scores.INFINITE
MATE_BOUND = scores.MATE_BOUND
MAX_PLY = scores.MAX_PLY
DEEPEST = scores.DEEPEST
WIDEST_WINDOW_CP = parameters.WIDEST_WINDOW_CP


class QuietSearch:
    """A searcher and the best line that it has found; `depth` is 0 while there is none."""

    def __init__(self, searcher):
        self.searcher = searcher
        if not cython.compiled:
            self.moves = [0] * MAX_PLY
        self.depth = 0

    def set_up(self, board, root_moves, line, node_limit):
        """Take a position and its root moves, the likeliest first, of which the first `line` are left to others.

        `node_limit`: as for `Searcher.begin`. Then probing may be set, and it may be stopped.
        """
        self.depth = 0
        self.searcher.position.set_board(board)
        self.searcher.begin(node_limit, NORMAL)
        self.searcher.set_root(root_moves)
        self.first = line
        self.score = -INFINITE
        self.seldepth = 0
        self.is_bound = False
        self.length = 0

    def run(self, first_depth, stretch, shift):
        """Search until stopped: `stretch` depths, then none of as many, and so on; `shift` moves the pattern down."""
        begin: cython.int = first_depth
        every: cython.int = stretch
        late: cython.int = shift
        with cython.nogil:
            self._deepen(begin, every, late)

    def line(self):
        """The moves of the best line."""
        return [self.moves[index] for index in range(self.length)]

    def _deepen(self, first_depth, stretch, shift):
        for depth in range(first_depth, DEEPEST + 1):
            if (depth + shift) // stretch % 2 == 0 and not self._search(depth):
                break
        return 0

    def _search(self, depth):
        """Search one depth in a window about the last score, opened where it fails; false when interrupted."""
        window: cython.int = self.searcher.aspiration_window_cp
        if self.depth == 0 or self.score >= MATE_BOUND or self.score <= -MATE_BOUND:
            window = 2 * INFINITE
        alpha: cython.int = max(self.score - window, -INFINITE)
        beta: cython.int = min(self.score + window, INFINITE)
        while not self.searcher.stop_wanted:
            self.searcher.root_end = self.searcher.root_count
            score: cython.int = self.searcher._root(depth, alpha, beta, self.first)
            if self.searcher.root_done and score > alpha:
                self._keep(depth, score, score >= beta)
            if self.searcher.stopped:
                return False
            if alpha < score < beta:
                return True
            window = 2 * window if window < WIDEST_WINDOW_CP else 2 * INFINITE
            if score <= alpha:
                beta = (alpha + beta) // 2
                alpha = max(score - window, -INFINITE)
            else:
                beta = min(score + window, INFINITE)
        return False

    def _keep(self, depth, score, is_bound):
        self.depth = depth
        self.score = score
        self.seldepth = self.searcher.seldepth
        self.is_bound = is_bound
        self.length = self.searcher.pv_length[0]
        for index in range(self.length):
            self.moves[index] = self.searcher.pv[index]
        return 0
