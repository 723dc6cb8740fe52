"""Two settings of one engine that are to meet in a pair of games; made by `spsa` and `factorial`, played by `games`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pairing:
    """plus, minus: values of options by name; both name the same options. directions: which way each thing under test
    is turned: 1 towards `plus`, -1 towards `minus`, 0 for neither."""

    plus: dict[str, int]
    minus: dict[str, int]
    directions: tuple[int, ...]
