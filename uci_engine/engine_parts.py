"""The parts of an engine: threads, table, tablebases, book and time, and what each option does to them.

`UciEngine` has one. Options change it between searches only.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import chess

from evaluation.network.file import Network, NetworkError, default_network
from evaluation.weights import Weights, default_weights
from uci_engine.book.book import Opening
from uci_engine.core import Core
from uci_engine.options import Options
from uci_engine.search.manager import SearchOptions
from uci_engine.search.strength import Strength, elo_of_skill_level, level_in
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.root_ranking import Probing
from uci_engine.tablebases.tablebases import Tablebases
from uci_engine.time_management.allocation import UNLIMITED, Budget, TimeParameters, allocate
from uci_engine.time_management.clock import AvailableNodes, Clock, NodesClock, Timer
from uci_engine.time_management.limits import Limits


class EngineParts:
    """The options, and the parts that they set up."""

    def __init__(self, core: Core, tuning: bool) -> None:
        """`tuning`: offer search parameters as options."""
        self.options = Options(core.name, tuning)
        # A sentence for the user about what is missing, "" for nothing.
        self.problem = ""
        self.opening = Opening()
        self.pool = ThreadPool(core, self.options.hash.value, self._first_network())
        self.tablebases = Tablebases(core, self.pool.main.searcher.prober)
        self.timer = Timer()
        # With nodestime: the clocks in nodes.
        self._available_nodes: AvailableNodes | None = None
        self._seed = random.SystemRandom().getrandbits(64)
        self._connect_options()

    def new_game(self) -> None:
        """Clear the table and the histories, and start the book and the node clock anew."""
        self.pool.clear()
        self.opening.new_game()
        self._seed = random.SystemRandom().getrandbits(64)
        self._reset_nodes_clock()

    def close(self) -> None:
        self.timer.close()
        self.pool.close()
        self.tablebases.set_syzygy_path("")

    # For a search --------------------------------------------------------------------------------------------------

    @property
    def time_parameters(self) -> TimeParameters:
        return TimeParameters(**{parameter.name: parameter.value for parameter in self.options.time_parameters})

    def search_options(self, limits: Limits, board: chess.Board | None) -> SearchOptions:
        """What the options mean for a search with these limits."""
        options = self.options
        analyse_mode = options.analyse_mode.value
        # `go mate` is always answered at full strength.
        strength = None if limits.mate and not limits.infinite else self._strength(board)
        probing = Probing(
            probe_limit=options.syzygy_probe_limit.value,
            probe_depth=options.syzygy_probe_depth.value,
            fifty_moves=options.syzygy_50_move_rule.value,
        )
        return SearchOptions(
            multipv=options.multi_pv.value,
            show_wdl=options.show_wdl.value,
            # Limited strength does not know the tablebases.
            probing=probing if strength is None else Probing(),
            time_parameters=self.time_parameters,
            analyse_mode=analyse_mode,
            strength=strength,
            # An analysis serves both sides.
            contempt_cp=0 if limits.infinite or analyse_mode else options.contempt.value,
        )

    def new_clock(
        self, limits: Limits, board: chess.Board | None, received_at: float, nodes: Callable[[], int]
    ) -> tuple[Clock, Budget]:
        """A clock for a search, and its budget, which the clock does not have while pondering.

        `received_at`: when the clock started, by `time.perf_counter()`. `nodes` returns how many have been searched.
        """
        if board is None:
            return Clock(received_at), UNLIMITED
        available = self._available_nodes
        if available is not None and (adjusted := available.adjust(limits, board.turn)):
            budget = allocate(adjusted, board.turn, 0, board.ply(), self.time_parameters)
            return NodesClock(received_at, budget, available.nodes_per_ms, nodes), budget
        overhead_ms = self.options.move_overhead.value
        budget = allocate(limits, board.turn, overhead_ms, board.ply(), self.time_parameters)
        return Clock(received_at, UNLIMITED if limits.ponder else budget), budget

    def spend_nodes(self, clock: Clock, white: bool, nodes: int) -> None:
        """With nodestime: take the nodes of a finished search off this colour's clock."""
        if self._available_nodes is not None and clock.hard_nodes is not None:
            self._available_nodes.spend(white, nodes)

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
        options.nodes_time.on_set = self._reset_nodes_clock
        options.weights_file.on_set = self._load_weights
        options.use_nnue.on_set = self._load_network
        options.eval_file.on_set = self._load_network
        options.limit_strength.on_set = self._switch_network
        options.skill_level.on_set = self._switch_network

    def _open_syzygy(self) -> list[str]:
        messages = self.tablebases.set_syzygy_path(self.options.syzygy_path.value)
        self.pool.clear_table()
        return messages

    def _open_book(self) -> list[str]:
        return self.opening.open(self.options.book_file.value if self.options.own_book.value else None)

    def _configure_search(self) -> None:
        self.pool.configure({parameter.name: parameter.value for parameter in self.options.search_parameters})

    def _reset_nodes_clock(self) -> None:
        """Start the node clock of a new game if `nodestime` is on."""
        nodes_per_ms = self.options.nodes_time.value
        self._available_nodes = AvailableNodes(nodes_per_ms) if nodes_per_ms else None

    def _load_weights(self) -> None:
        path = self.options.weights_file.value
        weights = Weights.load(path) if path else default_weights()
        # The same weights again forget nothing.
        if weights != self.pool.weights:
            self.pool.set_evaluation(weights, self.pool.network)

    def _first_network(self) -> Network | None:
        """The network at the start. Without it the features play alone."""
        option = self.options.use_nnue
        try:
            return default_network() if option.value else None
        except NetworkError as error:
            option.value = False
            self.problem = f"{error}, so {option.name} is false"
            return None

    def _load_network(self) -> None:
        """Evaluate with the network that the options name, or by none. A file is read even while the network is off."""
        path = self.options.eval_file.value
        is_used = self._wants_network()
        network = Network.load(path) if path else default_network() if is_used else None
        network = network if is_used else None
        if network != self.pool.network:
            self.pool.set_evaluation(self.pool.weights, network)

    def _switch_network(self) -> None:
        """Load or drop the network if the strength asks for it, and forget nothing if not."""
        if self._wants_network() != (self.pool.network is not None):
            self._load_network()

    def _wants_network(self) -> bool:
        """Limited strength plays with the features alone, because its levels were measured so."""
        return self.options.use_nnue.value and self._elo() is None

    def _strength(self, board: chess.Board | None) -> Strength | None:
        """The limited strength that the options ask for, None for full strength."""
        elo = self._elo()
        if elo is None or board is None:
            return None
        return Strength(level_in(board, elo), self.options.seed.value or self._seed)

    def _elo(self) -> int | None:
        options = self.options
        return options.elo.value if options.limit_strength.value else elo_of_skill_level(options.skill_level.value)
