"""Tunable parameters: numbers with a name and a range, which `--tuning` offers as UCI options.

Their tables are in `search.parameters` and `time_management`.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, NamedTuple


class Tunable(NamedTuple):
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
