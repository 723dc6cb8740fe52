"""The search of worker 0: its lines and depths, what is reported, and when it stops."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from typing import Any

import chess
import pytest

from tests.support.kernel import (
    STARTS,
    Request,
    is_compiled,
    new_manager,
    prepare,
    search,
    searcher,
)
from uci_engine import score as scores
from uci_engine.search.info import Bound, Info
from uci_engine.search.manager import SearchManager
from uci_engine.time_management import TIME_DEFAULTS, Budget
from uci_engine.time_management import Clock

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
DEPTH = 6 if is_compiled() else 3


def test_every_depth_is_reported_once() -> None:
    infos = search(Request(chess.Board(MIDDLEGAME), depth=DEPTH)).infos
    assert [info.depth for info in infos] == list(range(1, DEPTH + 1))
    for info in infos:
        assert (info.multipv, info.bound, info.wdl) == (1, Bound.EXACT, None)
        assert info.nodes
        assert info.seldepth
    assert [info.nodes for info in infos] == sorted(info.nodes or 0 for info in infos)


@pytest.mark.parametrize("lines", [1, 2, 5, 300])
def test_lines_are_distinct_sorted_and_as_many_as_there_are(lines: int) -> None:
    board = chess.Board(MIDDLEGAME)
    depth = min(DEPTH, 3)
    outcome = search(Request(board, depth=depth, multipv=lines))
    wanted = min(lines, board.legal_moves.count())
    for _, group in itertools.groupby(outcome.infos, key=lambda info: info.depth):
        reported = list(group)
        assert [info.multipv for info in reported] == list(range(1, wanted + 1))
        assert len({info.pv[0] for info in reported}) == wanted
        values = [info.score or 0 for info in reported]
        assert values == sorted(values, reverse=True)
    assert outcome.best.uci() == outcome.infos[-wanted].pv[0]


def test_a_line_that_was_not_searched_is_not_reported() -> None:
    board = chess.Board("3q1rk1/5pbp/5Qp1/8/8/2B5/5PPP/6K1 w - - 0 1")
    for nodes in range(1, 60):
        infos = search(Request(board, nodes=nodes, multipv=4)).infos
        assert all(info.depth for info in infos if info.multipv != 1)


def test_an_exception_of_a_report_ends_the_search_and_is_raised() -> None:
    def on_info(info: Info) -> None:
        if info.depth == 2:
            raise ZeroDivisionError("by design")

    main = new_manager(Request(chess.Board(MIDDLEGAME), depth=30), on_info)
    with pytest.raises(ZeroDivisionError, match="by design"):
        main.run()
    assert main.best in chess.Board(MIDDLEGAME).legal_moves
    # It is raised once, and the worker can search again.
    assert search(Request(chess.Board(MIDDLEGAME), depth=2)).nodes > 0


def test_the_deepest_search_ends() -> None:
    # Bare kings: every depth is reached at once.
    board = chess.Board("8/8/4k3/8/8/3K4/8/8 w - - 0 1")
    outcome = search(Request(board, depth=100000))
    assert outcome.infos[-1].depth == scores.MAX_DEPTH
    assert outcome.score == scores.DRAW


def test_a_search_without_end_stays_within_its_plies() -> None:
    # Checks cost no depth, and this side can check for ever.
    board = chess.Board("nn4k1/6p1/8/7Q/8/8/rr6/7K w - - 0 1")
    outcome = search(Request(board, nodes=60000 if is_compiled() else 600))
    assert all((info.seldepth or 0) <= scores.MAX_PLY for info in outcome.infos)
    assert outcome.best in board.legal_moves


# With a clock ---------------------------------------------------------------------------------------------


def timed(board: chess.Board, soft_ms: float, hard_ms: float) -> tuple[SearchManager, list[Info], float]:
    """Search with a budget, with nobody to watch the hard limit; returns the milliseconds it took, too."""
    clock = Clock(time.perf_counter(), Budget(soft_ms, hard_ms))
    main, infos = prepare(Request(board), clock)
    main.run()
    return main, infos, clock.elapsed_ms()


def test_the_soft_limit_ends_the_search_between_iterations() -> None:
    main, infos, _ = timed(chess.Board(MIDDLEGAME), 0.001, 1e6)
    assert [info.depth for info in infos] == [1]
    assert main.best.uci() == infos[-1].pv[0]
    _, infos, elapsed = timed(chess.Board(MIDDLEGAME), 60.0, 1e6)
    # The last iteration begins within the largest share of the soft limit, and none is needed after the smallest.
    if len(infos) > 1:
        assert (infos[-2].time_ms or 0) <= 60.0 * TIME_DEFAULTS.soft_factor(9, 0, 1000, 0.0)
    assert elapsed >= 60.0 * TIME_DEFAULTS.soft_factor(9, 9, 0, 1.0)


def test_a_single_move_is_played_at_once_when_the_clock_runs() -> None:
    board = chess.Board("6rk/8/8/8/8/8/7p/7K w - - 0 1")
    assert board.legal_moves.count() == 1
    _, infos, _ = timed(board, 1e6, 1e6)
    assert len(infos) == 1
    # In an analysis the only move is searched like any other.
    assert len(search(Request(board, depth=4)).infos) == 4


def test_a_mate_that_cannot_be_improved_ends_a_timed_search() -> None:
    main, infos, _ = timed(chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"), 1e6, 1e6)
    assert main._lines[0].score == scores.MATE - 1
    assert (infos[-1].depth or 0) <= 6


def test_thinking_on_the_opponents_time_can_be_enough() -> None:
    only_move = chess.Board("6rk/8/8/8/8/8/7p/7K w - - 0 1")
    clock = Clock(time.perf_counter())
    main = new_manager(Request(only_move, depth=3), clock=clock)
    clock.set_budget(Budget(1e6, 1e6), time.perf_counter())
    assert not main.is_enough()  # no depth is finished
    clock.set_budget(Budget(math.inf, math.inf), time.perf_counter())
    main.run()
    assert not main.is_enough()
    clock.set_budget(Budget(1e6, 1e6), time.perf_counter())
    assert main.is_enough()
    clock.set_budget(Budget(math.inf, 1e6), time.perf_counter())
    assert not main.is_enough()


def test_the_time_parameters_of_the_request_decide() -> None:
    for least, most, enough in ((10, 100, True), (100, 400, False)):
        time_parameters = replace(TIME_DEFAULTS, time_effort_min_percent=least, time_effort_max_percent=most)
        # Begun long ago, so that a pause of this process is a small part of the time used.
        clock = Clock(time.perf_counter() - 100)
        request = Request(chess.Board(MIDDLEGAME), depth=8, time_parameters=time_parameters)
        main = new_manager(request, clock=clock)
        main.run()
        clock.set_budget(Budget(clock.elapsed_ms(), 1e9), time.perf_counter())
        assert main.is_enough() == enough


# Parts ----------------------------------------------------------------------------------------------------


def test_a_report_before_the_first_iteration_is_honest() -> None:
    board = chess.Board(MIDDLEGAME)
    infos: list[Info] = []
    main = new_manager(Request(board), infos.append)
    main.report()
    (info,) = infos
    assert (info.depth, info.nodes, info.seldepth, info.wdl) == (0, 0, None, None)
    assert info.pv == (main.best.uci(),)


def test_time_after_the_search_does_not_count_for_its_speed() -> None:
    infos: list[Info] = []
    main = new_manager(Request(chess.Board(MIDDLEGAME), depth=2), infos.append)
    main.run()
    for _ in range(2):
        main.report()
        time.sleep(0.02)
    first, second = infos[-2:]
    assert first.nps == second.nps
    assert (second.time_ms or 0) >= (first.time_ms or 0) + 20


def test_the_current_move_is_reported_by_number_and_name() -> None:
    board = chess.Board(MIDDLEGAME)
    said: list[Info] = []
    main: Any = None

    def on_info(info: Info) -> None:
        if info.currmove is None:
            main.report_current_move()
        said.append(info)

    main = new_manager(Request(board, depth=3), on_info)
    main.report_current_move()
    assert said == []
    main.run()
    current = [info for info in said if info.currmove]
    assert current
    # Told during the report of this depth.
    assert all(info.depth == report.depth for info, report in itertools.pairwise(said) if info.currmove)
    for info in current:
        assert chess.Move.from_uci(info.currmove or "") in board.legal_moves
        assert 1 <= (info.currmovenumber or 0) <= board.legal_moves.count()


def test_failed_windows_are_reported_as_bounds_in_a_long_search() -> None:
    # The clock has run for ten seconds already.
    machine = searcher()
    bounds = 0
    usual_cp = machine.aspiration_window_cp
    for fen in STARTS[:6]:
        main, infos = prepare(Request(chess.Board(fen), depth=DEPTH), Clock(time.perf_counter() - 10))
        machine.aspiration_window_cp = 1
        main.run()
        machine.aspiration_window_cp = usual_cp
        for info, following in itertools.pairwise(infos):
            if info.bound is Bound.LOWER:
                bounds += 1
                assert following.depth == info.depth
        assert infos[-1].bound is Bound.EXACT
    # In plain Python the search is not deep enough for windows.
    assert bounds > 0 or not is_compiled()
