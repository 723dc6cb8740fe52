"""The engine as UCI commands it, without the text: options, the game so far, and one search at a time.

`uci.loop` calls it, and so does `api.engine.Engine`, the engine for Python programs. For each `go` it starts a
`SearchTask`, and passes `stop` and `ponderhit` on to it.

Invariant: every `go` is answered by exactly one `on_best_move`, with a move that is legal by python-chess.
Invariant: only `stop` and `ponderhit` reach a running search.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

import chess
import chess.polyglot

import evaluation
from evaluation.correction.network import Network, NetworkError, default_network
from evaluation.weights import Weights, WeightsError, default_weights
from uci_engine import __version__
from uci_engine.board.game import Game
from uci_engine.board.validation import PositionError
from uci_engine.book.opening import BookSettings, Opening
from uci_engine.core import load
from uci_engine.options import OptionError, Options, read_opponent
from uci_engine.search.strength import Strength, elo_of_skill_level, level_of
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.search_task import OnBestMove, OnInfo, Resources, SearchTask
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.task import Task, TaskThread
from uci_engine.text import quoted
from uci_engine.time_management.allocation import TimeParameters, time_parameters_of
from uci_engine.time_management.clock import Timer
from uci_engine.time_management.limits import Limits
from uci_engine.time_management.nodestime import AvailableNodes

# The time after which a waiting thread gets the GIL. A `stop` passes through three threads, and in plain
# Python the search holds the GIL.
SWITCH_SECONDS = 0.001


def new_seed() -> int:
    """A seed for a game."""
    return int.from_bytes(os.urandom(8), "big")


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
        self._owns_process = owns_process
        self.options = Options(self.core.name, tuning)
        # A sentence for the user about what is missing, "" for nothing.
        self.problem = ""
        self._game = Game()
        self._opening = Opening()
        # Created before the option Threads can take the last thread that the system gives.
        self._thread = TaskThread("search")
        self._pool = ThreadPool(self.core, self.options.hash.value, self._first_network())
        self._tablebases = Tablebases(self.core, self._pool.main.searcher.prober)
        self._timer = Timer()
        self._time_parameters = time_parameters_of(self.core.name)
        self._available_nodes: AvailableNodes | None = None
        self._seed = new_seed()
        self._task: Task | None = None
        self._connect_options()
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
        self._pool.clear()
        self._game = Game()
        self._opening.new_game()
        self._seed = new_seed()
        self._reset_available_nodes()

    def set_position(self, fen: str | None, moves: Sequence[str]) -> list[str]:
        """Set up a position (`fen` None: the start position) and play moves. Returns messages for the user.

        If the input is refused, the only message begins with "error: ", and there is no position afterwards.
        """
        try:
            return self._game.set(fen, moves, self.options.chess960.value)
        except PositionError as error:
            return [f"error: {error}"]

    @property
    def board(self) -> chess.Board | None:
        """The position with its game, or None if the last one was refused. Work on a copy."""
        return self._game.board

    @property
    def position(self) -> Any:
        """The core's own board. A running task may use it."""
        return self._pool.main.searcher.position

    @property
    def weights(self) -> Weights:
        """The weights with which the engine evaluates."""
        return self._pool.weights

    @property
    def network(self) -> Network | None:
        """The network of the learned correction, None while that is off or the strength is limited."""
        return self._pool.network

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
        key = chess.polyglot.zobrist_hash(board)
        checkers = " ".join(chess.square_name(square) for square in board.checkers()) or "none"
        rows = str(board).split("\n")
        lines = [f"{8 - index}  {row}" for index, row in enumerate(rows)]
        lines += ["   a b c d e f g h", f"FEN {board.fen()}", f"Key {key:016X}", f"Checkers {checkers}"]
        if self.options.opponent.value:
            lines.append(f"Opponent {read_opponent(self.options.opponent.value)}")
        return "\n".join(lines)

    def evaluation_text(self, colour: bool = False) -> str:
        """The static evaluation of the position, term by term, the score that a search would show for it, and the
        expected result. `colour`: with the escape sequences of a terminal.
        """
        # Imported here, because a start of the engine does not need it.
        from uci_engine import static_evaluation

        board = self._game.board
        return "no position" if board is None else static_evaluation.text(self._explained(board), colour)

    def evaluation_data(self) -> dict[str, Any]:
        """What `evaluation_text` shows, as data. There must be a position."""
        from uci_engine import static_evaluation

        assert self._game.board is not None
        return static_evaluation.data(self._game.board.fen(), self._explained(self._game.board))

    def _explained(self, board: chess.Board) -> evaluation.Explanation:
        return evaluation.explain(board, self.weights, self.network)

    def probe_wdl(self, board: chess.Board) -> int | None:
        """What the Syzygy tables say of a position: 2 (win), 1 (cursed win), 0, -1, -2 for the side to move.

        None if it is not in the tables. Only while no search runs.
        """
        if board.castling_rights or board.occupied.bit_count() > self._tablebases.max_pieces:
            return None
        self._tablebases.drop_changed()
        self.position.set_board(board)
        return self._tablebases.probe_wdl(self.position)

    def close(self) -> None:
        """Stop the running search, if any, and end all threads."""
        self.stop()
        self.wait()
        self._timer.close()
        self._pool.close()
        self._tablebases.close()
        self._thread.dismiss()
        self._thread.join()

    # Effects of options --------------------------------------------------------------------------------------------

    def _connect_options(self) -> None:
        options = self.options
        options.hash.on_change = self._resize_table
        options.threads.on_change = self._resize_pool
        # After any of these the entries of the table are unwanted or no longer true.
        for option in (options.clear_hash, options.syzygy_probe_limit, options.syzygy_50_move_rule):
            option.on_set = self._clear_table
        options.contempt.on_change = self._forget
        options.syzygy_path.on_set = self._open_syzygy
        for book_option in (options.own_book, options.book_depth, options.book_variety, options.analyse_mode):
            book_option.on_set = self._configure_book
        options.book_file.on_set = lambda: self._configure_book(file_named=True)
        for parameter in options.search_parameters:
            parameter.on_set = self._configure_search
        for parameter in options.time_parameters:
            parameter.on_set = self._configure_time
        options.nodes_time.on_set = self._reset_available_nodes
        options.opponent.on_set = self._check_opponent
        options.weights_file.on_change = self._load_weights
        options.correction.on_change = self._load_network
        options.correction_file.on_change = self._load_network
        options.limit_strength.on_change = self._switch_network
        options.skill_level.on_change = self._switch_network

    def _resize_table(self) -> list[str]:
        size = self.options.hash.value
        try:
            self._pool.table.resize(size)
        except MemoryError:
            raise OptionError(f"there is no memory for {size} MiB of hash") from None
        return []

    def _resize_pool(self) -> list[str]:
        threads = self.options.threads.value
        try:
            self._pool.resize(threads)
        except MemoryError:
            raise OptionError(f"there is no room for {threads} threads") from None
        return []

    def _clear_table(self) -> list[str]:
        self._pool.clear_table()
        return []

    def _forget(self) -> list[str]:
        """Clear what was learnt with another contempt, here and not on the clock of the next move."""
        self._pool.clear()
        return []

    def _open_syzygy(self) -> list[str]:
        messages = self._tablebases.set_syzygy_path(self.options.syzygy_path.value)
        self._pool.share_tablebases()
        self._pool.clear_table()
        return messages

    def _configure_book(self, file_named: bool = False) -> list[str]:
        options = self.options
        settings = BookSettings(
            own_book=options.own_book.value,
            file=options.book_file.value,
            depth=options.book_depth.value,
            variety=options.book_variety.value,
            analyse_mode=options.analyse_mode.value,
        )
        return self._opening.configure(settings, file_named=file_named)

    def _configure_search(self) -> list[str]:
        self._pool.configure({parameter.name: parameter.value for parameter in self.options.search_parameters})
        return []

    def _configure_time(self) -> list[str]:
        values = {parameter.name: parameter.value for parameter in self.options.time_parameters}
        self._time_parameters = TimeParameters(**values)
        return []

    def _reset_available_nodes(self) -> list[str]:
        """Start the node clock of a new game if `nodestime` is on."""
        nodes_per_ms = self.options.nodes_time.value
        self._available_nodes = AvailableNodes(nodes_per_ms) if nodes_per_ms else None
        return []

    def _check_opponent(self) -> list[str]:
        text = self.options.opponent.value
        if not text or read_opponent(text).kind is not None:
            return []
        form = "[title|none] [Elo|none] [computer|human] name"
        return [f"option {self.options.opponent.name}: {quoted(text)} is taken as a name, the form is {form}"]

    def _load_weights(self) -> list[str]:
        option = self.options.weights_file
        try:
            weights = Weights.load(option.value) if option.value else default_weights()
            self._pool.set_evaluation(weights, self._pool.network)
        except WeightsError as error:
            raise OptionError(f"option {option.name} cannot be {quoted(option.value)} ({error})") from None
        except MemoryError:
            raise OptionError("there is no memory for other weights") from None
        return []

    def _first_network(self) -> Network | None:
        """The network at the start. Without it the features play alone."""
        correction = self.options.correction
        try:
            return default_network() if correction.value else None
        except NetworkError as error:
            correction.value = False
            self.problem = f"{error}, so {correction.name} is false"
            return None

    def _load_network(self) -> list[str]:
        """Correct by the network that the options name, or by none. A file is read even while the correction is off."""
        path = self.options.correction_file.value
        is_used = self._wants_network()
        try:
            network = Network.load(path) if path else default_network() if is_used else None
            self._pool.set_evaluation(self._pool.weights, network if is_used else None)
        except NetworkError as error:
            problem = f"option CorrectionFile cannot be {quoted(path)} ({error})" if path else str(error)
            raise OptionError(problem) from None
        except MemoryError:
            raise OptionError("there is no memory for the correction") from None
        return []

    def _switch_network(self) -> list[str]:
        """Load or drop the network if the strength asks for it, and forget nothing if not."""
        return [] if self._wants_network() == (self.network is not None) else self._load_network()

    def _wants_network(self) -> bool:
        """Limited strength plays with the features alone, because its levels were measured so."""
        return self.options.correction.value and self._elo() is None

    def _strength(self) -> Strength | None:
        """The limited strength that the options ask for, None for full strength."""
        elo = self._elo()
        return None if elo is None else Strength(level_of(elo), self.options.seed.value or self._seed)

    def _elo(self) -> int | None:
        """The rating of the limited strength."""
        options = self.options
        return options.elo.value if options.limit_strength.value else elo_of_skill_level(options.skill_level.value)

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
        resources = Resources(
            pool=self._pool,
            opening=self._opening,
            tablebases=self._tablebases,
            options=self.options,
            timer=self._timer,
            time_parameters=self._time_parameters,
            available_nodes=self._available_nodes,
            strength=self._strength(),
            pauses_gc=self._owns_process,
        )
        self.start(SearchTask(resources, self._game.board, limits, received_at, on_info, on_best_move))

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
