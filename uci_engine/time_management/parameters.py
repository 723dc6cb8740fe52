"""The parameters of time management, with their values for each core."""

from __future__ import annotations

from dataclasses import replace

from uci_engine.tunable import Tunable

TIME_PARAMETERS = (
    Tunable("time_first_divisor", 24, 8, 60, "without moves to go, a game's first move gets this part of the clock"),
    Tunable("time_plies_per_part", 10, 1, 60, "one part fewer for each so many half-moves: less is still to come"),
    Tunable("time_last_divisor", 13, 5, 40, "down to so many parts"),
    Tunable("time_increment_percent", 75, 0, 100, "of the increment that the overhead leaves, for the move at hand"),
    Tunable("time_hard_percent", 500, 100, 1000, "of the soft limit, at which a search ends"),
    Tunable("time_stability_percent", 100, 0, 200, "how much it counts for how long the best move has stayed"),
    Tunable("time_effort_most_percent", 200, 100, 400, "of the soft limit if no node lay below the best move"),
    Tunable("time_effort_slope_percent", 160, 0, 400, "and so much less if all did"),
    Tunable("time_effort_least_percent", 50, 10, 100, "and at least"),
    Tunable("time_drop_cp", 30, 5, 200, "by how much the score must fall for more time"),
    Tunable("time_drop_percent", 130, 100, 300, "of the soft limit then"),
)

# For a core in plain Python, where a move has some thousand nodes: +61.5 ± 19.3 Elo in 908 games, with NodesTime 3 and
# 60+0.6. The compiled core needs other values: there some that were tuned in the same way lost 38 ± 26 Elo.
SLOW_CORE_TIMES = {
    "time_first_divisor": 29,
    "time_plies_per_part": 8,
    "time_last_divisor": 12,
    "time_increment_percent": 64,
    "time_hard_percent": 371,
    "time_stability_percent": 144,
    "time_effort_most_percent": 162,
    "time_effort_slope_percent": 226,
    "time_effort_least_percent": 61,
    "time_drop_cp": 40,
    "time_drop_percent": 175,
}


def time_tunables(core: str) -> tuple[Tunable, ...]:
    """TIME_PARAMETERS with the values for the core of this name (see `core.Core`)."""
    if core == "compiled":
        return TIME_PARAMETERS
    return tuple(replace(parameter, value=SLOW_CORE_TIMES[parameter.name]) for parameter in TIME_PARAMETERS)
