"""A worker: the same on every core, with windows that open, in its own skip pattern, and stopped like any other."""

from __future__ import annotations

from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import core_or_skip, on_core
from uci_engine import score as scores
from uci_engine.core import load
from uci_engine.search.factory import new_searcher, new_searcher_on, new_worker
from uci_engine.search.parallel_search import SKIP_PATTERNS

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
# White is lost: windows fail low between scores below 0.
LOST = "r1bq1rk1/pp2ppbp/2np1np1/8/2B1P3/2N1BP2/PPP3PP/R3K2R w KQ - 3 9"


def set_up(worker: Any, fen: str, nodes: int) -> Any:
    """A worker about to search a position, all root moves in the order of their encodings."""
    worker.set_up(chess.Board(fen), nodes)
    worker.searcher.set_root(sorted(worker.searcher.position.legal_moves()))
    return worker


def fresh_worker(fen: str, nodes: int) -> Any:
    return set_up(new_worker(load(), new_searcher(load(), 1)), fen, nodes)


# Iterative deepening ----------------------------------------------------------------------------------------------


def outcome(fen: str, line: int, pattern: int, nodes: int) -> list[Any]:
    """Two searches after each other on one table: what the second has found, and the nodes of both."""
    core = load()
    first = new_searcher(core, 1)
    seen: list[Any] = []
    for searcher in (first, new_searcher_on(first.table, core)):
        worker = set_up(new_worker(core, searcher), fen, nodes)
        worker.run(2, scores.MAX_DEPTH, line, SKIP_PATTERNS[pattern].size, SKIP_PATTERNS[pattern].phase)
        seen.append(searcher.nodes)
    return [*seen, worker.depth, worker.score, worker.seldepth, worker.is_lower_bound, worker.pv()]


@pytest.mark.parametrize(
    "arguments", [(MIDDLEGAME, 0, 0, 1500), (MIDDLEGAME, 2, 5, 700), (MATE_IN_TWO, 0, 3, 1500), (LOST, 1, 2, 3000)]
)
def test_workers_search_the_same_on_every_core(arguments: tuple[str, int, int, int]) -> None:
    core_or_skip("compiled")
    outcomes = [on_core(core, __name__, "outcome", *arguments) for core in ("compiled", "interpreted")]
    assert outcomes[0] == outcomes[1]
    first, second, depth, score, seldepth, _, pv = outcomes[0]
    assert (first, second) == (arguments[3], arguments[3])
    assert depth >= 2
    assert seldepth >= depth or scores.is_mate(score)
    assert pv


def test_a_worker_that_was_stopped_before_does_not_begin() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    worker.stop()
    worker.run(1, scores.MAX_DEPTH)
    assert (worker.depth, worker.pv(), worker.searcher.nodes) == (0, [], 0)


def test_a_worker_finds_what_there_is_to_find() -> None:
    worker = fresh_worker(MATE_IN_TWO, 20000)
    worker.run(1, scores.MAX_DEPTH, 0, 1, 1)
    assert (worker.score, len(worker.pv())) == (scores.MATE - 3, 3)
    # What was found before is forgotten, whatever comes of the next search.
    worker.set_up(chess.Board(), 1)
    assert (worker.depth, worker.pv()) == (0, [])


def test_a_worker_ends_at_its_last_depth_and_goes_on_from_there() -> None:
    whole, parts = fresh_worker(MIDDLEGAME, 0), fresh_worker(MIDDLEGAME, 0)
    whole.run(1, 4)
    parts.run(1, 2)
    assert parts.depth == 2
    parts.run(3, 4)
    assert (parts.depth, parts.score, parts.pv()) == (whole.depth, whole.score, whole.pv())
    assert parts.searcher.nodes == whole.searcher.nodes


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
    assert worker.search_move(3, 0, 0)
    score = worker.score
    for centre in (score - 200, score + 200):
        again = fresh_worker(MIDDLEGAME, 0)
        assert again.search_move(3, centre, 10)
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    worker.stop()
    assert not worker.search_move(4, score, 0)
    assert worker.depth == 0


# Windows ----------------------------------------------------------------------------------------------------------


@given(st.integers(-2000, 2000), st.integers(-2000, 2000), st.integers(1, 60))
def test_a_window_opens_until_it_holds_any_score(last: int, score: int, half: int) -> None:
    worker = fresh_worker_for_windows()
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


@pytest.mark.parametrize(("score", "half"), [(17, 0), (scores.MATE - 9, 12), (9 - scores.MATE, 12)])
def test_a_window_is_open_about_a_mate_and_where_nothing_is_known(score: int, half: int) -> None:
    worker = fresh_worker_for_windows()
    for last in (score, -scores.INFINITE):
        worker.open_window(last, half if last == score else 12)
        assert (worker.alpha, worker.beta) == (-scores.INFINITE, scores.INFINITE)


_workers: list[Any] = []


def fresh_worker_for_windows() -> Any:
    """One worker for many windows."""
    if not _workers:
        _workers.append(fresh_worker(MIDDLEGAME, 0))
    return _workers[0]


# Window by window -------------------------------------------------------------------------------------------------


def test_windows_one_by_one_are_the_search_of_a_line() -> None:
    whole, parts = fresh_worker(MIDDLEGAME, 0), fresh_worker(MIDDLEGAME, 0)
    for worker in (whole, parts):
        worker.searcher.aspiration_window_cp = 1
    whole.run(1, 6)
    failures = {"low": 0, "high": 0}
    for depth in range(1, 7):
        parts.begin_line(depth, 0, len(parts.searcher.root()), parts.score)
        assert not parts.has_result
        while parts.search_window():
            assert not parts.finished
            failures["high" if parts.failed_high else "low"] += 1
            if parts.failed_high:
                assert parts.has_result
                assert parts.is_lower_bound
        assert parts.finished
        assert (parts.has_result, parts.failed_high, parts.is_lower_bound) == (True, False, False)
    assert min(failures.values()) > 0
    assert (parts.depth, parts.score, parts.pv()) == (whole.depth, whole.score, whole.pv())
    assert parts.searcher.nodes == whole.searcher.nodes


def test_a_line_leaves_out_the_moves_before_it_and_behind_its_end() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    root = worker.searcher.root()
    worker.begin_line(2, 3, 6, -scores.INFINITE)
    while worker.search_window():
        pass
    assert worker.pv()[0] in root[3:6]
    assert worker.searcher.root()[3] == worker.pv()[0]
    assert [*worker.searcher.root()[:3], *worker.searcher.root()[6:]] == [*root[:3], *root[6:]]


def test_an_interrupted_line_is_not_finished() -> None:
    worker = fresh_worker(MIDDLEGAME, 300)
    worker.begin_line(9, 0, len(worker.searcher.root()), 0)
    while worker.search_window():
        pass
    assert not worker.finished
    assert worker.searcher.nodes == 300
    worker.stop()
    worker.begin_line(1, 0, len(worker.searcher.root()), 0)
    assert not worker.search_window()
    assert (worker.finished, worker.has_result) == (False, False)
