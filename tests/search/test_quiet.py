"""The quiet search of a helper: the same on every core, in its own rhythm, and stopped like any other."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from tests.support.kernel import core_or_skip, on_core
from uci_engine import score as scores
from uci_engine.core import load
from uci_engine.search.deepening import new_searcher, new_searcher_on
from uci_engine.search.helper import RHYTHMS

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"


def quiet_outcome(fen: str, line_number: int, rhythm: int, nodes: int) -> list[Any]:
    """Two quiet searches after each other on one table: what the second has found, and the nodes of both."""
    core = load()
    first = new_searcher(core, 1)
    seen: list[Any] = []
    for searcher in (first, new_searcher_on(first.table, core)):
        search = core.modules["uci_engine.search.quiet"].QuietSearch(searcher)
        board = chess.Board(fen)
        searcher.position.set_board(board)
        search.set_up(board, sorted(searcher.position.legal_moves()), line_number, nodes)
        search.run(2, RHYTHMS[rhythm].stretch, RHYTHMS[rhythm].shift)
        seen.append(searcher.nodes)
    return [*seen, search.depth, search.score, search.seldepth, search.is_bound, search.line()]


@pytest.mark.parametrize("arguments", [(MIDDLEGAME, 0, 0, 1500), (MIDDLEGAME, 2, 5, 700), (MATE_IN_TWO, 0, 3, 1500)])
def test_quiet_searches_are_the_same_on_every_core(arguments: tuple[str, int, int, int]) -> None:
    core_or_skip("compiled")
    outcomes = [on_core(core, __name__, "quiet_outcome", *arguments) for core in ("compiled", "interpreted")]
    assert outcomes[0] == outcomes[1]
    first, second, depth, score, seldepth, _, moves = outcomes[0]
    assert (first, second) == (arguments[3], arguments[3])
    assert depth >= 2
    assert seldepth >= depth or scores.is_mate(score)
    assert moves


def new_search(fen: str, node_limit: int) -> Any:
    board = chess.Board(fen)
    search = load().modules["uci_engine.search.quiet"].QuietSearch(new_searcher(load(), 1))
    search.searcher.position.set_board(board)
    search.set_up(board, sorted(search.searcher.position.legal_moves()), 0, node_limit)
    return search


def test_a_quiet_search_that_was_stopped_before_does_not_begin() -> None:
    search = new_search(MIDDLEGAME, 0)
    search.searcher.stop()
    search.run(1, 1, 1)
    assert (search.depth, search.line(), search.searcher.nodes) == (0, [], 0)


def test_a_quiet_search_finds_what_there_is_to_find() -> None:
    search = new_search(MATE_IN_TWO, 20000)
    search.run(1, 1, 1)
    assert (search.score, len(search.line())) == (scores.MATE - 3, 3)
    # What was found before is forgotten, whatever comes of the next search.
    search.set_up(chess.Board(), [], 0, 1)
    assert (search.depth, search.line()) == (0, [])


def test_helpers_differ_in_rhythm_and_leave_no_depth_out_together() -> None:
    patterns = [tuple((depth + r.shift) // r.stretch % 2 for depth in range(5, 21)) for r in RHYTHMS]
    assert len(set(patterns)) == len(RHYTHMS) == 20
    for pattern in patterns:
        assert 0 < sum(pattern) < len(pattern)
    for searched in zip(*patterns, strict=True):
        assert 0 < sum(searched) < len(searched)
