"""The vote of several searches of one position: whose line is played.

`team_search` asks when all its searches have ended. What must stay true: one search alone always elects its own line;
a line that was never searched has no vote while there is another; and the outcome depends on the lines alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.root_moves import Line

# What a vote for the worst of the lines still counts per ply, in centipawns: agreement and depth alone decide where the
# scores are the same.
BASE_CP = 10


def elect(lines: Sequence[Line]) -> Line:
    """The line to play, out of the best lines of searches of the same root; among equals the first.

    Each line votes for its first move with its depth, times how much better it scores than the worst (Stockfish's idea,
    there since version 9). A proved win needs no votes: the shortest is played.
    """
    searched = [line for line in lines if line.depth > 0]
    if not searched:
        return lines[0]
    highest = max(searched, key=lambda line: line.score)
    if highest.score >= scores.TABLEBASE_BOUND:
        return highest
    lowest_cp = min(line.score for line in searched)
    votes: defaultdict[int, int] = defaultdict(int)
    for line in searched:
        votes[line.moves[0]] += (line.score - lowest_cp + BASE_CP) * line.depth
    most = max(votes.values())
    # Of the lines that begin with the move elected the deepest tells most.
    elected = (line for line in searched if votes[line.moves[0]] == most)
    return max(elected, key=lambda line: (line.depth, line.bound is Bound.EXACT))
