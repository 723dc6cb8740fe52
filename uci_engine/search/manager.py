"""The search manager: one search by all searchers, with its lines of MultiPV, time, reports, analysis and vote.

The main searcher searches in the thread that calls `run`, one window after the other. The other searchers have their
own threads. They share the transposition table (lazy SMP): the results of one speed up the others.

Invariant: the main searcher never waits for another until it has finished, and then, against the clock, no longer than
VOTE_WAIT_SECONDS.
Invariant: when `join` returns, every searcher has stopped. Without a deadline they have when `run` returns, so its node
counts are final.
Invariant: the best move is always a legal move of those allowed, even if the search is stopped before its first node.
Invariant: of an interrupted depth only the finished root moves count.
Invariant: with one thread and no clock the result depends only on the arguments, the table and the histories.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import chess

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.board.game import seen_twice
from uci_engine.policy.features import DEPTHS
from uci_engine.search.info import Info
from uci_engine.search.root_moves import RootAnalysis, RootMove, sorted_root_moves, vote
from uci_engine.search.strength import LEVEL_NODES, Strength
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.root_ranking import RootRanking
from uci_engine.text import Message
from uci_engine.time_management import TIME_DEFAULTS, Clock, Limits, TimeParameters

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher

# Against the clock, a searcher that takes longer than this to stop has no vote.
VOTE_WAIT_SECONDS = 0.002

# `go mate` first searches normally to this depth, or to twice the number of moves if that is less. So there is a
# sensible move even if there is no mate.
MATE_PREVIEW_DEPTH = 6
# The first depth of the other searchers. Without a node limit they start when the main one has finished the depths
# before. They take about a millisecond, so there is a sensible move even with more threads than cores. With a node
# limit all start at once: the main searcher may use up its share of the nodes before this depth.
FIRST_SHARED_DEPTH = 5

# Fail highs are reported only after this time.
REPORT_BOUNDS_AFTER_MS = 3000.0

# Threads that search the same depth at the same time repeat each other's work. So each other searcher takes `size`
# depths in a row and skips the next `size`; `phase` is where in this cycle it begins (Stockfish 7 to 10).
SKIP_PATTERNS = tuple((size, phase) for size in range(1, 5) for phase in range(2 * size))


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What the options of the engine mean for one search.

    `probe_limit`: the maximum number of pieces in the tablebases, `probe_depth` the minimum depth with exactly that
    many. `analyse_mode`: see `RootAnalysis`; SEE pruning spares checks, too. `strength`: None for full strength.
    `contempt_cp`: how much worse than 0 a draw is for the side to move.
    """

    multipv: int = 1
    show_wdl: bool = False
    probe_limit: int = 0
    probe_depth: int = 1
    fifty_moves: bool = True
    time_parameters: TimeParameters = TIME_DEFAULTS
    analyse_mode: bool = False
    strength: Strength | None = None
    contempt_cp: int = 0


