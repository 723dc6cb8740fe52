"""Scouting: root moves searched one by one, each by its own measure, so that no sacrifice is hidden by its price.

The search proper shows of every root move but the best only that it is no better, and gives up what seems hopeless
against the best: quiet moves after a sacrifice, above all. A `Scout` searches a move alone, with a window about that
move's own last score, and so sees what the sacrifice was for. That costs nodes, which games cannot spare and analysis
can: `deepening` has a scout when the request is one for analysis. With helpers the scout looks from a helper's thread,
without any it has a share of the main search's nodes.

What must stay true: a find was searched as deep as the best line that it replaces, or is proved; and with one thread
the outcome depends on the request, the table and the histories alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import chess

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.root_moves import Line, Window

SHARE = 0.5
"""What one thread spends on scouting, of all its nodes."""

WINDOW_CP = 30
"""Half the window about a move's last score."""

FIRST_NARROW_DEPTH = 5
"""Before this depth a move's last score means little."""

FIND_MARGIN_CP = 20
"""By how much a find must beat the best line, if it is not proved."""

CLEAR_MARGIN_CP = 100
PLIES_BEHIND = 4
"""What beats the best line by so much is played in the end though it was searched a few plies less deep."""

CHECK_WEIGHT = 4
CAPTURE_WEIGHT = 2
"""How much more is spent on a move that checks, captures or promotes: most combinations begin so."""


@dataclass(slots=True)
class _Seen:
    """What a scout knows of a root move: its line, and the nodes spent on it."""

    move: int
    weight: int
    line: Line
    nodes: int = 0


class Scout:
    """Looks at the root moves of one search. `look` may run in one thread while another calls the rest."""

    def __init__(self, board: chess.Board, root_moves: Iterable[int]) -> None:
        """`root_moves`: legal and distinct, as the core writes them."""
        self.nodes = 0
        # Written by `look` alone; the other fields by its callers.
        self._seen = [_Seen(move, _weight(board, move), Line([move])) for move in root_moves]
        self._rival = Line([0])
        # How deep the main search has seen each move that was once its best.
        self._known: dict[int, int] = {}

    def challenge(self, rival: Line) -> None:
        """This is the main search's best line now, the one to beat."""
        self._known[rival.moves[0]] = rival.depth
        self._rival = rival

    def due(self, nodes: int) -> float:
        """How many nodes more are the scout's, when so many were searched in all, its own among them."""
        return (nodes * SHARE - self.nodes) / (1 - SHARE)

    def look(self, searcher: Any, most_nodes: float) -> None:
        """Search with a searcher that stands at the root, until it is stopped or has spent about so many nodes more.

        Ends too when nothing is left to look at. The searcher's root has one move afterwards.
        """
        start = searcher.nodes
        while searcher.nodes - start < most_nodes and not (searcher.stopped or searcher.stop_wanted):
            best = self._rival.moves[0]
            others = [seen for seen in self._seen if seen.move != best and seen.line.depth < scores.DEEPEST]
            if not others:
                break
            chosen = min(others, key=self._urgency)
            before = searcher.nodes
            line = _search_alone(searcher, chosen)
            chosen.nodes += searcher.nodes - before
            self.nodes += searcher.nodes - before
            if line is not None:
                chosen.line = line

    def find(self) -> Line | None:
        """The best line that beats the rival, if there is one: proved, or as deep and better by a margin."""
        return self._best_of(self._rival.depth, FIND_MARGIN_CP)

    def last_find(self) -> Line | None:
        """The same where there is no time to look any deeper: clearly better is enough."""
        return self._best_of(max(self._rival.depth - PLIES_BEHIND, FIRST_NARROW_DEPTH), CLEAR_MARGIN_CP)

    def _best_of(self, least_depth: int, margin_cp: int) -> Line | None:
        rival = self._rival
        best: Line | None = None
        if rival.depth == 0:
            return best
        for seen in self._seen:
            line = seen.line
            if line.score >= scores.TABLEBASE_BOUND:
                beats = line.score > rival.score
            else:
                beats = line.depth >= least_depth and line.score >= rival.score + margin_cp
            is_news = line.depth > self._known.get(seen.move, 0)
            if beats and is_news and (best is None or line.score > best.score):
                best = line
        return best

    def _urgency(self, seen: _Seen) -> tuple[bool, float]:
        """The least comes first: what will be a find if it holds as deep as the rival, then what least was spent on."""
        line = seen.line
        promising = line.score >= self._rival.score + FIND_MARGIN_CP and 0 < line.depth < self._rival.depth
        return not promising, seen.nodes / seen.weight


def _search_alone(searcher: Any, seen: _Seen) -> Line | None:
    """Search one root move a ply deeper than before; None when interrupted. Leaves it as the searcher's only one."""
    depth = seen.line.depth + 1
    window = Window(seen.line, WINDOW_CP, depth >= FIRST_NARROW_DEPTH)
    searcher.set_root([seen.move])
    while True:
        score = searcher.search_root(depth, window.alpha, window.beta, 0)
        if searcher.stopped:
            return None
        if window.holds(score):
            return Line(searcher.line(), score, depth, searcher.seldepth)
        window.widen(score)


def _weight(board: chess.Board, number: int) -> int:
    move = moves.decode(number, board.chess960)
    if board.gives_check(move):
        return CHECK_WEIGHT
    return CAPTURE_WEIGHT if board.is_capture(move) or move.promotion else 1
