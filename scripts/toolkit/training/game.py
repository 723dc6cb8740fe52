"""A game of the engine against itself, in this process, and the training positions of it.

Without a pipe and a protocol a search of a thousand nodes costs little more than its nodes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import chess
import numpy as np

from evaluation.network.file import default_network
from toolkit.games.adjudication import Adjudicator, Rules, Tables
from toolkit.games.game import rules_result
from toolkit.games.openings import Opening
from toolkit.training.positions import CAPTURE, FIRST, QUIET, RESULT_NAMES, pack, records_of
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.options import NETWORK_BY_DEFAULT
from uci_engine.search.thread_pool import new_network_weights, new_searcher, new_worker

T = TypeVar("T")
# Random moves away from what a search expects, at most.
MAX_RANDOM_PLIES: Final = 2
RESULTS = {name: number for number, name in enumerate(RESULT_NAMES)}


@dataclass(frozen=True)
class Thought:
    """The result of a search. score_cp: the mover's view, on the engine's scale (`uci_engine.score`).

    code: the move as in `board.moves`.
    """

    move: chess.Move
    code: int
    score_cp: int
    is_capture: bool


class SelfPlayer:
    """The engine's search with a fixed number of nodes a move, for both sides of a game.

    Begin with `new_game`.

    Invariant: it finds the move and the score that `go nodes` finds with the same table.
    """

    def __init__(self, nodes: int, hash_mib: int) -> None:
        core = load()
        self._nodes = nodes
        network_weights = new_network_weights(core, default_network() if NETWORK_BY_DEFAULT else None)
        self._searcher = new_searcher(core, core.table_class(hash_mib), network_weights=network_weights)
        self._worker = new_worker(core, self._searcher)
        # Its table holds results of quiescence searches only. In the other, an entry of the search would cut.
        self._quiescence = new_searcher(core, core.table_class(1), network_weights=network_weights)
        self.searchers = (self._searcher, self._quiescence)
        self._board = chess.Board()

    def new_game(self, board: chess.Board) -> None:
        """Clear the table and the histories, and play on this board from now on."""
        self._searcher.table.clear()
        self._searcher.clear()
        self._board = board
        self._set_up()

    def _set_up(self) -> None:
        for searcher in self.searchers:
            searcher.position.set_board(self._board)

    def push(self, thought: Thought) -> None:
        """Make its move on the board."""
        self._board.push(thought.move)
        if self._board.halfmove_clock == 0:
            self._set_up()
            return
        # `set_board` would replay all moves since the last capture or pawn's move.
        for searcher in self.searchers:
            searcher.position.make(thought.code)

    def think(self) -> Thought:
        """Search the position of the board, which has a legal move."""
        searcher, worker = self._searcher, self._worker
        searcher.table.new_search()
        node_limit, last_depth = self._nodes, scores.MAX_DEPTH
        while True:
            worker.reset(node_limit)
            searcher.set_root(worker.sorted_root_moves(searcher.position.legal_moves(), {}))
            worker.run(1, last_depth)
            # The last depth is interrupted, often before it has a result. Then that of the depth before it counts.
            if worker.depth:
                break
            # Too few nodes for the first move of depth 1.
            node_limit, last_depth = 0, 1
        move = worker.pv()[0]
        _, noisy, _ = searcher.position.classify(move)
        return Thought(moves.decode(move, self._board.chess960), move, int(worker.score), bool(noisy))

    def is_quiet(self) -> bool:
        """Whether a quiescence search finds nothing better than the static evaluation. False in check."""
        searcher = self._quiescence
        if searcher.position.checkers:
            return False
        searcher.begin(0)
        return bool(searcher.quiescence() == searcher.evaluate())

    def positions_ahead(self, count: int, chance: random.Random) -> list[tuple[bytes, bool]]:
        """Pieces and side to move of positions that a search meets: some way along the line of the last one, and then
        up to MAX_RANDOM_PLIES random moves off it. Those that are not quiet are left out.
        """
        position, line = self._quiescence.position, self._worker.pv()
        found = []
        for _ in range(count):
            made = line[: chance.randint(0, len(line))]
            for move in made:
                position.make(move)
            for _ in range(chance.randint(0, MAX_RANDOM_PLIES)):
                legal = position.legal_moves()
                if legal:
                    made.append(chance.choice(legal))
                    position.make(made[-1])
            if self.is_quiet():
                found.append((bytes(position.pieces()), bool(position.turn)))
            for move in reversed(made):
                position.unmake(move)
        return found


@cache
def self_player(nodes: int, hash_mib: int) -> SelfPlayer:
    """The one of this process, which does one task at a time."""
    return SelfPlayer(nodes, hash_mib)


@dataclass(frozen=True)
class Kept:
    """What is kept of a game.

    max_opening_cp: an opening whose first score is beyond this, for either side, is not played; 0 for no limit.
    max_positions: drawn from those of the game; 0 for all. ahead: so many positions ahead of each search are kept
    instead of its own, and have no scores (see `SelfPlayer.positions_ahead`).
    """

    max_opening_cp: int = 0
    max_positions: int = 0
    ahead: int = 0


ALL = Kept()


@dataclass(frozen=True)
class PlayedGame:
    """records: as `positions.pack` makes them, in order. result: None if the opening was too unequal to be played."""

    result: str | None
    records: tuple[bytes, ...]


def play_game(
    player: SelfPlayer,
    opening: Opening,
    rules: Rules,
    tables: Tables | None,
    kept: Kept = ALL,
    chance: random.Random | None = None,
) -> PlayedGame:
    """Play a game to its end. Positions in check are not kept. `chance`: draws what `kept` leaves to it."""
    board = opening.board()
    player.new_game(board)
    adjudicator = Adjudicator(rules, tables)
    chance = chance or random.Random()
    searched: list[tuple[chess.Board, int, int]] = []
    ahead: list[tuple[bytes, bool]] = []
    ended = rules_result(board)
    is_first = True
    while ended is None:
        thought = player.think()
        if is_first and kept.max_opening_cp and abs(thought.score_cp) > kept.max_opening_cp:
            return PlayedGame(None, ())
        is_first = False
        if kept.ahead:
            ahead += player.positions_ahead(kept.ahead, chance)
        elif not board.is_check():
            flags = (QUIET if player.is_quiet() else 0) | (CAPTURE if thought.is_capture else 0)
            score_cp = thought.score_cp if board.turn else -thought.score_cp
            searched.append((board.copy(stack=False), score_cp, flags))
        player.push(thought)
        ended = rules_result(board) or adjudicator.verdict(board, thought.score_cp)
    result = RESULTS[ended[0]]
    if kept.ahead:
        records = _packed(chosen(ahead, kept.max_positions, chance), result)
    else:
        records = [
            pack(position, score_cp, result, flags | (0 if index else FIRST))
            for index, (position, score_cp, flags) in enumerate(chosen(searched, kept.max_positions, chance))
        ]
    return PlayedGame(ended[0], tuple(records))


def chosen(positions: list[T], count: int, chance: random.Random) -> list[T]:
    """So many of them, in their order; 0 for all."""
    if not count or len(positions) <= count:
        return positions
    return [positions[index] for index in sorted(chance.sample(range(len(positions)), count))]


def _packed(positions: list[tuple[bytes, bool]], result: int) -> list[bytes]:
    pieces = np.frombuffer(b"".join(each[0] for each in positions), np.uint8).reshape(-1, 64)
    records = records_of(pieces, np.array([each[1] for each in positions], np.bool_), result)
    records["flags"][:1] |= FIRST
    return [record.tobytes() for record in records]


def engine_facts() -> dict[str, Any]:
    """What the provenance says of the engine: its version and core."""
    from uci_engine import __version__

    return {"engine": "Secateur", "version": __version__, "core": load().name}
