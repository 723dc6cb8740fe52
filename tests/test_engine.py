"""The engine without its protocol: one answer for each `go`, legal, at the right moment."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from unittest import mock

import chess
import chess.polyglot
import pytest

from tests.support import PATIENCE_SECONDS, wait_until
from tests.support.engines import Ear, begin, finish, go
from tests.support.kernel import MIDDLEGAME, STARTS, is_compiled, without_times
from uci_engine import engine as engine_module
from uci_engine import score as scores
from uci_engine import time_management
from uci_engine.engine import UciEngine
from uci_engine.options import ValueOption
from uci_engine.search.manager import SearchManager
from uci_engine.search.parameters import PARAMETERS
from uci_engine.search.strength import MAX_ELO, MIN_ELO
from uci_engine.time_management import TIME_DEFAULTS, Limits
from uci_engine.tools import perft

MATED = "R5k1/5ppp/8/8/8/8/8/7K b - - 0 1"
STALEMATED = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
ONE_LEGAL_MOVE = "6rk/8/8/8/8/8/7p/7K w - - 0 1"
DEPTH = 5 if is_compiled() else 2


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[UciEngine]:
    engine = UciEngine()
    yield engine
    engine.close()


@pytest.fixture
def engine(shared_engine: UciEngine) -> Iterator[UciEngine]:
    """The engine as after `ucinewgame`, with its options as they were."""
    shared_engine.new_game()
    yield shared_engine
    shared_engine.stop()
    assert shared_engine.wait(PATIENCE_SECONDS)
    for option in shared_engine.options:
        if isinstance(option, ValueOption) and option.value != option.default:
            option.assign(option.default)


# One answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"depth": 1},
        {"depth": DEPTH},
        {"nodes": 1},
        {"nodes": 500},
        {"movetime_ms": 0},
        {"movetime_ms": 30},
        {"wtime_ms": 0, "btime_ms": 0},
        {"wtime_ms": -100},
        {"btime_ms": 40, "binc_ms": 1},
        {"mate": 1},
        {"depth": 2, "nodes": 100, "movetime_ms": 1000},
    ],
    ids=str,
)
def test_a_search_that_ends_by_itself_answers_once(engine: UciEngine, limits: dict[str, Any]) -> None:
    board = chess.Board()
    ear = go(engine, **limits)
    assert ear.answer.move is not None
    for move in filter(None, (ear.answer.move, ear.answer.ponder)):
        assert move in board.legal_moves
        board.push(move)
    assert ear.scored


@pytest.mark.timing
def test_a_fixed_time_is_used_and_kept(engine: UciEngine) -> None:
    engine.options.set("Move Overhead", "0")
    started = time.perf_counter()
    go(engine, movetime_ms=150)
    elapsed = time.perf_counter() - started
    # Never shorter, and longer only as much as a loaded machine may take to wake a thread.
    assert 0.15 <= elapsed < 5


def test_two_searches_at_once_are_refused(engine: UciEngine) -> None:
    ear = begin(engine, infinite=True)
    with pytest.raises(RuntimeError, match="a search is running"):
        begin(engine, depth=1)
    engine.stop()
    finish(engine, ear)


# Held back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", [None, MATED, STALEMATED, ONE_LEGAL_MOVE, "8/8/4k3/8/8/3K4/8/8 w - - 0 1"])
@pytest.mark.parametrize("limits", [{"infinite": True}, {"ponder": True}, {"infinite": True, "ponder": True}], ids=str)
def test_nothing_is_answered_before_it_is_wanted(engine: UciEngine, fen: str | None, limits: dict[str, bool]) -> None:
    ear = begin(engine, fen, **limits, depth=1, movetime_ms=1, wtime_ms=1)
    if "infinite" in limits:
        # A hit does not end it.
        engine.ponderhit(time.perf_counter())
    assert not ear.answered_within(0.08)
    assert engine.searching
    engine.stop()
    answer = finish(engine, ear).answer
    assert (answer.move is None) == (fen in (MATED, STALEMATED))


@pytest.mark.parametrize(
    ("fen", "limits"),
    [
        # Finished; begins to count the time; has thought enough.
        (None, {"depth": 1}),
        (None, {"wtime_ms": 1000, "btime_ms": 1000}),
        (ONE_LEGAL_MOVE, {"wtime_ms": 10**9, "btime_ms": 10**9}),
    ],
)
def test_a_hit_makes_it_a_search_with_an_end(engine: UciEngine, fen: str | None, limits: dict[str, int]) -> None:
    ear = begin(engine, fen, ponder=True, **limits)
    assert not ear.answered_within(0.1)
    engine.ponderhit(time.perf_counter())
    assert finish(engine, ear).answer.move is not None


def test_a_hit_and_a_stop_right_after_the_start_are_not_lost(engine: UciEngine) -> None:
    for _ in range(20):
        ear = begin(engine, ponder=True, movetime_ms=5)
        engine.ponderhit(time.perf_counter())
        finish(engine, ear)
        ear = begin(engine, infinite=True)
        engine.stop()
        assert finish(engine, ear).answer.move is not None


# Contempt -------------------------------------------------------------------------------------------------


# The rooks can be exchanged, so that the worth of a draw matters.
NEAR_DRAW = "8/8/4k3/8/2r5/8/1R2K3/8 {} - - 0 1"


def nodes_of(engine: UciEngine, side: str, contempt: int) -> int | None:
    engine.options.set("Contempt", str(contempt))
    return go(engine, NEAR_DRAW.format(side), depth=DEPTH + 1).last.nodes


def test_scores_of_another_contempt_or_side_are_not_used(engine: UciEngine) -> None:
    fresh = {}
    for case in itertools.product("wb", (0, 100)):
        engine.new_game()
        fresh[case] = nodes_of(engine, *case)
    engine.new_game()
    # Each search differs from the one before by the option, by the side, or by both.
    for case in (("w", 0), ("w", 100), ("b", 100), ("w", 100), ("w", 0), ("b", 100), ("b", 0)):
        assert nodes_of(engine, *case) == fresh[case], case


@pytest.mark.parametrize("is_infinite", [True, False])
def test_there_is_no_contempt_in_analysis(engine: UciEngine, is_infinite: bool) -> None:
    engine.options.set("Contempt", "100")
    engine.options.set("UCI_AnalyseMode", "false" if is_infinite else "true")
    bare_kings = "8/8/4k3/8/8/3K4/8/8 w - - 0 1"
    ear = begin(engine, bare_kings, **({"infinite": True} if is_infinite else {"depth": 4}))
    wait_until(lambda: ear.scored)
    engine.stop()
    finish(engine, ear)
    assert {info.score for info in ear.scored} == {scores.DRAW}
    engine.options.set("UCI_AnalyseMode", "false")
    ear = go(engine, bare_kings, depth=4)
    assert {info.score for info in ear.scored} == {-100}


def test_no_position_no_move(engine: UciEngine) -> None:
    ear = Ear()
    engine.go(None, Limits(depth=3), time.perf_counter(), ear.on_info, ear.on_best_move)
    finish(engine, ear)
    assert ear.answer.move is None
    assert len(ear.sentences) == 1


# What goes wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [False, True])
def test_a_failing_search_still_plays_a_legal_move(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], held: bool
) -> None:
    search_depth = SearchManager._search_depth

    def fail(self: SearchManager) -> bool:
        if self._depth == 2:
            raise ZeroDivisionError("by design")
        return search_depth(self)

    monkeypatch.setattr(SearchManager, "_search_depth", fail)
    ear = begin(engine, infinite=held, depth=9)
    wait_until(lambda: ear.sentences)
    assert ear.answered_within(0.08 if held else PATIENCE_SECONDS) != held
    engine.stop()
    answer = finish(engine, ear).answer
    assert answer.move in [*chess.Board().legal_moves]
    assert ear.sentences == ["error: ZeroDivisionError in the search: by design"]
    assert "ZeroDivisionError: by design" in capsys.readouterr().err
    monkeypatch.undo()
    assert go(engine, depth=2).answer.move is not None


def test_hash_options_reach_the_table(engine: UciEngine) -> None:
    table = engine.pool.table
    go(engine, depth=DEPTH)
    key = chess.polyglot.zobrist_hash(chess.Board())
    assert table.probe(key) != 0
    engine.options.set("Clear Hash", None)
    assert table.probe(key) == 0
    assert engine.options.set("Hash", "3") == []
    assert table.megabytes == 3
    # The same size again does not forget what was found.
    go(engine, depth=1)
    engine.options.set("Hash", "3")
    assert table.probe(key) != 0
    engine.new_game()
    assert table.probe(key) == 0


# Limited strength -----------------------------------------------------------------------------------------


def weaken(engine: UciEngine, elo: int) -> None:
    for name, value in (("UCI_Elo", str(elo)), ("UCI_LimitStrength", "true")):
        assert engine.options.set(name, value) == []


def test_full_strength_is_the_search_without_the_options(engine: UciEngine) -> None:
    def told() -> list[dict[str, str]]:
        engine.new_game()
        return without_times(go(engine, depth=DEPTH).infos)

    before = told()
    weaken(engine, MIN_ELO)
    # A level draws its move, and may draw the best one.
    assert any(told() != before for _ in range(30))
    # UCI_Elo alone limits nothing.
    engine.options.set("UCI_LimitStrength", "false")
    assert told() == before


@pytest.mark.timing
@pytest.mark.parametrize("elo", [MIN_ELO, 1500, MAX_ELO])
def test_weak_play_obeys_the_clock(engine: UciEngine, elo: int) -> None:
    weaken(engine, elo)
    for limits in ({"movetime_ms": 30}, {"wtime_ms": 60}, {"wtime_ms": 0}):
        began = time.perf_counter()
        go(engine, None, **limits)
        # Far more than allowed, for a busy machine. The highest level would search for much longer on most.
        assert time.perf_counter() - began < 2.0


def test_a_question_for_a_mate_is_answered_at_full_strength(engine: UciEngine) -> None:
    weaken(engine, MIN_ELO)
    assert str(go(engine, MATE_IN_ONE, mate=1).answer.move) == "a1a8"


def test_the_same_seed_gives_the_same_moves() -> None:
    played = []
    with closing(UciEngine(tuning=True)) as engine:
        weaken(engine, 1100)
        for seed in ("7", "7", "8"):
            engine.options.set("Seed", seed)
            engine.new_game()
            played.append([go(engine, fen, movetime_ms=60_000).move for fen in STARTS])
    assert played[0] == played[1] != played[2]


def centre_distance(square: chess.Square) -> int:
    return min(chess.square_manhattan_distance(square, centre) for centre in (chess.D4, chess.D5, chess.E4, chess.E5))


@pytest.mark.skipif(not is_compiled(), reason="takes minutes in plain Python")
@pytest.mark.parametrize("fen", ["8/8/8/3k4/8/8/8/KR6 w - - 0 1", "8/8/8/3k4/8/8/8/KQ6 w - - 0 1"])
@pytest.mark.parametrize("elo", [MIN_ELO, 1500, 2000])
def test_every_level_mates_a_bare_king(engine: UciEngine, fen: str, elo: int) -> None:
    weaken(engine, elo)
    board = chess.Board(fen)
    while not board.is_game_over() and board.halfmove_clock < 100:
        board.push(go(engine, board, movetime_ms=60_000).move)
        # The king takes what it can, and stays near the centre.
        if replies := list(board.legal_moves):
            board.push(max(replies, key=lambda move: (board.is_capture(move), -centre_distance(move.to_square))))
    assert board.is_checkmate()


@pytest.mark.timing
def test_on_a_clock_a_level_takes_time_unless_that_is_switched_off(engine: UciEngine) -> None:
    weaken(engine, MIN_ELO)
    board = chess.Board(MIDDLEGAME)
    board.fullmove_number = 20

    def spent_ms() -> int:
        """Full strength would take about 1.2 s."""
        return go(engine, board, wtime_ms=10_000, btime_ms=10_000, winc_ms=1000, binc_ms=1000).last.time_ms or 0

    assert spent_ms() >= 100
    engine.options.set("Human Pace", "false")
    assert min(spent_ms() for _ in range(3)) < 100
    engine.options.set("Human Pace", "true")
    for clock_ms in (9_000_000, 10**18):
        ear = begin(engine, board, wtime_ms=clock_ms, btime_ms=clock_ms)
        assert not ear.answered_within(0.3)
        started = time.perf_counter()
        engine.stop()
        assert finish(engine, ear).sentences == []
        assert time.perf_counter() - started < 5.0


# Other commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fen", "depth", "count"), [(chess.STARTING_FEN, 0, 1), (MATED, 2, 0)])
def test_perft_of_no_move(engine: UciEngine, fen: str, depth: int, count: int) -> None:
    lines: list[str] = []
    perft.perft(engine, chess.Board(fen), depth, lines.append)
    assert [line.strip() for line in lines] == [f"Nodes searched: {count}"]


def test_perft_stops(engine: UciEngine) -> None:
    lines: list[str] = []
    engine.start(lambda is_stopped: perft.perft(engine, chess.Board(), 12, lines.append, is_stopped))
    assert not engine.wait(0.05)
    engine.stop()
    assert engine.wait(PATIENCE_SECONDS)
    assert lines[-1] == "info string perft was stopped"
    assert not any("Nodes searched" in line for line in lines)
    assert go(engine, depth=1).answer.move is not None


def test_long_searches_tell_of_the_current_move_and_what_has_ended_has_none(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_management, "REPORT_AFTER_SECONDS", 0.1)
    monkeypatch.setattr(time_management, "REPORT_EVERY_SECONDS", 0.02)
    ended = begin(engine, ponder=True, depth=1)
    assert not ended.answered_within(0.4)
    engine.stop()
    assert not any(info.currmove for info in finish(engine, ended).infos)
    ear = begin(engine, infinite=True)
    wait_until(lambda: any(info.currmove for info in list(ear.infos)))
    engine.stop()
    assert {info.currmove for info in finish(engine, ear).infos if info.currmove} <= {*chess.Board().legal_moves}


def test_the_name_tells_of_a_slow_core(engine: UciEngine) -> None:
    assert engine.name.startswith("Secateur ")
    assert ("core" in engine.name) == (engine.core.name != "compiled")


def test_search_parameters_are_options_for_tuners_alone() -> None:
    with closing(UciEngine()) as engine:
        assert engine.options.set("lmr_base", "90")[0].is_error
    with closing(UciEngine(tuning=True)) as engine:
        assert engine.options.set("lmr_base", "90") == []
        assert engine.pool.main.lmr_base == 90
        assert engine.pool.main.lmr_divisor == {each.name: each.value for each in PARAMETERS}["lmr_divisor"]
        assert engine.options.set("time_drop_cp", "77") == []
        go(engine, depth=1)
        assert engine._search_options.time_parameters == replace(TIME_DEFAULTS, time_drop_cp=77)


@pytest.mark.parametrize(
    ("error", "failing"),
    [
        (RuntimeError("can't start new thread"), [(threading.Thread, "start")]),
        # Nor is there memory for the report of the failed search.
        (MemoryError(), [(SearchManager, "_search_depth"), (engine_module, "print_failure")]),
    ],
)
def test_a_search_is_answered_without_threads_or_memory(
    engine: UciEngine, monkeypatch: pytest.MonkeyPatch, error: Exception, failing: list[tuple[object, str]]
) -> None:
    engine.options.set("Threads", "3")
    for place, name in failing:
        monkeypatch.setattr(place, name, mock.Mock(side_effect=error))
    assert go(engine, depth=2).answer.move is not None
    assert go(engine, depth=2).answer.move is not None
