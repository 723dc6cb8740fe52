"""A game of the engine against itself, in this process, and the training positions of it.

Without a pipe and a protocol a search of a thousand nodes costs little more than its nodes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import chess

from evaluation.correction.network import default_network
from lib.games.adjudication import Adjudicator, Rules, Tables
from lib.games.game import rules_result
from lib.games.openings import Opening
from lib.training.positions import CAPTURE, FIRST, QUIET, pack
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.options import CORRECTION_BY_DEFAULT
from uci_engine.search.factory import new_correction, new_searcher, new_worker
from uci_engine.search.root_moves import RootMove, sort_root_moves

RESULTS = {"0-1": 0, "1/2-1/2": 1, "1-0": 2}


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
        correction = new_correction(core, default_network() if CORRECTION_BY_DEFAULT else None)
        self._searcher = new_searcher(core, hash_mib, correction=correction)
        self._worker = new_worker(core, self._searcher)
        # Its table holds results of quiescence searches only. In the other, an entry of the search would cut.
        self._quiescence = new_searcher(core, 1, correction=correction)
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
            root_moves = [RootMove((move,)) for move in searcher.position.legal_moves()]
            searcher.set_root([root_move.move for root_move in sort_root_moves(searcher, root_moves)])
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


@cache
def self_player(nodes: int, hash_mib: int) -> SelfPlayer:
    """The one of this process, which does one task at a time."""
    return SelfPlayer(nodes, hash_mib)


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
    max_opening_cp: int = 0,
    max_positions: int = 0,
    chance: random.Random | None = None,
) -> PlayedGame:
    """Play a game to its end. Positions in check are not kept.

    `max_opening_cp`: an opening whose first score is beyond this, for either side, is not played; 0 for no limit.
    `max_positions`: kept at most, chosen by `chance`; 0 for all.
    """
    board = opening.board()
    player.new_game(board)
    adjudicator = Adjudicator(rules, tables)
    kept: list[tuple[chess.Board, int, int]] = []
    ended = rules_result(board)
    is_first = True
    while ended is None:
        thought = player.think()
        if is_first and max_opening_cp and abs(thought.score_cp) > max_opening_cp:
            return PlayedGame(None, ())
        is_first = False
        if not board.is_check():
            flags = (QUIET if player.is_quiet() else 0) | (CAPTURE if thought.is_capture else 0)
            score_cp = thought.score_cp if board.turn else -thought.score_cp
            kept.append((board.copy(stack=False), score_cp, flags))
        player.push(thought)
        ended = rules_result(board) or adjudicator.verdict(board, thought.score_cp)
    result = ended[0]
    if max_positions and len(kept) > max_positions:
        chosen = (chance or random.Random()).sample(range(len(kept)), max_positions)
        kept = [kept[index] for index in sorted(chosen)]
    records = [
        pack(position, score_cp, RESULTS[result], flags | (0 if index else FIRST))
        for index, (position, score_cp, flags) in enumerate(kept)
    ]
    return PlayedGame(result, tuple(records))


def engine_facts() -> dict[str, Any]:
    """What the provenance says of the engine: its version and core."""
    from uci_engine import __version__

    return {"engine": "Secateur", "version": __version__, "core": load().name}
