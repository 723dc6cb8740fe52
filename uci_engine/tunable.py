"""Tunable parameters: numbers with a name and a range, which `--tuning` offers as UCI options.

Their tables are in `search.parameters` and `time_management.allocation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Tunable:
    """A number that a tuner may set from `minimum` to `maximum`."""

    name: str
    value: int
    minimum: int
    maximum: int
    description: str


def tunable(value: int, minimum: int, maximum: int, description: str) -> int:
    """Stands, as the value of a field of a class, for the `Tunable` with the field's name. See `tunables_of`."""
    found: Any = Tunable("", value, minimum, maximum, description)
    return cast(int, found)


def tunables_of(owner: type[object]) -> tuple[Tunable, ...]:
    """Those that the fields of a class stand for, which afterwards have no values."""
    found = [replace(one, name=name) for name, one in vars(owner).items() if isinstance(one, Tunable)]
    for one in found:
        delattr(owner, one.name)
    return tuple(found)


def defaults(parameters: Sequence[Tunable]) -> dict[str, int]:
    return {parameter.name: parameter.value for parameter in parameters}


def checked(parameters: Sequence[Tunable], values: Mapping[str, int]) -> dict[str, int]:
    """The defaults with some values replaced. ValueError: an unknown name, or a value out of its range."""
    merged = defaults(parameters)
    ranges = {parameter.name: (parameter.minimum, parameter.maximum) for parameter in parameters}
    for name, value in values.items():
        if name not in merged:
            raise ValueError(f"no tunable parameter is called {name!r}")
        low, high = ranges[name]
        if not low <= value <= high:
            raise ValueError(f"{name} must lie between {low} and {high}, not at {value}")
        merged[name] = value
    return merged
