"""The search of worker 0: its lines and depths, what is reported, and when it stops."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import (
    STARTS,
    Request,
    is_compiled,
    new_manager,
    prepare,
    random_game,
    search,
    searcher,
    start_board,
)
from uci_engine import score as scores
from uci_engine.search.info import Bound, Info
from uci_engine.search.manager import SearchManager
from uci_engine.time_management.allocation import TIME_DEFAULTS, Budget
from uci_engine.time_management.clock import Clock

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
DEPTH = 6 if is_compiled() else 3


def test_every_depth_is_reported_once() -> None:
    infos = search(Request(chess.Board(MIDDLEGAME), depth=DEPTH)).infos
    assert [info.depth for info in infos] == list(range(1, DEPTH + 1))
    for info in infos:
        assert info.multipv == 1
        assert info.bound is Bound.EXACT
        assert info.seldepth is not None
        assert info.seldepth >= 1
        assert info.nodes is not None
        assert info.nodes > 0
        assert info.time_ms is not None
        assert info.time_ms >= 0
        assert info.hashfull is not None
        assert 0 <= info.hashfull <= 1000
        assert info.wdl is None
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


def test_an_interruption_leaves_each_line_its_place() -> None:
    board = chess.Board(MIDDLEGAME)
    for nodes in range(400, 12_000, 290) if is_compiled() else range(400, 2_000, 290):
        outcome = search(Request(board, nodes=nodes, multipv=3))
        # The first line is told of once more at the end, by the engine.
        shown = {info.multipv or 1: info.pv[0] for info in outcome.infos} | {1: outcome.best.uci()}
        assert sorted(shown) == [1, 2, 3]
        assert len(set(shown.values())) == 3, nodes


def test_every_line_of_every_depth_is_searched_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[tuple[int, int]] = []
    after_window = SearchManager._after_window

    def record(manager: SearchManager) -> bool:
        if not manager._main.failed_high:
            lines.append((manager._main.line_depth, manager._main.pv_index))
        return after_window(manager)

    monkeypatch.setattr(SearchManager, "_after_window", record)
    new_manager(Request(chess.Board(MIDDLEGAME), depth=3, multipv=2)).run()
    assert lines == [(depth, index) for depth in (1, 2, 3) for index in (0, 1)]
    # An interruption ends the depth and the search.
    lines.clear()
    main = new_manager(Request(chess.Board(MIDDLEGAME), nodes=300))
    main.run()
    assert lines == [(depth, 0) for depth in range(1, len(lines) + 1)]
    assert main.nodes == 300


# In one of these searches the second line is interrupted.
INTERRUPTED = [{"nodes": nodes, "multipv": 2} for nodes in range(1000, 5000, 50)]


@pytest.mark.parametrize(
    ("event", "limits"), [("depth", [{"depth": 30}]), ("interruption", INTERRUPTED), ("fail high", [{"depth": 30}])]
)
def test_an_exception_of_a_report_ends_the_search_and_is_raised(event: str, limits: list[dict[str, Any]]) -> None:
    raised = [limit for limit in limits if raises_at(event, limit)]
    assert raised


def raises_at(event: str, limit: dict[str, Any]) -> bool:
    """Whether a report of this kind came. It raises an exception, which must end the search and come out of it."""
    reports: list[Info] = []

    def on_info(info: Info) -> None:
        reports.append(info)
        is_event = {
            "depth": info.depth == 2,
            "interruption": info.multipv == 2 and (info.depth or 0) > 1 and main.nodes == limit.get("nodes"),
            "fail high": info.bound is Bound.LOWER,
        }
        if is_event[event]:
            raise ZeroDivisionError(event)

    machine = searcher()
    machine.table.clear()
    machine.clear()
    usual_cp = machine.aspiration_window_cp
    # The clock has run for ten seconds already, so that bounds are reported.
    main = new_manager(Request(chess.Board(MIDDLEGAME), **limit), on_info, Clock(time.perf_counter() - 10))
    machine.aspiration_window_cp = 1
    raised = False
    try:
        main.run()
    except ZeroDivisionError as error:
        raised = str(error) == event
    machine.aspiration_window_cp = usual_cp
    assert main.best in chess.Board(MIDDLEGAME).legal_moves
    # It is raised once, and the worker can search again.
    assert search(Request(chess.Board(MIDDLEGAME), depth=2)).nodes > 0
    return raised


@given(st.integers(0, 30), st.integers(1, 40), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=60 if is_compiled() else 8)
def test_lines_are_legal(game: int, plies: int, lines: int, depth: int) -> None:
    board = list(random_game(game, start_board(game, game % 2 == 1), plies))[-1]
    if not any(board.legal_moves):
        return
    outcome = search(Request(board, depth=depth, multipv=lines), fresh=False)
    assert outcome.best in board.legal_moves
    for info in outcome.infos:
        trial = board.copy()
        for word in info.pv:
            move = chess.Move.from_uci(word)
            assert move in trial.legal_moves
            trial.push(move)
    if outcome.ponder is not None:
        board.push(outcome.best)
        assert outcome.ponder in board.legal_moves


def test_only_the_moves_asked_for() -> None:
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    quiet = [chess.Move.from_uci("e4e5"), chess.Move.from_uci("e1f2")]
    outcome = search(Request(board, quiet, depth=4, multipv=3))
    assert outcome.best in quiet
    assert {info.pv[0] for info in outcome.infos} == {"e4e5", "e1f2"}
    assert max(info.multipv or 0 for info in outcome.infos) == 2
    assert search(Request(board, depth=4)).best.uci() == "e4d5"


def test_castling_is_written_in_the_dialect_of_the_board() -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    for chess960, word in ((False, "e1g1"), (True, "e1h1")):
        board = chess.Board(fen, chess960=chess960)
        castling = board.parse_uci(word)
        outcome = search(Request(board, [castling], depth=2))
        assert outcome.best.uci() == word
        assert outcome.infos[-1].pv[0] == word


def test_win_draw_loss_where_it_is_asked_for() -> None:
    infos = search(Request(chess.Board(MIDDLEGAME), depth=2, show_wdl=True)).infos
    for info in infos:
        assert info.pieces == chess.popcount(chess.Board(MIDDLEGAME).occupied)
        assert info.wdl == scores.win_draw_loss(info.score or 0, info.pieces)
        assert sum(info.wdl) == 1000


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


def test_the_depth_of_the_current_move_is_the_one_being_searched() -> None:
    told: list[Info] = []

    def listen(info: Info) -> None:
        told.append(info)
        if info.currmove is None:
            main.report_current_move()

    request = Request(chess.Board(MIDDLEGAME), depth=4, multipv=2)
    main = new_manager(request, listen)
    main.run()
    moves_told = [(before.depth, info.depth) for before, info in itertools.pairwise(told) if info.currmove]
    assert len(moves_told) == 8
    assert all(depth == current for depth, current in moves_told)


@pytest.mark.parametrize("fen", ["6rk/8/8/8/8/8/7p/7K w - - 0 1", "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", MIDDLEGAME])
def test_a_time_to_be_spent_whole_is(fen: str) -> None:
    clock = Clock(time.perf_counter(), Budget(math.inf, 1e6))
    main = new_manager(Request(chess.Board(fen), depth=9), clock=clock)
    main.run()
    assert main._lines[0].depth == 9


def test_no_clock_means_no_end_by_itself() -> None:
    clock = Clock(time.perf_counter(), Budget(math.inf, math.inf))
    assert not clock.may_end_early
    outcome = search(Request(chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"), depth=9))
    assert outcome.infos[-1].depth == 9


# Parts ----------------------------------------------------------------------------------------------------


def test_a_report_before_the_first_iteration_is_honest() -> None:
    board = chess.Board(MIDDLEGAME)
    infos: list[Info] = []
    main = new_manager(Request(board), infos.append)
    main.report()
    (info,) = infos
    assert (info.depth, info.nodes, info.seldepth, info.wdl) == (0, 0, None, None)
    assert info.pv == (main.best.uci(),)


def test_before_the_first_search_sound_moves_come_first() -> None:
    # The best reply to an empty clock: no queen is left hanging by a move that was never searched.
    board = chess.Board("4k3/2p5/3p4/8/8/8/3Q4/4K3 w - - 0 1")
    main = new_manager(Request(board))
    assert main.best.uci() != "d2d6"
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    searcher().table.clear()
    main = new_manager(Request(board))
    assert main.best.uci() == "e4d5"


def test_the_tables_move_comes_before_all_others() -> None:
    board = chess.Board(STARTS[1])
    first = search(Request(board, depth=4))
    main = new_manager(Request(board))
    assert main.best == first.best


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
