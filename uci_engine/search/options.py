"""What the options of the engine mean for one search. The limits of `go` are in `time_management.limits`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from uci_engine.search.strength import Strength
from uci_engine.tablebases.root_ranking import Probing
from uci_engine.time_management.parameters import TIME_DEFAULTS, TimeParameters


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of one search.

    `analyse_mode`: root moves are also searched one by one (see `analysis`). `strength`: limited strength, None for
    full strength. `contempt_cp`: how much worse than 0 a draw is for the side to move.
    """

    multipv: int = 1
    show_wdl: bool = False
    probing: Probing = field(default_factory=Probing)
    time_parameters: TimeParameters = TIME_DEFAULTS
    analyse_mode: bool = False
    strength: Strength | None = None
    contempt_cp: int = 0

    @property
    def lines(self) -> int:
        """The number of lines to search. The first `multipv` of them are reported."""
        return max(1, self.multipv, 0 if self.strength is None else self.strength.level.lines)

    def prepare(self, searcher: Any, probes: bool) -> None:
        """Set contempt and tablebase limits of a searcher. `probes`: whether it probes the tablebases."""
        probe_limit = self.probing.probe_limit if probes else 0
        searcher.set_probing(probe_limit, self.probing.probe_depth, self.probing.fifty_moves)
        searcher.set_contempt(self.contempt_cp)
