"""Analysis: root moves searched on their own, each in a window about its own score, so that sacrifices are not missed.

The main search only shows of each root move but the best that it is no better. It prunes what looks hopeless against
the best: quiet moves after a sacrifice, above all. Searched alone, a root move has a window about its own last score,
and the search sees what the sacrifice was for. That costs nodes, which games cannot spare and analysis can. With
several threads the analysis runs in the thread of worker 1, with one it has a share of the main search's nodes.

Invariant: a better move was searched as deep as the best line that it replaces, or its win is proved.
Invariant: with one thread the outcome depends on the request, the table and the histories alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import chess

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.root_moves import RootMove

SHARE = 0.5
"""What one thread spends on the analysis, of all its nodes."""

HALF_WINDOW_CP = 30
"""Half the window about a root move's last score."""

ASPIRATION_DEPTH = 5
"""Before this depth a root move's last score means little."""

BETTER_MARGIN_CP = 20
"""By how much a root move must beat the best line, if it is no proved win."""

CLEAR_MARGIN_CP = 100
PLIES_BEHIND = 4
"""A root move that beats the best line by so much is played in the end, though it was searched so much less deep."""

CHECK_WEIGHT = 4
CAPTURE_WEIGHT = 2
"""How much more is spent on a move that checks, captures or promotes: most combinations begin so."""


@dataclass(slots=True)
class _Analysed:
    """A root move as the analysis has seen it, and the nodes spent on it."""

    root_move: RootMove
    weight: int
    nodes: int = 0


class RootAnalysis:
    """The analysis of one search. One thread calls `run`, and another may call the rest at the same time."""

    def __init__(self, board: chess.Board, root_moves: Sequence[RootMove]) -> None:
        self.nodes = 0
        # Written by `run` alone. The thread that reads it sees the root moves before or after an assignment.
        self._analysed = [_Analysed(root_move, _weight(board, root_move.move)) for root_move in root_moves]
        self._ranks = {
            root_move.move: root_move.tablebase_rank for root_move in root_moves if root_move.tablebase_rank is not None
        }
        # Written by the other methods alone: the best line, and how deep the main search has seen each move that was
        # its best at some time.
        self._best = RootMove((0,))
        self._best_depths: dict[int, int] = {}

    def set_best(self, best: RootMove) -> None:
        """This is the best line of the main search from now on, the one to beat."""
        self._best_depths[best.move] = best.depth
        self._best = best

    def nodes_due(self, nodes: int) -> float:
        """How many more nodes the analysis may search after so many in all, its own among them."""
        return (nodes * SHARE - self.nodes) / (1 - SHARE)

    def run(self, worker: Any, most_nodes: float) -> None:
        """Search with a worker that stands at the root, until it is stopped or has spent about so many nodes more.

        Ends too when there is nothing left to search. The worker's searcher has one root move afterwards.
        """
        searcher = worker.searcher
        start = searcher.nodes
        while searcher.nodes - start < most_nodes and not (searcher.stopped or searcher.stop_wanted):
            best = self._best.move
            waiting = [
                analysed
                for analysed in self._analysed
                if analysed.root_move.move != best and analysed.root_move.depth < scores.DEEPEST
            ]
            if not waiting:
                break
            chosen = min(waiting, key=self._urgency)
            before = searcher.nodes
            self._search_deeper(worker, chosen)
            chosen.nodes += searcher.nodes - before
            self.nodes += searcher.nodes - before

    def better_move(self) -> RootMove | None:
        """The best root move that beats the best line, if any: proved, or as deep and better by a margin."""
        return self._best_of(self._best.depth, BETTER_MARGIN_CP)

    def better_move_at_end(self) -> RootMove | None:
        """The same where there is no time to search any deeper: clearly better is enough."""
        return self._best_of(max(self._best.depth - PLIES_BEHIND, ASPIRATION_DEPTH), CLEAR_MARGIN_CP)

    def _best_of(self, least_depth: int, margin_cp: int) -> RootMove | None:
        best = self._best
        better: RootMove | None = None
        if best.depth == 0:
            return None
        for root_move in [analysed.root_move for analysed in self._analysed]:
            if root_move.score >= scores.TABLEBASE_BOUND:
                beats = root_move.score > best.score
            else:
                beats = root_move.depth >= least_depth and root_move.score >= best.score + margin_cp
            # The main search has not yet seen it as deep.
            is_news = root_move.depth > self._best_depths.get(root_move.move, 0)
            if beats and is_news and (better is None or root_move.score > better.score):
                better = root_move
        return better

    def _urgency(self, analysed: _Analysed) -> tuple[bool, float]:
        """The least is searched next: what will be better if it holds as deep as the best, then what cost least."""
        root_move, best = analysed.root_move, self._best
        is_promising = root_move.score >= best.score + BETTER_MARGIN_CP and 0 < root_move.depth < best.depth
        return not is_promising, analysed.nodes / analysed.weight

    def _search_deeper(self, worker: Any, analysed: _Analysed) -> None:
        """Search one root move a ply deeper than before; an interrupted search counts for nothing."""
        last = analysed.root_move
        depth = last.depth + 1
        worker.searcher.set_root([last.move])
        if worker.search_line(depth, last.score, HALF_WINDOW_CP if depth >= ASPIRATION_DEPTH else 0):
            analysed.root_move = RootMove.of(worker, self._ranks)


def _weight(board: chess.Board, number: int) -> int:
    move = moves.decode(number, board.chess960)
    if board.gives_check(move):
        return CHECK_WEIGHT
    return CAPTURE_WEIGHT if board.is_capture(move) or move.promotion else 1
