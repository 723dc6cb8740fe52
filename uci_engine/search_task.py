"""The work of one `go`: book, tablebases, search, and `bestmove`.

`UciEngine.go` starts it. It answers from the book, or has the tablebases rank the root moves and runs a
`SearchManager`.

How a search is stopped: `SearchManager.stop` sets the stop flag of every worker. `stop` calls it; `ponderhit`
calls it if the time is already up; the `Timer` calls it at the hard limit. `SearchManager` itself stops the other
workers when worker 0 has finished. `_stop_event` remembers a `stop` that comes before the search has begun.
`_may_answer` holds `bestmove` back: in `infinite` until `stop`, in `ponder` until `stop` or `ponderhit`. With limited
strength `_take_time` holds it back on a clock.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import chess
import chess.polyglot

from uci_engine import score as scores
from uci_engine.board.validation import parse_searchmoves
from uci_engine.book.opening import Opening
from uci_engine.failures import print_failure
from uci_engine.options import Options
from uci_engine.search.info import BestMove, Info
from uci_engine.search.manager import SearchManager
from uci_engine.search.options import SearchOptions
from uci_engine.search.strength import Strength
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.root_ranking import Probing, RankingLimits, RootRanking, rank
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.task import Task
from uci_engine.time_management.allocation import UNLIMITED, TimeParameters, allocate
from uci_engine.time_management.clock import Clock, Timer
from uci_engine.time_management.limits import Limits
from uci_engine.time_management.nodestime import AvailableNodes, NodesClock

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]


@dataclass(frozen=True, slots=True)
class Resources:
    """The parts of the engine that a search uses. The engine changes none of them during the search."""

    pool: ThreadPool
    opening: Opening
    tablebases: Tablebases
    options: Options
    timer: Timer
    time_parameters: TimeParameters
    available_nodes: AvailableNodes | None
    strength: Strength | None
    # Whether the garbage collector is switched off during the search.
    pauses_gc: bool


class SearchTask(Task):
    """The work of one `go`, in the engine's thread for tasks."""

    def __init__(
        self,
        resources: Resources,
        board: chess.Board | None,
        limits: Limits,
        received_at: float,
        on_info: OnInfo,
        on_best_move: OnBestMove,
    ) -> None:
        super().__init__("search", board)
        self._pool = resources.pool
        self._opening = resources.opening
        self._tablebases = resources.tablebases
        self._timer = resources.timer
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._pauses_gc = resources.pauses_gc
        options = resources.options
        self._has_pace = options.pace.value
        analyse_mode = options.analyse_mode.value
        probing = Probing(
            probe_limit=options.syzygy_probe_limit.value,
            probe_depth=options.syzygy_probe_depth.value,
            fifty_moves=options.syzygy_50_move_rule.value,
        )
        # `go mate` is always answered at full strength.
        strength = None if limits.mate and not limits.infinite else resources.strength
        self._options = SearchOptions(
            multipv=options.multi_pv.value,
            show_wdl=options.show_wdl.value,
            # Limited strength does not know the tablebases.
            probing=probing if strength is None else Probing(),
            time_parameters=resources.time_parameters,
            analyse_mode=analyse_mode,
            strength=strength,
            # An analysis serves both sides.
            contempt_cp=0 if limits.infinite or analyse_mode else options.contempt.value,
        )
        # The budget from `ponderhit` on, or from the start without `ponder`.
        self._budget = UNLIMITED
        # With nodestime: the clock in nodes that this search uses up.
        self._available_nodes: AvailableNodes | None = None
        self._clock = self._new_clock(received_at, resources)
        self._search: SearchManager | None = None
        self._pondering = limits.ponder
        # Guards `_search`, `_pondering` and the clock: `stop` and `ponderhit` may come while the search is set up.
        self._lock = threading.Lock()
        self._may_answer = threading.Event()
        if not (limits.infinite or limits.ponder):
            self._may_answer.set()

    # Called from the thread of the engine --------------------------------------------------------------------------

    def stop(self) -> None:
        super().stop()
        with self._lock:
            if self._search is not None:
                self._search.stop()
        self._may_answer.set()

    def ponderhit(self, received_at: float) -> None:
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            self._clock.set_budget(self._budget, received_at)
            # The time spent pondering counts, so the search may have to end now.
            if self._search is not None and not self._limits.infinite and self._search.is_enough():
                self._search.stop()
        self._timer.clock_changed()
        if not self._limits.infinite:
            self._may_answer.set()

    # The thread ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        if self._pauses_gc:
            gc.disable()
        answer = BestMove(None)
        try:
            answer = self._think()
        except Exception as error:
            # The GUI needs an answer: any legal move is better than none. It is found first, because without memory
            # the report may fail too.
            answer = BestMove(self._fallback_move(), error=error)
            with contextlib.suppress(MemoryError):
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in the search: {error}"))
            self._may_answer.wait()
        finally:
            if self._pauses_gc:
                gc.enable()
            self._on_best_move(answer)

    def _think(self) -> BestMove:
        """Find the answer and wait until it may be sent."""
        allowed, problems = self._allowed_moves()
        self._send(problems)
        if self._board is None or not allowed:
            if self._board is not None and not any(self._board.legal_moves):
                score = -scores.MATE if self._board.is_checkmate() else scores.DRAW
                self._on_info(Info(depth=0, score=score))
            self._may_answer.wait()
            return BestMove(None)
        if book_move := self._book_move(self._board):
            self._may_answer.wait()
            return book_move
        search = self._run_search(self._board, allowed)
        if self._available_nodes is not None:
            self._available_nodes.spend(self._board.turn, search.nodes)
        self._may_answer.wait()
        self._take_time(self._board)
        search.report()
        reply = search.ponder
        return BestMove(search.best.uci(), reply.uci() if reply else None)

    def _allowed_moves(self) -> tuple[list[chess.Move], list[str]]:
        """The legal moves that `searchmoves` allows, and messages about its illegal moves."""
        if self._board is None:
            return [], ["error: there is no position to search"]
        if self._limits.searchmoves is None:
            return list(self._board.legal_moves), []
        return parse_searchmoves(self._board, self._limits.searchmoves)

    def _book_move(self, board: chess.Board) -> BestMove | None:
        """The opening book's move, reported like a search result. None if the book has no move."""
        advice = self._opening.advise(board, self._limits)
        self._send(advice.messages)
        if not advice.line:
            return None
        searcher = self._pool.main.searcher
        searcher.position.set_board(board)
        score = searcher.evaluate()
        elapsed_ms = int(max(self._clock.elapsed_ms(), 0.0))
        pieces = scores.piece_count(board)
        self._on_info(Info(depth=1, score=score, pieces=pieces, nodes=0, time_ms=elapsed_ms, pv=advice.line))
        return BestMove(advice.line[0], advice.line[1] if len(advice.line) > 1 else None)

    def _take_time(self, board: chess.Board) -> None:
        """With limited strength on a clock: wait as long as a person might think, unless stopped."""
        strength = self._options.strength
        if strength is None or not self._has_pace or not self._clock.may_end_early:
            return
        if self._available_nodes is not None:
            return
        has_choice = board.legal_moves.count() > 1
        part = strength.pace(chess.polyglot.zobrist_hash(board), board.ply(), has_choice)
        left_ms = part * self._clock.budget.soft_ms - self._clock.elapsed_ms()
        self._stop_event.wait(max(left_ms, 0.0) / 1000)

    def _rank(self, board: chess.Board, allowed: list[chess.Move]) -> RootRanking:
        """The root moves ranked by the tablebases, which `go mate` and limited strength do not use."""
        is_mate_search = self._limits.mate is not None and not self._limits.infinite
        if is_mate_search or self._options.strength is not None:
            ranking = RootRanking(messages=tuple(self._tablebases.drop_changed()))
        else:
            ranking_limits = RankingLimits.within(self._options.probing, self._clock, self._must_end)
            ranking = rank(self._tablebases, self._pool.main.searcher.position, board, allowed, ranking_limits)
        self._send(ranking.messages)
        return ranking

    def _run_search(self, board: chess.Board, allowed: list[chess.Move]) -> SearchManager:
        """Run the search. `stop`, `ponderhit` and the timer may reach it meanwhile."""
        ranking = self._rank(board, allowed)
        contempt_cp = self._options.contempt_cp
        self._pool.set_contempt(contempt_cp if board.turn else -contempt_cp)
        search = SearchManager(
            self._pool, board, self._limits, self._clock, self._on_info, self._options, allowed, ranking
        )
        with self._lock:
            self._search = search
            if self._stop_event.is_set():
                search.stop()
        self._timer.begin(self._clock, search.stop, search.report_current_move)
        try:
            search.run()
        finally:
            self._timer.end()
        return search

    def _fallback_move(self) -> str | None:
        """The answer after an exception: the best move so far, or any legal move."""
        if self._search is not None:
            return self._search.best.uci()
        move = None if self._board is None else next(iter(self._board.legal_moves), None)
        return None if move is None else move.uci()

    def _send(self, messages: Iterable[str]) -> None:
        """Send messages for the user."""
        for message in messages:
            self._on_info(Info(string=message))

    # Time and nodes ------------------------------------------------------------------------------------------------

    def _new_clock(self, received_at: float, resources: Resources) -> Clock:
        """Set the budget, and return a clock that has it. While pondering the clock is unlimited."""
        if self._board is None:
            return Clock(received_at)
        white_to_move, ply = self._board.turn, self._board.ply()
        limits, overhead_ms = self._limits, resources.options.move_overhead.value
        available = resources.available_nodes
        if available is not None and (adjusted := available.adjust(limits, white_to_move, ply)):
            self._available_nodes, limits, overhead_ms = available, adjusted, 0
        self._budget = allocate(limits, white_to_move, overhead_ms, ply, self._options.time_parameters)
        if self._available_nodes is not None:
            return NodesClock(received_at, self._budget, self._available_nodes.nodes_per_ms, self._nodes)
        return Clock(received_at, UNLIMITED if limits.ponder else self._budget)

    def _nodes(self) -> int:
        """The nodes of all threads so far."""
        return 0 if self._search is None else self._search.nodes

    def _must_end(self) -> bool:
        """Whether `stop` was sent or the time is up. Reads the clock each time, because `ponderhit` changes it."""
        return self._stop_event.is_set() or time.perf_counter() >= self._clock.deadline
