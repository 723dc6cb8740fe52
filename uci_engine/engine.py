"""The engine as UCI commands it, without the text: options, the game so far, and one search at a time.

`uci.loop` calls it, and so does `api.engine.Engine`, the engine for Python programs. For each `go` it starts a
`SearchTask`, which answers from the book, or has the tablebases rank the root moves and runs a `SearchManager`.

How a search is stopped: `SearchManager.stop` sets the stop flag of every worker. `SearchTask.stop` calls it;
`ponderhit` calls it if the time is already up; the `Timer` calls it at the hard limit. `SearchManager` itself stops the
other workers when worker 0 has finished. `_stop_event` remembers a `stop` that comes before the search has begun.
`_may_answer` holds `bestmove` back: in `infinite` until `stop`, in `ponder` until `stop` or `ponderhit`. With limited
strength `_take_time` holds it back on a clock.

Invariant: every `go` is answered by exactly one `on_best_move`, with a move that is legal by python-chess.
Invariant: only `stop` and `ponderhit` reach a running search.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
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
from uci_engine.failures import print_failure
from uci_engine.search.info import BestMove, Info
from uci_engine.search.manager import SearchManager
from uci_engine.tablebases.root_ranking import RankingLimits, RootRanking, rank
from uci_engine.task import Task, TaskThread
from uci_engine.text import quoted
from uci_engine.time_management.limits import Limits

if TYPE_CHECKING:
    from uci_engine.static_evaluation import Explanation

# The time after which a waiting thread gets the GIL. A `stop` passes through three threads, and in plain
# Python the search holds the GIL.
SWITCH_SECONDS = 0.001

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]


class UciEngine:
    """The engine as UCI commands it. Call its methods from one thread at a time. A search calls the callbacks from its
    own thread.
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
        self._parts = EngineParts(self.core, tuning, owns_process)
        self.options = self._parts.options
        self._game = Game()
        self._task: Task | None = None
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

    def flip(self) -> list[str]:
        """Swap sides: mirror the board and exchange the colours."""
        board = self._game.board
        if board is None:
            return ["error: there is no position to flip"]
        return self.set_position(board.mirror().fen(en_passant="fen"), ())

    def display_text(self) -> str:
        """The position as text: board, FEN, key, checkers, and the opponent if the GUI has named one."""
        board = self._game.board
        if board is None:
            return "no position"
        opponent = self.options.opponent.value
        return display(board) + (f"\nOpponent {quoted(opponent)}" if opponent else "")

    def evaluation_text(self, colour: bool = False) -> str:
        """The static evaluation of the position, term by term, the score that a search would show for it, and the
        expected result. `colour`: with the escape sequences of a terminal.
        """
        board = self._game.board
        return "no position" if board is None else self.explain(board).text(colour)

    def evaluation_data(self) -> dict[str, Any]:
        """What `evaluation_text` shows, as data. There must be a position."""
        assert self._game.board is not None
        return self.explain(self._game.board).data()

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

        `on_info` and `on_best_move` are called from the search's thread, `on_best_move` once and last. Raises
        RuntimeError if a search is running.
        """
        self.start(SearchTask(self._parts, self._game.board, limits, received_at, on_info, on_best_move))

    def start(self, task: Task) -> None:
        """Start a search, benchmark or perft and return at once. Raises RuntimeError if a task is running."""
        if self.searching:
            raise RuntimeError("a search is running")
        self._task = task
        self._thread.begin(task.run)

    def stop(self) -> None:
        """Stop the running search, which then sends its answer. No effect if there is none."""
        if self._task is not None:
            self._task.stop()

    def ponderhit(self, received_at: float) -> None:
        """The expected move was played: the search goes on against the clock. No effect if it is not pondering."""
        if self._task is not None:
            self._task.ponderhit(received_at)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the running search has ended. False if it takes longer."""
        self._thread.wait(timeout_seconds)
        return not self.searching


class SearchTask(Task):
    """The work of one `go`, in the engine's thread for tasks."""

    def __init__(
        self,
        parts: EngineParts,
        board: chess.Board | None,
        limits: Limits,
        received_at: float,
        on_info: OnInfo,
        on_best_move: OnBestMove,
    ) -> None:
        super().__init__("search", board)
        self._parts = parts
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._options = parts.search_options(limits)
        self._search: SearchManager | None = None
        # The budget is for the time from `ponderhit` on. While pondering the clock is unlimited.
        self._clock, self._budget = parts.new_clock(limits, self._board, received_at, self._nodes)
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
        self._parts.timer.clock_changed()
        if not self._limits.infinite:
            self._may_answer.set()

    # The thread ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        if self._parts.owns_process:
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
            if self._parts.owns_process:
                gc.enable()
            self._on_best_move(answer)

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
        advice = self._parts.opening.advise(board, self._limits)
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
        strength = self._options.strength
        if strength is None or not self._parts.options.pace.value or not self._clock.may_end_early:
            return
        if self._clock.hard_nodes is not None:  # time is counted in nodes
            return
        has_choice = board.legal_moves.count() > 1
        part = strength.pace(chess.polyglot.zobrist_hash(board), board.ply(), has_choice)
        left_ms = part * self._clock.budget.soft_ms - self._clock.elapsed_ms()
        self._stop_event.wait(max(left_ms, 0.0) / 1000)

    def _rank(self, board: chess.Board, allowed: list[chess.Move]) -> RootRanking:
        """The root moves ranked by the tablebases, which `go mate` and limited strength do not use."""
        is_mate_search = self._limits.mate is not None and not self._limits.infinite
        if is_mate_search or self._options.strength is not None:
            ranking = RootRanking(messages=tuple(self._parts.tablebases.drop_changed()))
        else:
            ranking_limits = RankingLimits.within(self._options.probing, self._clock, self._must_end)
            position = self._parts.pool.main.searcher.position
            ranking = rank(self._parts.tablebases, position, board, allowed, ranking_limits)
        self._send(ranking.messages)
        return ranking

    def _run_search(self, board: chess.Board, allowed: list[chess.Move]) -> SearchManager:
        """Run the search. `stop`, `ponderhit` and the timer may reach it meanwhile."""
        ranking = self._rank(board, allowed)
        contempt_cp = self._options.contempt_cp
        self._parts.pool.set_contempt(contempt_cp if board.turn else -contempt_cp)
        search = SearchManager(
            self._parts.pool, board, self._limits, self._clock, self._on_info, self._options, allowed, ranking
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

    def _fallback_move(self) -> str | None:
        """The answer after an exception: the best move so far, or any legal move."""
        if self._search is not None:
            return self._search.best.uci()
        move = None if self._board is None else next(iter(self._board.legal_moves), None)
        return None if move is None else move.uci()

    def _send(self, messages: Iterable[str]) -> None:
        for message in messages:
            self._on_info(Info(string=message))

    def _nodes(self) -> int:
        return 0 if self._search is None else self._search.nodes

    def _must_end(self) -> bool:
        """Whether `stop` was sent or the time is up. Reads the clock each time, because `ponderhit` changes it."""
        return self._stop_event.is_set() or time.perf_counter() >= self._clock.deadline
