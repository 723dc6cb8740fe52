"""The engine: its options, what they set up, and one search at a time. Boards, moves and numbers; no text of UCI.

`uci.loop` calls it, and so does `api.Engine`, the engine for Python programs. Each `go` is answered in a thread of its
own: from the book, or the tablebases rank the root moves and a `SearchManager` searches.

How a search is stopped: `SearchManager.stop` sets the stop flag of every searcher. `UciEngine.stop` calls it;
`ponderhit` calls it if the time is already up; the `Timer` calls it at the hard limit. When the main searcher has
finished, `SearchManager` stops the others, except where it has only used up its share of the nodes. `_stop_event`
remembers a `stop` that comes before the search has begun. `_may_answer` holds `bestmove` back: in `infinite` until
`stop`, in `ponder` until `stop` or `ponderhit`. With limited strength `_take_time` holds it back on a clock.

Invariant: every `go` is answered by exactly one `on_best_move`, with a move that is legal by python-chess.
Invariant: only `stop` and `ponderhit` reach a running search. Options change between searches.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import chess
import chess.polyglot

from evaluation.files import reason_of
from evaluation.network.file import Network, default_network
from evaluation.weights import Weights, default_weights
from uci_engine import __version__
from uci_engine import score as scores
from uci_engine.board.game import any_move, moves_kept
from uci_engine.book.book import Book, built_in_book
from uci_engine.core import load
from uci_engine.options import Options
from uci_engine.policy.policy import human_moves
from uci_engine.search.info import BestMove, Info
from uci_engine.search.manager import SearchManager, SearchOptions
from uci_engine.search.strength import MAX_PACE_MS, MAX_SKILL_LEVEL, Strength, elo_of_skill_level
from uci_engine.search.thread_pool import TaskThread, ThreadPool
from uci_engine.tablebases.root_ranking import RootRanker, RootRanking
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.text import Message, print_failure
from uci_engine.time_management import UNLIMITED, Clock, Limits, TimeParameters, Timer, allocate

if TYPE_CHECKING:
    from uci_engine.board.position import Position
    from uci_engine.explanation import Explanation
    from uci_engine.search.search import Searcher

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]


class UciEngine:
    """The engine as UCI commands it. Call its methods from one thread at a time. A search calls the callbacks from its
    own thread, and `on_info` also from the timer's.
    """

    def __init__(self, core: str = "auto", tuning: bool = False) -> None:
        """`core`: see `uci_engine.core.load`, which may raise. `tuning`: offer search parameters as options.

        RuntimeError: the network of the package is missing or damaged.
        """
        self.core = load(core)
        self.name = f"Secateur {__version__}"
        if self.core.name != "compiled":
            self.name += f" ({self.core.name} core)"
        self.id = {"name": self.name, "author": "the Secateur developers"}
        self.options = Options(self.core.name, tuning)
        network = default_network() if self.options.use_nnue.value else None
        self.pool = ThreadPool(self.core, self.options.hash.value, network)
        # Created before the option Threads can take the last thread that the system gives.
        self._thread = TaskThread("search")
        self._book: Book | None = None
        self._people: ThreadPool | None = None
        self._tablebases = Tablebases(self.core, self.pool.main.prober)
        self._timer = Timer()
        self._seed = random.SystemRandom().getrandbits(64)
        self._connect_options()
        # The state of the running search, if any; `go` sets more. `is_endless`: whether only a command ends it.
        self.is_endless = False
        self._search: SearchManager | None = None
        self._clock = Clock(0.0)
        # Guards `_search` and `_clock`: `stop` and `ponderhit` may come while the search is set up.
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._may_answer = threading.Event()

    # While no search runs ------------------------------------------------------------------------------------------

    def new_game(self) -> None:
        """Clear the table and the histories."""
        self.pool.clear()
        self._seed = random.SystemRandom().getrandbits(64)

    @property
    def position(self) -> Position:
        """The core's own board. A running task may use it."""
        return self.pool.main.position

    def explain_evaluation(self, board: chess.Board) -> Explanation:
        """The static evaluation of a position, term by term. ValueError when the board cannot be evaluated."""
        # Imported here, because a start of the engine does not need it.
        from uci_engine.explanation import Explanation

        return Explanation.of(board, self.pool.weights, self.pool.network)

    def probe_wdl(self, board: chess.Board) -> tuple[int | None, list[Message]]:
        """What the Syzygy tables say of a position: 2 (win), 1 (cursed win), 0, -1, -2 for the side to move.

        None if it is not in the tables. Also messages. Only while no search runs.
        """
        return self._probe(self._tablebases.probe_wdl, board)

    def probe_dtz(self, board: chess.Board) -> tuple[int | None, list[Message]]:
        """The DTZ of a position, as `Tablebases.probe_dtz`, and messages. Only while no search runs."""
        return self._probe(self._tablebases.probe_dtz, board)

    def _probe(self, ask: Callable[[Position], int | None], board: chess.Board) -> tuple[int | None, list[Message]]:
        if not self.options.syzygy_path.value:
            return None, []
        messages = self._tablebases.drop_changed()
        self.position.set_board(board)
        return ask(self.position), messages

    def human(self, board: chess.Board, rating: float) -> dict[chess.Move, float]:
        """See `human_moves`. Only while no search runs."""
        return human_moves(self._people_searcher(), board, rating)

    def _people_searcher(self) -> Searcher:
        """A searcher for the policy, as its fit has one: it knows nothing, and no option counts. It has begun."""
        if self._people is None:
            self._people = ThreadPool(self.core, 1, default_network())
        self._people.clear()
        self._people.main.begin(0)
        return self._people.main

    def close(self) -> None:
        """Stop the running search, if any, and end all threads."""
        self.stop()
        self.wait()
        self._timer.close()
        self.pool.close()
        self._tablebases.set_syzygy_path("")
        self._thread.close()

    # Searching -----------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search is running or waits to send its answer."""
        return self._thread.is_working

    def go(
        self,
        board: chess.Board | None,
        limits: Limits,
        received_at: float,
        on_info: OnInfo,
        on_best_move: OnBestMove,
    ) -> None:
        """Start a search and return at once. `received_at`: the `time.perf_counter()` at which the command was read.

        `board`: the position, with the game on its stack; None: there is none, and the answer is no move. It has been
        read by `board.game`. `on_info` and `on_best_move` are called as the class says, `on_best_move` once and last.
        RuntimeError: a search is running.
        """
        self._require_idle()
        self._board = None if board is None else board.copy(stack=moves_kept(board))
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._search_options = self._new_search_options()
        self._clock = self._new_clock(received_at)
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
        self.is_endless = False
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
            if not self._clock.is_pondering:
                return
            self._clock.ponderhit(received_at)
            self.is_endless = self._limits.is_endless
            # The time spent pondering counts, so the search may have to end now.
            if self._search is not None and self._search.is_enough():
                self._search.stop()
        self._timer.clock_changed()
        if not self._limits.infinite:
            self._may_answer.set()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the running search has ended. False if it takes longer."""
        self._thread.wait(timeout_seconds)
        return not self.searching

    def _new_search_options(self) -> SearchOptions:
        """What the options mean for the search that begins."""
        options, limits = self.options, self._limits
        analyse_mode = options.analyse_mode.value
        # `go mate` is always answered at full strength.
        strength = None if limits.mate else self._strength()
        return SearchOptions(
            multipv=options.multi_pv.value,
            show_wdl=options.show_wdl.value,
            # Limited strength does not know the tablebases.
            probe_limit=options.syzygy_probe_limit.value if strength is None else 0,
            probe_depth=options.syzygy_probe_depth.value,
            fifty_moves=options.syzygy_50_move_rule.value,
            time_parameters=TimeParameters(**{each.name: each.value for each in options.time_parameters}),
            analyse_mode=analyse_mode,
            strength=strength,
            # An analysis serves both sides.
            contempt_cp=0 if limits.infinite or analyse_mode else options.contempt.value,
        )

    def _strength(self) -> Strength | None:
        """The limited strength that the options ask for, None for full strength."""
        options = self.options
        if options.limit_strength.value:
            elo = options.elo.value
        elif options.skill_level.value < MAX_SKILL_LEVEL:
            elo = elo_of_skill_level(options.skill_level.value)
        else:
            return None
        return Strength(elo, options.seed.value or self._seed)

    def _new_clock(self, received_at: float) -> Clock:
        budget = UNLIMITED
        if self._board is not None:
            overhead_ms, parameters = self.options.move_overhead.value, self._search_options.time_parameters
            budget = allocate(self._limits, self._board.turn, overhead_ms, self._board.ply(), parameters)
        return Clock(received_at, budget, self._limits.ponder)

    # The thread of the search --------------------------------------------------------------------------------------

    def _run(self) -> None:
        answer = BestMove(None)
        try:
            answer = self._think()
        except Exception as error:
            # The answer is found first, because without memory the report may fail too.
            move = any_move(self._board) if self._search is None else self._search.best
            answer = BestMove(move, error=error)
            with contextlib.suppress(MemoryError):
                print_failure(error)
                self._on_info(Info(message=Message.error(f"{type(error).__name__} in the search: {error}")))
        finally:
            self._may_answer.wait()
            self._clock.is_pondering = False
            self._on_best_move(answer)
            # On a loaded machine a thread may stop late. The answer does not wait for it, but the next command does.
            if self._search is not None:
                self._search.join()

    def _think(self) -> BestMove:
        board = self._board
        if board is None:
            self._send([Message.error("there is no position to search")])
            return BestMove(None)
        legal = list(board.legal_moves)
        allowed = legal if self._limits.searchmoves is None else self._limits.searchmoves
        if not allowed:
            if not legal:
                score = -scores.MATE if board.is_checkmate() else scores.DRAW
                self._on_info(Info(depth=0, score=score))
            return BestMove(None)
        if book_move := self._book_move(board):
            return book_move
        search = self._run_search(board, allowed)
        self._may_answer.wait()
        self._take_time(board)
        search.report()
        return BestMove(search.best, search.ponder)

    def _book_move(self, board: chess.Board) -> BestMove | None:
        """The opening book's move, reported like a search result. None if the book has no move."""
        options = self.options
        if self._book is None or options.analyse_mode.value:
            return None
        advice = self._book.advise(board, self._limits, options.book_depth.value, options.book_variety.value)
        if advice is None:
            return None
        line, note = advice
        self._send([Message(note)])
        searcher = self.pool.main
        searcher.position.set_board(board)
        self._on_info(
            Info(
                depth=1,
                score=searcher.evaluate(),
                pieces=board.occupied.bit_count(),
                show_wdl=options.show_wdl.value,
                nodes=0,
                time_ms=int(max(self._clock.elapsed_ms(), 0.0)),
                pv=line,
            )
        )
        return BestMove(line[0], line[1] if len(line) > 1 else None)

    def _take_time(self, board: chess.Board) -> None:
        """With limited strength on a clock: wait as long as a person might think, unless stopped."""
        strength = self._search_options.strength
        if strength is None or not self.options.pace.value or not self._clock.may_end_early:
            return
        part = strength.pace(chess.polyglot.zobrist_hash(board), board.ply(), board.legal_moves.count() > 1)
        left_ms = min(part * self._clock.budget.soft_ms, MAX_PACE_MS) - self._clock.elapsed_ms()
        self._stop_event.wait(max(left_ms, 0.0) / 1000)

    def _rank(self, board: chess.Board, allowed: Sequence[chess.Move]) -> RootRanking:
        """The root moves ranked by the tablebases, which `go mate` and limited strength do not use."""
        if not self.options.syzygy_path.value:
            return RootRanking()
        wanted = self._search_options
        probe_limit = wanted.probe_limit if self._limits.mate is None else 0
        stopped = self._stop_event.is_set
        ranker = RootRanker(self._tablebases, self.position, board, wanted.fifty_moves, self._clock, stopped)
        ranking = ranker.rank(allowed, probe_limit)
        self._send(ranking.messages)
        return ranking

    def _run_search(self, board: chess.Board, allowed: Sequence[chess.Move]) -> SearchManager:
        """Run the search. `stop`, `ponderhit` and the timer may reach it meanwhile."""
        ranking = self._rank(board, allowed)
        contempt_cp = self._search_options.contempt_cp
        self.pool.set_contempt(contempt_cp if board.turn else -contempt_cp)
        people = None if self._search_options.strength is None else self._people_searcher()
        search = SearchManager(
            self.pool, board, self._limits, self._clock, self._on_info, self._search_options, allowed, ranking, people
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

    def _send(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._on_info(Info(message=message))

    # Effects of options --------------------------------------------------------------------------------------------

    def _connect_options(self) -> None:
        options = self.options
        options.hash.on_set = lambda: self.pool.table.resize(options.hash.value)
        options.threads.on_set = lambda: self.pool.resize(options.threads.value)
        # After any of these the entries of the table are unwanted or no longer true.
        for option in (options.clear_hash, options.syzygy_probe_limit, options.syzygy_50_move_rule):
            option.on_set = self.pool.clear_table
        # What was learnt with another contempt is cleared here, and not on the clock of the next move.
        options.contempt.on_set = self.pool.clear
        options.syzygy_path.on_set = self._open_syzygy
        options.own_book.on_set = options.book_file.on_set = self._open_book
        for parameter in options.search_parameters:
            parameter.on_set = self._configure_search
        options.weights_file.on_set = self._load_weights
        options.use_nnue.on_set = options.eval_file.on_set = self._load_network

    def _open_syzygy(self) -> list[Message]:
        messages = self._tablebases.set_syzygy_path(self.options.syzygy_path.value)
        self.pool.clear_table()
        return messages

    def _open_book(self) -> list[Message]:
        self._book, path = None, self.options.book_file.value
        try:
            if self.options.own_book.value:
                self._book = Book.load(path) if path else built_in_book()
        except (OSError, ValueError) as error:
            return [Message.error(f"BookFile: {reason_of(error)}; there will be no book moves")]
        return []

    def _configure_search(self) -> None:
        self.pool.configure({parameter.name: parameter.value for parameter in self.options.search_parameters})

    def _load_weights(self) -> None:
        path = self.options.weights_file.value
        weights = Weights.load(path) if path else default_weights()
        # The same weights again forget nothing.
        if weights != self.pool.weights:
            self.pool.set_evaluation(weights, self.pool.network)

    def _load_network(self) -> None:
        """Evaluate with the network that the options name, or by none. A file is read even while the network is off."""
        path = self.options.eval_file.value
        is_used = self.options.use_nnue.value
        network = Network.load(path) if path else default_network() if is_used else None
        network = network if is_used else None
        if network != self.pool.network:
            self.pool.set_evaluation(self.pool.weights, network)
