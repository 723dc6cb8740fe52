"""A worker: the same on every core, with windows that open, in its own skip pattern, and stopped like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import core_or_skip, on_core
from uci_engine import score as scores
from uci_engine.core import load
from uci_engine.search.factory import new_searcher, new_searcher_on, new_worker
from uci_engine.search.thread_pool import SKIP_PATTERNS

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
# White is lost: windows fail low between scores below 0.
LOST = "r1bq1rk1/pp2ppbp/2np1np1/8/2B1P3/2N1BP2/PPP3PP/R3K2R w KQ - 3 9"


def set_up(worker: Any, fen: str, nodes: int, line: int = 0) -> Any:
    """A worker about to search one line of a position, all root moves in the order of their numbers."""
    worker.set_up(chess.Board(fen), nodes)
    root = sorted(worker.searcher.position.legal_moves())
    worker.searcher.set_root(root)
    worker.set_multipv(line, [-scores.INFINITE], [len(root)])
    return worker


def fresh_worker(fen: str, nodes: int) -> Any:
    return set_up(new_worker(load(), new_searcher(load(), 1)), fen, nodes)


# Without a manager ------------------------------------------------------------------------------------------------


def outcome(fen: str, line: int, pattern: int, nodes: int) -> list[Any]:
    """Two searches after each other on one table: what the second has found, and the nodes of both."""
    core = load()
    first = new_searcher(core, 1)
    seen: list[Any] = []
    for searcher in (first, new_searcher_on(first.table, core)):
        worker = set_up(new_worker(core, searcher), fen, nodes, line)
        worker.run(2, scores.MAX_DEPTH, SKIP_PATTERNS[pattern].size, SKIP_PATTERNS[pattern].phase)
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
    worker.run(1, scores.MAX_DEPTH, 1, 1)
    assert (worker.score, len(worker.pv())) == (scores.MATE - 3, 3)
    # What was found before is forgotten, whatever comes of the next search.
    worker.set_up(chess.Board(), 1)
    assert (worker.depth, worker.pv()) == (0, [])


def test_a_worker_ends_at_its_last_depth_and_goes_on_from_there() -> None:
    whole, parts = fresh_worker(MIDDLEGAME, 0), fresh_worker(MIDDLEGAME, 0)
    whole.run(1, 4)
    parts.run(1, 2)
    assert parts.root_depth == parts.depth == 2
    parts.run(3, 4)
    assert (parts.depth, parts.score, parts.pv()) == (whole.depth, whole.score, whole.pv())
    assert parts.searcher.nodes == whole.searcher.nodes


def test_a_line_searched_alone_is_exact_and_leaves_the_lines_to_be_set_anew() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    assert worker.search_line(3, 0, 0)
    score = worker.score
    for centre in (score - 200, score + 200):
        again = fresh_worker(MIDDLEGAME, 0)
        assert again.search_line(3, centre, 10)
        assert (again.depth, again.is_lower_bound) == (3, False)
        assert again.alpha < again.score < again.beta
    worker.stop()
    assert not worker.search_line(4, score, 0)
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


# With a manager ---------------------------------------------------------------------------------------------------


class Manager:
    """Notes what it is told, and fails where it is asked to."""

    def __init__(self, worker: Any, last_depth: int, fail: Callable[[str], bool] = lambda event: False) -> None:
        self.worker = worker
        self.last_depth = last_depth
        self.fail = fail
        self.events: list[tuple[str, int, int]] = []

    def failed_high(self) -> None:
        self._note("high")

    def line_searched(self) -> None:
        self._note("line")

    def depth_searched(self, finished: bool) -> bool:
        self._note("depth" if finished else "cut")
        return bool(self.worker.root_depth < self.last_depth)

    def _note(self, event: str) -> None:
        self.events.append((event, self.worker.root_depth, self.worker.pv_index))
        if self.fail(event):
            raise ZeroDivisionError(event)


def test_a_manager_hears_of_each_line_and_each_depth_and_can_end_the_search() -> None:
    worker = fresh_worker(MIDDLEGAME, 0)
    count = len(worker.searcher.root())
    worker.set_multipv(0, [-scores.INFINITE] * 2, [count] * 2)
    worker.manager = Manager(worker, 3)
    worker.run(1, 9)
    told = [event for event in worker.manager.events if event[0] != "high"]
    events = [("line", 0), ("line", 1), ("depth", 1)]
    assert told == [(event, depth, line) for depth in (1, 2, 3) for event, line in events]


def test_a_manager_hears_of_an_interruption() -> None:
    worker = fresh_worker(MIDDLEGAME, 300)
    worker.manager = Manager(worker, 9)
    worker.run(1, 9)
    assert [event for event, _, _ in worker.manager.events][-2:] == ["line", "cut"]
    assert worker.searcher.nodes == 300


@pytest.mark.parametrize("event", ["line", "depth", "cut", "high"])
def test_an_exception_of_the_manager_ends_the_search_and_is_raised(event: str) -> None:
    worker = fresh_worker(MIDDLEGAME, 300 if event == "cut" else 0)
    worker.searcher.aspiration_window_cp = 1
    worker.manager = Manager(worker, 30, lambda heard: heard == event)
    with pytest.raises(ZeroDivisionError, match=event):
        worker.run(1, 30)
    assert [heard for heard, _, _ in worker.manager.events].count(event) == 1
    assert worker.manager.events[-1][0] == event
    # It is raised once.
    worker.manager = None
    set_up(worker, MIDDLEGAME, 100).run(1, 2)
    assert worker.searcher.nodes > 0
