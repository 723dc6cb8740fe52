"""Root moves: the search result of each root move, and their order before the first search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.parameters import LOSING_MOVE_PENALTY_CP
from uci_engine.tablebases.root_ranking import TablebaseRank


@dataclass(frozen=True, slots=True)
class RootMove:
    """A root move with the PV and the score of its last search. Depth 0 means that it was never searched.

    Moves are encoded as in `board.moves`.
    """

    pv: tuple[int, ...]
    score: int = -scores.INFINITE
    depth: int = 0
    seldepth: int = 0
    bound: Bound = Bound.EXACT
    tablebase_rank: TablebaseRank | None = None

    @classmethod
    def of(cls, worker: Any, ranks: Mapping[int, TablebaseRank]) -> RootMove:
        """The best root move of a worker's last search. `ranks`: the tablebase ranks by move."""
        pv = tuple(worker.pv())
        bound = Bound.LOWER if worker.is_lower_bound else Bound.EXACT
        return cls(pv, worker.score, worker.depth, worker.seldepth, bound, ranks.get(pv[0]) if pv else None)

    @property
    def move(self) -> int:
        """The encoded move."""
        return self.pv[0]

    @property
    def rank(self) -> int:
        """The tablebase rank, 0 without tablebases."""
        return 0 if self.tablebase_rank is None else self.tablebase_rank.rank

    @property
    def shown_score(self) -> tuple[int, Bound]:
        """The score to report and its bound. A tablebase score replaces any score but a mate."""
        known = None if self.tablebase_rank is None else self.tablebase_rank.score
        if known is None or not self.depth or scores.is_mate(self.score):
            return self.score, self.bound
        return known, Bound.EXACT


def sort_root_moves(searcher: Any, root_moves: Iterable[RootMove]) -> list[RootMove]:
    """Sort root moves before the first search: by tablebase rank, TT move, then static eval after the move."""
    position = searcher.position
    # The low 16 bits of an entry are its move. (`entry_move` can only be called from compiled code.)
    tt_move = searcher.table.probe(position.key) & 0xFFFF

    def key(root_move: RootMove) -> tuple[int, bool, int, int]:
        move = root_move.move
        penalty_cp = 0 if position.see_at_least(move, 0) else LOSING_MOVE_PENALTY_CP
        position.make(move)
        score = -searcher.evaluate() - penalty_cp
        position.unmake(move)
        return root_move.rank, move == tt_move, score, move

    return sorted(root_moves, key=key, reverse=True)
