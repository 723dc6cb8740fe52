"""Root moves: the result of each, thread voting among the best ones of all threads, and their analysis.

Analysis mode: every root move is also searched alone, to find sacrifices. The main search searches all root moves but
the first with a null window, so it only proves that they are not better. After a sacrifice the static eval is far below
alpha, so quiet moves are pruned there. An aspiration window around each move's own score has no such pruning. The extra
nodes are too expensive in games. With several threads the analysis runs in the second one. With one thread it
gets a share of the main search's nodes.

Invariant: a move of `better_move` was searched as deep as the best line that it replaces, or its win is proved.
Invariant: with one thread the result depends only on the request, the table and the histories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.tablebases.root_ranking import TablebaseRank

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher

# Before the first search root moves are sorted by eval; a move that loses material by SEE has this penalty.
LOSING_MOVE_PENALTY_CP = 1000

# Thread voting: added to each score's margin above the worst, so that the worst score has a vote too. With equal scores
# depth and agreement decide.
VOTE_BASE_CP = 10

# Analysis. The share of the nodes that is spent on it with one thread.
ANALYSIS_SHARE = 0.5
# Half the width of the window around a root move's last score. Below ANALYSIS_ASPIRATION_DEPTH the window is full.
ANALYSIS_HALF_WINDOW_CP = 30
ANALYSIS_ASPIRATION_DEPTH = 5
# Margin by which a root move must beat the best line, unless it is a proved win.
ANALYSIS_MARGIN_CP = 20
# At the end of the search a root move is preferred if it is better by this margin. It may have been searched up to
# ANALYSIS_PLIES_BEHIND less deep than the best line.
ANALYSIS_CLEAR_MARGIN_CP = 100
ANALYSIS_PLIES_BEHIND = 4
# Relative number of nodes for moves that give check, and for captures and promotions. Most combinations begin with
# these. Other moves have weight 1.
ANALYSIS_CHECK_WEIGHT = 4
ANALYSIS_CAPTURE_WEIGHT = 2


@dataclass(frozen=True, slots=True)
class RootMove:
    """A root move with the PV and the score of its last search. Depth 0 means that it was never searched.

    Moves are encoded as in `board.moves`.
    """

    pv: tuple[int, ...]
    score: int = -scores.INFINITE
    depth: int = 0
    seldepth: int = 0
    is_lower_bound: bool = False
    tablebase_rank: TablebaseRank | None = None

    @classmethod
    def of(cls, searcher: Searcher, ranks: Mapping[int, TablebaseRank | None]) -> RootMove:
        """The best root move of a searcher's last result. `ranks`: the tablebase ranks by move."""
        pv = tuple(searcher.pv())
        rank = ranks.get(pv[0]) if pv else None
        return cls(pv, searcher.score, searcher.depth, searcher.seldepth, searcher.is_lower_bound, rank)

    @property
    def move(self) -> int:
        return self.pv[0]

    @property
    def rank(self) -> int:
        """The tablebase rank, 0 without tablebases."""
        return 0 if self.tablebase_rank is None else self.tablebase_rank.rank

    @property
    def shown_score(self) -> tuple[int, bool]:
        """The score to report, and whether it is a lower bound. A tablebase score replaces any score but a mate."""
        known = None if self.tablebase_rank is None else self.tablebase_rank.score
        if known is None or not self.depth or scores.is_mate(self.score):
            return self.score, self.is_lower_bound
        return known, False


def sorted_root_moves(searcher: Searcher, ranks: Mapping[int, int]) -> list[int]:
    """The root moves in the order for the first search: by tablebase rank, TT move, static eval after the move.

    `ranks`: the tablebase rank of each root move, 0 without tablebases. The position is set up.
    """
    position = searcher.position
    scores_cp = {}
    for move in ranks:
        position.make(move)
        scores_cp[move] = -searcher.evaluate()
        position.unmake(move)
        if not position.see_at_least(move, 0):
            scores_cp[move] -= LOSING_MOVE_PENALTY_CP
    tt_move = searcher.tt_move()
    return sorted(ranks, key=lambda move: (ranks[move], move == tt_move, scores_cp[move], move), reverse=True)


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
    return max(winners, key=lambda candidate: (candidate.depth, not candidate.is_lower_bound))


@dataclass(slots=True)
class _AnalysisMove:
    """A root move with the last result of its analysis and the nodes spent on it."""

    root_move: RootMove
    weight: int
    nodes: int = 0


