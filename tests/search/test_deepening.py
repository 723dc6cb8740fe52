"""Iterative deepening: the same on every core, with windows that open, a hook that ends it, and stopped at any time."""

from __future__ import annotations

from functools import cache
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import MIDDLEGAME
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.search.thread_pool import new_searcher


def fresh_searcher(fen: str, nodes: int) -> Any:
    """A searcher about to search a position, all root moves in the order of their encodings."""
    searcher = new_searcher(load(), load().table_class(1))
    searcher.begin(nodes)
    searcher.position.set_board(chess.Board(fen))
    searcher.set_root(sorted(searcher.position.legal_moves()))
    return searcher


def test_a_stop_is_remembered_until_the_next_begin() -> None:
    searcher = fresh_searcher(MIDDLEGAME, 0)
    searcher.stop()
    searcher.position.set_board(chess.Board())
    searcher.run(1, scores.MAX_DEPTH)
    assert searcher.nodes == 0
    searcher.begin(100)
    searcher.set_root(searcher.position.legal_moves())
    searcher.run(1, scores.MAX_DEPTH)
    assert searcher.nodes == 100


def test_one_depth_alone_is_exact_and_leaves_no_result_of_an_earlier_one() -> None:
    searcher = fresh_searcher(MIDDLEGAME, 0)
    searcher.half_window_cp = 0
    searcher.run(3, 3)
    assert searcher.finished
    score = searcher.score
    for centre in (score - 200, score + 200):
        again = fresh_searcher(MIDDLEGAME, 0)
        again.set_line(0, centre)
        again.half_window_cp = 10
        again.run(3, 3)
        assert again.finished
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    searcher.stop()
    searcher.clear_result()
    searcher.run(4, 4)
    assert not searcher.finished
    assert searcher.depth == 0


# Windows ----------------------------------------------------------------------------------------------------------


@cache
def searcher_for_windows() -> Any:
    """One for many windows."""
    return fresh_searcher(MIDDLEGAME, 0)


@given(st.integers(-2000, 2000), st.integers(-2000, 2000), st.integers(1, 60))
def test_a_window_opens_until_it_holds_any_score(last: int, score: int, half: int) -> None:
    searcher = searcher_for_windows()
    searcher.open_window(last, half)
    assert (searcher.alpha, searcher.beta) == (last - half, last + half)
    for _ in range(12):
        if searcher.alpha < score < searcher.beta:
            return
        alpha, beta = searcher.alpha, searcher.beta
        # A failure tells on which side the score lies, within the window of now.
        failed = min(max(score, alpha), beta)
        searcher.widen_window(failed)
        assert searcher.alpha < searcher.beta
        if failed <= alpha:
            # Rounded down on every core.
            assert searcher.beta == (alpha + beta) // 2
            assert searcher.alpha < alpha
        else:
            assert searcher.alpha == alpha
            assert searcher.beta > beta
    raise AssertionError((searcher.alpha, searcher.beta))


@pytest.mark.parametrize(
    ("last", "half"), [(17, 0), (scores.MATE - 9, 12), (9 - scores.MATE, 12), (-scores.INFINITE, 12)]
)
def test_a_window_is_open_about_a_mate_and_where_nothing_is_known(last: int, half: int) -> None:
    searcher = searcher_for_windows()
    searcher.open_window(last, half)
    assert (searcher.alpha, searcher.beta) == (-scores.INFINITE, scores.INFINITE)


# With a hook ------------------------------------------------------------------------------------------------------


def test_a_hook_ends_the_search() -> None:
    searcher = fresh_searcher(MIDDLEGAME, 0)
    searcher.run(1, 9, hook=lambda: searcher.line_depth < 3)
    assert searcher.depth == 3
    # The next search has no hook.
    searcher.run(4, 4)
    assert searcher.depth == 4


def test_an_interrupted_line_is_not_finished() -> None:
    searcher = fresh_searcher(MIDDLEGAME, 300)
    told: list[bool] = []

    def hook() -> bool:
        told.append(searcher.finished)
        return True

    searcher.run(9, 9, hook=hook)
    assert told[-1] is False
    assert searcher.nodes == 300
    searcher.stop()
    searcher.run(1, 1)
    assert (searcher.finished, searcher.has_result) == (False, False)


def test_root_moves_are_sorted_by_rank_then_tt_move_then_eval() -> None:
    searcher = fresh_searcher("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 0)
    root = searcher.root()
    order = searcher.sorted_root_moves(dict.fromkeys(root, 0))
    assert sorted(order) == sorted(root)
    assert moves.decode(order[0], False).uci() == "e4d5"
    searcher.table.store(searcher.position.key, order[-2], 0, 0, 1, 1)
    assert searcher.sorted_root_moves(dict.fromkeys(root, 0))[0] == order[-2]
    assert searcher.sorted_root_moves({**dict.fromkeys(root, 0), order[-1]: 1})[0] == order[-1]
