"""The engine as a Python library: what it answers, how it is shared between threads, what it refuses, and its end."""

from __future__ import annotations

import asyncio
import doctest
import gc
import logging
import os
import pydoc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chess
import chess.engine
import chess.variant
import pytest
from chess.engine import (
    AnalysisComplete,
    Cp,
    EngineError,
    EngineTerminatedError,
    Limit,
    Mate,
    PovScore,
    Wdl,
)
from hypothesis import given
from hypothesis import strategies as st

import evaluation
import uci_engine
from tests.support import ENVIRONMENT, PATIENCE_SECONDS, wait_until
from tests.support.kernel import STARTS, board_after, is_compiled, random_game
from tests.support.syzygy_samples import copy_tables
from uci_engine import Engine, Explanation
from uci_engine import api as engine_module
from uci_engine import score as scores
from uci_engine.api import KEYWORDS, info_dict, limits_of
from uci_engine.options import Options, usable_processors
from uci_engine.search.info import Info
from uci_engine.search.manager import SearchManager
from uci_engine.tablebases import tablebases
from uci_engine.text import MAX_INT, Message
from uci_engine.time_management import Limits
from uci_engine.uci.protocol import format_info

DEPTH = 6 if is_compiled() else 2
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    with Engine(hash=4) as engine:
        yield engine


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    """An engine that has learnt nothing."""
    shared_engine.new_game()
    return shared_engine


def own_threads() -> list[str]:
    names = ("timer", "search", "worker", "close")
    return [thread.name for thread in threading.enumerate() if thread.name in names]


def is_legal(move: chess.Move | None, board: chess.Board) -> bool:
    return move is not None and move in board.legal_moves


def searches(engine: Engine, board: Any, limit: Limit) -> list[Callable[[], object]]:
    """All calls that search with a limit."""
    move = chess.Move.from_uci("g1f3")
    return [
        lambda: engine.play(board, limit),
        lambda: engine.play(board, limit, root_moves=[move]),
        lambda: engine.analyse(board, limit),
        lambda: engine.explain(board, move, limit),
        lambda: engine.compare_moves(board, limit),
    ]


def other_calls(engine: Engine, board: Any) -> list[Callable[[], object]]:
    """The other calls with a board."""
    return [
        partial(engine.analysis, board),
        partial(engine.evaluate, board),
        partial(engine.explain_evaluation, board),
        partial(engine.probe_tablebases, board),
    ]


def wait_until_only(threads: list[str]) -> None:
    """Threads that were told to end may need a moment."""
    wait_until(lambda: len(own_threads()) <= len(threads))


def test_the_examples_of_the_docstrings_run_and_help_leads_to_them() -> None:
    assert doctest.testmod(engine_module).failed == 0
    assert "class Engine(" in pydoc.plain(pydoc.render_doc(uci_engine))


# What is answered ----------------------------------------------------------------------------------------------


def test_a_limit_asks_for_what_go_asks_for() -> None:
    clocks = Limit(white_clock=0, black_clock=6, white_inc=0.007, black_inc=0.008, remaining_moves=9)
    expected = Limits(wtime_ms=0, btime_ms=6000, winc_ms=7, binc_ms=8, movestogo=9)
    assert limits_of(clocks, chess.Board(), None) == expected
    others = Limit(time=0.0, depth=2, nodes=3, mate=4)
    assert limits_of(others, chess.Board(), None) == Limits(movetime_ms=0, depth=2, nodes=3, mate=4)


def test_the_same_as_through_python_chess(engine: Engine) -> None:
    command = [sys.executable, "-m", "uci_engine"]
    board = chess.Board(STARTS[1])
    board.push(next(iter(board.legal_moves)))
    before = board.copy()
    with chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE_SECONDS, env=ENVIRONMENT) as client:
        client.configure({"Hash": 4})
        lines = client.analyse(board, Limit(depth=DEPTH), multipv=3)
        played = client.play(board, Limit(depth=DEPTH), game="another")
    for ours, theirs in zip(engine.analyse(board, Limit(depth=DEPTH), multipv=3), lines, strict=True):
        assert set(ours) == set(theirs)
        for key in ("depth", "seldepth", "score", "nodes", "pv", "multipv", "hashfull"):
            assert ours.get(key) == theirs.get(key), key
    result = engine.play(board, Limit(depth=DEPTH), game="another")
    assert isinstance(result, chess.engine.PlayResult)
    assert (result.move, result.ponder, result.info["pv"]) == (played.move, played.ponder, lines[0]["pv"])
    assert (board, board.move_stack) == (before, before.move_stack)


