"""What to search, as data: position, root moves, limits, tablebases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import chess

from uci_engine.tablebases.root_ranking import Probing, RootRanking
from uci_engine.time_management.allocation import TIME_DEFAULTS, TimeParameters


@dataclass(frozen=True, slots=True)
class Request:
    """What to search: a board with its history, the root moves allowed (None: all), limits, and what to report.

    A ranking with tablebase ranks has one for every allowed move. Moves of a better rank are searched before those of
    a worse one. `analysing`: each root move is searched on its own as well (see `analysis`).
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
    analysing: bool = False

    def set_probing(self, searcher: Any) -> None:
        """Have a searcher probe the tablebases as far as the user allows and the root ranking leaves anything open."""
        most_pieces = 0 if self.ranking.complete else self.probing.most_pieces
        searcher.set_probing(most_pieces, self.probing.depth, self.probing.fifty_moves)
