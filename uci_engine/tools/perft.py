"""Counts of move sequences, a line for each root move: `go perft`.

Invariant: a count is exact or missing. A stop ends it soon, also in the middle of a large subtree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from uci_engine.board import moves

if TYPE_CHECKING:
    import chess

    from uci_engine.board.position import Position
    from uci_engine.engine import UciEngine

# Deeper counts never finish.
MAX_DEPTH = 64


def perft(
    engine: UciEngine,
    board: chess.Board,
    depth: int,
    on_line: Callable[[str], None],
    is_stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Count from a position, at most MAX_DEPTH plies deep, while no search runs."""
    # Subtrees of this depth are counted at once, without checking for a stop.
    position, step = engine.position, 4 if engine.core.name == "compiled" else 2
    position.set_board(board)
    total = 1 if depth == 0 else 0
    for move in position.legal_moves() if depth > 0 else []:
        position.make(move)
        nodes = _count(position, depth - 1, step, is_stopped)
        position.unmake(move)
        if is_stopped():
            on_line("info string perft was stopped")
            return
        total += nodes
        on_line(f"{moves.decode(move, board.chess960).uci()}: {nodes}")
    on_line(f"\nNodes searched: {total}")


def _count(position: Position, depth: int, step: int, is_stopped: Callable[[], bool]) -> int:
    if is_stopped():
        return 0
    if depth <= step:
        return position.count(depth)
    nodes = 0
    for move in position.legal_moves():
        position.make(move)
        nodes += _count(position, depth - 1, step, is_stopped)
        position.unmake(move)
    return nodes