@pytest.mark.parametrize(
    ("board", "score"),
    [
        (chess.Board("R5k1/5ppp/8/8/8/8/8/7K b - - 0 1"), Mate(0)),
        (chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Cp(0)),
        (chess.Board("3rkr2/3pQp2/3B4/8/8/8/8/R3K3 b Afd - 0 1", chess960=True), Mate(0)),
    ],
)
def test_a_game_that_is_over(engine: Engine, board: chess.Board, score: chess.engine.Score) -> None:
    result = engine.play(board, Limit(depth=3))
    assert (result.move, result.ponder) == (None, None)
    with engine.analysis(board) as analysis:
        assert [*analysis] == [{"depth": 0, "score": PovScore(score, chess.BLACK)}]


def test_chess960(engine: Engine) -> None:
    castling = chess.Board("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", chess960=True)
    for move in castling.generate_castling_moves():
        assert engine.play(castling, Limit(nodes=50), root_moves=iter([move])).move == move


def test_the_history_counts(engine: Engine) -> None:
    # White is a queen ahead, but the position has been there twice: any move but Kg1 and Kf1 must be found.
    board = board_after("6k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1", "g1f1 g8f8 f1g1 f8g8 g1f1 g8f8 f1g1 f8g8")
    only = [chess.Move.from_uci("g1f1")]
    assert engine.analyse(board, Limit(depth=DEPTH), root_moves=only)["score"].white() == Cp(0)
    alone = chess.Board(board.fen())
    assert engine.analyse(alone, Limit(depth=DEPTH), root_moves=only)["score"].white() > Cp(300)
    board.push(chess.Move.null())
    assert is_legal(engine.play(board, Limit(depth=1)).move, board)


MOVES = tuple(map(chess.Move.from_uci, ("e2e4", "e7e5", "g1f3")))
NUMBERS = st.none() | st.integers(0, 10**9)
SCORES = st.integers(-scores.MATE, scores.MATE)
PERMILLE = st.none() | st.integers(0, 1000)


@given(
    st.builds(
        Info,
        depth=NUMBERS,
        seldepth=NUMBERS,
        multipv=st.none() | st.integers(1, 256),
        score=st.none() | SCORES,
        pieces=st.integers(2, 32),
        is_lower_bound=st.booleans(),
        show_wdl=st.booleans(),
        nodes=NUMBERS,
        nps=NUMBERS,
        hashfull=PERMILLE,
        tbhits=NUMBERS,
        time_ms=NUMBERS,
        pv=st.sampled_from([(), MOVES[:1], MOVES]),
        currmove=st.none() | st.just(MOVES[0]),
        currmovenumber=NUMBERS,
        message=st.none() | st.just(Message.error("some words")),
    ),
    st.sampled_from([chess.engine.INFO_ALL, chess.engine.INFO_NONE, chess.engine.INFO_BASIC, chess.engine.INFO_SCORE]),
)
def test_reports_are_what_python_chess_reads_from_the_lines(info: Info, selector: chess.engine.Info) -> None:
    line = format_info(info).removeprefix("info ")
    expected = chess.engine._parse_uci_info(line, chess.Board(), selector)
    found = info_dict(info, chess.WHITE, selector)
    assert {key: value for key, value in found.items() if key in expected} == expected


# An analysis in the background --------------------------------------------------------------------------------


def test_an_analysis_is_iterated_and_stopped(engine: Engine) -> None:
    board = chess.Board()
    with engine.analysis(board, multipv=2) as analysis:
        seen = [next(analysis) for _ in range(6)]
        assert any(info.get("multipv") == 2 for info in seen)
    best = analysis.wait()
    assert is_legal(best.move, board)
    assert analysis.info["pv"][0] == best.move == analysis.multipv[0]["pv"][0]
    rest = list(analysis)
    assert (analysis.next(), analysis.empty(), analysis.would_block()) == (None, True, False)
    assert len(seen) + len(rest) >= 6
    with pytest.raises(AnalysisComplete):
        analysis.get()


