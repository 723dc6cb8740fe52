"""The search of worker 0: its lines and depths, what is reported, and when it stops."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from typing import Any

import chess
import pytest

from tests.support.kernel import MIDDLEGAME, STARTS, Outcome, first_move, is_compiled, prepare, search, searcher
from uci_engine import score as scores
from uci_engine.search.info import Info
from uci_engine.time_management import TIME_DEFAULTS, Budget, Clock

DEPTH = 6 if is_compiled() else 3
ONLY_MOVE = "6rk/8/8/8/8/8/7p/7K w - - 0 1"


@pytest.mark.parametrize("lines", [1, 2, 5, 300])
def test_lines_are_reported_once_for_each_depth_sorted_and_as_many_as_there_are(lines: int) -> None:
    board = chess.Board(MIDDLEGAME)
    outcome = search(board, depth=3, multipv=lines)
    wanted = min(lines, board.legal_moves.count())
    by_depth = [(depth, list(group)) for depth, group in itertools.groupby(outcome.infos, key=lambda info: info.depth)]
    assert [depth for depth, _ in by_depth] == [1, 2, 3]
    assert [info.nodes for info in outcome.infos] == sorted(info.nodes or 0 for info in outcome.infos)
    for _, reported in by_depth:
        assert all(info.nodes and info.seldepth for info in reported)
        assert {(info.is_lower_bound, info.wdl) for info in reported} == {(False, None)}
        assert [info.multipv for info in reported] == list(range(1, wanted + 1))
        assert len({first_move(info) for info in reported}) == wanted
        values = [info.score or 0 for info in reported]
        assert values == sorted(values, reverse=True)
    assert outcome.best == first_move(outcome.infos[-wanted])


def test_a_line_that_was_not_searched_is_not_reported() -> None:
    board = chess.Board("3q1rk1/5pbp/5Qp1/8/8/2B5/5PPP/6K1 w - - 0 1")
    for nodes in range(1, 60):
        assert all(info.depth for info in search(board, nodes=nodes, multipv=4).infos if info.multipv != 1)


def test_an_exception_of_a_report_ends_the_search_and_is_raised_once() -> None:
    def on_info(info: Info) -> None:
        if info.depth == 2:
            raise ZeroDivisionError

    manager, _ = prepare(chess.Board(MIDDLEGAME), depth=30, on_info=on_info)
    with pytest.raises(ZeroDivisionError):
        manager.run()
    assert manager.best in chess.Board(MIDDLEGAME).legal_moves
    assert search(chess.Board(MIDDLEGAME), depth=2).nodes > 0


def test_the_deepest_search_ends() -> None:
    # Bare kings: every depth is reached at once.
    outcome = search(chess.Board("8/8/4k3/8/8/3K4/8/8 w - - 0 1"), depth=100000)
    assert (outcome.last.depth, outcome.score) == (scores.MAX_DEPTH, scores.DRAW)
    # Checks cost no depth, and this side can check for ever; `search` knows the most plies.
    search(chess.Board("nn4k1/6p1/8/7Q/8/8/rr6/7K w - - 0 1"), nodes=60000 if is_compiled() else 600)


# With a clock ---------------------------------------------------------------------------------------------


def timed(fen: str, soft_ms: float, hard_ms: float = 1e6) -> tuple[Outcome, float]:
    """Search with a budget, with nobody to watch the hard limit; also how long it took, in ms."""
    clock = Clock(time.perf_counter(), Budget(soft_ms, hard_ms))
    outcome = search(chess.Board(fen), clock=clock)
    return outcome, clock.elapsed_ms()


def test_the_soft_limit_ends_the_search_between_iterations() -> None:
    outcome, _ = timed(MIDDLEGAME, 0.001)
    assert [info.depth for info in outcome.infos] == [1]
    outcome, elapsed_ms = timed(MIDDLEGAME, 60.0)
    # The last iteration begins within the largest share of the soft limit, and none is needed after the smallest.
    if len(outcome.infos) > 1:
        assert (outcome.infos[-2].time_ms or 0) <= 60.0 * TIME_DEFAULTS.soft_factor(9, 0, 1000, 0.0)
    assert elapsed_ms >= 60.0 * TIME_DEFAULTS.soft_factor(9, 9, 0, 1.0)


def test_a_single_move_and_a_mate_that_cannot_be_improved_end_a_timed_search() -> None:
    assert len(timed(ONLY_MOVE, 1e6)[0].infos) == 1
    # In an analysis the only move is searched like any other.
    assert len(search(chess.Board(ONLY_MOVE), depth=4).infos) == 4
    outcome, _ = timed("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", 1e6)
    assert outcome.score == scores.MATE - 1
    assert (outcome.last.depth or 0) <= 6


def test_thinking_on_the_opponents_time_can_be_enough() -> None:
    for soft_ms, hard_ms, enough in ((math.inf, math.inf, False), (1e6, 1e6, True), (math.inf, 1e6, False)):
        clock = Clock(time.perf_counter(), Budget(soft_ms, hard_ms), is_pondering=True)
        manager, _ = prepare(chess.Board(ONLY_MOVE), depth=3, clock=clock)
        clock.is_pondering = False
        assert not manager.is_enough()  # no depth is finished
        clock.is_pondering = True
        manager.run()
        assert not manager.is_enough()
        clock.ponderhit(time.perf_counter())
        assert manager.is_enough() == enough


@pytest.mark.parametrize(("least", "most", "enough"), [(10, 100, True), (100, 400, False)])
def test_the_time_parameters_of_the_request_decide(least: int, most: int, enough: bool) -> None:
    time_parameters = replace(TIME_DEFAULTS, time_effort_min_percent=least, time_effort_max_percent=most)
    # Begun long ago, so that a pause of this process is a small part of the time used.
    clock = Clock(time.perf_counter() - 100, Budget(1e5, 1e9), is_pondering=True)
    manager, _ = prepare(chess.Board(MIDDLEGAME), depth=8, clock=clock, time_parameters=time_parameters)
    manager.run()
    clock.ponderhit(time.perf_counter())
    assert manager.is_enough() == enough


# Reports --------------------------------------------------------------------------------------------------


def test_a_report_before_the_first_iteration_is_honest() -> None:
    manager, infos = prepare(chess.Board(MIDDLEGAME))
    manager.report()
    (info,) = infos
    assert (info.depth, info.nodes, info.seldepth, info.wdl) == (0, 0, None, None)
    assert (first_move(info), len(info.pv)) == (manager.best, 1)


def test_time_after_the_search_does_not_count_for_its_speed() -> None:
    clock = Clock(time.perf_counter())
    manager, infos = prepare(chess.Board(MIDDLEGAME), depth=2, clock=clock)
    manager.run()
    manager.report()
    # As if a second had passed.
    clock.started_at -= 1
    manager.report()
    first, second = infos[-2:]
    assert first.nps == second.nps
    assert (second.time_ms or 0) >= (first.time_ms or 0) + 1000


def test_the_current_move_is_reported_by_number_and_name() -> None:
    board = chess.Board(MIDDLEGAME)
    said: list[Info] = []
    manager: Any = None

    def on_info(info: Info) -> None:
        if info.currmove is None:
            manager.report_current_move()
        said.append(info)

    manager, _ = prepare(board, depth=3, on_info=on_info)
    manager.report_current_move()
    assert said == []
    manager.run()
    current = [info for info in said if info.currmove]
    assert current
    # Told during the report of this depth.
    assert all(info.depth == report.depth for info, report in itertools.pairwise(said) if info.currmove)
    for info in current:
        assert chess.Move.from_uci(str(info.currmove)) in board.legal_moves
        assert 1 <= (info.currmovenumber or 0) <= board.legal_moves.count()


def test_failed_windows_are_reported_as_bounds_in_a_long_search() -> None:
    machine = searcher()
    bounds = 0
    usual_cp = machine.aspiration_window_cp
    for fen in STARTS[:6]:
        # The clock has run for ten seconds already.
        manager, infos = prepare(chess.Board(fen), depth=DEPTH, clock=Clock(time.perf_counter() - 10))
        machine.aspiration_window_cp = 1
        manager.run()
        machine.aspiration_window_cp = usual_cp
        for info, following in itertools.pairwise(infos):
            if info.is_lower_bound:
                bounds += 1
                assert following.depth == info.depth
        assert not infos[-1].is_lower_bound
    # In plain Python the search is not deep enough for windows.
    assert bounds > 0 or not is_compiled()
