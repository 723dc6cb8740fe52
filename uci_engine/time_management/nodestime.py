"""Nodestime: time is counted in nodes, so that a game does not depend on the machine or its load.

It serves to tune time management with many games at once. `engine` holds an `AvailableNodes` while the option NodesTime
of `--tuning` is set, and a search with a clock gets a `NodesClock`. The GUI's clock must be ample, because only its
first reading counts.

Invariants: with one thread, the budgets of a game depend on its moves and its first clock alone. A search without our
clock is not affected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from uci_engine.time_management.allocation import Budget
from uci_engine.time_management.clock import Clock
from uci_engine.time_management.limits import Limits

# More than any search counts.
MAX_NODES = 1 << 62


@dataclass(slots=True)
class _NodesLeft:
    """One colour's clock, in nodes: initial, remaining, and the moves to go."""

    initial: int
    remaining: int
    moves_to_go: int


class AvailableNodes:
    """The engine's own clocks in nodes for one game, one for each colour that it plays."""

    def __init__(self, nodes_per_ms: int) -> None:
        """`nodes_per_ms`: the nodes in a millisecond, at least 1."""
        self.nodes_per_ms = nodes_per_ms
        self._left: dict[bool, _NodesLeft] = {}
        self._last_ply = 0

    def adjust(self, limits: Limits, white_to_move: bool, ply: int) -> Limits | None:
        """The limits with our clock replaced by the nodes left, in milliseconds; None without a clock of ours.

        The first clock of a colour sets its nodes. Later calls add the increment, and the first amount again when the
        moves to go increase. A ply before the last one means another game.
        """
        time_ms = limits.wtime_ms if white_to_move else limits.btime_ms
        if time_ms is None or limits.infinite or limits.ponder:
            return None
        if ply < self._last_ply:
            self._left.clear()
        self._last_ply = ply
        moves_to_go = limits.movestogo or 0
        left = self._left.get(white_to_move)
        if left is None:
            nodes = time_ms * self.nodes_per_ms
            left = self._left[white_to_move] = _NodesLeft(nodes, nodes, moves_to_go)
        else:
            increment_ms = (limits.winc_ms if white_to_move else limits.binc_ms) or 0
            left.remaining += increment_ms * self.nodes_per_ms
            if moves_to_go > left.moves_to_go:
                left.remaining += left.initial
            left.moves_to_go = moves_to_go
        left_ms = left.remaining // self.nodes_per_ms
        if white_to_move:
            return replace(limits, wtime_ms=left_ms)
        return replace(limits, btime_ms=left_ms)

    def spend(self, white: bool, nodes: int) -> None:
        """Take the nodes of a finished search off this colour's clock."""
        self._left[white].remaining -= nodes


class NodesClock(Clock):
    """A clock that counts nodes. The hard limit is `hard_nodes`, which the search keeps by its own limit of nodes."""

    def __init__(self, started_at: float, budget: Budget, nodes_per_ms: int, nodes: Callable[[], int]) -> None:
        """`budget` is finite; `nodes` returns how many have been searched so far."""
        super().__init__(started_at, Budget(budget.soft_ms, math.inf))
        self._nodes_per_ms = nodes_per_ms
        self._nodes = nodes
        self.hard_nodes = min(int(budget.hard_ms * nodes_per_ms), MAX_NODES)

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit has been searched."""
        return self._nodes() >= self.budget.soft_ms * factor * self._nodes_per_ms