def test_an_analysis_is_iterated_from_asyncio(engine: Engine) -> None:
    async def depths() -> list[int]:
        with engine.analysis(chess.Board(), Limit(depth=3), root_moves=["Nf3", "e2e4"]) as analysis:
            assert repr(analysis).startswith("<Analysis ")
            return [info["depth"] async for info in analysis if "pv" in info]

    async def cancelled() -> None:
        async with asyncio.timeout(0.1):
            async for _ in engine.analysis(chess.Board()):
                pass

    assert asyncio.run(depths())[-1] == 3
    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    wait_until(lambda: repr(engine) == f"<Engine {engine.id['name']}, idle>")


def test_a_later_search_stops_an_analysis(engine: Engine) -> None:
    analysis = engine.analysis(chess.Board())
    assert engine.play(chess.Board(MATE_IN_ONE), Limit(depth=2)).move == chess.Move.from_uci("a1a8")
    assert not analysis.would_block()
    assert is_legal(analysis.wait().move, chess.Board())
    # To stop what has ended must not stop what runs now.
    later = engine.analysis(chess.Board())
    analysis.stop()
    for info in later:
        if info.get("depth", 0) > DEPTH:
            break
    assert not later.is_done
    later.stop()
    later.wait()


# Several threads and several engines ---------------------------------------------------------------------------


def result_of(engine: Engine, board: chess.Board) -> list[Any]:
    info = engine.analyse(board, Limit(depth=DEPTH))
    return [info["score"], info["pv"], info["nodes"]]


def test_engines_side_by_side_search_as_they_do_alone() -> None:
    boards = [chess.Board(fen) for fen in STARTS[:4]]
    with Engine(hash=2) as alone:
        expected = []
        for board in boards:
            alone.new_game()
            expected.append(result_of(alone, board))

    def search(board: chess.Board) -> list[Any]:
        with Engine(hash=2) as engine:
            return result_of(engine, board)

    with ThreadPoolExecutor(len(boards)) as pool:
        assert list(pool.map(search, boards, timeout=PATIENCE_SECONDS)) == expected


def test_one_engine_serves_many_threads(engine: Engine) -> None:
    boards = [chess.Board(fen) for fen in STARTS]

    def play(board: chess.Board) -> chess.Move | None:
        engine.evaluate(board)
        return engine.play(board, Limit(nodes=300)).move

    with ThreadPoolExecutor(len(boards)) as pool:
        assert all(map(is_legal, pool.map(play, boards, timeout=PATIENCE_SECONDS), boards))


def test_the_process_keeps_its_own_settings() -> None:
    interval, frozen = sys.getswitchinterval(), gc.get_freeze_count()
    with Engine(hash=1) as engine, engine.analysis(chess.Board()) as analysis:
        analysis.get()
        assert gc.isenabled()
        assert (sys.getswitchinterval(), gc.get_freeze_count()) == (interval, frozen)


# The static evaluation -----------------------------------------------------------------------------------------


def test_the_explanation_is_that_of_the_evaluation(engine: Engine) -> None:
    for board in random_game(5, chess.Board(), 30):
        explanation = engine.explain_evaluation(board)
        assert isinstance(explanation, Explanation)
        # One scale, and what the engine plays with.
        internal = evaluation.evaluate(board)
        assert explanation.score == engine.evaluate(board) == PovScore(Cp(internal), board.turn)
        assert explanation.white_score == evaluation.explain(board).white_score
        assert explanation.white_score == sum(term.difference_cp for term in explanation)
        pieces = chess.popcount(board.occupied)
        assert explanation.normalised_score.relative == Cp(scores.normalised(internal, pieces))
        assert explanation.expected.relative == Wdl(*scores.win_draw_loss(internal, pieces))
        shown = f"{explanation.white_score / 100:+.2f}"
        assert repr(explanation) == f"<Explanation of {board.fen()}: {shown} for White, {len(explanation.terms)} terms>"
    with pytest.raises(KeyError):
        explanation["nonsense"]


# Options -------------------------------------------------------------------------------------------------------