class SearchManager:
    """One search from the first depth to the vote. `run` blocks; `stop` may be called from any thread."""

    def __init__(
        self,
        pool: ThreadPool,
        board: chess.Board,
        limits: Limits,
        clock: Clock,
        on_info: Callable[[Info], None],
        options: SearchOptions,
        root_moves: Iterable[chess.Move],
        ranking: RootRanking,
        people: Searcher | None,
    ) -> None:
        """The searchers must not be running. Their stop flags are cleared here, so a `stop` before `run` counts.

        `root_moves`: those allowed, at least one. `ranking`: has tablebase ranks for all of them or for none. Moves of
        a better rank are searched first. Only the main searcher runs for `go mate` and limited strength. `people`: has
        begun, and searches for the draw of limited strength.
        """
        self._board = board
        self._limits = limits
        self._clock = clock
        self._on_info = on_info
        self._options = options
        self._ranking = ranking
        self._people = people
        self._depth_limit = min(self._limits.depth or scores.MAX_DEPTH, scores.MAX_DEPTH)
        nodes = self._node_limit()
        threads = pool.threads if self._limits.mate is None and options.strength is None else []
        self._threads = tuple(threads[: nodes - 1] if nodes else threads)
        self._main = pool.main
        self.searchers = pool.searchers[: 1 + len(self._threads)]
        # Each searcher gets a share of the nodes, so the total is exact without a shared counter. 0 is no limit.
        share, rest = divmod(nodes, len(self.searchers))
        for index, searcher in enumerate(self.searchers):
            searcher.begin(share + (index < rest))
        self._main_share = share + (rest > 0)
        # The root moves that the other searchers begin with.
        self._root_order: list[int] = []
        self._root_moves = [moves.encode(board, move) for move in root_moves]
        self._ranks = {moves.encode(board, move): rank for move, rank in ranking.tablebase_ranks.items()}
        # The lines, best first, and their results of the previous depth.
        self._lines = [RootMove((self._root_moves[0],))]
        self._before: tuple[RootMove, ...] = ()
        # By line: the end of the root moves that it searches, those of one tablebase rank.
        self._pv_ends: list[int] = []
        # The move of limited strength.
        self._drawn: RootMove | None = None
        self._depth = 1
        self._finished_depth = 0
        self._stable_for = 0  # the number of depths for which the best move has not changed
        self._soft_factor = 0.0  # on the soft limit, from the last finished depth
        self._in_analysis = False
        self._searched_ms = 0.0  # when the search was over
        self.analysis: RootAnalysis | None = None

    def stop(self) -> None:
        for searcher in (*self.searchers, *([self._people] if self._people else [])):
            searcher.stop()

    def run(self) -> None:
        """Search until a limit is reached, time is up, or `stop`. Then choose the best move.

        Call `join` before the searchers are used again.
        """
        self._set_up_root()
        self._main.table.new_search()
        has_nodes_left = True
        try:
            if self._main_share:
                # With a node limit the other searchers start at once, because each must search its own share.
                self._start_searcher(0)
            mate, last_depth = self._limits.mate, self._depth_limit
            if mate is not None:
                last_depth = min(MATE_PREVIEW_DEPTH, 2 * mate, last_depth)
            while self._depth <= last_depth and self._search_depth():
                pass
            if mate is not None:
                self._answer_mate(mate)
            has_nodes_left = not self._main_share or self._main.nodes < self._main_share
        finally:
            # Only if the main searcher has used up its share of the nodes the others finish theirs.
            if has_nodes_left:
                self.stop()
            until = math.inf
            if has_nodes_left and self._clock.deadline < math.inf:
                # A thread that the system does not let run cannot stop, and the clock runs on.
                until = min(self._clock.deadline, time.perf_counter() + VOTE_WAIT_SECONDS)
            for error in self.join(until):
                self._on_info(Info(message=Message.error(f"{type(error).__name__} in a worker thread: {error}")))
        # No vote with MultiPV, nor for `go depth`: there the result of the main searcher counts.
        if self._options.multipv == 1 and self._limits.depth is None:
            others = zip(self._threads, self.searchers[1:], strict=True)
            found = [RootMove.of(searcher, self._ranks) for thread, searcher in others if not thread.is_working]
            self._lines[0] = vote([self._lines[0], *found])
            if self.analysis is not None:
                self.analysis.set_best(self._lines[0])
                self._lines[0] = self.analysis.better_move() or self.analysis.better_move_at_end() or self._lines[0]
        self._apply_strength()
        self._searched_ms = self._clock.elapsed_ms()

    def _set_up_root(self) -> None:
        """Set up the main searcher, sort the root moves, and begin the lines of MultiPV with the first of them."""
        self._set_up(self._main)
        if self._options.strength is not None and self._people is not None:
            self._draw(self._options.strength, self._people)
        ranks = {move: self._ranks[move].rank if self._ranks else 0 for move in self._root_moves}
        order = sorted_root_moves(self._main, ranks)
        self._main.set_root(order)
        # Moves are sorted by rank, so an end index is enough.
        rank_order = [-ranks[move] for move in order]
        self._pv_ends = [bisect_right(rank_order, rank) for rank in rank_order]
        candidates = [RootMove((move,), tablebase_rank=self._ranks.get(move)) for move in order]
        self._lines = candidates[: self._options.multipv]
        self._before = tuple(self._lines)
        # No analysis with MultiPV (each line has its own window already), nor for `go mate` (full width), nor in timed
        # games (it costs nodes), nor for one root move.
        is_excluded = self._options.multipv > 1 or self._limits.mate is not None or self._clock.may_end_early
        if self._options.analyse_mode and not is_excluded and self._pv_ends[0] > 1:
            self.analysis = RootAnalysis(self._board, candidates[: self._pv_ends[0]])

    def _draw(self, strength: Strength, people: Searcher) -> None:
        """Let the level choose its move. A stop ends its searches, too. Their nodes do not count."""
        move = strength.choose(people, self._board, [self._decode(move) for move in self._root_moves])
        if move is not None:
            root = moves.encode(self._board, move)
            people.position.set_board(self._board)
            is_known = people.search_root_move(root, DEPTHS[-1])
            self._drawn = RootMove.of(people, self._ranks) if is_known else RootMove((root,))

    def _set_up(self, searcher: Searcher) -> None:
        """Set up a searcher, which is not running, but for its root moves."""
        options = self._options
        searcher.position.set_board(self._board)
        searcher.probe_limit = 0 if self._ranking.complete else min(options.probe_limit, searcher.prober.max_pieces)
        searcher.probe_depth = options.probe_depth
        searcher.fifty_moves = options.fifty_moves
        searcher.contempt_cp = options.contempt_cp
        searcher.spares_checks = options.analyse_mode

    # Time and nodes ------------------------------------------------------------------------------------------------

    def _node_limit(self) -> int:
        """The lower limit of nodes: of `go nodes` and of limited strength. 0 is no limit.

        Analysis is not limited by the strength; only its best move is.
        """
        is_analysis = self._options.analyse_mode or self._limits.infinite
        budget = None if self._options.strength is None or is_analysis else LEVEL_NODES
        return min((nodes for nodes in (self._limits.nodes, budget) if nodes), default=0)

    def is_enough(self) -> bool:
        """Whether time management would stop now. May be called from any thread."""
        if self._finished_depth == 0 or not self._clock.may_end_early:
            return False
        best = self._lines[0]
        # There is one legal move, or one of the best tablebase rank.
        if len(self._lines) == self._pv_ends[0] == 1:
            return True
        # Searched far deeper than the mate: a shorter mate is unlikely.
        if scores.is_mate(best.score) and self._finished_depth > 2 * abs(scores.mate_in_moves(best.score)) + 2:
            return True
        return self._clock.soft_reached(self._soft_factor)

    # The main searcher: between its windows, lines and depths ---------------------------------------------------

    def _search_depth(self) -> bool:
        """Search all lines to the next depth. Returns whether to search another."""
        main = self._main
        for index, line in enumerate(tuple(self._lines)):
            main.begin_line(self._depth, index, line.score, self._pv_ends[index])
            while main.search_window(self._depth):
                if main.failed_high:
                    self._lines[index] = RootMove.of(main, self._ranks)
                    if index < self._options.multipv and self._clock.elapsed_ms() > REPORT_BOUNDS_AFTER_MS:
                        self.report(index + 1)
            if main.has_result:
                self._lines[index] = RootMove.of(main, self._ranks)
            if not main.finished:
                break
        return self._after_depth(main.finished)

    def _after_depth(self, finished: bool) -> bool:
        """After the last line of a depth, or an interruption. Returns whether to search the next depth."""
        # Sort the lines of this depth by rank and score. Missing lines are filled from the previous depth.
        done = [line for line in self._lines if line.depth == self._depth]
        done.sort(key=lambda line: (line.rank, line.score), reverse=True)
        taken = {line.move for line in done}
        lines = [*done, *(line for line in self._before if line.move not in taken)]
        self._lines = lines[: len(self._before)]
        if self.analysis is not None:
            self.analysis.set_best(self._lines[0])
        # After an interruption only changed lines are reported. Line 1 is reported with `bestmove`.
        for index, line in enumerate(self._lines[: self._options.multipv]):
            if finished or (index > 0 and line.depth and line is not self._before[index]):
                self.report(index + 1)
        if not finished:
            return False
        best, before = self._lines[0], self._before[0]
        self._stable_for = self._stable_for + 1 if best.move == before.move else 0
        effort = self._main.effort_permille / 1000
        self._soft_factor = self._options.time_parameters.soft_factor(
            self._depth, self._stable_for, before.score - best.score, effort
        )
        self._finished_depth = self._depth
        is_stopped = self._main.stop_requested or self._main.stopped
        if is_stopped or self._depth == self._depth_limit or self.is_enough():
            return False
        if self.analysis is not None:
            self._run_analysis(self.analysis)
        if self._depth == FIRST_SHARED_DEPTH - 1 and not self._main_share:
            self._start_searcher(0)
        self._depth += 1
        self._before = tuple(self._lines)
        return True

    def _run_analysis(self, analysis: RootAnalysis) -> None:
        """Run the analysis here if there are no other searchers. Then move a better root move to the front."""
        searcher = self._main
        if not self._threads:
            self._in_analysis = True
            analysis.run(self._main, analysis.nodes_due(searcher.nodes))
            self._in_analysis = False
        better = analysis.better_move()
        if better is not None:
            self._lines[0] = better
            self.report()
            searcher.set_root([better.move, *(move for move in searcher.root_order() if move != better.move)])

    def _answer_mate(self, max_moves: int) -> None:
        """`go mate`: report the shortest mate in at most `max_moves`, or that there is none."""
        # A mate in n moves takes 2n - 1 plies.
        max_moves = min(max_moves, (self._depth_limit + 1) // 2)
        if mate := self._shortest_mate(max_moves):
            self._lines = [mate]
            self.report()
        elif not self._main.stopped:
            self._on_info(Info(message=Message(f"there is no mate in {max_moves}")))

    def _shortest_mate(self, max_moves: int) -> RootMove | None:
        """The shortest mate in at most `max_moves`, proved by trying every reply. None proves nothing after a stop."""
        from uci_engine.search.mate_search import MateSearch  # only after `load` is the core chosen

        searcher = self._main
        mate_search = MateSearch(searcher, seen_twice(self._board))
        for count in range(1, max_moves + 1):
            if mate_search.mate_in(count):
                return RootMove.of(searcher, {})
            if searcher.stopped:
                break
        return None

    # The other searchers -------------------------------------------------------------------------------------------

    def _start_searcher(self, index: int) -> None:
        """Start another searcher. Each starts the next: starting hundreds in one loop would block the UCI thread."""
        if index == 0:
            self._root_order = self._main.root_order()[: self._pv_ends[0]]
        if index < len(self._threads):
            self._threads[index].begin(partial(self._run_searcher, index))

    def _run_searcher(self, index: int) -> None:
        searcher = self.searchers[index + 1]
        if searcher.stop_requested:
            return
        searcher.prober.share(self._main.prober)
        self._set_up(searcher)
        searcher.set_root(self._root_order)
        self._start_searcher(index + 1)
        if self.analysis is not None and index == 0:
            self.analysis.run(searcher, math.inf)
        # With MultiPV, the main searcher starts at line 0 and the n-th other one at line n, modulo the number of lines.
        searcher.root_first = (index + 1) % min(self._options.multipv, len(self._root_order))
        searcher.run(FIRST_SHARED_DEPTH, scores.MAX_DEPTH, *SKIP_PATTERNS[index % len(SKIP_PATTERNS)])

    def join(self, until: float = math.inf) -> list[Exception]:
        """Wait until all searchers have stopped, or until this `time.perf_counter()`. Returns their errors so far."""
        # A thread starts the next one before it finishes.
        errors = [
            thread.wait(None if until == math.inf else max(until - time.perf_counter(), 0.0))
            for thread in self._threads
        ]
        return [error for error in errors if error is not None]

    # What was found ------------------------------------------------------------------------------------------------

    @property
    def best(self) -> chess.Move:
        return self._decode(self._lines[0].move)

    @property
    def ponder(self) -> chess.Move | None:
        """The expected reply to the best move, if any: of its PV or the TT. Do not call while `run` is running."""
        pv = self._lines[0].pv
        if len(pv) > 1:
            return self._decode(pv[1])
        self._main.position.make(pv[0])
        reply = self._main.tt_move()
        self._main.position.unmake(pv[0])
        return self._decode(reply) if reply else None

    @property
    def nodes(self) -> int:
        return sum(int(searcher.nodes) for searcher in self.searchers)

    def _apply_strength(self) -> None:
        """With limited strength, put the move of the level first."""
        drawn = self._drawn
        if drawn is None or drawn.move == self._lines[0].move:
            return
        # What the search has found of it is deeper.
        line = next((line for line in self._lines if line.move == drawn.move and line.depth), drawn)
        others = [each for each in self._lines if each.move != drawn.move]
        self._lines = [line, *others][: len(self._lines)]
        for index in range(1, min(self._options.multipv, len(self._lines))):
            self.report(index + 1)

    # Reports -------------------------------------------------------------------------------------------------------

    def report_current_move(self) -> None:
        """Report the current root move. Called from another thread while `run` is running."""
        number = self._main.current_move_number
        if number and not self._in_analysis:
            move = self._decode(self._main.current_move)
            self._on_info(Info(depth=self._depth, currmove=move, currmovenumber=number))

    def report(self, multipv: int = 1) -> None:
        """Report a line, with the current nodes and time."""
        line = self._lines[multipv - 1]
        elapsed_ms = max(self._clock.elapsed_ms(), 0.0)
        known = line.depth > 0
        nodes = self.nodes
        score, is_lower_bound = line.shown_score if known else (self._main.evaluate(), False)
        self._on_info(
            Info(
                depth=line.depth,
                seldepth=line.seldepth if known else None,
                multipv=multipv,
                score=score,
                pieces=self._board.occupied.bit_count(),
                is_lower_bound=is_lower_bound,
                show_wdl=self._options.show_wdl,
                nodes=nodes,
                nps=int(nodes * 1000 / max(self._searched_ms or elapsed_ms, 0.001)),
                hashfull=self._main.table.hashfull(),
                tbhits=sum(searcher.tb_hits for searcher in self.searchers) + self._ranking.hits,
                time_ms=int(elapsed_ms),
                pv=tuple(map(self._decode, line.pv)),
            )
        )

    def _decode(self, move: int) -> chess.Move:
        return moves.decode(move, self._board.chess960)
