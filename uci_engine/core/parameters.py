"""Every number of the search and of its time that could be another: name, value, range, and what it decides.

`search.Searcher` copies the values of PARAMETERS into its typed fields when it is made, so a tuner can hand it others;
`time_control.Pace` holds those of TIME_PARAMETERS. What must stay true: a parameter stands here once, and its value
lies in its range. Depths are in plies, margins in centipawns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

# The search's profiles: what they are stands in search.py.
NORMAL, PLAIN, MATING = range(3)

# An aspiration window grown this wide opens altogether.
WIDEST_WINDOW_CP = 400


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of the search: `minimum` and `maximum` bound what a tuner may try, and what switches a step off."""

    name: str
    value: int
    minimum: int
    maximum: int
    why: str


PARAMETERS = (
    Parameter("aspiration_window_cp", 12, 5, 100, "half the window around the last iteration's score"),
    Parameter("correction_weight", 256, 0, 512, "share of a known error of the static score to put right, in 256ths"),
    Parameter("reverse_futility_depth", 7, 0, 16, "deepest node that a static score far above beta may end"),
    Parameter("reverse_futility_margin_cp", 66, 20, 200, "how far above beta, for each ply of depth"),
    Parameter("null_move_depth", 3, 1, 100, "shallowest node that tries to pass"),
    Parameter("null_move_reduction", 3, 1, 6, "plies a null-move search is reduced by at least"),
    Parameter("null_move_divisor", 4, 2, 10, "one ply more for each so many plies of depth"),
    Parameter("null_move_margin_cp", 200, 50, 500, "one ply more for each so much of score above beta"),
    Parameter("null_move_verification_depth", 12, 4, 100, "shallowest node whose null move is verified"),
    Parameter("probcut_depth", 5, 3, 100, "shallowest node where a good capture may show that beta is surely beaten"),
    Parameter("probcut_margin_cp", 180, 50, 500, "by how much it must beat beta in a shallower search"),
    Parameter("table_cut_margin_cp", 300, 50, 2000, "by how much a table score nearly deep enough must beat beta"),
    Parameter("internal_depth", 4, 1, 100, "shallowest node without a table move that is searched a ply less deep"),
    Parameter("late_move_pruning_depth", 8, 0, 12, "deepest node that leaves out late quiet moves"),
    Parameter("late_move_pruning_base", 3, 1, 10, "how many moves come before that, and the squared depth more"),
    Parameter("futility_depth", 8, 0, 14, "reduced depth from which a quiet move need not promise to reach alpha"),
    Parameter("futility_base_cp", 75, 0, 400, "what a quiet move may bring at once"),
    Parameter("futility_margin_cp", 83, 20, 250, "and for each ply of reduced depth"),
    Parameter("history_pruning_depth", 4, 0, 10, "reduced depth from which a bad history leaves no quiet move out"),
    Parameter("history_pruning_margin", 3200, 200, 12000, "how bad, for each ply of reduced depth"),
    Parameter("exchange_pruning_depth", 8, 0, 14, "deepest node that leaves out moves which lose material"),
    Parameter("exchange_quiet_margin_cp", 25, 5, 100, "loss allowed to a quiet move, by squared reduced depth"),
    Parameter("exchange_noisy_margin_cp", 90, 20, 250, "loss allowed to a capture, for each ply of depth"),
    Parameter("singular_depth", 7, 4, 100, "shallowest node that asks whether its table move is the only good one"),
    Parameter("singular_margin", 2, 1, 8, "centipawns for each ply of depth by which the others must be worse"),
    Parameter("double_margin_cp", 10, 0, 100, "and by which more, for two plies of extension"),
    Parameter("late_move_depth", 3, 1, 100, "shallowest node that reduces late moves"),
    Parameter("late_move_count", 3, 1, 10, "moves of a node that are never reduced"),
    Parameter("late_move_base", 75, 0, 200, "constant part of the late move reduction, in hundredths of a ply"),
    Parameter("late_move_divisor", 225, 100, 500, "hundredths that divide log(depth) * log(move number)"),
    Parameter("late_move_history", 6144, 1024, 32768, "history worth one ply less or more of reduction"),
    Parameter("late_move_cut", 1, 0, 3, "plies more where a cut is expected"),
    Parameter("late_move_check", 2, 0, 4, "plies less where the late move gives check"),
    Parameter("deeper_margin_cp", 50, 10, 1000, "by how much a reduced search must beat the best to go deeper"),
    Parameter("quiescence_margin_cp", 200, 50, 1000, "what a capture in quiescence may bring beyond its victim"),
    Parameter("quiescence_count", 2, 1, 100, "captures of a quiescence node before only recaptures are tried"),
    Parameter("history_bonus", 150, 10, 400, "history bonus for each ply of depth"),
    Parameter("history_bonus_limit", 1600, 200, 8000, "largest history bonus"),
    Parameter("bonus_margin_cp", 80, 10, 1000, "by how much a score must beat beta to earn the bonus of a ply more"),
    Parameter("table_bonus", 75, 0, 400, "bonus for each ply where the table's move cuts; at most half the largest"),
    Parameter("swing_bonus", 1, 0, 10, "history for each centipawn by which a quiet move raised the static score"),
    Parameter("swing_limit", 100, 10, 1000, "and at most so much"),
)

