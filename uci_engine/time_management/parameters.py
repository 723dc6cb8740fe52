"""The parameters of time management, with their values for each core."""

from __future__ import annotations

from dataclasses import replace

from uci_engine.tunable import Tunable

TIME_PARAMETERS = (
    Tunable("time_first_divisor", 24, 8, 60, "sudden death: divisor of the clock at a game's first move"),
    Tunable("time_plies_per_part", 10, 1, 60, "sudden death: half-moves after which the divisor is one less"),
    Tunable("time_last_divisor", 13, 5, 40, "sudden death: minimum divisor"),
    Tunable("time_increment_percent", 75, 0, 100, "share of the increment, less the overhead, added to the soft limit"),
    Tunable("time_hard_percent", 500, 100, 1000, "hard limit, in percent of the soft limit"),
    Tunable("time_stability_percent", 100, 0, 200, "weight of the best move's stability"),
    Tunable("time_effort_max_percent", 200, 100, 400, "effort: factor on the soft limit if no node is the best move's"),
    Tunable("time_effort_slope_percent", 160, 0, 400, "effort: part of it taken off if all nodes are the best move's"),
    Tunable("time_effort_min_percent", 50, 10, 100, "effort: minimum factor on the soft limit"),
    Tunable("time_drop_cp", 30, 5, 200, "score drop: minimum fall that gives more time"),
    Tunable("time_drop_percent", 130, 100, 300, "score drop: factor on the soft limit after such a fall"),
)

# For a core in plain Python, which searches only some thousand nodes a move. They were tuned for such a core, and the
# compiled core is weaker with values tuned this way.
SLOW_CORE_TIMES = {
    "time_first_divisor": 29,
    "time_plies_per_part": 8,
    "time_last_divisor": 12,
    "time_increment_percent": 64,
    "time_hard_percent": 371,
    "time_stability_percent": 144,
    "time_effort_max_percent": 162,
    "time_effort_slope_percent": 226,
    "time_effort_min_percent": 61,
    "time_drop_cp": 40,
    "time_drop_percent": 175,
}


def time_tunables(core: str) -> tuple[Tunable, ...]:
    """TIME_PARAMETERS with the values for the core of this name (see `core.Core`)."""
    if core == "compiled":
        return TIME_PARAMETERS
    return tuple(replace(parameter, value=SLOW_CORE_TIMES[parameter.name]) for parameter in TIME_PARAMETERS)
