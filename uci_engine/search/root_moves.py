"""Root moves: the result of each, and thread voting, which chooses among the best ones of all threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.parameters import VOTE_BASE_CP
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


def vote(candidates: Sequence[RootMove]) -> RootMove:
    """The root move to play, chosen from the best root move of each thread. The first one wins a tie.

    The vote of each thread is its depth times the margin of its score above the worst (an idea of Stockfish, since
    version 9). A proved win is played without a vote, the shortest first. Root moves that were never searched have no
    vote, unless none was searched.
    """
    searched = [candidate for candidate in candidates if candidate.depth > 0]
    if not searched:
        return candidates[0]
    highest = max(searched, key=lambda candidate: candidate.score)
    if highest.score >= scores.TABLEBASE_BOUND:
        return highest
    lowest_cp = min(candidate.score for candidate in searched)
    votes: defaultdict[int, int] = defaultdict(int)
    for candidate in searched:
        votes[candidate.move] += (candidate.score - lowest_cp + VOTE_BASE_CP) * candidate.depth
    max_votes = max(votes.values())
    # Several threads may have chosen this move. The deepest search of it is the most reliable.
    winners = (candidate for candidate in searched if votes[candidate.move] == max_votes)
    return max(winners, key=lambda candidate: (candidate.depth, candidate.bound is Bound.EXACT))
