"""The parameters of time management, with their values for each core, and the factor on the soft limit."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from uci_engine.tunable import Tunable

# The factor on the soft limit, by the number of depths that the best move has stayed the same.
STABILITY_FACTORS = (1.5, 1.2, 1.0, 0.85, 0.75)

# Lower limit of that factor, whatever the tuned parameters are.
MIN_STABILITY_FACTOR = 0.2

# From this depth on, the nodes below the best move count.
EFFORT_DEPTH = 7


def _tunable(value: int, minimum: int, maximum: int, description: str) -> Any:
    """A field of this default value, with the rest of its `Tunable`."""
    return field(default=value, metadata={"tunable": (minimum, maximum, description)})


@dataclass(frozen=True, slots=True)
class TimeParameters:
    """The parameters, by default with the values for the compiled core."""

    time_first_divisor: int = _tunable(24, 8, 60, "sudden death: divisor of the clock at a game's first move")
    time_plies_per_part: int = _tunable(10, 1, 60, "sudden death: half-moves after which the divisor is one less")
    time_last_divisor: int = _tunable(13, 5, 40, "sudden death: minimum divisor")
    time_increment_percent: int = _tunable(
        75, 0, 100, "share of the increment, less the overhead, added to the soft limit"
    )
    time_hard_percent: int = _tunable(500, 100, 1000, "hard limit, in percent of the soft limit")
    time_stability_percent: int = _tunable(100, 0, 200, "weight of the best move's stability")
    time_effort_max_percent: int = _tunable(
        200, 100, 400, "effort: factor on the soft limit if no node is the best move's"
    )
    time_effort_slope_percent: int = _tunable(
        160, 0, 400, "effort: part of it taken off if all nodes are the best move's"
    )
    time_effort_min_percent: int = _tunable(50, 10, 100, "effort: minimum factor on the soft limit")
    time_drop_cp: int = _tunable(30, 5, 200, "score drop: minimum fall that gives more time")
    time_drop_percent: int = _tunable(130, 100, 300, "score drop: factor on the soft limit after such a fall")

    def soft_factor(self, depth: int, stable_for: int, score_drop_cp: int, effort: float) -> float:
        """The factor on the soft limit after a depth: more while the best move is in doubt.

        stable_for: the number of depths that the best move has stayed the same. effort: the share of the last depth's
        nodes below it, 0 to 1.
        """
        stability = STABILITY_FACTORS[min(stable_for, len(STABILITY_FACTORS) - 1)]
        factor = max(1 + (stability - 1) * self.time_stability_percent / 100, MIN_STABILITY_FACTOR)
        if depth >= EFFORT_DEPTH:
            percent = self.time_effort_max_percent - self.time_effort_slope_percent * effort
            factor *= max(self.time_effort_min_percent, percent) / 100
        return factor * self.time_drop_percent / 100 if score_drop_cp > self.time_drop_cp else factor


TIME_DEFAULTS = TimeParameters()

# For a core in plain Python, which searches only some thousand nodes a move. They were tuned for such a core, and the
# compiled core is weaker with values tuned this way.
SLOW_CORE_TIMES = TimeParameters(
    time_first_divisor=29,
    time_plies_per_part=8,
    time_last_divisor=12,
    time_increment_percent=64,
    time_hard_percent=371,
    time_stability_percent=144,
    time_effort_max_percent=162,
    time_effort_slope_percent=226,
    time_effort_min_percent=61,
    time_drop_cp=40,
    time_drop_percent=175,
)


def time_parameters_of(core: str) -> TimeParameters:
    """The default parameters of the core of this name (see `core.Core`)."""
    return TIME_DEFAULTS if core == "compiled" else SLOW_CORE_TIMES


def time_tunables(core: str) -> tuple[Tunable, ...]:
    """The parameters as tuners see them, with the values for the core of this name."""
    values = time_parameters_of(core)
    return tuple(Tunable(each.name, getattr(values, each.name), *each.metadata["tunable"]) for each in fields(values))
