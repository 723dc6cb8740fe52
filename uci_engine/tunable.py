"""Tunable parameters: numbers with a name and a range, which `--tuning` offers as UCI options.

Their tables are in `search.parameters` and `time_management.allocation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Tunable:
    """A number that a tuner may set from `minimum` to `maximum`."""

    name: str
    value: int
    minimum: int
    maximum: int
    description: str


def tunable(value: int, minimum: int, maximum: int, description: str) -> Any:
    """A field of a dataclass: its default value, and what else belongs to its `Tunable`."""
    return field(default=value, metadata={"tunable": (minimum, maximum, description)})


def tunables_of(parameters: Any) -> tuple[Tunable, ...]:
    """The fields of a dataclass that are declared by `tunable`, with the values of this object."""
    return tuple(
        Tunable(each.name, getattr(parameters, each.name), *each.metadata["tunable"]) for each in fields(parameters)
    )


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