class RootAnalysis:
    """The analysis of one search. One thread calls `run`. The other methods may be called from another thread."""

    def __init__(self, board: chess.Board, root_moves: Sequence[RootMove]) -> None:
        self.nodes = 0
        # Only `run` writes these. Each assignment replaces a whole root move, so another thread never reads a mixture.
        self._moves = [_AnalysisMove(root_move, _weight(board, root_move.move)) for root_move in root_moves]
        # Only `set_best` writes these: the best line of the main search and, for each move that has been best, the last
        # depth at which it was.
        self._best = RootMove((0,))
        self._best_depths: dict[int, int] = {}

    def set_best(self, best: RootMove) -> None:
        """Set the best line of the main search, with which the analysis compares."""
        self._best_depths[best.move] = best.depth
        self._best = best

    def nodes_due(self, nodes: int) -> float:
        """Nodes that the analysis may still search. `nodes`: the total so far, including its own."""
        return (nodes * ANALYSIS_SHARE - self.nodes) / (1 - ANALYSIS_SHARE)

    def run(self, searcher: Searcher, max_nodes: float) -> None:
        """Search with a searcher set up at the root until it is stopped or has searched about `max_nodes`.

        It also ends when there is nothing left to search. Afterwards the searcher has its root moves again, and no
        result.
        """
        root_order = searcher.root_order()
        start = searcher.nodes
        while searcher.nodes - start < max_nodes and not (searcher.stopped or searcher.stop_requested):
            best = self._best.move
            waiting = [
                entry
                for entry in self._moves
                if entry.root_move.move != best and entry.root_move.depth < scores.MAX_DEPTH
            ]
            if not waiting:
                break
            chosen = min(waiting, key=self._urgency)
            before = searcher.nodes
            self._search_deeper(searcher, chosen)
            chosen.nodes += searcher.nodes - before
            self.nodes += searcher.nodes - before
        searcher.set_root(root_order)
        searcher.clear_result()

    def better_move(self) -> RootMove | None:
        """The best root move that beats the best line, if any: a proved win, or as deep and better by a margin."""
        return self._best_of(self._best.depth, ANALYSIS_MARGIN_CP)

    def better_move_at_end(self) -> RootMove | None:
        """As `better_move`, at the end of the search: less depth is accepted for a clear margin."""
        min_depth = max(self._best.depth - ANALYSIS_PLIES_BEHIND, ANALYSIS_ASPIRATION_DEPTH)
        return self._best_of(min_depth, ANALYSIS_CLEAR_MARGIN_CP)

    def _best_of(self, min_depth: int, margin_cp: int) -> RootMove | None:
        best = self._best
        better: RootMove | None = None
        if best.depth == 0:
            return None
        for root_move in [entry.root_move for entry in self._moves]:
            if root_move.score >= scores.TABLEBASE_BOUND:
                beats = root_move.score > best.score
            else:
                beats = root_move.depth >= min_depth and root_move.score >= best.score + margin_cp
            # Skip a move that was best in the main search at this depth or a greater one.
            is_new = root_move.depth > self._best_depths.get(root_move.move, 0)
            if beats and is_new and (better is None or root_move.score > better.score):
                better = root_move
        return better

    def _urgency(self, entry: _AnalysisMove) -> tuple[bool, float]:
        """Sort key, smallest first: moves that look better than the best line but are searched less deep come first.

        Then those with the fewest nodes per weight.
        """
        root_move, best = entry.root_move, self._best
        is_promising = root_move.score >= best.score + ANALYSIS_MARGIN_CP and 0 < root_move.depth < best.depth
        return not is_promising, entry.nodes / entry.weight

    def _search_deeper(self, searcher: Searcher, entry: _AnalysisMove) -> None:
        """Search one root move one ply deeper than before. The result of an interrupted search is ignored."""
        last = entry.root_move
        depth = last.depth + 1
        half_window_cp = ANALYSIS_HALF_WINDOW_CP if depth >= ANALYSIS_ASPIRATION_DEPTH else 0
        if searcher.search_root_move(last.move, depth, last.score, half_window_cp):
            entry.root_move = RootMove.of(searcher, {last.move: last.tablebase_rank})


def _weight(board: chess.Board, encoded: int) -> int:
    move = moves.decode(encoded, board.chess960)
    if board.gives_check(move):
        return ANALYSIS_CHECK_WEIGHT
    return ANALYSIS_CAPTURE_WEIGHT if board.is_capture(move) or move.promotion else 1
