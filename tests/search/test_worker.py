"""A worker: the same on every core, with windows that open, in its own skip pattern, and stopped like any other."""

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


def fresh_worker(fen: str, nodes: int) -> Any:
    """A worker about to search a position, all root moves in the order of their encodings."""
    worker = load().worker(load().searcher(load().table_class(1)))
    worker.reset(nodes)
    worker.searcher.position.set_board(chess.Board(fen))
    worker.searcher.set_root(sorted(worker.searcher.position.legal_moves()))
    return worker


# Iterative deepening ----------------------------------------------------------------------------------------------


def test_a_stop_is_remembered_until_the_next_reset() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    worker.stop()
    worker.searcher.position.set_board(chess.Board())
    worker.run(1, scores.MAX_DEPTH)
    assert worker.searcher.nodes == 0
    worker.reset(100)
    worker.searcher.set_root(worker.searcher.position.legal_moves())
    worker.run(1, scores.MAX_DEPTH)
    assert worker.searcher.nodes == 100


def test_one_depth_alone_is_exact_and_leaves_no_result_of_an_earlier_one() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    worker.half_window_cp = 0
    worker.run(3, 3)
    assert worker.finished
    score = worker.score
    for centre in (score - 200, score + 200):
        again = fresh_worker(MIDDLEGAME, 0)
        again.set_line(0, centre)
        again.half_window_cp = 10
        again.run(3, 3)
        assert again.finished
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    worker.stop()
    worker.clear_result()
    worker.run(4, 4)
    assert not worker.finished
    assert worker.depth == 0


# Windows ----------------------------------------------------------------------------------------------------------


@cache
def worker_for_windows() -> Any:
    """One worker for many windows."""
    return fresh_worker(MIDDLEGAME, 0)


@given(st.integers(-2000, 2000), st.integers(-2000, 2000), st.integers(1, 60))
def test_a_window_opens_until_it_holds_any_score(last: int, score: int, half: int) -> None:
    worker = worker_for_windows()
    worker.open_window(last, half)
    assert (worker.alpha, worker.beta) == (last - half, last + half)
    for _ in range(12):
        if worker.alpha < score < worker.beta:
            return
        alpha, beta = worker.alpha, worker.beta
        # A failure tells on which side the score lies, within the window of now.
        failed = min(max(score, alpha), beta)
        worker.widen_window(failed)
        assert worker.alpha < worker.beta
        if failed <= alpha:
            # Rounded down on every core.
            assert worker.beta == (alpha + beta) // 2
            assert worker.alpha < alpha
        else:
            assert worker.alpha == alpha
            assert worker.beta > beta
    raise AssertionError((worker.alpha, worker.beta))


@pytest.mark.parametrize(
    ("last", "half"), [(17, 0), (scores.MATE - 9, 12), (9 - scores.MATE, 12), (-scores.INFINITE, 12)]
)
def test_a_window_is_open_about_a_mate_and_where_nothing_is_known(last: int, half: int) -> None:
    worker = worker_for_windows()
    worker.open_window(last, half)
    assert (worker.alpha, worker.beta) == (-scores.INFINITE, scores.INFINITE)


# With a hook ------------------------------------------------------------------------------------------------------


def test_a_hook_ends_the_search() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    worker.run(1, 9, hook=lambda: worker.line_depth < 3)
    assert worker.depth == 3
    # The next search has no hook.
    worker.run(4, 4)
    assert worker.depth == 4


def test_an_interrupted_line_is_not_finished() -> None:
    worker = fresh_worker(MIDDLEGAME, 300)
    told: list[bool] = []

    def hook() -> bool:
        told.append(worker.finished)
        return True

    worker.run(9, 9, hook=hook)
    assert told[-1] is False
    assert worker.searcher.nodes == 300
    worker.stop()
    worker.run(1, 1)
    assert (worker.finished, worker.has_result) == (False, False)


def test_root_moves_are_sorted_by_rank_then_tt_move_then_eval() -> None:
    worker = fresh_worker("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 0)
    root = worker.searcher.root()
    order = worker.sorted_root_moves(dict.fromkeys(root, 0))
    assert sorted(order) == sorted(root)
    assert moves.decode(order[0], False).uci() == "e4d5"
    worker.searcher.table.store(worker.searcher.position.key, order[-2], 0, 0, 1, 1)
    assert worker.sorted_root_moves(dict.fromkeys(root, 0))[0] == order[-2]
    assert worker.sorted_root_moves({**dict.fromkeys(root, 0), order[-1]: 1})[0] == order[-1]
