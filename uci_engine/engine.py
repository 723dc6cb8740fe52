"""The engine without its protocol: options, the game so far, and one search at a time in a thread of its own.

`uci`, the command line and anything else that wants a move use it. What must stay true: every `go` is answered by
exactly one `on_best_move`, its move legal by python-chess; nothing but `stop` and `ponderhit` touches a running search;
and `engine` alone holds an answer back while pondering or in `infinite`, so that no early end of a search can leak it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

import chess
import chess.polyglot

from uci_engine import __version__
from uci_engine.board.game import Game, PositionError
from uci_engine.book.opening import BookSettings, Opening
from uci_engine.core import load
from uci_engine.options import NODES_TIME, Change, Options, Value, standard_options, tuning_options
from uci_engine.search.parameters import PARAMETERS
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.search_task import OnBestMove, OnInfo, Resources, SearchTask
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.task import Task
from uci_engine.time_management.allocation import TimeParameters, time_parameters_of
from uci_engine.time_management.clock import Watch
from uci_engine.time_management.limits import Limits
from uci_engine.time_management.nodestime import AvailableNodes
from uci_engine.time_management.parameters import TIME_PARAMETERS
from uci_engine.tunable import defaults

# After these, what the table holds is unwanted or no longer true.
FORGETTING_OPTIONS = frozenset({"Clear Hash", "SyzygyPath", "SyzygyProbeLimit", "Syzygy50MoveRule"})

DEFAULT_PARAMETERS = defaults(PARAMETERS)
TIME_NAMES = [parameter.name for parameter in TIME_PARAMETERS]

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
        self._pool = ThreadPool(self.core, int(self.options["Hash"]))
        self._tablebases = Tablebases(self.core, self._pool.main.prober)
        self._watch = Watch()
        self._time_parameters = time_parameters_of(self.core.name)
        self._available_nodes: AvailableNodes | None = None
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
            self._pool.share_tablebases()
        elif change.name == "GaviotaTbPath":
            sentences += self._tablebases.set_gaviota_path(str(change.value))
        elif change.name in DEFAULT_PARAMETERS:
            self._pool.configure({name: int(self.options[name]) for name in DEFAULT_PARAMETERS})
        elif change.name in TIME_NAMES:
            self._time_parameters = TimeParameters(**{name: int(self.options[name]) for name in TIME_NAMES})
        elif change.name == NODES_TIME:
            self._reset_available_nodes()
        elif change.name in ("OwnBook", "BookFile", "BookDepth", "BookVariety", "UCI_AnalyseMode"):
            sentences += self._opening.configure(self._book_settings(), file_named=change.name == "BookFile")
        if change.name in FORGETTING_OPTIONS:
            self._pool.table.clear()
        return sentences

    def _book_settings(self) -> BookSettings:
        return BookSettings(
            own_book=bool(self.options["OwnBook"]),
            file=str(self.options["BookFile"]),
            depth=int(self.options["BookDepth"]),
            variety=int(self.options["BookVariety"]),
            analysing=bool(self.options["UCI_AnalyseMode"]),
        )

    def _resize(self, change: Change, before: Value) -> list[str]:
        """Give the table or the pool its new size; without the memory for it, put the option back."""
        size = int(change.value)
        try:
            if change.name == "Hash":
                self._pool.table.resize(size)
            else:
                self._pool.resize(size)
        except MemoryError:
            self.options.restore(change.name, before)
            what = f"memory for {size} MiB of hash" if change.name == "Hash" else f"room for {size} threads"
            return [f"error: there is no {what}, it stays at {before}"]
        if change.name == "Threads" and size > 1 and not self._pool.can_grow:
            return [f"the {self.core.name} core searches with one thread, not with {size}"]
        return []

    def new_game(self) -> None:
        """Forget the last game: table, histories and position."""
        self._pool.forget()
        self._game = Game()
        self._opening.new_game()
        self._reset_available_nodes()

    def _reset_available_nodes(self) -> None:
        """A new game's clock in nodes, if that is wanted."""
        nodes_per_ms = int(self.options[NODES_TIME]) if self._tuning else 0
        self._available_nodes = AvailableNodes(nodes_per_ms) if nodes_per_ms else None

    def set_position(self, fen: str | None, moves: Sequence[str]) -> list[str]:
        """Set up a position (`fen` None: the start) and play moves; returns sentences.

        What cannot be used is refused with one sentence that starts "error: ", and then no position is held.
        """
        try:
            return self._game.set(fen, moves, bool(self.options["UCI_Chess960"]))
        except PositionError as error:
            return [f"error: {error}"]

    @property
    def board(self) -> chess.Board | None:
        """The position with its game, None when the last one was refused. Work on a copy: the game goes on here."""
        return self._game.board

    @property
    def position(self) -> Any:
        """The core's own board, on which a task may set up and count while it runs."""
        return self._pool.main.position

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
        self._pool.close()
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
        resources = Resources(
            pool=self._pool,
            opening=self._opening,
            tablebases=self._tablebases,
            options=self.options,
            watch=self._watch,
            time_parameters=self._time_parameters,
            available_nodes=self._available_nodes,
        )
        self.start(SearchTask(resources, self._game.board, limits, received_at, on_info, on_best_move))

    def start(self, task: Task) -> None:
        """Start a search, a benchmark or a count; returns at once. Raises RuntimeError when one is running."""
        if self.searching:
            raise RuntimeError("a search is running")
        # In this order: a thread that the system has no room for is no task.
        task.start()
        self._task = task

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
