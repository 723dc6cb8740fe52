"""What another engine expects of positions, on the scale of the site."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import chess
from chess.engine import Limit, SimpleEngine

from uci_engine.game_analysis.judgement import MAX_SITE_CP, site_expected

# Longer than any search: an engine that hangs is given up.
PATIENCE_SECONDS = 60.0
# The site's centipawns in one of Stockfish 15.1.
STOCKFISH_SITE_CP = 1.6


@cache
def started(command: Sequence[str]) -> SimpleEngine:
    """The engine of this process, which ends with it. Raises OSError."""
    return SimpleEngine.popen_uci(list(command))


def expected(
    engine: SimpleEngine, nodes: int, board: chess.Board, game: object, moves: list[chess.Move] | None = None
) -> float:
    """What the side to move may expect, from 0 to 1; with `moves` of these alone. `game`: as for python-chess."""
    info = engine.analyse(board, Limit(nodes=nodes, time=PATIENCE_SECONDS), game=game, root_moves=moves)
    return site_expected(STOCKFISH_SITE_CP * info["score"].pov(board.turn).score(mate_score=MAX_SITE_CP))
