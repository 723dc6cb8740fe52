"""What an engine in this process finds: of a search, and of its evaluation."""

from __future__ import annotations

import time

from uci_engine.engine import UciEngine
from uci_engine.search.info import Info
from uci_engine.time_management.limits import Limits


def search(engine: UciEngine, depth: int = 4) -> tuple[int | None, int | None, list[str]]:
    """Score, nodes and principal variation of a search."""
    infos: list[Info] = []
    engine.go(Limits(depth=depth), time.perf_counter(), infos.append, lambda best: None)
    assert engine.wait(60)
    last = [info for info in infos if info.score is not None][-1]
    return last.score, last.nodes, list(last.pv)


def statics(engine: UciEngine) -> list[int]:
    """The static evaluation of the position by every worker, from the side to move's view."""
    assert engine.board is not None
    scores = []
    for searcher in engine._parts.pool._searchers():
        searcher.position.set_board(engine.board)
        scores.append(searcher.evaluate())
    return scores
