"""The engine without its protocol: options, the game so far, and one search at a time in a thread of its own.

`uci`, the command line and anything else that wants a move use it. What must stay true: every `go` is answered by
exactly one `on_best_move`, its move legal by python-chess; nothing but `stop` and `ponderhit` touches a running search;
and `engine` alone holds an answer back while pondering or in `infinite`, so that no early end of a search can leak it.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence

import chess
import chess.polyglot

from uci_engine import __version__
from uci_engine import score as scores
from uci_engine.clock import Clock, Watch
from uci_engine.core import load
from uci_engine.core.parameters import TIME_PARAMETERS, defaults
from uci_engine.deepening import Request
from uci_engine.game import Game, PositionError, legal_among
from uci_engine.limits import Limits
from uci_engine.nodes_time import NodesClock, NodesPurse
from uci_engine.opening import BOOK_OPTIONS, Opening
from uci_engine.options import NODES_TIME, Change, Options, Value, standard_options, tuning_options
from uci_engine.perft import Perft
from uci_engine.ranking import Probing, Ranking, Rules, rank
from uci_engine.report import BestMove, Info
from uci_engine.tablebases import Tablebases
from uci_engine.task import Task
from uci_engine.team import Team
from uci_engine.team_search import TeamSearch
from uci_engine.terminal import print_failure
from uci_engine.time_control import UNLIMITED, Pace, grant, pace_of

# After these, what the table holds is unwanted or no longer true.
FORGETTING_OPTIONS = frozenset({"Clear Hash", "SyzygyPath", "SyzygyProbeLimit", "Syzygy50MoveRule"})

DEFAULT_PARAMETERS = defaults()
TIME_NAMES = [parameter.name for parameter in TIME_PARAMETERS]

OnInfo = Callable[[Info], None]
OnBestMove = Callable[[BestMove], None]

# How soon a thread that waits for the GIL gets it: the answer to `stop` passes through three of them, and in plain
# Python the search itself holds it.
SWITCH_SECONDS = 0.001


class Engine:
    """A chess engine. Its methods are called from one thread; the callbacks of a search come from the search's own."""

    def __init__(self, core: str = "auto", tuning: bool = False) -> None:
        """`core`: see `uci_engine.core.load`, whose errors it raises. `tuning`: offer search parameters as options."""
        self.core = load(core)
        self.name = f"Secateur {__version__}"
        if self.core.name != "compiled":
            self.name += f" ({self.core.name} core)"
        sys.setswitchinterval(SWITCH_SECONDS)
        self._tuning = tuning
        self.options = Options((*standard_options(), *tuning_options(self.core.name)) if tuning else None)
        self._game = Game()
        self._opening = Opening()
        self._team = Team(self.core, int(self.options["Hash"]))
        self._tablebases = Tablebases(self.core, self._team.main.prober)
        self._watch = Watch()
        self._pace = pace_of(self.core.name)
        self._purse: NodesPurse | None = None
        self._task: Task | None = None
        # What exists now exists for good: the collector need not look at it again.
        gc.collect()
        gc.freeze()

    # While no search runs ------------------------------------------------------------------------------------------

    def set_option(self, name: str | None, value: str | None) -> list[str]:
        """Set an option from the texts of `setoption`; returns sentences for the user, if there is anything to say."""
        before = {size: self.options[size] for size in ("Hash", "Threads")}
        change = self.options.set(name, value)
        if isinstance(change, str):
            return [f"error: {change}"]
        sentences = [change.message] if change.message else []
        if change.name in before:
            if change.value != before[change.name]:
                sentences += self._resize(change, before[change.name])
        elif change.name == "SyzygyPath":
            sentences += self._tablebases.set_syzygy_path(str(change.value))
            self._team.share_tablebases()
        elif change.name == "GaviotaTbPath":
            sentences += self._tablebases.set_gaviota_path(str(change.value))
        elif change.name in DEFAULT_PARAMETERS:
            self._team.configure({name: int(self.options[name]) for name in DEFAULT_PARAMETERS})
        elif change.name in TIME_NAMES:
            self._pace = Pace(**{name: int(self.options[name]) for name in TIME_NAMES})
        elif change.name == NODES_TIME:
            self._open_purse()
        elif change.name in BOOK_OPTIONS:
            sentences += self._opening.configure(self.options, change.name)
        if change.name in FORGETTING_OPTIONS:
            self._team.table.clear()
        return sentences

    def _resize(self, change: Change, before: Value) -> list[str]:
        """Give the table or the team its new size; without the memory for it, put the option back."""
        size = int(change.value)
        try:
            if change.name == "Hash":
                self._team.table.resize(size)
            else:
                self._team.resize(size)
        except MemoryError:
            self.options.restore(change.name, before)
            what = f"memory for {size} MiB of hash" if change.name == "Hash" else f"room for {size} threads"
            return [f"error: there is no {what}, it stays at {before}"]
        if change.name == "Threads" and size > 1 and not self._team.can_grow:
            return [f"the {self.core.name} core searches with one thread, not with {size}"]
        return []

    def new_game(self) -> None:
        """Forget the last game: table, histories and position."""
        self._team.forget()
        self._game = Game()
        self._opening.new_game()
        self._open_purse()

    def _open_purse(self) -> None:
        """A new game's clock in nodes, if that is wanted."""
        nodes_per_ms = int(self.options[NODES_TIME]) if self._tuning else 0
        self._purse = NodesPurse(nodes_per_ms) if nodes_per_ms else None

    def set_position(self, fen: str | None, moves: Sequence[str]) -> list[str]:
        """Set up a position (`fen` None: the start) and play moves; returns sentences.

        What cannot be used is refused with one sentence that starts "error: ", and then no position is held.
        """
        try:
            return self._game.set(fen, moves, bool(self.options["UCI_Chess960"]))
        except PositionError as error:
            return [f"error: {error}"]

    def flip(self) -> list[str]:
        """Turn the position round: the same game with colours exchanged."""
        board = self._game.board
        if board is None:
            return ["error: there is no position to flip"]
        return self.set_position(board.mirror().fen(en_passant="fen"), ())

    def display_text(self) -> str:
        """The position for people: board, FEN, key, checkers."""
        board = self._game.board
        if board is None:
            return "no position"
        key = chess.polyglot.zobrist_hash(board)
        checkers = " ".join(chess.square_name(square) for square in board.checkers()) or "none"
        rows = str(board).split("\n")
        lines = [f"{8 - number}  {row}" for number, row in enumerate(rows)]
        return "\n".join(
            [*lines, "   a b c d e f g h", f"FEN {board.fen()}", f"Key {key:016X}", f"Checkers {checkers}"]
        )

    def evaluation_text(self) -> str:
        """The static evaluation of the position, term by term."""
        from evaluation.explain import explain, format_explanation

        board = self._game.board
        if board is None:
            return "no position"
        return format_explanation(explain(board))

    def close(self) -> None:
        """End a running search, if any, and the engine's threads."""
        self.stop()
        self.wait()
        self._watch.close()
        self._team.close()
        self._tablebases.close()

    # Searching -----------------------------------------------------------------------------------------------------

    @property
    def searching(self) -> bool:
        """Whether a search runs, or waits with its answer."""
        return self._task is not None and self._task.is_alive()

    def go(self, limits: Limits, received_at: float, on_info: OnInfo, on_best_move: OnBestMove) -> None:
        """Start to think; returns at once. `received_at`: when the line was read, by `time.perf_counter()`.

        `on_info` and `on_best_move` are called from the search's thread, `on_best_move` once and last. Raises
        RuntimeError when a search is running.
        """
        self._start(_Search(self, limits, received_at, on_info, on_best_move))

    def perft(self, depth: int, on_line: Callable[[str], None], on_done: Callable[[], None]) -> None:
        """Count move sequences, a line for each root move; returns at once, like `go`. `stop` ends it early."""
        self._start(Perft(self.core, self._team.main.position, self._game.board, depth, on_line, on_done))

    def bench(self, depth: int | None, on_line: Callable[[str], None], on_done: Callable[[], None]) -> None:
        """Run the benchmark to `depth` (None: the usual one); returns at once, like `go`. `stop` ends it early."""
        from uci_engine.bench import Bench

        self._start(Bench(self.core, depth, on_line, on_done))

    def stop(self) -> None:
        """End the running search soon, with its answer. Harmless when there is none."""
        if self._task is not None:
            self._task.stop()

    def ponderhit(self, received_at: float) -> None:
        """The expected move was played: the search goes on, from now on against the clock. Harmless otherwise."""
        if self._task is not None:
            self._task.ponderhit(received_at)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the end of the running search; false if it takes longer."""
        if self._task is not None:
            self._task.join(timeout_seconds)
        return not self.searching

    def _start(self, task: Task) -> None:
        if self.searching:
            raise RuntimeError("a search is running")
        # In this order: a thread that the system has no room for is no task.
        task.start()
        self._task = task


class _Search(Task):
    """The thread of one `go`."""

    def __init__(
        self, engine: Engine, limits: Limits, received_at: float, on_info: OnInfo, on_best_move: OnBestMove
    ) -> None:
        super().__init__("search", engine._game.board)
        self._team = engine._team
        self._opening = engine._opening
        self._watch = engine._watch
        self._limits = limits
        self._on_info = on_info
        self._on_best_move = on_best_move
        self._lines = int(engine.options["MultiPV"])
        self._show_wdl = bool(engine.options["UCI_ShowWDL"])
        self._analysing = bool(engine.options["UCI_AnalyseMode"])
        self._tablebases = engine._tablebases
        self._probing = Probing.by(engine.options)
        self._search: TeamSearch | None = None
        # Guards what `stop` and `ponderhit` touch: they may come while the search is being set up.
        self._lock = threading.Lock()
        self._pace = engine._pace
        self._budget = UNLIMITED
        self._pondering = limits.ponder
        self._purse: NodesPurse | None = None
        if self._board is not None:
            white_to_move, ply = self._board.turn, self._board.ply()
            overhead_ms = int(engine.options["Move Overhead"])
            if engine._purse is not None and (shown := engine._purse.shown(limits, white_to_move, ply)):
                self._purse, limits, overhead_ms = engine._purse, shown, 0
            self._budget = grant(limits, white_to_move, overhead_ms, ply, self._pace)
        self._clock = Clock(received_at, UNLIMITED if limits.ponder else self._budget)
        if self._purse is not None:
            self._clock = NodesClock(received_at, self._budget, self._purse.nodes_per_ms, self._nodes)
        # The answer may go out: set by `stop`, and by `ponderhit` for a search that has come to its end.
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
            self._clock.grant(self._budget, received_at)
            # All that was found out while pondering may do already.
            if self._search is not None and not self._limits.infinite and self._search.is_enough():
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
            # The conversation must go on: any legal move is better than none.
            print_failure(error)
            self._on_info(Info(string=f"error: {type(error).__name__} in the search: {error}"))
            answer = BestMove(self._any_move())
            self._released.wait()
        finally:
            gc.enable()
            self._on_best_move(answer)

    def _nodes(self) -> int:
        """How many nodes all threads have searched so far."""
        return 0 if self._search is None else self._search.nodes

    def _most_nodes(self) -> int | None:
        """How many nodes the search may have, by the words of `go` and a clock that counts them."""
        limits = [nodes for nodes in (self._limits.nodes, self._clock.hard_nodes) if nodes is not None]
        return min(limits, default=None)

    def _must_end(self) -> bool:
        """Whether there is no time left, also where a ponderhit has only just started the clock."""
        return self._stop_event.is_set() or time.perf_counter() >= self._clock.deadline

    def _think(self) -> BestMove:
        allowed, problems = self._allowed_moves()
        for sentence in problems:
            self._on_info(Info(string=sentence))
        if self._board is None or not allowed:
            if self._board is not None and not any(self._board.legal_moves):
                score = -scores.MATE if self._board.is_checkmate() else scores.DRAW
                self._on_info(Info(depth=0, score=score))
            self._released.wait()
            return BestMove(None)
        if from_book := self._book_move(self._board):
            self._released.wait()
            return from_book
        limits = self._limits
        mate = None if limits.infinite else limits.mate
        if mate is None:
            rules = Rules.within(self._probing, self._clock, self._must_end)
            ranking = rank(self._tablebases, self._team.main.position, self._board, allowed, rules)
        else:
            ranking = Ranking(notes=tuple(self._tablebases.drop_changed()))
        for sentence in ranking.notes:
            self._on_info(Info(string=sentence))
        request = Request(
            board=self._board,
            root_moves=allowed,
            depth=None if limits.infinite else limits.depth,
            nodes=None if limits.infinite else self._most_nodes(),
            mate=mate,
            lines=self._lines,
            show_wdl=self._show_wdl,
            ranking=ranking,
            probing=self._probing,
            pace=self._pace,
            analysing=self._analysing,
        )
        search = TeamSearch(self._team, request, self._clock, self._on_info)
        with self._lock:
            self._search = search
            if self._stop_event.is_set():
                search.stop()
        self._watch.begin(self._clock, search.stop, search.report_current_move)
        try:
            search.run()
        finally:
            self._watch.end()
        if self._purse is not None:
            self._purse.spend(self._board.turn, search.nodes)
        self._released.wait()
        search.report()
        reply = search.ponder
        return BestMove(search.best.uci(), reply.uci() if reply else None)

    def _book_move(self, board: chess.Board) -> BestMove | None:
        """What the opening book says, reported like the result of a search; None when that is nothing."""
        advice = self._opening.advise(board, self._limits)
        for sentence in advice.sentences:
            self._on_info(Info(string=sentence))
        if not advice.line:
            return None
        searcher = self._team.main
        searcher.position.set_board(board)
        score = searcher.evaluate()
        elapsed_ms = int(max(self._clock.elapsed_ms(), 0.0))
        self._on_info(Info(depth=1, score=score, nodes=0, time_ms=elapsed_ms, pv=advice.line))
        return BestMove(*advice.line)

    def _any_move(self) -> str | None:
        """A legal move, the best known, for a search that failed."""
        if self._search is not None:
            return self._search.best.uci()
        moves_left = list(self._board.legal_moves) if self._board is not None else []
        return moves_left[0].uci() if moves_left else None

    def _allowed_moves(self) -> tuple[list[chess.Move], list[str]]:
        """The legal moves that `searchmoves` allows, and sentences about words that are none."""
        if self._board is None:
            return [], ["error: there is no position to search"]
        if self._limits.searchmoves is None:
            return list(self._board.legal_moves), []
        return legal_among(self._board, self._limits.searchmoves)
