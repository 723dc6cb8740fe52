"""Thread voting: choose the best move from the results of all threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.parameters import VOTE_BASE_CP
from uci_engine.search.root_moves import RootMove


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
