"""Searching with several threads: the counts, starting and stopping, the answer, and what goes wrong."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import Mock

import chess
import pytest

from tests.support import PATIENCE_SECONDS, TABLES, wait_until
from tests.support.engines import begin, finish, go
from tests.support.kernel import MIDDLEGAME, QUEEN_SACRIFICE, first_move, is_compiled, prepare, search, without_times
from uci_engine import score as scores
from uci_engine.core import load
from uci_engine.engine import UciEngine
from uci_engine.search import manager as manager_module
from uci_engine.search.info import Info
from uci_engine.search.manager import SKIP_PATTERNS, SearchManager
from uci_engine.search.root_moves import RootAnalysis, RootMove
from uci_engine.search.thread_pool import ThreadPool
from uci_engine.tablebases.tablebases import Tablebases

# Taking the pawn leads into the tables.
WON_ENDING = "8/8/8/4k3/8/8/4p3/R3K3 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"

pytestmark = pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    """Four threads."""
    pool = ThreadPool(load(), 4)
    pool.resize(4)
    yield pool
    pool.close()


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    """Two threads, also on a machine with one processor."""
    engine = UciEngine()
    engine.options.threads.usable = engine.options.threads.maximum
    engine.options.set("Threads", "2")
    yield engine
    engine.close()


def nodes_of(manager: SearchManager) -> list[int]:
    """What each thread has counted."""
    return [searcher.nodes for searcher in manager.searchers]


# Limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("threads", "nodes"), [(1, 2000), (4, 2000), (4, 4001), (8, 3), (8, 1), (2, 2)])
@pytest.mark.parametrize("is_analysis", [False, True])
def test_a_limit_of_nodes_counts_all_threads_and_is_exact(
    pool: ThreadPool, threads: int, nodes: int, is_analysis: bool
) -> None:
    pool.resize(threads)
    a6, h5 = chess.Move.from_uci("a7a6"), chess.Move.from_uci("h7h5")
    # With one or two moves to analyse, too, every thread finds something to do.
    for asked in (None, [a6], [a6, h5]):
        outcome = search(
            chess.Board(MIDDLEGAME), asked, pool=pool, nodes=nodes, analyse_mode=is_analysis, contempt_cp=nodes
        )
        counts = nodes_of(outcome.manager)
        assert outcome.last.nodes == sum(counts) == nodes
        assert len(counts) == min(threads, nodes)
        assert max(counts) - min(counts) <= 1
        assert all(searcher.contempt_cp == nodes for searcher in outcome.manager.searchers)


def test_the_depth_asked_for_is_the_main_searchs(pool: ThreadPool) -> None:
    for _ in range(5):
        assert search(chess.Board(), pool=pool, depth=6).last.depth == 6


def test_one_thread_searches_as_before_though_others_have_searched(pool: ThreadPool) -> None:
    def told(threads: int) -> list[dict[str, str]]:
        pool.resize(threads)
        pool.clear()
        return without_times(search(chess.Board(MIDDLEGAME), pool=pool, depth=7).infos)

    alone = told(1)
    told(4)
    assert told(1) == alone


def test_mates_and_tablebases(pool: ThreadPool) -> None:
    for mate, depth in ((2, None), (None, 12)):
        assert search(chess.Board(MATE_IN_TWO), pool=pool, mate=mate, depth=depth).score == scores.MATE - 3
    tablebases = Tablebases(load(), pool.main.prober)
    for path, has_tables in ((str(TABLES), True), ("", False)):
        tablebases.set_syzygy_path(path)
        pool.clear()
        outcome = search(chess.Board(WON_ENDING), pool=pool, nodes=30000, probe_limit=7)
        assert (outcome.score >= scores.TABLEBASE_BOUND) == has_tables
        assert {searcher.prober.max_pieces > 0 for searcher in outcome.manager.searchers} == {has_tables}
        assert {searcher.probe_limit > 0 for searcher in outcome.manager.searchers} == {has_tables}


def test_searchers_differ_in_their_skip_patterns_and_leave_no_depth_out_together() -> None:
    patterns = [tuple((depth + phase) // size % 2 for depth in range(5, 21)) for size, phase in SKIP_PATTERNS]
    assert len(set(patterns)) == len(SKIP_PATTERNS) == 20
    assert all(0 < sum(pattern) < len(pattern) for pattern in patterns)
    assert all(0 < sum(searched) < len(searched) for searched in zip(*patterns, strict=True))


# The answer -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", ["2", "4"])
def test_the_second_searcher_analyses(engine: UciEngine, threads: str) -> None:
    engine.options.set("Threads", threads)
    engine.options.set("UCI_AnalyseMode", "true")
    # The threads share one table, so the number of nodes to the sacrifice differs from run to run.
    ear = begin(engine, QUEEN_SACRIFICE, infinite=True)
    sacrifice = chess.Move.from_uci("d4g7")
    wait_until(lambda: any(info.pv and first_move(info) == sacrifice for info in list(ear.infos)), "it was not found")
    engine.stop()
    assert first_move(finish(engine, ear).last) == sacrifice


def test_a_clearly_better_move_is_played_though_the_main_search_never_saw_it(
    pool: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The threads share one table, so the second waits: otherwise the main search may find its move there.
    main_has_searched = threading.Event()
    run = RootAnalysis.run

    def run_after_main(analysis: RootAnalysis, searcher: Any, max_nodes: float) -> None:
        assert main_has_searched.wait(PATIENCE_SECONDS)
        run(analysis, searcher, max_nodes)

    def on_info(info: Info) -> None:
        infos.append(info)
        if (info.depth or 0) >= 7 and not main_has_searched.is_set():
            main_has_searched.set()
            analysis = manager.analysis
            assert analysis is not None
            wait_until(lambda: analysis.better_move_at_end() is not None, "the analysis found nothing")
            manager.stop()

    monkeypatch.setattr(RootAnalysis, "run", run_after_main)
    pool.resize(2)
    infos: list[Info] = []
    # With a limit of nodes the other searchers start at once.
    manager, _ = prepare(
        chess.Board(QUEEN_SACRIFICE), pool=pool, on_info=on_info, nodes=1_000_000_000, analyse_mode=True
    )
    manager.run()
    manager.report()
    assert manager.best.uci() == "d4g7"
    assert infos[-1].score == scores.MATE - 7


def test_the_move_voted_for_is_reported_and_played(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    voted_for: list[RootMove] = []

    def vote_for_the_last(candidates: list[RootMove]) -> RootMove:
        voted_for.append(candidates[-1])
        return candidates[-1]

    def on_info(info: Info) -> None:
        infos.append(info)
        if (info.depth or 0) >= 7 and not voted_for:
            wait_until(lambda: all(searcher.depth for searcher in pool.searchers))
            manager.stop()

    monkeypatch.setattr(manager_module, "vote", vote_for_the_last)
    infos: list[Info] = []
    manager, _ = prepare(chess.Board(), pool=pool, on_info=on_info)
    manager.run()
    manager.report()
    (chosen,) = voted_for
    assert (infos[-1].depth, infos[-1].score, len(infos[-1].pv)) == (chosen.depth, chosen.score, len(chosen.pv))
    assert first_move(infos[-1]) == manager.best


# Starting and stopping --------------------------------------------------------------------------------------------


def test_stops_at_any_moment(pool: ThreadPool) -> None:
    pool.resize(6)
    choice = random.Random(1)
    for _ in range(40):
        manager, infos = prepare(chess.Board(), pool=pool)
        thread = threading.Thread(target=manager.run)
        thread.start()
        nodes = choice.choice((0, 1, 100, 3000, 30_000))
        while manager.nodes < nodes:
            pass
        manager.stop()
        thread.join()
        counts = nodes_of(manager)
        manager.report()
        # All is at rest.
        assert infos[-1].nodes == sum(counts) == sum(nodes_of(manager))


def test_many_threads_come_and_go(engine: UciEngine) -> None:
    engine.options.set("Threads", "1")
    before = set(threading.enumerate())
    assert engine.options.set("Threads", "150") == []
    assert len(set(threading.enumerate()) - before) == 149
    assert go(engine, nodes=20000).last.nodes == 20000
    ear = begin(engine, infinite=True)
    wait_until(lambda: any((info.depth or 0) > 6 for info in list(ear.infos)))
    engine.stop()
    finish(engine, ear)
    engine.new_game()
    engine.options.set("Threads", "1")
    # Without a wait: the threads are joined.
    assert not set(threading.enumerate()) - before
    assert go(engine, depth=3).answer.move is not None


@pytest.mark.parametrize(
    ("place", "lacking"),
    [
        ("uci_engine.search.thread_pool.available_bytes", Mock(return_value=1 << 20)),
        ("threading.Thread", Mock(side_effect=RuntimeError)),
    ],
)
def test_without_memory_the_number_of_threads_stays(
    engine: UciEngine, place: str, lacking: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    monkeypatch.setattr(place, lacking)
    (message,) = engine.options.set("Threads", "8")
    assert str(message).startswith("error: option Threads ")
    monkeypatch.undo()
    assert (set(threading.enumerate()), engine.options.threads.value) == (before, 2)
    assert go(engine, nodes=1000).last.nodes == 1000


def test_a_thread_that_fails_is_told_of_and_costs_nothing_else(
    pool: ThreadPool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_work, fail = pool.threads[1].begin, Mock(side_effect=ZeroDivisionError("by design"))
    # The failing thread has never searched, or searched something else: nothing of that may be heard.
    monkeypatch.setattr(pool.threads[1], "begin", lambda _: begin_work(fail))
    (sentence,) = search(chess.Board(), pool=pool, nodes=5000).sentences
    assert sentence.startswith("error: ZeroDivisionError")
    assert "ZeroDivisionError: by design" in capsys.readouterr().err
    monkeypatch.undo()
    assert search(chess.Board(), pool=pool, nodes=5000).nodes == 5000


def test_the_answer_does_not_wait_for_a_thread_that_cannot_run(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a loaded machine. What comes after the answer does wait for it."""
    (thread,) = engine.pool.threads
    begin_work = thread.begin
    may_run = threading.Event()

    def hold(work: Callable[[], None]) -> None:
        may_run.wait(PATIENCE_SECONDS)
        work()

    monkeypatch.setattr(thread, "begin", lambda work: begin_work(partial(hold, work)))
    # With a limit of nodes the thread is started at once.
    ear = begin(engine, nodes=1_000_000_000, movetime_ms=100)
    assert ear.answered_within(PATIENCE_SECONDS / 2)
    assert engine.searching
    monkeypatch.undo()
    may_run.set()
    finish(engine, ear)
    assert go(engine, nodes=5000).last.nodes == 5000
