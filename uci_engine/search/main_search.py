"""The search of worker 0: iterative deepening over MultiPV lines, with reports, time management and analysis.

`ParallelSearch` runs it, in the thread of `SearchTask`. It calls `Worker.search_window` for every line of every depth.
The benchmark and some scripts run it without other threads.

Invariant: the best move is always a legal move of the request, even if the search is stopped before its first node.
Invariant: of an interrupted depth only the finished root moves count.
Invariant: without a clock the result depends only on the request, the table and the histories.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import chess
import chess.polyglot

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.board.game import seen_twice
from uci_engine.search.analysis import RootAnalysis
from uci_engine.search.info import Info
from uci_engine.search.parameters import MATE_PREVIEW_DEPTH
from uci_engine.search.request import SearchRequest
from uci_engine.search.root_moves import RootMove, sort_root_moves
from uci_engine.search.strength import goes_back
from uci_engine.time_management.clock import Clock

# Fail highs are reported only after this time.
REPORT_BOUNDS_AFTER_MS = 3000.0


@dataclass(frozen=True, slots=True)
class _DepthStatistics:
    """Time-management data of the last finished depth.

    `stable_for`: the depths for which the best move has not changed. `score_drop_cp`: how far the score fell. `effort`:
    the best move's share of the nodes, 0 to 1.
    """

    depth: int = 0
    stable_for: int = 0
    score_drop_cp: int = 0
    effort: float = 0.0


class MainSearch:
    """One search by worker 0. `run` blocks; `stop` may be called from any thread."""

    def __init__(
        self,
        worker: Any,
        request: SearchRequest,
        clock: Clock,
        on_info: Callable[[Info], None],
        others: Sequence[Any] = (),
    ) -> None:
        """Sets up the worker, which must not be running. The request must have at least one legal move.

        `others`: the other workers of the same search. Reports include their counts.
        """
        self._worker = worker
        self._searcher = worker.searcher
        self._request = request
        self._clock = clock
        self._on_info = on_info
        self._others = tuple(others)
        self._depth_limit = min(request.depth or scores.MAX_DEPTH, scores.MAX_DEPTH)
        # The current depth, or the last one searched.
        self._depth = 0
        self._statistics = _DepthStatistics()
        self._is_done = False
        self._in_analysis = False
        board = request.board
        worker.set_up(board, request.nodes or 0)
        request.prepare(self._searcher)
        self._ranks = {moves.encode(board, move): rank for move, rank in request.ranking.tablebase_ranks.items()}
        allowed = board.legal_moves if request.root_moves is None else request.root_moves
        encoded = [moves.encode(board, move) for move in allowed]
        root_moves = [RootMove((move,), tablebase_rank=self._ranks.get(move)) for move in encoded]
        root_moves = sort_root_moves(self._searcher, root_moves)
        self._searcher.set_root([root_move.move for root_move in root_moves])
        # A line searches root moves of one tablebase rank only. Moves are sorted by rank, so an end index is enough.
        order = [-root_move.rank for root_move in root_moves]
        self._pv_ends = [bisect_right(order, rank) for rank in order]
        # The lines, best first, and their results of the previous depth.
        self._lines = root_moves[: request.lines]
        self._before = tuple(self._lines)
        # With limited strength: the lines at the node budget. The search may continue after it.
        self._strength_lines: tuple[RootMove, ...] = ()
        # No analysis with MultiPV (each line has its own window already), nor for `go mate` (full width), nor in timed
        # games (it costs nodes).
        has_analysis = (
            request.analyse_mode
            and request.lines == 1
            and request.mate is None
            and not clock.may_end_early
            and self._pv_ends[0] > 1
        )
        self.analysis = RootAnalysis(board, root_moves[: self._pv_ends[0]]) if has_analysis else None

    def run(self, last_depth: int = scores.MAX_DEPTH) -> None:
        """Search until a limit is reached, time is up, `stop`, or `last_depth` is finished.

        Call it again to continue after `last_depth`, unless `is_done`.
        """
        if self._depth == 0:
            self._searcher.table.new_search()
        if self._request.mate is None:
            self._deepen(min(last_depth, self._depth_limit))
        else:
            self._deepen(min(MATE_PREVIEW_DEPTH, 2 * self._request.mate))
            self._prove_mate(self._request.mate)

    def stop(self) -> None:
        """End the search soon."""
        self._worker.stop()

    @property
    def is_done(self) -> bool:
        """Whether the search has ended."""
        return self._is_done

    def is_enough(self) -> bool:
        """Whether time management would stop now. May be called from any thread."""
        last = self._statistics
        if last.depth == 0 or not self._clock.may_end_early:
            return False
        best = self._lines[0]
        # There is one legal move, or one of the best tablebase rank.
        if len(self._lines) == self._pv_ends[0] == 1:
            return True
        # Searched far deeper than the mate: a shorter mate is unlikely.
        if scores.is_mate(best.score) and last.depth > 2 * abs(scores.mate_in_moves(best.score)) + 2:
            return True
        parameters = self._request.time_parameters
        factor = parameters.soft_factor(last.depth, last.stable_for, last.score_drop_cp, last.effort)
        return self._clock.soft_reached(factor)

    # Iterative deepening -------------------------------------------------------------------------------------------

    def _deepen(self, last_depth: int) -> None:
        """Search depth after depth, to the end of `last_depth` or of the search."""
        while self._depth < last_depth and not self._is_done:
            self._depth += 1
            self._before = tuple(self._lines)
            finished = all(self._search_line(pv_index) for pv_index in range(len(self._lines)))
            self._sort_lines()
            self._report_depth(finished)
            self._save_strength_lines()
            self._is_done = not finished or self._finish_depth()
            if not self._is_done and self.analysis is not None:
                self._run_analysis(self.analysis)

    def _search_line(self, pv_index: int) -> bool:
        """Search one line of MultiPV to the current depth. Returns whether the search has finished."""
        worker = self._worker
        worker.begin_line(self._depth, pv_index, self._pv_ends[pv_index], self._before[pv_index].score)
        while worker.search_window():
            if worker.failed_high:
                self._keep_line(pv_index)
                if pv_index < self._request.multipv and self._clock.elapsed_ms() > REPORT_BOUNDS_AFTER_MS:
                    self.report(pv_index + 1)
        self._keep_line(pv_index)
        return bool(worker.finished)

    def _keep_line(self, pv_index: int) -> None:
        if self._worker.has_result:
            self._lines[pv_index] = self.found_by(self._worker)

    def _sort_lines(self) -> None:
        """Sort the lines of this depth by rank and score. Missing lines are filled from the previous depth."""
        done = [line for line in self._lines if line.depth == self._depth]
        done.sort(key=lambda line: (line.rank, line.score), reverse=True)
        taken = {line.move for line in done}
        lines = [*done, *(line for line in self._before if line.move not in taken)]
        self._lines = lines[: len(self._before)]
        if self.analysis is not None:
            self.analysis.set_best(self._lines[0])

    def _report_depth(self, finished: bool) -> None:
        """Report all lines. After an interruption report only changed lines. Line 1 is reported with `bestmove`."""
        for index, line in enumerate(self._lines[: self._request.multipv]):
            if finished or (index > 0 and line is not self._before[index]):
                self.report(index + 1)

    def _save_strength_lines(self) -> None:
        """With limited strength, save the lines of the first depth that reaches the node budget."""
        strength = self._request.strength
        if strength is not None and not self._strength_lines and self.nodes >= strength.level.nodes:
            self._strength_lines = tuple(self._lines)

    def _finish_depth(self) -> bool:
        """Record the time-management data of a finished depth. Returns whether it was the last one."""
        best, before = self._lines[0], self._before[0]
        stable_for = self._statistics.stable_for + 1 if best.move == before.move else 0
        effort = self._searcher.effort_permille / 1000
        self._statistics = _DepthStatistics(self._depth, stable_for, before.score - best.score, effort)
        is_stopped = bool(self._searcher.stop_requested or self._searcher.stopped)
        return is_stopped or self._depth == self._depth_limit or self.is_enough()

    def _run_analysis(self, analysis: RootAnalysis) -> None:
        """Run the analysis here if there are no other workers. Then move a better root move to the front."""
        searcher = self._searcher
        if not self._others:
            self._in_analysis = True
            analysis.run(self._worker, analysis.nodes_due(searcher.nodes))
            self._in_analysis = False
        better = analysis.better_move()
        if better is not None:
            self._lines[0] = better
            self.report()
            searcher.set_root([better.move, *(move for move in searcher.root() if move != better.move)])

    def _prove_mate(self, max_moves: int) -> None:
        """Prove or refute a mate in at most `max_moves`, shortest first, by trying every reply."""
        from uci_engine.search.mate_search import MateSearch  # only after `load` is the core chosen

        searcher = self._searcher
        mate_search = MateSearch(searcher, seen_twice(self._request.board))
        # A mate in n moves takes 2n - 1 plies.
        max_moves = min(max_moves, (self._depth_limit + 1) // 2)
        for count in range(1, max_moves + 1):
            depth = 2 * count - 1
            if mate_search.mate_in(count):
                self._lines = [RootMove(tuple(searcher.pv()), scores.MATE - depth, depth, searcher.seldepth)]
                self.report()
                return
            if searcher.stopped:
                return
        self._on_info(Info(string=f"there is no mate in {max_moves}"))

    # What was found ------------------------------------------------------------------------------------------------

    @property
    def best(self) -> chess.Move:
        """The best move so far. It is always legal."""
        return self._decode(self._lines[0].move)

    @property
    def ponder(self) -> chess.Move | None:
        """The expected reply to the best move, if any. Do not call while `run` is running."""
        pv = self._lines[0].pv
        reply = pv[1] if len(pv) > 1 else self._searcher.expected_reply(pv[0])
        return self._decode(reply) if reply else None

    @property
    def score(self) -> int:
        """The best move's score, from the view of the side to move at the root."""
        return self._lines[0].shown_score[0]

    @property
    def root_move(self) -> RootMove:
        """The best root move so far."""
        return self._lines[0]

    @property
    def root_order(self) -> list[int]:
        """The root moves of the best rank, in their current order."""
        order: list[int] = self._searcher.root()
        return order[: self._pv_ends[0]]

    @property
    def nodes(self) -> int:
        """The nodes of all workers so far."""
        return sum(int(worker.searcher.nodes) for worker in (self._worker, *self._others))

    def found_by(self, worker: Any) -> RootMove:
        """The best root move of a worker."""
        return RootMove.of(worker, self._ranks)

    def set_best(self, root_move: RootMove) -> None:
        """Use this root move as the answer. Do not call while `run` is running."""
        self._lines[0] = root_move

    def apply_analysis(self) -> None:
        """Use a better move of the analysis as the answer, if any. Do not call while `run` is running."""
        if self.analysis is not None:
            self.analysis.set_best(self._lines[0])
            self.set_best(self.analysis.better_move() or self.analysis.better_move_at_end() or self._lines[0])

    def apply_strength(self) -> None:
        """With limited strength, replace the best line by the one that the level picks.

        Do not call while `run` is running.
        """
        strength = self._request.strength
        lines = [line for line in self._strength_lines or self._lines if line.depth > 0]
        if strength is None or not lines:
            return
        board = self._request.board
        candidates = [(line.move, line.score) for line in lines]
        going_back = {line.move for line in lines if goes_back(board, self._decode(line.move))}
        chosen = lines[strength.choose(candidates, chess.polyglot.zobrist_hash(board), going_back)]
        best = self._lines[0]
        # The search may have continued, so the last result of the move counts.
        chosen = next((line for line in self._lines if line.move == chosen.move), chosen)
        self._lines = [chosen, *(line for line in self._lines if line.move != chosen.move)]
        if chosen is not best:
            for index in range(1, min(self._request.multipv, len(self._lines))):
                self.report(index + 1)

    # Reports -------------------------------------------------------------------------------------------------------

    def report_current_move(self) -> None:
        """Report the current root move. Called from another thread while `run` is running."""
        number = self._searcher.current_move_number
        if number and not self._in_analysis:
            move = self._decode(self._searcher.current_move)
            self._on_info(Info(depth=self._depth, currmove=move.uci(), currmovenumber=number))

    def report(self, multipv: int = 1) -> None:
        """Report a line, with the current nodes and time."""
        line = self._lines[multipv - 1]
        searcher = self._searcher
        elapsed_ms = max(self._clock.elapsed_ms(), 0.0)
        known = line.depth > 0
        nodes = self.nodes
        tb_hits = sum(worker.searcher.tb_hits for worker in (self._worker, *self._others))
        score, bound = line.shown_score
        pieces = self._request.pieces
        self._on_info(
            Info(
                depth=line.depth,
                seldepth=line.seldepth if known else None,
                multipv=multipv,
                score=score if known else searcher.evaluate(),
                pieces=pieces,
                bound=bound,
                wdl=scores.win_draw_loss(score, pieces) if known and self._request.show_wdl else None,
                nodes=nodes,
                nps=int(nodes * 1000 / max(elapsed_ms, 0.001)),
                hashfull=searcher.table.hashfull(),
                tbhits=tb_hits + self._request.ranking.hits,
                time_ms=int(elapsed_ms),
                pv=tuple(self._decode(move).uci() for move in line.pv),
            )
        )

    def _decode(self, move: int) -> chess.Move:
        return moves.decode(move, self._request.board.chess960)
