"""Time counted in nodes: games by the clock whose outcome depends on no machine and on nothing that runs beside them.

`engine` holds a `NodesPurse` while the option NodesTime of `--tuning` is set, and gives a `NodesClock` to its searches:
the way to tune how time is spent on a noisy machine, many games at once. What must stay true: a game's budgets depend
on its moves and its first clock alone; what the GUI shows later counts for nothing, so its own clock must be ample.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from uci_engine.clock import Clock
from uci_engine.limits import Limits
from uci_engine.time_control import Budget


class NodesPurse:
    """An engine's own clock for one game, of one period: a millisecond is so many nodes."""

    def __init__(self, nodes_per_ms: int) -> None:
        """`nodes_per_ms`: at least 1."""
        self.nodes_per_ms = nodes_per_ms
        self._nodes: int | None = None

    def shown(self, limits: Limits, white_to_move: bool) -> Limits:
        """The limits with our clock as it stands here; those without a clock of ours as they are.

        The first clock of a game is believed; from then on the increment is added to what `spend` has left.
        """
        time_ms = limits.wtime_ms if white_to_move else limits.btime_ms
        increment_ms = (limits.winc_ms if white_to_move else limits.binc_ms) or 0
        if time_ms is None:
            return limits
        if self._nodes is None:
            self._nodes = time_ms * self.nodes_per_ms
        else:
            self._nodes += increment_ms * self.nodes_per_ms
        left_ms = self._nodes // self.nodes_per_ms
        if white_to_move:
            return dataclasses.replace(limits, wtime_ms=left_ms)
        return dataclasses.replace(limits, btime_ms=left_ms)

    def spend(self, nodes: int) -> None:
        """A search on this clock is over."""
        if self._nodes is not None:
            self._nodes -= nodes


class NodesClock(Clock):
    """A clock that stands still but for nodes; the hard limit is left to the search's own limit of nodes."""

    def __init__(self, started_at: float, budget: Budget, nodes_per_ms: int, nodes: Callable[[], int]) -> None:
        """`nodes`: how many have been searched so far."""
        super().__init__(started_at, Budget(budget.soft_ms, math.inf))
        self._nodes_per_ms = nodes_per_ms
        self._nodes = nodes
        self.hard_nodes = int(budget.hard_ms * nodes_per_ms) if budget.hard_ms < math.inf else None

    def soft_reached(self, factor: float) -> bool:
        """Whether `factor` times the soft limit has been searched."""
        return self._nodes() >= self.budget.soft_ms * factor * self._nodes_per_ms