def test_every_keyword_is_an_option_and_every_other_option_is_the_programs_own() -> None:
    options = Options()
    found = {options.find(keyword) for keyword in KEYWORDS}
    others = {option.name for option in options if option not in found}
    # Boards and arguments say the first two, and there are no UCI lines to log.
    own = {"UCI_Chess960", "MultiPV", "Debug Log File", "Ponder", "Clear Hash"}
    assert (len(found), others) == (len(KEYWORDS), own)


def test_options_as_python_chess_has_them(engine: Engine) -> None:
    engine.configure({"Move Overhead": "20", "Clear Hash": None}, hash=4)
    assert engine.options["move_overhead"] == 20
    board, own = chess.Board(), {"Use NNUE": False, "UCI_ShowWDL": True}
    assert "wdl" in engine.analyse(board, Limit(depth=2), options=own)
    assert (engine.options["use_nnue"], engine.options["uci_show_wdl"]) == (True, False)
    assert "wdl" not in engine.analyse(board, Limit(depth=2))
    with pytest.raises(ValueError, match="there is no option 'Hsah'"):
        engine.play(board, Limit(depth=1), options={"Hsah": 3})


def test_options_by_keyword() -> None:
    threads = min(2, usable_processors())
    with Engine(hash=2, threads=threads, uci_elo=1800, own_book=True, book_file="") as engine:
        expected = {"hash": 2, "threads": threads, "uci_elo": 1800, "uci_limit_strength": True, "own_book": True}
        assert expected.items() <= engine.options.items()
        assert set(engine.options) == set(KEYWORDS)
        assert engine.play(chess.Board(), Limit(time=5)).info["string"].startswith("book: ")
        assert "string" not in engine.analyse(chess.Board(), Limit(depth=1))
    with Engine(hash=1, uci_elo=1800, uci_limit_strength=False) as engine:
        assert engine.options["uci_limit_strength"] is False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hsah": 64}, "there is no option 'hsah', did you mean hash?"),
        ({"hash": 0}, "hash must be a whole number from 1 to 33554432, not 0"),
        ({"hash": "x"}, "hash must be a whole number from 1 to 33554432, not 'x'"),
        ({"own_book": 1}, "own_book must be True or False, not 1"),
        ({"syzygy_path": None}, "syzygy_path must be text"),
        ({"multipv": 3}, "there is no option 'multipv'; the options are hash, "),
        ({"weights_file": "missing"}, "option WeightsFile cannot be 'missing' ('missing' cannot be read: No such file"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options: dict[str, Any], sentence: str) -> None:
    before = own_threads()
    with pytest.raises(ValueError, match=r".") as caught:
        Engine(**options)
    message = str(caught.value)
    assert message.startswith(sentence)
    assert "\n" not in message
    wait_until_only(before)


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be changed there")
def test_a_table_that_a_probe_drops_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tablebases, "hash_maximum_mib", lambda: 0)  # nothing is copied
    folder = copy_tables(tmp_path / "tables", "KRvK")
    board = chess.Board("8/8/8/4k3/8/8/8/R3K3 w - - 0 1")
    with Engine(hash=1, syzygy_path=str(folder)) as engine:
        assert engine.probe_tablebases(board) == 2
        os.truncate(folder / "KRvK.rtbw", 16)
        with caplog.at_level(logging.WARNING, "uci_engine"):
            assert engine.probe_tablebases(board) is None
    assert "KRvK.rtbw" in caplog.text


def test_problems_that_do_not_stop_it_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "uci_engine"), Engine(hash=1) as engine:
        engine.configure(syzygy_path="/nowhere/at all")
        assert "/nowhere/at all" in caplog.text
        caplog.clear()
        option = engine._inner.options.hash
        option.usable = 3
        engine.configure(hash=512)
        assert engine.options["hash"] == 3
        assert "option Hash: 512 is taken as 3" in caplog.text


# What is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (Limit(), "the limit needs a time, "),
        (Limit(white_inc=1, black_inc=1), "the limit needs a time, "),
        (Limit(depth=0), "Limit.depth must be a whole number, 1 or more, not 0"),
        (Limit(nodes=-5), "Limit.nodes must be a whole number, 1 or more, not -5"),
        (Limit(time=-1), "Limit.time must be a number of seconds, 0 or more, not -1"),
        (Limit(time=float("nan")), "Limit.time must be a number of seconds, 0 or more, not nan"),
        (Limit(depth="7"), "Limit.depth must be a whole number, 1 or more, not '7'"),  # type: ignore[arg-type]
        (Limit(depth=2.5), "Limit.depth must be a whole number, 1 or more, not 2.5"),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_wrong_limits(engine: Engine, limit: Limit, sentence: str) -> None:
    board = chess.Board()
    for call in searches(engine, board, limit):
        with pytest.raises(ValueError, match=r".") as caught:
            call()
        assert str(caught.value).startswith(sentence)
    assert engine.play(board, Limit(nodes=1)).move is not None