TIME_PARAMETERS = (
    Parameter("time_first_divisor", 24, 8, 60, "without moves to go, a game's first move gets this part of the clock"),
    Parameter("time_plies_per_part", 10, 1, 60, "one part fewer for each so many half-moves: less is still to come"),
    Parameter("time_last_divisor", 13, 5, 40, "down to so many parts"),
    Parameter("time_increment_percent", 75, 0, 100, "of the increment that the overhead leaves, for the move at hand"),
    Parameter("time_hard_percent", 500, 100, 1000, "of the soft limit, at which a search ends"),
    Parameter("time_stability_percent", 100, 0, 200, "how much it counts for how long the best move has stayed"),
    Parameter("time_effort_most_percent", 200, 100, 400, "of the soft limit if no node lay below the best move"),
    Parameter("time_effort_slope_percent", 160, 0, 400, "and so much less if all did"),
    Parameter("time_effort_least_percent", 50, 10, 100, "and at least"),
    Parameter("time_drop_cp", 30, 5, 200, "by how much the score must fall for more time"),
    Parameter("time_drop_percent", 130, 100, 300, "of the soft limit then"),
)

# What is better where a move has some thousand nodes: the core in plain Python. Found by `scripts/tune_search.py` (2000
# pairs) and confirmed by SPRT(0, 5), +61.5 ± 19.3 Elo in 908 games, both with NodesTime 3 and 60+0.6, which is 18+0.18
# for a core of 10 000 nodes/s. At four times the nodes still +5 ± 23 (464 games); but at 2+0.02 on the compiled core
# values found in the same way lost 38 ± 26 to TIME_PARAMETERS.
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


def time_parameters(core: str) -> tuple[Parameter, ...]:
    """TIME_PARAMETERS with the values for the core of this name (see `core.Core`)."""
    if core == "compiled":
        return TIME_PARAMETERS
    return tuple(replace(parameter, value=SLOW_CORE_TIMES[parameter.name]) for parameter in TIME_PARAMETERS)


def defaults(parameters: Sequence[Parameter] = PARAMETERS) -> dict[str, int]:
    """The values by name."""
    return {parameter.name: parameter.value for parameter in parameters}


def checked(values: Mapping[str, int]) -> dict[str, int]:
    """The defaults with some values replaced; raises ValueError for an unknown name or a value out of its range."""
    merged = defaults()
    ranges = {parameter.name: (parameter.minimum, parameter.maximum) for parameter in PARAMETERS}
    for name, value in values.items():
        if name not in merged:
            raise ValueError(f"no search parameter is called {name!r}")
        low, high = ranges[name]
        if not low <= value <= high:
            raise ValueError(f"{name} must lie between {low} and {high}, not at {value}")
        merged[name] = value
    return merged
