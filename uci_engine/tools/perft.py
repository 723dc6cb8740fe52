"""Counts of move sequences, a line for each root move: `go perft` and `secateur perft`.

Invariant: a count is exact or missing. A stop ends it soon, also in the middle of a large subtree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from uci_engine.board import moves
from uci_engine.task import TextTask

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

# Subtrees of this depth are counted at once, without checking the stop flag.
STEP = {"compiled": 4}
STEP_PLAIN = 2
# Deeper counts never finish, and would overflow the move buffer.
MAX_DEPTH = 64


class Perft(TextTask):
    def __init__(
        self, engine: UciEngine, depth: int, on_line: Callable[[str], None], on_done: Callable[[], None]
    ) -> None:
        """Count from the engine's position; `UciEngine.start` starts it."""
        super().__init__("perft", engine.board, on_line, on_done)
        self._position = engine.position
        self._depth = depth
        self._step = STEP.get(engine.core.name, STEP_PLAIN)

    def _work(self) -> None:
        if self._board is None:
            self._on_line("info string error: there is no position")
            return
        if self._depth > MAX_DEPTH:
            self._on_line(f"info string error: perft counts to depth {MAX_DEPTH} at most, not to {self._depth}")
            return
        position = self._position
        position.set_board(self._board)
        total = 1 if self._depth == 0 else 0
        for move in position.legal_moves() if self._depth > 0 else []:
            position.make(move)
            nodes = self._count(self._depth - 1)
            position.unmake(move)
            if self._stop_event.is_set():
                self._on_line("info string perft was stopped")
                return
            total += nodes
            self._on_line(f"{moves.decode(move, self._board.chess960).uci()}: {nodes}")
        self._on_line(f"\nNodes searched: {total}")

    def _count(self, depth: int) -> int:
        position = self._position
        if self._stop_event.is_set():
            return 0
        if depth <= self._step:
            return int(position.count(depth))
        nodes = 0
        for move in position.legal_moves():
            position.make(move)
            nodes += self._count(depth - 1)
            position.unmake(move)
        return nodes