HUGE: list[dict[str, Any]] = [
    *({field: 2**70} for field in ("depth", "nodes", "mate", "time", "white_clock")),
    {"time": 10**400},
    {"white_clock": 1e300, "black_clock": 1e300, "white_inc": 1.7e308, "black_inc": 2**70, "remaining_moves": 2**70},
]


@pytest.mark.parametrize("fields", HUGE, ids=lambda fields: "-".join(fields))
def test_a_huge_number_sets_no_bound(engine: Engine, fields: dict[str, Any]) -> None:
    limits = limits_of(Limit(**fields), chess.Board(), None)
    assert max(number for number in (getattr(limits, name) for name in limits.__slots__) if number) == MAX_INT
    with engine.analysis(chess.Board(), Limit(**fields)) as analysis:
        analysis.get()
        assert not analysis.is_done
    assert analysis.wait().move is not None


def test_other_wrong_arguments(engine: Engine) -> None:
    board, limit = chess.Board(), Limit(depth=1)
    with pytest.raises(ValueError, match=r"^root_moves holds no move$"):
        engine.play(board, limit, root_moves=[])
    illegal = chess.Move.from_uci("e2e5")
    for call in (partial(engine.play, root_moves=[illegal]), partial(engine.explain, move="e2e5")):
        with pytest.raises(ValueError, match=r"^'e2e5' is no legal move here$"):
            call(board, limit=limit)
    with pytest.raises(ValueError, match="the limit needs"):
        engine.compare_moves(board, Limit(mate=3))
    board.push(chess.Move.from_uci("g1g5"))
    with pytest.raises(ValueError, match=r"g1g5.*not legal"):
        engine.play(board, limit)
    board = chess.Board()
    for multipv in (0, 257):
        with pytest.raises(ValueError, match=r"^multipv must be a whole number from 1 to 256, not "):
            engine.analyse(board, limit, multipv=multipv)
    with pytest.raises(ValueError, match="no core is called"):
        Engine(core="nonsense")
    with pytest.raises(RuntimeError, match="this process already runs"):
        Engine(core="interpreted")


def with_fields(**fields: object) -> chess.Board:
    """The first position, with other values in fields of the board."""
    board = chess.Board()
    for name, value in fields.items():
        setattr(board, name, value)
    return board


WRONG_BOARDS: dict[str, Any] = {
    **{f"turn {turn}": with_fields(turn=turn) for turn in (100_000, -1, 1, None)},
    **{
        f"{name} {value}": with_fields(**{name: value})
        for name in ("pawns", "kings", "occupied", "castling_rights")
        for value in (-1, None, 1.0, 2**64)
    },
    "no occupied": with_fields(occupied=0),
    "two kinds on a square": with_fields(knights=chess.BB_A2 | chess.BB_B1),
    "two colours on a square": with_fields(occupied_co=[chess.BB_ALL, chess.BB_RANK_1 | chess.BB_RANK_2]),
    "colourless": with_fields(occupied_co=[0, chess.BB_RANK_1 | chess.BB_RANK_2]),
    **{f"en passant {square}": with_fields(ep_square=square) for square in (64, -1, "e3")},
    **{
        f"{name} {value}": with_fields(**{name: value})
        for name in ("halfmove_clock", "fullmove_number")
        for value in (-1, "x")
    },
    **{type(board).__name__: board for board in (chess.variant.AtomicBoard(), chess.variant.ThreeCheckBoard())},
    "text": chess.STARTING_FEN,
    "empty": chess.Board(None),
    "one king": chess.Board("8/8/8/8/8/8/8/K7 w - - 0 1"),
    "three kings": chess.Board("k1k5/8/8/8/8/8/8/K7 w - - 0 1"),
    "a pawn on the last rank": chess.Board("k2p4/8/8/8/8/8/8/K7 w - - 0 1"),
    "17 pieces": chess.Board("k7/8/8/NNNNNNNN/NNNNNNNN/8/8/K7 w - - 0 1"),
}


