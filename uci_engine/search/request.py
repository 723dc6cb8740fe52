"""The request of a search: position, root moves, limits, tablebases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chess

from uci_engine.score import piece_count
from uci_engine.search.strength import Strength
from uci_engine.tablebases.root_ranking import Probing, RootRanking
from uci_engine.time_management.allocation import TIME_DEFAULTS, TimeParameters


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A board with its history, the allowed root moves (None: all), the limits and the contents of reports.

    `ranking` has tablebase ranks for all allowed moves or for none. Moves of a better rank are searched first.
    `analyse_mode`: root moves are also searched one by one (see `analysis`). `strength`: limited strength, None for
    full strength. The node budget is in `nodes`. `contempt_cp`: how much worse than 0 a draw is for the side to move.
    """

    board: chess.Board
    root_moves: Sequence[chess.Move] | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    multipv: int = 1
    show_wdl: bool = False
    ranking: RootRanking = field(default_factory=RootRanking)
    probing: Probing = field(default_factory=Probing)
    time_parameters: TimeParameters = TIME_DEFAULTS
    analyse_mode: bool = False
    strength: Strength | None = None
    contempt_cp: int = 0

    @property
    def lines(self) -> int:
        """The number of lines to search. The first `multipv` of them are reported."""
        return max(1, self.multipv, 0 if self.strength is None else self.strength.level.lines)

    @property
    def pieces(self) -> int:
        """The number of pieces on the board, for the scores that are shown."""
        return piece_count(self.board)

    def prepare(self, searcher: Any) -> None:
        """Set contempt and tablebase limits of a searcher. It does not probe if the root ranking is `complete`."""
        probe_limit = 0 if self.ranking.complete else self.probing.probe_limit
        searcher.set_probing(probe_limit, self.probing.probe_depth, self.probing.fifty_moves)
        searcher.set_contempt(self.contempt_cp)
