"""Scouting: root moves searched one by one, each by its own measure, so that no sacrifice is hidden by its price.

The search proper shows of every root move but the best only that it is no better, and gives up what seems hopeless
against the best: quiet moves after a sacrifice, above all. A `Scout` searches a move alone, with a window about that
move's own last score, and so sees what the sacrifice was for. That costs nodes, which games cannot spare and analysis
can: `deepening` has a scout when the request is one for analysis. With helpers the scout looks from a helper's thread,
without any it has a share of the main search's nodes.

What must stay true: a find is only a proposal, which the main search looks at first in its next depth; what that depth
refutes is not proposed again before it was searched deeper; and with one thread the outcome depends on the request, the
table and the histories alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import chess

from uci_engine import score as scores
from uci_engine.core import moves
from uci_engine.line import Line, Window

SHARE = 0.5
"""What one thread spends on scouting, of all its nodes."""

WINDOW_CP = 30
"""Half the window about a move's last score."""

FIRST_NARROW_DEPTH = 5
"""Before this depth a move's last score means little."""

FIND_MARGIN_CP = 20
"""By how much a find must beat the best line."""

FIND_DEPTH_BEHIND = 4
"""A find, but for a mate, was searched at most so many plies less deep than the best line."""

CHECK_WEIGHT = 4
CAPTURE_WEIGHT = 2
"""How much more is spent on a move that checks, captures or promotes: most combinations begin so."""

DEEPEST = scores.MAX_PLY - 8


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
        self._seen = [_Seen(move, _weight(board, move), Line([move])) for move in root_moves]
        self._rival = Line([0])
        self._proposed = 0
        # What is better than the rival, as far as is known.
        self._find: Line | None = None

    def challenge(self, rival: Line) -> None:
        """The main search has finished a depth: this is the line to beat, and a move proposed before was looked at."""
        if self._proposed and self._proposed != rival.moves[0]:
            for seen in self._seen:
                if seen.move == self._proposed and seen.line.depth <= rival.depth:
                    seen.line = Line(seen.line.moves, min(seen.line.score, rival.score), rival.depth)
        self._proposed = 0
        self._rival = rival
        self._weigh()

    def due(self, nodes: int) -> float:
        """How many nodes more are the scout's, when so many were searched in all, its own among them."""
        return (nodes - self.nodes) * SHARE / (1 - SHARE) - self.nodes

    def look(self, searcher: Any, most_nodes: float) -> None:
        """Search with a searcher that stands at the root, until it is stopped or has spent about so many nodes more."""
        start = searcher.nodes
        while searcher.nodes - start < most_nodes and not searcher.stopped:
            best = self._rival.moves[0]
            others = [seen for seen in self._seen if seen.move != best and seen.line.depth < DEEPEST]
            if not others:
                break
            chosen = min(others, key=self._urgency)
            before = searcher.nodes
            line = _search_alone(searcher, chosen)
            chosen.nodes += searcher.nodes - before
            self.nodes += searcher.nodes - before
            # The main search may have looked deeper meanwhile.
            if line is not None and line.depth >= chosen.line.depth:
                chosen.line = line
                self._weigh()

    @property
    def find(self) -> Line | None:
        """The best line that beats the rival, if there is one."""
        return self._find

    def propose(self) -> Line | None:
        """The find, for the main search to look at in its next depth."""
        find = self._find
        self._proposed = find.moves[0] if find is not None else 0
        return find

    def _urgency(self, seen: _Seen) -> tuple[bool, float]:
        """The least comes first: what promises to beat the rival, then what least was spent on."""
        promising = seen.line.depth > 0 and seen.line.score > self._rival.score and seen.line.depth < self._rival.depth
        return not promising, seen.nodes / seen.weight

    def _weigh(self) -> None:
        rival = self._rival
        finds = [seen.line for seen in self._seen if seen.move != rival.moves[0] and _beats(seen.line, rival)]
        self._find = max(finds, key=lambda line: line.score, default=None)


def _beats(line: Line, rival: Line) -> bool:
    """Whether a line is clearly better than the rival, and searched well enough to say so."""
    if line.depth == 0 or line.score < rival.score + FIND_MARGIN_CP:
        return False
    return line.depth >= rival.depth - FIND_DEPTH_BEHIND or scores.is_mate(line.score)


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