@pytest.mark.parametrize("board", WRONG_BOARDS.values(), ids=WRONG_BOARDS)
def test_a_wrong_board_is_refused_everywhere(engine: Engine, board: Any) -> None:
    static: list[Callable[[], object]] = [partial(evaluation.evaluate, board), partial(evaluation.explain, board)]
    for call in [*searches(engine, board, Limit(nodes=10)), *other_calls(engine, board), *static]:
        with pytest.raises(ValueError, match=r"."):
            call()


def test_a_history_that_does_not_lead_to_the_position_is_refused(engine: Engine) -> None:
    turned, moved, root = chess.Board(), chess.Board(), with_fields(ep_square=100_000)
    for board in (turned, moved, root):
        board.push(chess.Move.from_uci("g1f3"))
    turned.turn = chess.WHITE
    moved.knights, moved.bishops = moved.bishops, moved.knights
    for board in (turned, moved, root):
        with pytest.raises(ValueError, match=r"."):
            engine.play(board, Limit(nodes=10))
        board.clear_stack()
        assert is_legal(engine.play(board, Limit(nodes=10)).move, board)


@pytest.mark.parametrize("field", ["halfmove_clock", "fullmove_number"])
@pytest.mark.parametrize("number", [0, 10**400])
def test_a_clock_of_the_board_beyond_any_game_is_searched(engine: Engine, field: str, number: int) -> None:
    board = with_fields(**{field: number})
    for limit in (Limit(nodes=10), Limit(white_clock=0.1, black_clock=0.1)):
        assert is_legal(engine.play(board, limit).move, board)


def test_a_board_of_the_users_own_class_is_accepted(engine: Engine) -> None:
    class Own(chess.Board):
        pass

    assert engine.evaluate(Own()) == engine.evaluate(chess.Board())
    assert is_legal(engine.play(Own(), Limit(nodes=10)).move, chess.Board())


# The end -------------------------------------------------------------------------------------------------------


def test_no_thread_is_left() -> None:
    before = own_threads()
    engine = Engine(hash=1, threads=3)
    engine.play(chess.Board(), Limit(time=0.05))
    analysis = engine.analysis(chess.Board())
    analysis.get()
    engine.close()
    assert is_legal(analysis.wait().move, chess.Board())
    engine.close()
    engine.quit()
    wait_until_only(before)


def test_a_dropped_engine_is_closed() -> None:
    before = own_threads()
    for _ in Engine(hash=1, threads=2).analysis(chess.Board()):
        break
    gc.collect()
    wait_until_only(before)


def test_closing_ends_a_search_of_another_thread() -> None:
    engine = Engine(hash=1)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(engine.play, chess.Board(), Limit(time=600))
        wait_until(lambda: engine._inner.searching)
        engine.close()
        assert is_legal(result.result(PATIENCE_SECONDS).move, chess.Board())


def test_a_closed_engine_says_so() -> None:
    with Engine(hash=1) as engine:
        pass
    board = chess.Board()
    calls: list[Callable[[], object]] = [engine.new_game, engine.ping, lambda: engine.configure(hash=2)]
    for call in [*searches(engine, board, Limit(depth=1)), *other_calls(engine, board), *calls]:
        with pytest.raises(EngineTerminatedError, match=r"^this engine is closed$"):
            call()


@pytest.mark.usefixtures("capfd")
def test_a_failing_search_is_an_exception(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchManager, "report", Mock(side_effect=ZeroDivisionError("a fault")))
    with pytest.raises(EngineError, match=r"^the search has failed: a fault$"):
        engine.play(chess.Board(), Limit(depth=3))
    with engine.analysis(chess.Board()) as analysis, pytest.raises(EngineError):
        list(analysis)
    monkeypatch.undo()
    assert engine.play(chess.Board(), Limit(depth=1)).move is not None


def test_an_interrupted_call_stops_its_search(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module.Analysis, "wait", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        engine.play(chess.Board(), Limit(time=600))
    monkeypatch.undo()
    assert engine.play(chess.Board(), Limit(depth=1)).move is not None
