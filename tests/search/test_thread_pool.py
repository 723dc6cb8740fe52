"""Searching with several threads: the counts, starting and stopping, the answer, and what goes wrong."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import chess
import pytest

from tests.support import PATIENCE_SECONDS, TABLES, wait_until
from tests.support.engines import begin, finish, go
from tests.support.kernel import QUEEN_SACRIFICE, is_compiled
from tests.support.uci_process import EXIT_SECONDS, UciProcess
from uci_engine import score as scores
from uci_engine.engine import UciEngine
from uci_engine.memory import available_bytes
from uci_engine.search import manager, thread_pool
from uci_engine.search.info import Info
from uci_engine.search.manager import SKIP_PATTERNS, SearchManager
from uci_engine.search.root_moves import RootAnalysis, RootMove
from uci_engine.search.thread_pool import MEMORY_SHARE, WorkerThread, worker_bytes

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
WON_ENDING = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
MATE_IN_TWO = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"

needs_compiler = pytest.mark.skipif(not is_compiled(), reason="plain Python searches with one thread")


# The engine -------------------------------------------------------------------------------------------------------


@pytest.fixture
def engine() -> Iterator[UciEngine]:
    engine = UciEngine()
    if is_compiled():
        # Also on a machine with one processor.
        engine.options.threads.usable = engine.options.threads.maximum
    engine.set_position(None, ())
    yield engine
    engine.close()


def nodes_of(engine: UciEngine) -> list[int]:
    """What each worker has counted in the last search."""
    assert engine._search is not None
    return [worker.searcher.nodes for worker in engine._search.workers]


def wait_for_workers(engine: UciEngine, count: int) -> None:
    """Let a running search come so far that so many threads count."""

    def have_begun() -> bool:
        search = engine._search
        return search is not None and sum(worker.searcher.nodes > 0 for worker in search.workers[1:]) >= count

    wait_until(have_begun, f"{count} threads did not begin")


@pytest.mark.parametrize(("threads", "nodes"), [(1, 2000), (4, 2000), (4, 4001), (8, 3), (8, 1), (2, 2)])
def test_a_limit_of_nodes_counts_all_threads_and_is_exact(engine: UciEngine, threads: int, nodes: int) -> None:
    engine.set_option("Threads", str(threads))
    engine.set_position(MIDDLEGAME, ())
    ear = go(engine, nodes=nodes)
    assert ear.last.nodes == nodes
    if is_compiled():
        counts = nodes_of(engine)
        assert len(counts) == min(threads, nodes)
        assert max(counts) - min(counts) <= 1


@needs_compiler
@pytest.mark.parametrize("threads", [2, 4])
def test_worker_1_analyses(engine: UciEngine, threads: int) -> None:
    engine.set_option("Threads", str(threads))
    engine.set_option("UCI_AnalyseMode", "true")
    engine.set_position(QUEEN_SACRIFICE, ())
    ear = go(engine, nodes=200_000)
    assert ear.last.nodes == sum(nodes_of(engine)) == 200_000
    # The threads share one table, so the number of nodes to the sacrifice differs from run to run.
    ear = begin(engine, infinite=True)
    wait_until(lambda: any(info.pv[:1] == ("d4g7",) for info in list(ear.infos)), "no PV began with d4g7")
    engine.stop()
    assert finish(engine, ear).answer.move == "d4g7"


@needs_compiler
def test_a_clearly_better_move_is_played_though_the_main_search_never_saw_it(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The threads share one table, so worker 1 waits: otherwise the main search may find its move there.
    main_has_searched = threading.Event()
    run = RootAnalysis.run

    def run_after_main(analysis: RootAnalysis, worker: Any, max_nodes: float) -> None:
        assert main_has_searched.wait(PATIENCE_SECONDS)
        run(analysis, worker, max_nodes)

    def wait_for_worker_1(main: SearchManager, analysis: RootAnalysis) -> None:
        main_has_searched.set()
        wait_until(lambda: analysis.better_move_at_end() is not None, "the analysis found nothing")
        engine.stop()

    monkeypatch.setattr(RootAnalysis, "run", run_after_main)
    monkeypatch.setattr(SearchManager, "_run_analysis", wait_for_worker_1)
    engine.set_option("Threads", "2")
    engine.set_option("UCI_AnalyseMode", "true")
    engine.set_position(QUEEN_SACRIFICE, ())
    # With a limit of nodes the other workers start at once.
    ear = go(engine, nodes=1_000_000_000)
    assert ear.answer.move == "d4g7"
    assert ear.last.score == scores.MATE - 7


@needs_compiler
@pytest.mark.parametrize("moves", [("a2a3",), ("a2a3", "h2h4")])
def test_few_moves_to_analyse_leave_no_worker_idle(engine: UciEngine, moves: tuple[str, ...]) -> None:
    engine.set_option("Threads", "2")
    engine.set_option("UCI_AnalyseMode", "true")
    ear = go(engine, nodes=20_000, searchmoves=moves)
    assert ear.last.nodes == sum(nodes_of(engine)) == 20_000


@needs_compiler
def test_one_thread_searches_as_before(engine: UciEngine) -> None:
    def told() -> list[Info]:
        engine.new_game()
        engine.set_position(MIDDLEGAME, ())
        return go(engine, depth=7).infos

    def timeless(infos: list[Info]) -> list[tuple[Any, ...]]:
        return [(info.depth, info.seldepth, info.score, info.nodes, info.hashfull, info.pv) for info in infos]

    alone = timeless(told())
    engine.set_option("Threads", "4")
    told()
    engine.set_option("Threads", "1")
    assert engine._parts.pool.threads == []
    assert timeless(told()) == alone


@needs_compiler
def test_every_worker_has_the_contempt(engine: UciEngine) -> None:
    engine.set_option("Threads", "3")
    engine.set_option("Contempt", "30")
    for contempt in (30, 0):
        engine.set_option("Contempt", str(contempt))
        go(engine, nodes=3000)
        workers = [engine._parts.pool.main, *(thread.worker for thread in engine._parts.pool.threads)]
        assert [list(worker.searcher.draw_score) for worker in workers] == 3 * [[-contempt, contempt]]


def test_the_depth_asked_for_is_the_main_searchs(engine: UciEngine) -> None:
    engine.set_option("Threads", "4")
    for _ in range(5):
        assert go(engine, depth=6).last.depth == 6


@needs_compiler
def test_the_move_voted_for_is_reported_and_played(engine: UciEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    voted_for: list[RootMove] = []

    def vote_for_the_last(candidates: list[RootMove]) -> RootMove:
        voted_for.append(candidates[-1])
        return candidates[-1]

    monkeypatch.setattr(manager, "vote", vote_for_the_last)
    engine.set_option("Threads", "2")
    ear = begin(engine, infinite=True)
    wait_for_workers(engine, 1)
    wait_until(lambda: engine._parts.pool.threads[0].worker.depth)
    engine.stop()
    finish(engine, ear)
    (chosen,) = voted_for
    assert (ear.last.depth, ear.last.score) == (chosen.depth, chosen.score)
    assert len(ear.last.pv) == len(chosen.pv)
    board = chess.Board()
    for word in (*ear.last.pv[:1], *([ear.answer.ponder] if ear.answer.ponder else [])):
        board.push_uci(word)


@needs_compiler
def test_mates_and_tablebases(engine: UciEngine) -> None:
    engine.set_option("Threads", "3")
    engine.set_position(MATE_IN_TWO, ())
    ear = go(engine, mate=2)
    assert ear.last.score == scores.MATE - 3
    assert go(engine, depth=12).last.score == scores.MATE - 3
    engine.set_option("SyzygyPath", str(TABLES))
    main = engine._parts.pool.main
    workers = [main, *(thread.worker for thread in engine._parts.pool.threads)]
    probers = [worker.searcher.prober for worker in workers]
    position = main.searcher.position
    engine.set_position(WON_ENDING, ())
    ear = go(engine, nodes=30000)
    assert (ear.last.score or 0) >= scores.TABLEBASE_BOUND
    position.set_board(chess.Board(WON_ENDING))
    assert [prober.probe_wdl(position) for prober in probers] == [2, 2, 2]
    engine.set_option("SyzygyPath", "")
    go(engine, nodes=3000)
    assert {prober.tables.max_pieces for prober in probers} == {0}


def test_workers_differ_in_their_skip_patterns_and_leave_no_depth_out_together() -> None:
    patterns = [tuple((depth + phase) // size % 2 for depth in range(5, 21)) for size, phase in SKIP_PATTERNS]
    assert len(set(patterns)) == len(SKIP_PATTERNS) == 20
    for pattern in patterns:
        assert 0 < sum(pattern) < len(pattern)
    for searched in zip(*patterns, strict=True):
        assert 0 < sum(searched) < len(searched)


# Starting and stopping --------------------------------------------------------------------------------------------


@needs_compiler
def test_stops_at_any_moment(engine: UciEngine) -> None:
    engine.set_option("Threads", "6")
    choice = random.Random(1)
    for _ in range(40):
        ear = begin(engine, infinite=True)
        time.sleep(choice.choice((0, 0.0003, 0.001, 0.003, 0.02)))
        engine.stop()
        finish(engine, ear)
        counts = nodes_of(engine)
        assert ear.last.nodes == sum(counts)
        # All is at rest.
        assert counts == nodes_of(engine)


@needs_compiler
def test_as_many_threads_as_there_may_be(engine: UciEngine) -> None:
    if 511 * worker_bytes(engine._parts.pool.main) > available_bytes() * MEMORY_SHARE:
        pytest.skip("this machine has no memory for so many")
    before = set(threading.enumerate())
    assert engine.set_option("Threads", "512") == []
    assert len(set(threading.enumerate()) - before) == 511
    assert go(engine, nodes=20000).last.nodes == 20000
    assert len(nodes_of(engine)) == 512
    assert min(nodes_of(engine)) > 0
    ear = begin(engine, infinite=True)
    wait_for_workers(engine, 4)
    engine.stop()
    finish(engine, ear)
    engine.new_game()
    engine.set_position(None, ())
    engine.set_option("Threads", "1")
    # Without a wait: the threads are joined.
    assert not set(threading.enumerate()) - before
    assert go(engine, depth=3).answer.move is not None


@needs_compiler
def test_without_memory_the_number_of_threads_stays(engine: UciEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.set_option("Threads", "2")
    threads = list(engine._parts.pool.threads)
    monkeypatch.setattr(thread_pool, "available_bytes", lambda: 1 << 20)
    sentence = "error: option Threads cannot be 8 (there is not enough memory), it stays 2"
    assert engine.set_option("Threads", "8") == [sentence]
    monkeypatch.undo()

    class NoThread:
        def __init__(self, **ignored: Any) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, "Thread", NoThread)
    sentence = "error: option Threads cannot be 3 (there is not enough memory), it stays 2"
    assert engine.set_option("Threads", "3") == [sentence]
    monkeypatch.undo()
    assert (engine._parts.pool.threads, engine.options.threads.value) == (threads, 2)
    assert go(engine, nodes=1000).last.nodes == 1000


@needs_compiler
def test_a_worker_that_fails_is_told_of_and_costs_nothing_else(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_work = WorkerThread.begin

    def fail() -> None:
        raise ZeroDivisionError("by design")

    def begin_badly(thread: WorkerThread, work: Callable[[], None]) -> None:
        begin_work(thread, fail if thread is engine._parts.pool.threads[1] else work)

    engine.set_option("Threads", "4")
    # The failing thread has never searched, or searched something else: nothing of that may be ear.
    monkeypatch.setattr(WorkerThread, "begin", begin_badly)
    ear = go(engine, nodes=5000)
    assert ear.sentences == ["error: ZeroDivisionError in a worker thread: by design"]
    assert chess.Move.from_uci(ear.answer.move or "") in chess.Board().legal_moves
    assert "ZeroDivisionError: by design" in capsys.readouterr().err
    monkeypatch.undo()
    assert go(engine, nodes=5000).last.nodes == 5000


# The program ------------------------------------------------------------------------------------------------------


def test_quit_in_the_middle() -> None:
    with UciProcess() as process:
        process.send("setoption name Threads value 16", "position startpos", "go infinite")
        process.sync()
        started = time.monotonic()
        process.quit()
        assert time.monotonic() - started < EXIT_SECONDS
        assert process.lines[-1].startswith("bestmove ")


@needs_compiler
def test_the_answer_does_not_wait_for_a_worker_that_cannot_run(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a loaded machine. What comes after the answer does wait for it."""
    begin_work = WorkerThread.begin
    may_run = threading.Event()

    def hold(work: Callable[[], None]) -> None:
        may_run.wait(PATIENCE_SECONDS)
        work()

    engine.set_option("Threads", "2")
    monkeypatch.setattr(WorkerThread, "begin", lambda thread, work: begin_work(thread, partial(hold, work)))
    ear = begin(engine, movetime_ms=100)
    assert ear.answered_within(PATIENCE_SECONDS / 2)
    assert engine.searching
    monkeypatch.undo()
    may_run.set()
    finish(engine, ear)
    assert go(engine, nodes=5000).last.nodes == 5000
