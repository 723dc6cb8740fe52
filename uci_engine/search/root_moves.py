"""Root moves: what a search knows of each move of the root, and their order before anything is searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.tablebases.root_ranking import TablebaseRank

# Before the first search a move that loses material sorts behind all that do not.
LOSING_MOVE_PENALTY_CP = 1000


@dataclass(frozen=True, slots=True)
class RootMove:
    """A root move with its principal variation and the score of its last search; depth 0: it was never searched.

    Moves are numbers, as the core writes them (see `board.moves`).
    """

    pv: tuple[int, ...]
    score: int = -scores.INFINITE
    depth: int = 0
    seldepth: int = 0
    bound: Bound = Bound.EXACT
    tablebase_rank: TablebaseRank | None = None

    @classmethod
    def of(cls, worker: Any, ranks: Mapping[int, TablebaseRank]) -> RootMove:
        """The best root move of a worker's last search; `ranks`: what the tablebases say of the moves."""
        pv = tuple(worker.pv())
        bound = Bound.LOWER if worker.is_lower_bound else Bound.EXACT
        return cls(pv, worker.score, worker.depth, worker.seldepth, bound, ranks.get(pv[0]) if pv else None)

    @property
    def move(self) -> int:
        """The move itself."""
        return self.pv[0]

    @property
    def rank(self) -> int:
        """The rank by the tablebases; without them all moves are equal."""
        return 0 if self.tablebase_rank is None else self.tablebase_rank.rank

    @property
    def shown_score(self) -> tuple[int, Bound]:
        """The score to report and what it bounds: the tablebases' score, unless the search has found a mate."""
        known = None if self.tablebase_rank is None else self.tablebase_rank.score
        if known is None or not self.depth or scores.is_mate(self.score):
            return self.score, self.bound
        return known, Bound.EXACT


def first_order(searcher: Any, root_moves: Iterable[RootMove]) -> list[RootMove]:
    """Root moves before anything is searched: by tablebase rank, the TT move, then the static eval after each."""
    position = searcher.position
    tt_move = searcher.table.probe(position.key) & 0xFFFF

    def key(root_move: RootMove) -> tuple[int, bool, int, int]:
        move = root_move.move
        penalty_cp = 0 if position.see_at_least(move, 0) else LOSING_MOVE_PENALTY_CP
        position.make(move)
        value = -searcher.evaluate() - penalty_cp
        position.unmake(move)
        return root_move.rank, move == tt_move, value, move

    return sorted(root_moves, key=key, reverse=True)
