"""Time counted in nodes: games by the clock whose outcome depends on no machine and on nothing that runs beside them.

`engine` holds a `NodesPurse` while the option NodesTime of `--tuning` is set, and gives a `NodesClock` to the searches
that have a clock: the way to tune how time is spent on a noisy machine, many games at once. What must stay true: with
one thread, a game's budgets depend on its moves and its first clock alone; what the GUI shows later counts for nothing,
so its own clock must be ample; a search without a clock of ours is as it would be without all this.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from uci_engine.clock import Clock
from uci_engine.limits import Limits
from uci_engine.time_control import Budget

MOST_NODES = 1 << 62
"""More than any search will ever count."""


class NodesPurse:
    """The engine's own clocks of a game, one for each colour it plays: a millisecond is so many nodes."""

    def __init__(self, nodes_per_ms: int) -> None:
        """`nodes_per_ms`: at least 1."""
        self.nodes_per_ms = nodes_per_ms
        self._first: dict[bool, int] = {}
        self._left: dict[bool, int] = {}
        self._to_go: dict[bool, int] = {}
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
            self._left.clear()
            self._to_go.clear()
        self._last_ply = ply
        to_go = limits.movestogo or 0
        if white_to_move not in self._left:
            self._left[white_to_move] = self._first[white_to_move] = time_ms * self.nodes_per_ms
        else:
            increment_ms = (limits.winc_ms if white_to_move else limits.binc_ms) or 0
            self._left[white_to_move] += increment_ms * self.nodes_per_ms
            if to_go > self._to_go[white_to_move]:
                self._left[white_to_move] += self._first[white_to_move]
        self._to_go[white_to_move] = to_go
        left_ms = self._left[white_to_move] // self.nodes_per_ms
        if white_to_move:
            return dataclasses.replace(limits, wtime_ms=left_ms)
        return dataclasses.replace(limits, btime_ms=left_ms)

    def spend(self, white: bool, nodes: int) -> None:
        """A search on this colour's clock is over."""
        self._left[white] -= nodes


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
