"""A worker: one thread's searcher, with aspiration windows and iterative deepening.

`SearchManager` calls `run` for every search: worker 0 with its lines of MultiPV, the other workers, and the single root
moves of `RootAnalysis`. Between its windows worker 0 calls a hook of `SearchManager`.

Invariant: without a hook, `run` never takes the GIL, so many workers cannot delay the UCI thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluation.base.typed import gil, i64, ints, nogil, void
from uci_engine.board.moves import MAX_MOVES
from uci_engine.score import INFINITE, MATE_BOUND, MAX_PLY, TABLEBASE_BOUND
from uci_engine.search.search import Searcher
from uci_engine.search.transposition_table import entry_move

# Aspiration windows: at lower depth the window is full, because the last score is too unstable.
ASPIRATION_DEPTH = 4
# A window that fails with a half width of this or more opens completely.
MAX_ASPIRATION_WINDOW_CP = 400
# Before the first search root moves are sorted by eval; a move that loses material by SEE has this penalty.
LOSING_MOVE_PENALTY_CP = 1000


class Worker:
    """Runs a searcher and holds its last result: `pv()`, `score`, `depth`, ... Depth 0 means that there is no result.

    Another thread may read the fields and call `stop`.
    """

    searcher: Searcher

    # Called between windows, and the exception that it raised
    hook: Callable[[], object] | None
    error: BaseException | None

    # What `deepen` searches; `clear_result` sets the usual values.
    first_line: int  # of MultiPV
    lines: int
    skip_size: int  # blocks of so many depths are searched and skipped alternately; 0 skips none
    skip_phase: int  # the offset of the blocks
    half_window_cp: int  # half the width of a line's first window; 0: full; -1: what the parameters say
    # By line of MultiPV
    line_scores = ints(MAX_MOVES)
    line_ends = ints(MAX_MOVES)

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
        self.hook = None
        self.error = None
        self.clear_result()

    def reset(self, node_limit: i64) -> void:
        """Clear the last result, the counters and the stop flag. `node_limit`: 0 for no limit."""
        self.searcher.begin(node_limit)
        self.clear_result()

    def clear_result(self) -> void:
        """Clear the last result, and what to search."""
        self.first_line = 0
        self.lines = 1
        self.skip_size = 0
        self.skip_phase = 0
        self.half_window_cp = -1
        line: int
        for line in range(MAX_MOVES):
            self.line_scores[line] = -INFINITE
            self.line_ends[line] = MAX_MOVES
        self.has_result = False
        self.failed_high = False
        self.finished = False
        self.depth = 0
        self.score = -INFINITE
        self.seldepth = 0
        self.is_lower_bound = False
        self.pv_length = 0

    def stop(self) -> None:
        """End the search soon. The stop flag stays set until `reset`."""
        self.searcher.stop()

    def pv(self) -> list[int]:
        """The principal variation of the last result. It begins with the best root move."""
        return [self.pv_moves[index] for index in range(self.pv_length)]

    def sorted_root_moves(self, ranks: Mapping[int, int]) -> list[int]:
        """The root moves in the order for the first search: by tablebase rank, TT move, static eval after the move.

        `ranks`: the tablebase rank of each root move, 0 without tablebases. The position is set up.
        """
        position = self.searcher.position
        scores_cp = {}
        for move in ranks:
            position.make(move)
            scores_cp[move] = -self.searcher.evaluate()
            position.unmake(move)
            if not position.see_at_least(move, 0):
                scores_cp[move] -= LOSING_MOVE_PENALTY_CP
        tt_move: int = entry_move(self.searcher.table.probe(position.key))
        return sorted(ranks, key=lambda move: (ranks[move], move == tt_move, scores_cp[move], move), reverse=True)

    def set_line(self, line: int, score: int, end: int = MAX_MOVES) -> None:
        """Set the score around which the next window of a line of MultiPV opens, and where its root moves end.

        A line searches the root moves from its own index to `end` - 1. The best one is moved to the index of the line.
        """
        self.line_scores[line] = score
        self.line_ends[line] = end

    def run(self, first_depth: int, last_depth: int, hook: Callable[[], object] | None = None) -> None:
        """`deepen` without the GIL.

        `hook` is called after each window that failed high and after each line, with the GIL. It returns whether to
        search on. It may read the result, call `set_line` and set the root moves in another order; after a line it may
        also call `run`. An exception of it ends the search and is raised here. What it reads: `line_depth` and
        `pv_index` say which line it is. `finished`: the line is finished. With neither this nor `failed_high` it was
        interrupted. `has_result`: a search of this line has found a best move; even if it was interrupted, the
        result is valid.
        """
        outer_hook, self.hook = self.hook, hook
        with nogil:
            self.deepen(first_depth, last_depth)
        error, self.error, self.hook = self.error, None, outer_hook
        if error is not None:
            raise error

    def _call_hook(self) -> bool:
        try:
            return self.hook is None or bool(self.hook())
        except BaseException as error:
            self.error = error
            return False

    # Without the GIL --------------------------------------------------------------------------------------------------

    def deepen(self, first_depth: int, last_depth: int) -> void:
        """Iterative deepening of some lines of MultiPV, until `last_depth`, a stop or the node limit."""
        for depth in range(first_depth, last_depth + 1):
            if self.skip_size and (depth + self.skip_phase) // self.skip_size % 2:
                continue
            line = self.first_line
            while line < self.first_line + self.lines and self._search_line(depth, line):
                line += 1
            if line < self.first_line + self.lines:
                break

    def _search_line(self, depth: int, line: int) -> bool:
        """Search a line with widening windows. Returns whether to search on."""
        self.has_result = False
        self.line_depth = depth
        self.pv_index = line
        self.searcher.root_end = min(self.line_ends[line], self.searcher.root_count)
        half_window_cp = self.half_window_cp
        if half_window_cp < 0:
            half_window_cp = self.searcher.aspiration_window_cp if depth >= ASPIRATION_DEPTH else 0
        self.open_window(self.line_scores[line], half_window_cp)
        while self._search_window():
            if self.failed_high and not self._after_window():
                return False
        # Read before the hook, which may search.
        finished: bool = self.finished
        return self._after_window() and finished

    def _after_window(self) -> bool:
        """Call the hook, if there is one. Returns whether to search on."""
        if self.hook is None:
            return True
        with gil:
            return self._call_hook()

    def _search_window(self) -> bool:
        """Search the line with the current window. Returns True after a fail high or low, with the window widened."""
        self.failed_high = False
        self.finished = False
        if self.searcher.stop_requested:
            return False
        score: int = self.searcher.search_root(self.line_depth, self.alpha, self.beta, self.pv_index)
        # A loss that an interrupted search has found is not proved: a move that it did not reach may be better. The
        # score before stands, if there is one.
        is_proved: bool = score > -TABLEBASE_BOUND or not self.searcher.stopped
        is_first: bool = self.line_scores[self.pv_index] == -INFINITE
        if self.searcher.root_moves_done and score > self.alpha and (is_proved or is_first):
            self._save_result(score, score >= self.beta or not is_proved)
        if self.searcher.stopped:
            return False
        if self.alpha < score < self.beta:
            self.finished = True
            return False
        self.failed_high = score >= self.beta
        self.widen_window(score)
        return True

    def open_window(self, score: int, half_window_cp: int) -> void:
        """Open a window around a score. It is full if the half width is 0, and for mate scores and -INFINITE."""
        self.half_window = half_window_cp
        if half_window_cp == 0 or score >= MATE_BOUND or score <= -MATE_BOUND:
            self.half_window = 2 * INFINITE
        self.alpha = max(score - self.half_window, -INFINITE)
        self.beta = min(score + self.half_window, INFINITE)

    def widen_window(self, score: int) -> void:
        self.half_window = 2 * self.half_window if self.half_window < MAX_ASPIRATION_WINDOW_CP else 2 * INFINITE
        if score <= self.alpha:
            # A shift rounds down on both cores; C's division rounds towards zero.
            self.beta = (self.alpha + self.beta) >> 1
            self.alpha = max(score - self.half_window, -INFINITE)
        else:
            self.beta = min(score + self.half_window, INFINITE)

    def _save_result(self, score: int, is_lower_bound: bool) -> void:
        """Save the PV and the score of the best root move. They stay valid when the searcher goes on."""
        self.has_result = True
        self.depth = self.line_depth
        self.score = score
        self.line_scores[self.pv_index] = score
        self.seldepth = self.searcher.seldepth
        self.is_lower_bound = is_lower_bound
        self.pv_length = self.searcher.pv_length[0]
        for index in range(self.pv_length):
            self.pv_moves[index] = self.searcher.pv_table[index]
