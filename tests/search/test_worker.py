"""A worker: the same on every core, with windows that open, in its own skip pattern, and stopped like any other."""

from __future__ import annotations

from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import core_or_skip, on_core
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.search.manager import SKIP_PATTERNS
from uci_engine.search.thread_pool import new_searcher, new_worker

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
# White is lost: windows fail low between scores below 0.
LOST = "r1bq1rk1/pp2ppbp/2np1np1/8/2B1P3/2N1BP2/PPP3PP/R3K2R w KQ - 3 9"


def set_up(worker: Any, fen: str, nodes: int) -> Any:
    """A worker about to search a position, all root moves in the order of their encodings."""
    worker.reset(nodes)
    worker.searcher.position.set_board(chess.Board(fen))
    worker.searcher.set_root(sorted(worker.searcher.position.legal_moves()))
    return worker


def fresh_worker(fen: str, nodes: int) -> Any:
    return set_up(new_worker(load(), new_searcher(load(), load().table_class(1))), fen, nodes)


# Iterative deepening ----------------------------------------------------------------------------------------------


def outcome(fen: str, line: int, pattern: int, nodes: int) -> list[Any]:
    """Two searches after each other on one table: what the second has found, and the nodes of both."""
    core = load()
    first = new_searcher(core, core.table_class(1))
    seen: list[Any] = []
    for searcher in (first, new_searcher(core, first.table)):
        worker = set_up(new_worker(core, searcher), fen, nodes)
        size, phase = SKIP_PATTERNS[pattern]
        worker.run(2, scores.MAX_DEPTH, line, skip_size=size, skip_phase=phase)
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
    worker.run(1, scores.MAX_DEPTH, skip_size=1, skip_phase=1)
    assert (worker.score, len(worker.pv())) == (scores.MATE - 3, 3)
    # What was found before is forgotten, whatever comes of the next search.
    worker.reset(1)
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
    worker.run(3, 3, half_window_cp=0)
    assert worker.finished
    score = worker.score
    for centre in (score - 200, score + 200):
        again = fresh_worker(MIDDLEGAME, 0)
        again.set_line(0, centre)
        again.run(3, 3, half_window_cp=10)
        assert again.finished
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    worker.stop()
    worker.clear_result()
    worker.run(4, 4)
    assert not worker.finished
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


# With a hook ------------------------------------------------------------------------------------------------------


def test_a_hook_sees_every_fail_high_and_every_line_and_changes_nothing() -> None:
    whole, told = fresh_worker(MIDDLEGAME, 0), fresh_worker(MIDDLEGAME, 0)
    for worker in (whole, told):
        worker.searcher.aspiration_window_cp = 1
    seen: list[tuple[int, int]] = []
    fail_highs = 0

    def hook() -> bool:
        nonlocal fail_highs
        assert told.has_result
        assert told.failed_high == told.is_lower_bound
        if told.failed_high:
            assert not told.finished
            fail_highs += 1
        else:
            assert told.finished
            seen.append((told.line_depth, told.pv_index))
        return True

    whole.run(1, 6)
    told.run(1, 6, hook=hook)
    assert seen == [(depth, 0) for depth in range(1, 7)]
    assert fail_highs > 0
    assert (told.depth, told.score, told.pv()) == (whole.depth, whole.score, whole.pv())
    assert told.searcher.nodes == whole.searcher.nodes


def test_lines_are_searched_in_order_at_every_depth() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    seen: list[tuple[int, int, str]] = []

    def hook() -> bool:
        if worker.finished:
            seen.append((worker.line_depth, worker.pv_index, worker.pv()[0]))
            assert worker.searcher.root()[worker.pv_index] == worker.pv()[0]
        return True

    worker.run(1, 3, lines=2, hook=hook)
    assert [(depth, line) for depth, line, _ in seen] == [(depth, line) for depth in (1, 2, 3) for line in (0, 1)]
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert first[2] != second[2]


def test_a_hook_ends_the_search() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    worker.run(1, 9, hook=lambda: worker.line_depth < 3)
    assert worker.depth == 3
    # The next search has no hook.
    worker.run(4, 4)
    assert worker.depth == 4


def test_an_exception_of_a_hook_ends_the_search_and_is_raised_once() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)

    def fail() -> bool:
        raise ZeroDivisionError("by design")

    with pytest.raises(ZeroDivisionError, match="by design"):
        worker.run(2, 9, hook=fail)
    assert worker.depth == 2
    worker.run(3, 3)
    assert worker.depth == 3


def test_a_hook_may_search() -> None:
    alone, told = fresh_worker(MIDDLEGAME, 0), fresh_worker(MIDDLEGAME, 0)
    nodes = []

    def hook() -> bool:
        if told.finished:
            order, score = told.searcher.root(), told.score
            told.searcher.set_root(order[-1:])
            told.clear_result()
            told.run(1, 1)
            nodes.append(told.searcher.nodes)
            told.searcher.set_root(order)
            told.set_line(0, score)
        return True

    alone.run(1, 3)
    told.run(1, 3, hook=hook)
    assert len(nodes) == 3
    assert told.searcher.nodes > alone.searcher.nodes


def test_a_line_leaves_out_the_moves_before_it_and_behind_its_end() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    root = worker.searcher.root()
    worker.set_line(3, -scores.INFINITE, 6)
    worker.run(2, 2, first_line=3)
    assert worker.pv()[0] in root[3:6]
    assert worker.searcher.root()[3] == worker.pv()[0]
    assert [*worker.searcher.root()[:3], *worker.searcher.root()[6:]] == [*root[:3], *root[6:]]


def test_an_interrupted_line_is_not_finished() -> None:
    worker = fresh_worker(MIDDLEGAME, 300)
    told: list[bool] = []

    def hook() -> bool:
        told.append(worker.finished)
        return True

    worker.set_line(0, 0)
    worker.run(9, 9, hook=hook)
    assert told[-1] is False
    assert worker.searcher.nodes == 300
    worker.stop()
    worker.run(1, 1)
    assert (worker.finished, worker.has_result) == (False, False)


def test_root_moves_are_sorted_by_rank_then_tt_move_then_eval() -> None:
    worker = fresh_worker("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 0)
    root = worker.searcher.root()
    order = worker.sorted_root_moves(root, {})
    assert sorted(order) == sorted(root)
    assert moves.decode(order[0], False).uci() == "e4d5"
    worker.searcher.table.store(worker.searcher.position.key, order[-2], 0, 0, 1, 1)
    assert worker.sorted_root_moves(root, {})[0] == order[-2]
    assert worker.sorted_root_moves(root, {order[-1]: 1})[0] == order[-1]
