"""Thread voting: which thread's root move is played."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.root_moves import RootMove

# The worst score still votes with so many centipawns per ply: where all scores are equal, depth and agreement decide.
BASE_CP = 10


def vote(candidates: Sequence[RootMove]) -> RootMove:
    """The root move to play, out of the best root moves of each thread; among equals the first.

    Each votes for its move with its depth, times how much better it scores than the worst (Stockfish's idea, there
    since version 9). A proved win needs no votes: the shortest is played. A root move that was never searched has no
    vote while there is another.
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
        votes[candidate.move] += (candidate.score - lowest_cp + BASE_CP) * candidate.depth
    most = max(votes.values())
    # The deepest search of the move that was voted for tells most about it.
    winners = (candidate for candidate in searched if votes[candidate.move] == most)
    return max(winners, key=lambda candidate: (candidate.depth, candidate.bound is Bound.EXACT))
