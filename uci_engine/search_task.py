"""The thread of one `go`: book, tablebases, search and `bestmove`, which waits in `ponder` and `infinite`.

`Engine.go` starts it. Only `stop` and `ponderhit` reach it while it runs.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import chess

from uci_engine import score as scores
from uci_engine.board.guard import legal_among
from uci_engine.book.opening import Opening
from uci_engine.failures import print_failure
from uci_engine.options import Options
from uci_engine.search.info import BestMove, Info
from uci_engine.search.request import Request
from uci_engine.search.strength import Strength
from uci_engine.search.thread_pool import PoolSearch, ThreadPool
from uci_engine.tablebases.root_ranking import Probing, RootRanking, Rules, rank
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.task import Task
from uci_engine.time_management.allocation import UNLIMITED, TimeParameters, allocate
from uci_engine.time_management.clock import Clock, Watch
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
    watch: Watch
    time_parameters: TimeParameters
    available_nodes: AvailableNodes | None
    strength: Strength | None


class SearchTask(Task):
    """The thread of one `go`."""

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
        self._watch = resources.watch
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._multipv = resources.options.multi_pv.value
        self._show_wdl = resources.options.show_wdl.value
        self._analyse_mode = resources.options.analyse_mode.value
        self._tablebases = resources.tablebases
        self._probing = _probing(resources.options)
        # `go mate` is always answered at full strength.
        self._strength = None if limits.mate and not limits.infinite else resources.strength
        self._search: PoolSearch | None = None
        # Guards what `stop` and `ponderhit` use: they may come while the search is set up.
        self._lock = threading.Lock()
        self._time_parameters = resources.time_parameters
        self._budget = UNLIMITED
        self._pondering = limits.ponder
        self._available_nodes: AvailableNodes | None = None
        if self._board is not None:
            white_to_move, ply = self._board.turn, self._board.ply()
            overhead_ms = resources.options.move_overhead.value
            available = resources.available_nodes
            if available is not None and (adjusted := available.adjust(limits, white_to_move, ply)):
                self._available_nodes, limits, overhead_ms = available, adjusted, 0
            self._budget = allocate(limits, white_to_move, overhead_ms, ply, self._time_parameters)
        self._clock = Clock(received_at, UNLIMITED if limits.ponder else self._budget)
        if self._available_nodes is not None:
            self._clock = NodesClock(received_at, self._budget, self._available_nodes.nodes_per_ms, self._nodes)
        # Set when `bestmove` may be sent. `infinite` waits for `stop`, `ponder` for `stop` or `ponderhit`.
        self._released = threading.Event()
        if not (limits.infinite or limits.ponder):
            self._released.set()

    def stop(self) -> None:
        super().stop()
        with self._lock:
            if self._search is not None:
                self._search.stop()
        self._released.set()

    def ponderhit(self, received_at: float) -> None:
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            self._clock.set_budget(self._budget, received_at)
            # The time spent pondering counts, so the search may have to end now.
            if self._search is not None and not self._limits.infinite and self._search.manager.is_enough():
                self._search.stop()
        self._watch.clock_changed()
        if not self._limits.infinite:
            self._released.set()

    def run(self) -> None:
        gc.disable()
        answer = BestMove(None)
        try:
            answer = self._think()
        except Exception as error:
            # The GUI needs an answer: any legal move is better than none.
            print_failure(error)
            self._on_info(Info(string=f"error: {type(error).__name__} in the search: {error}"))
            answer = BestMove(self._any_move())
            self._released.wait()
        finally:
            gc.enable()
            self._on_best_move(answer)

    def _nodes(self) -> int:
        """The nodes of all threads so far."""
        return 0 if self._search is None else self._search.nodes

    def _max_nodes(self) -> int | None:
        """The node limit: the lowest of `go nodes`, of the clock (nodestime) and of limited strength, or None.

        Analysis is not limited by the strength, only its `bestmove` is.
        """
        budget = None if self._strength is None or self._analyse_mode else self._strength.level.nodes
        limits = [nodes for nodes in (self._limits.nodes, self._clock.hard_nodes, budget) if nodes is not None]
        return min(limits, default=None)

    def _must_end(self) -> bool:
        """Whether to stop or no time is left. The clock is read each time, since a ponderhit changes it."""
        return self._stop_event.is_set() or time.perf_counter() >= self._clock.deadline

    def _think(self) -> BestMove:
        """Find the answer and wait until it may be sent."""
        allowed, problems = self._allowed_moves()
        self._say(problems)
        if self._board is None or not allowed:
            if self._board is not None and not any(self._board.legal_moves):
                score = -scores.MATE if self._board.is_checkmate() else scores.DRAW
                self._on_info(Info(depth=0, score=score))
            self._released.wait()
            return BestMove(None)
        if from_book := self._book_move(self._board):
            self._released.wait()
            return from_book
        search = self._run_search(self._request(self._board, allowed))
        if self._available_nodes is not None:
            self._available_nodes.spend(self._board.turn, search.nodes)
        self._released.wait()
        search.manager.report()
        reply = search.manager.ponder
        return BestMove(search.manager.best.uci(), reply.uci() if reply else None)

    def _request(self, board: chess.Board, allowed: list[chess.Move]) -> Request:
        """The request, with root moves ranked by the tablebases.

        `go mate` and limited strength do not use them.
        """
        limits = self._limits
        mate = None if limits.infinite else limits.mate
        if mate is None and self._strength is None:
            rules = Rules.within(self._probing, self._clock, self._must_end)
            ranking = rank(self._tablebases, self._pool.main.searcher.position, board, allowed, rules)
        else:
            ranking = RootRanking(notes=tuple(self._tablebases.drop_changed()))
        self._say(ranking.notes)
        return Request(
            board=board,
            root_moves=allowed,
            depth=None if limits.infinite else limits.depth,
            nodes=None if limits.infinite else self._max_nodes(),
            mate=mate,
            multipv=self._multipv,
            show_wdl=self._show_wdl,
            ranking=ranking,
            probing=self._probing if self._strength is None else Probing(),
            time_parameters=self._time_parameters,
            analyse_mode=self._analyse_mode,
            strength=self._strength,
        )

    def _run_search(self, request: Request) -> PoolSearch:
        """Run the search. `stop`, `ponderhit` and the watch may reach it meanwhile."""
        search = PoolSearch(self._pool, request, self._clock, self._on_info)
        with self._lock:
            self._search = search
            if self._stop_event.is_set():
                search.stop()
        self._watch.begin(self._clock, search.stop, search.manager.report_current_move)
        try:
            search.run()
        finally:
            self._watch.end()
        return search

    def _book_move(self, board: chess.Board) -> BestMove | None:
        """The opening book's move, reported like a search result. None if the book has no move."""
        advice = self._opening.advise(board, self._limits)
        self._say(advice.sentences)
        if not advice.line:
            return None
        searcher = self._pool.main.searcher
        searcher.position.set_board(board)
        score = searcher.evaluate()
        elapsed_ms = int(max(self._clock.elapsed_ms(), 0.0))
        self._on_info(Info(depth=1, score=score, nodes=0, time_ms=elapsed_ms, pv=advice.line))
        return BestMove(*advice.line)

    def _say(self, messages: Iterable[str]) -> None:
        """Send messages for the user."""
        for message in messages:
            self._on_info(Info(string=message))

    def _any_move(self) -> str | None:
        """The answer after an exception: the best move so far, or any legal move."""
        if self._search is not None:
            return self._search.manager.best.uci()
        moves_left = list(self._board.legal_moves) if self._board is not None else []
        return moves_left[0].uci() if moves_left else None

    def _allowed_moves(self) -> tuple[list[chess.Move], list[str]]:
        """The legal moves that `searchmoves` allows, and messages about its illegal moves."""
        if self._board is None:
            return [], ["error: there is no position to search"]
        if self._limits.searchmoves is None:
            return list(self._board.legal_moves), []
        return legal_among(self._board, self._limits.searchmoves)


def _probing(options: Options) -> Probing:
    """The probing options."""
    return Probing(
        max_pieces=options.syzygy_probe_limit.value,
        depth=options.syzygy_probe_depth.value,
        fifty_moves=options.syzygy_50_move_rule.value,
    )
