"""The engine as UCI commands it, without the text: options, the game so far, and one search at a time.

`uci.loop` calls it, and so does `api.engine.Engine`, the engine for Python programs. Each `go` is answered in a thread
of its own: from the book, or the tablebases rank the root moves and a `SearchManager` searches.

How a search is stopped: `SearchManager.stop` sets the stop flag of every worker. `UciEngine.stop` calls it;
`ponderhit` calls it if the time is already up; the `Timer` calls it at the hard limit. `SearchManager` itself stops the
other workers when worker 0 has finished, unless it has used up its nodes. `_stop_event` remembers a `stop` that comes
before the search has begun. `_may_answer` holds `bestmove` back: in `infinite` until `stop`, in `ponder` until `stop`
or `ponderhit`. With limited strength `_take_time` holds it back on a clock.

Invariant: every `go` is answered by exactly one `on_best_move`, with a move that is legal by python-chess.
Invariant: of the commands only `stop` and `ponderhit` reach a running search.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import chess
import chess.polyglot

from evaluation.network.file import Network
from evaluation.weights import Weights
from uci_engine import __version__
from uci_engine import score as scores
from uci_engine.board.game import Game, PositionError, display, parse_searchmoves
from uci_engine.core import load
from uci_engine.engine_parts import EngineParts
from uci_engine.search.info import BestMove, Info
from uci_engine.search.manager import SearchManager
from uci_engine.search.strength import MAX_PACE_MS
from uci_engine.tablebases.root_ranking import RankingLimits, RootRanking, rank
from uci_engine.task import TaskThread, print_failure
from uci_engine.time_management.limits import Limits

if TYPE_CHECKING:
    from uci_engine.static_evaluation import Explanation

# The time after which a waiting thread gets the GIL. A `stop` passes through three threads, and in plain
# Python the search holds the GIL.
SWITCH_SECONDS = 0.001

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]


def any_move(board: chess.Board | None) -> str | None:
    """A legal move, if there is one, for a search that has failed: any move is better than none."""
    move = None if board is None else next(iter(board.legal_moves), None)
    return None if move is None else move.uci()


class UciEngine:
    """The engine as UCI commands it. Call its methods from one thread at a time. A search calls the callbacks from its
    own thread, and `on_info` also from the timer's.
    """

    def __init__(self, core: str = "auto", tuning: bool = False, owns_process: bool = True) -> None:
        """`core`: see `uci_engine.core.load`, which may raise. `tuning`: offer search parameters as options.

        `owns_process`: whether the process is there for this engine alone. Then the engine also sets how Python
        switches threads and collects garbage.
        """
        self.core = load(core)
        self.name = f"Secateur {__version__}"
        if self.core.name != "compiled":
            self.name += f" ({self.core.name} core)"
        # Created before the option Threads can take the last thread that the system gives.
        self._thread = TaskThread("search")
        self._parts = EngineParts(self.core, tuning)
        self.options = self._parts.options
        self._game = Game()
        self._owns_process = owns_process
        # The state of the running search, if any; `go` sets more. `is_endless`: whether only a command ends it.
        self.is_endless = False
        self._search: SearchManager | None = None
        self._pondering = False
        # Guards `_search`, `_pondering` and the clock: `stop` and `ponderhit` may come while the search is set up.
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._may_answer = threading.Event()
        if owns_process:
            sys.setswitchinterval(SWITCH_SECONDS)
            # These objects live until the end, so the garbage collector can ignore them.
            gc.collect()
            gc.freeze()

    # While no search runs ------------------------------------------------------------------------------------------

    def set_option(self, name: str | None, value: str | None) -> list[str]:
        """Set an option from the name and value of `setoption`. Returns messages for the user."""
        return self.options.set(name, value)

    def new_game(self) -> None:
        """Clear the table, the histories and the position, for a new game."""
        self._parts.new_game()
        self._game = Game()

    def set_position(self, fen: str | None, moves: Sequence[str]) -> list[str]:
        """Set up a position (`fen` None: the start position) and play moves. Returns messages for the user.

        If the input is refused, the only message begins with "error: ", and there is no position afterwards.
        """
        try:
            return self._game.set(fen, moves, self.options.chess960.value)
        except PositionError as error:
            return [f"error: {error}"]

    @property
    def problem(self) -> str:
        """A sentence for the user about what is missing, "" for nothing."""
        return self._parts.problem

    @property
    def board(self) -> chess.Board | None:
        """The position with its game, or None if the last one was refused. Work on a copy."""
        return self._game.board

    @property
    def position(self) -> Any:
        """The core's own board. A running task may use it."""
        return self._parts.pool.main.searcher.position

    @property
    def weights(self) -> Weights:
        return self._parts.pool.weights

    @property
    def network(self) -> Network | None:
        """The network, None while that is off or the strength is limited."""
        return self._parts.pool.network

    def display_text(self) -> str:
        """The position as text: board, FEN, key and checkers."""
        board = self._game.board
        return "no position" if board is None else display(board)

    def evaluation_text(self) -> str:
        """The static evaluation of the position, term by term, as text."""
        board = self._game.board
        return "no position" if board is None else str(self.explain(board))

    def explain(self, board: chess.Board) -> Explanation:
        """The static evaluation of a position, term by term. ValueError when the board cannot be evaluated."""
        # Imported here, because a start of the engine does not need it.
        from uci_engine.static_evaluation import Explanation

        return Explanation.of(board, self.weights, self.network)

    def probe_wdl(self, board: chess.Board) -> int | None:
        """What the Syzygy tables say of a position: 2 (win), 1 (cursed win), 0, -1, -2 for the side to move.

        None if it is not in the tables. Only while no search runs.
        """
        if board.castling_rights or board.occupied.bit_count() > self._parts.tablebases.max_pieces:
            return None
        self._parts.tablebases.drop_changed()
        self.position.set_board(board)
        return self._parts.tablebases.probe_wdl(self.position)

    def close(self) -> None:
        """Stop the running search, if any, and end all threads."""
        self.stop()
        self.wait()
        self._parts.close()
        self._thread.dismiss()
        self._thread.join()

    # Searching -----------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search is running or waits to send its answer."""
        return self._thread.is_working

    def go(self, limits: Limits, received_at: float, on_info: OnInfo, on_best_move: OnBestMove) -> None:
        """Start a search and return at once. `received_at`: the `time.perf_counter()` at which the command was read.

        `on_info` and `on_best_move` are called as the class says, `on_best_move` once and last. Raises
        RuntimeError if a search is running.
        """
        self._require_idle()
        board = self._game.board
        # Positions before the last capture or pawn move cannot be repeated. Copying their moves would take time.
        self._board = None if board is None else board.copy(stack=board.halfmove_clock)
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._search_options = self._parts.search_options(limits, self._board)
        # The budget is for the time from `ponderhit` on. While pondering the clock is unlimited.
        self._clock, self._budget = self._parts.new_clock(limits, self._board, received_at, self._nodes)
        self._pondering = limits.ponder
        self.is_endless = limits.is_endless or limits.ponder
        if limits.infinite or limits.ponder:
            self._may_answer.clear()
        else:
            self._may_answer.set()
        self._thread.begin(self._run)

    def start(self, work: Callable[[Callable[[], bool]], None]) -> None:
        """Start other work, such as a count, in the search's thread and return at once.

        `work` is given a function that says whether `stop` was called. Raises RuntimeError if a search is running.
        """
        self._require_idle()
        self._pondering = self.is_endless = False
        self._thread.begin(partial(work, self._stop_event.is_set))

    def _require_idle(self) -> None:
        if self.searching:
            raise RuntimeError("a search is running")
        self._search = None
        self._stop_event.clear()

    def stop(self) -> None:
        """Stop the running search, which then sends its answer. No effect if there is none."""
        self._stop_event.set()
        with self._lock:
            if self._search is not None:
                self._search.stop()
        self._may_answer.set()

    def ponderhit(self, received_at: float) -> None:
        """The expected move was played: the search goes on against the clock. No effect if it is not pondering."""
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            self.is_endless = self._limits.is_endless
            self._clock.set_budget(self._budget, received_at)
            # The time spent pondering counts, so the search may have to end now.
            if self._search is not None and not self._limits.infinite and self._search.is_enough():
                self._search.stop()
        self._parts.timer.clock_changed()
        if not self._limits.infinite:
            self._may_answer.set()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the running search has ended. False if it takes longer."""
        self._thread.wait(timeout_seconds)
        return not self.searching

    # The thread of the search --------------------------------------------------------------------------------------

    def _run(self) -> None:
        if self._owns_process:
            gc.disable()
        answer = BestMove(None)
        try:
            answer = self._think()
        except Exception as error:
            # The answer is found first, because without memory the report may fail too.
            move = any_move(self._board) if self._search is None else self._search.best.uci()
            answer = BestMove(move, error=error)
            with contextlib.suppress(MemoryError):
                print_failure(error)
                self._on_info(Info(string=f"error: {type(error).__name__} in the search: {error}"))
            self._may_answer.wait()
        finally:
            if self._owns_process:
                gc.enable()
            self._pondering = False
            self._on_best_move(answer)
            # On a loaded machine a worker may stop late. The answer does not wait for it, but the next command does.
            if self._search is not None:
                self._search.join()

    def _think(self) -> BestMove:
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
        self._parts.spend_nodes(self._clock, self._board.turn, search.nodes)
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
        if self.options.analyse_mode.value:
            return None
        depth, variety = self.options.book_depth.value, self.options.book_variety.value
        advice = self._parts.opening.advise(board, self._limits, depth, variety)
        self._send(advice.messages)
        if not advice.line:
            return None
        searcher = self._parts.pool.main.searcher
        searcher.position.set_board(board)
        score = searcher.evaluate()
        elapsed_ms = int(max(self._clock.elapsed_ms(), 0.0))
        pieces = scores.piece_count(board)
        self._on_info(Info(depth=1, score=score, pieces=pieces, nodes=0, time_ms=elapsed_ms, pv=advice.line))
        return BestMove(advice.line[0], advice.line[1] if len(advice.line) > 1 else None)

    def _take_time(self, board: chess.Board) -> None:
        """With limited strength on a clock: wait as long as a person might think, unless stopped."""
        strength = self._search_options.strength
        is_on_clock = self._clock.may_end_early and self._clock.hard_nodes is None
        if strength is None or not self.options.pace.value or not is_on_clock:
            return
        part = strength.pace(chess.polyglot.zobrist_hash(board), board.ply(), board.legal_moves.count() > 1)
        left_ms = min(part * self._clock.budget.soft_ms, MAX_PACE_MS) - self._clock.elapsed_ms()
        self._stop_event.wait(max(left_ms, 0.0) / 1000)

    def _rank(self, board: chess.Board, allowed: list[chess.Move]) -> RootRanking:
        """The root moves ranked by the tablebases, which `go mate` and limited strength do not use."""
        is_mate_search = self._limits.mate is not None and not self._limits.infinite
        if is_mate_search or self._search_options.strength is not None:
            ranking = RootRanking(messages=tuple(self._parts.tablebases.drop_changed()))
        else:
            ranking_limits = RankingLimits.within(self._search_options.probing, self._clock, self._must_end)
            position = self._parts.pool.main.searcher.position
            ranking = rank(self._parts.tablebases, position, board, allowed, ranking_limits)
        self._send(ranking.messages)
        return ranking

    def _run_search(self, board: chess.Board, allowed: list[chess.Move]) -> SearchManager:
        """Run the search. `stop`, `ponderhit` and the timer may reach it meanwhile."""
        ranking = self._rank(board, allowed)
        contempt_cp = self._search_options.contempt_cp
        self._parts.pool.set_contempt(contempt_cp if board.turn else -contempt_cp)
        search = SearchManager(
            self._parts.pool, board, self._limits, self._clock, self._on_info, self._search_options, allowed, ranking
        )
        with self._lock:
            self._search = search
            if self._stop_event.is_set():
                search.stop()
        self._parts.timer.begin(self._clock, search.stop, search.report_current_move)
        try:
            search.run()
        finally:
            self._parts.timer.end()
        return search

    def _send(self, messages: Iterable[str]) -> None:
        for message in messages:
            self._on_info(Info(string=message))

    def _nodes(self) -> int:
        return 0 if self._search is None else self._search.nodes

    def _must_end(self) -> bool:
        """Whether `stop` was sent or the time is up. Reads the clock each time, because `ponderhit` changes it."""
        return self._stop_event.is_set() or time.perf_counter() >= self._clock.deadline
