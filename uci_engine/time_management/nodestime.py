"""Time counted in nodes: games by the clock whose outcome depends on no machine and on nothing that runs beside them.

`engine` holds a `AvailableNodes` while the option NodesTime of `--tuning` is set, and gives a `NodesClock` to the
searches that have a clock: the way to tune how time is spent on a noisy machine, many games at once. What must stay
true: with one thread, a game's budgets depend on its moves and its first clock alone; what the GUI shows later counts
for nothing, so its own clock must be ample; a search without a clock of ours is as it would be without all this.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from uci_engine.time_management.allocation import Budget
from uci_engine.time_management.clock import Clock
from uci_engine.time_management.limits import Limits

MOST_NODES = 1 << 62
"""More than any search will ever count."""


@dataclass(slots=True)
class _Account:
    """One colour's clock, in nodes."""

    first: int
    left: int
    to_go: int


class AvailableNodes:
    """The engine's own clocks of a game, one for each colour it plays: a millisecond is so many nodes."""

    def __init__(self, nodes_per_ms: int) -> None:
        """`nodes_per_ms`: at least 1."""
        self.nodes_per_ms = nodes_per_ms
        self._accounts: dict[bool, _Account] = {}
        self._last_ply = 0

    def shown(self, limits: Limits, white_to_move: bool, ply: int) -> Limits | None:
        """The limits with our clock as it stands here, None where they have no clock of ours to count.

        The first clock of a colour is believed. From then on the increment is added to what `spend` has left, and what
        was first there when the moves to go become more. A ply before the last one asked for is another game's.
        """
        time_ms = limits.wtime_ms if white_to_move else limits.btime_ms
        if time_ms is None or limits.infinite or limits.ponder:
            return None
        if ply < self._last_ply:
            self._accounts.clear()
        self._last_ply = ply
        to_go = limits.movestogo or 0
        account = self._accounts.get(white_to_move)
        if account is None:
            nodes = time_ms * self.nodes_per_ms
            account = self._accounts[white_to_move] = _Account(nodes, nodes, to_go)
        else:
            increment_ms = (limits.winc_ms if white_to_move else limits.binc_ms) or 0
            account.left += increment_ms * self.nodes_per_ms
            if to_go > account.to_go:
                account.left += account.first
            account.to_go = to_go
        left_ms = account.left // self.nodes_per_ms
        if white_to_move:
            return replace(limits, wtime_ms=left_ms)
        return replace(limits, btime_ms=left_ms)

    def spend(self, white: bool, nodes: int) -> None:
        """A search on this colour's clock is over."""
        self._accounts[white].left -= nodes


class NodesClock(Clock):
    """A clock that stands still but for nodes; the hard limit is left to the search's own limit of nodes."""

    def __init__(self, started_at: float, budget: Budget, nodes_per_ms: int, nodes: Callable[[], int]) -> None:
        """`budget` is finite; `nodes` tells how many have been searched so far."""
        super().__init__(started_at, Budget(budget.soft_ms, math.inf))
        self._nodes_per_ms = nodes_per_ms
        self._nodes = nodes
        self.hard_nodes = min(int(budget.hard_ms * nodes_per_ms), MOST_NODES)

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit has been searched."""
        return self._nodes() >= self.budget.soft_ms * factor * self._nodes_per_ms
