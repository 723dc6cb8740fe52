"""Every number of the search that could be another: name, value, range, and what it decides.

`search.Searcher` copies the values into its typed fields when it is made, so a tuner can hand it others. What must stay
true: a parameter stands here once, and its value lies in its range. Depths are in plies, margins in centipawns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The search's profiles: what they are stands in search.py.
NORMAL, PLAIN, MATING = range(3)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of the search: `minimum` and `maximum` bound what a tuner may try."""

    name: str
    value: int
    minimum: int
    maximum: int
    why: str


PARAMETERS = (
    Parameter("aspiration_window_cp", 20, 5, 100, "half the window around the last iteration's score"),
    Parameter("reverse_futility_depth", 7, 0, 12, "deepest node that a static score far above beta may end"),
    Parameter("reverse_futility_margin_cp", 75, 20, 200, "how far above beta, for each ply of depth"),
    Parameter("null_move_depth", 3, 1, 8, "shallowest node that tries to pass"),
    Parameter("null_move_reduction", 3, 1, 6, "plies a null-move search is reduced by at least"),
    Parameter("null_move_divisor", 4, 2, 10, "one ply more for each so many plies of depth"),
    Parameter("null_move_margin_cp", 200, 50, 500, "one ply more for each so much of score above beta"),
    Parameter("late_move_depth", 3, 1, 6, "shallowest node that reduces late moves"),
    Parameter("late_move_count", 3, 1, 10, "moves of a node that are never reduced"),
    Parameter("late_move_base", 75, 0, 200, "constant part of the late move reduction, in hundredths of a ply"),
    Parameter("late_move_divisor", 225, 100, 500, "hundredths that divide log(depth) * log(move number)"),
    Parameter("late_move_history", 8192, 1024, 16384, "history score worth one ply less or more of reduction"),
    Parameter("internal_depth", 4, 1, 10, "shallowest node without a table move that is searched a ply less deep"),
    Parameter("history_bonus", 16, 1, 64, "history bonus for each unit of squared depth"),
    Parameter("history_bonus_limit", 1600, 200, 8000, "largest history bonus"),
)


def defaults() -> dict[str, int]:
    """The values by name."""
    return {parameter.name: parameter.value for parameter in PARAMETERS}


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
