"""A core of ours as a counter of move sequences. Called by perft.

Apart from `perft.counters`, so that the tools for any engine do without our own.
"""

from __future__ import annotations

from typing import Any

import chess

from evaluation.weights import default_weights
from uci_engine.board.moves import decode
from uci_engine.core import load


class CoreCounter:
    """A core of ours. A process runs one core for ever: see `uci_engine.core.load`."""

    def __init__(self, core: str) -> None:
        loaded = load(core)
        self.name = f"the {loaded.name} core"
        self._position: Any = loaded.position_class(default_weights().piece_square())

    def count(self, board: chess.Board, depth: int) -> int:
        """All of them."""
        self._position.set_board(board)
        return int(self._position.count(depth))

    def divide(self, board: chess.Board, depth: int) -> dict[str, int]:
        """Those behind each first move."""
        position = self._position
        position.set_board(board)
        result = {}
        for move in list(position.legal_moves()):
            position.make(move)
            result[decode(move, board.chess960).uci()] = int(position.count(depth - 1))
            position.unmake(move)
        return result

    def close(self) -> None:
        """Nothing is held."""
