"""Conversations through python-chess's own client, as bots, tournaments and analysis tools hold them."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator

import chess
import chess.engine
import pytest
from chess.engine import Limit, SimpleEngine

from tests.support.uci_process import PACKAGE_ROOT, PATIENCE_SECONDS

QUICK = Limit(nodes=100)
MATE_IN_ONE = chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")


@pytest.fixture
def client(core: str | None) -> Iterator[SimpleEngine]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}
    if core is not None:
        environment["SECATEUR_CORE"] = core
    engine = SimpleEngine.popen_uci([sys.executable, "-m", "uci_engine"], timeout=PATIENCE_SECONDS, env=environment)
    with engine:
        yield engine


def test_it_introduces_itself(client: SimpleEngine) -> None:
    assert client.id["name"].startswith("Secateur")
    assert client.options["Hash"].type == "spin"
    assert client.options["Clear Hash"].type == "button"
    client.ping()


@pytest.mark.parametrize(
    "limit",
    [
        Limit(time=0.02),
        Limit(depth=2),
        Limit(nodes=100),
        Limit(white_clock=0.3, black_clock=0.3, white_inc=0.01, black_inc=0.01),
        Limit(white_clock=0.3, black_clock=0.3, remaining_moves=5),
        Limit(white_clock=0.0),
    ],
    ids=str,
)
def test_play(client: SimpleEngine, limit: Limit) -> None:
    result = client.play(chess.Board(), limit, info=chess.engine.INFO_ALL)
    assert result.move is not None
    assert result.move in chess.Board().legal_moves
    assert result.info["pv"][0] == result.move


def test_a_game_with_pondering(client: SimpleEngine) -> None:
    board = chess.Board()
    for ply in range(16):
        result = client.play(board, QUICK, ponder=True)
        assert result.move is not None
        board.push(result.move)
        if board.is_game_over():
            break
        # Now the expected reply, and now another one: a hit and a miss.
        expected = result.ponder
        others = [move for move in board.legal_moves if move != expected]
        board.push(expected if expected is not None and (ply % 2 == 0 or not others) else others[0])
    client.ping()


def test_a_position_without_a_move(client: SimpleEngine) -> None:
    board = MATE_IN_ONE.copy()
    board.push_uci("a1a8")
    assert client.play(board, QUICK).move is None
    assert client.play(chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), QUICK).move is None


def test_root_moves(client: SimpleEngine) -> None:
    moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    assert client.play(chess.Board(), QUICK, root_moves=moves).move in moves


def test_a_mate_is_seen(client: SimpleEngine) -> None:
    info = client.analyse(MATE_IN_ONE, Limit(depth=2))
    assert info["score"].white() == chess.engine.Mate(1)


def test_analysis_of_several_lines(client: SimpleEngine) -> None:
    lines = client.analyse(chess.Board(), Limit(depth=2), multipv=3)
    assert [line["multipv"] for line in lines] == [1, 2, 3]
    assert len({line["pv"][0] for line in lines}) == 3
    scores = [line["score"].relative for line in lines]
    assert scores == sorted(scores, reverse=True)


def test_analysis_is_stopped_soon(client: SimpleEngine) -> None:
    delays = []
    for _ in range(8):
        with client.analysis(chess.Board()) as analysis:
            assert analysis.get()
            started = time.perf_counter()
            analysis.stop()
            best = analysis.wait()
            delays.append(time.perf_counter() - started)
            assert best.move is not None
            assert best.move in chess.Board().legal_moves
    assert statistics.median(delays) < 0.2


def test_analysis_moves_on_to_other_positions(client: SimpleEngine) -> None:
    board = chess.Board()
    for word in ("e2e4", "e7e5", "g1f3", "b8c6"):
        with client.analysis(board) as analysis:
            for info in analysis:
                if "pv" in info:
                    assert info["pv"][0] in board.legal_moves
                    break
        board.push_uci(word)


def test_options_that_bots_set(client: SimpleEngine) -> None:
    client.configure({"Hash": 64, "Threads": 4, "Move Overhead": 100, "SyzygyPath": "./syzygy/", "UCI_ShowWDL": True})
    info = client.analyse(chess.Board(), QUICK)
    assert info["wdl"].relative.total() == 1000
    client.configure({"UCI_ShowWDL": False, "Clear Hash": None})
    assert "wdl" not in client.analyse(chess.Board(), QUICK)


def test_the_opponent_is_accepted(client: SimpleEngine) -> None:
    client.send_opponent_information(opponent=chess.engine.Opponent("Garry Kasparov", "GM", 2851, False))
    assert client.play(chess.Board(), QUICK).move is not None


@pytest.mark.parametrize("number", [0, 518, 959])
def test_chess960(client: SimpleEngine, number: int) -> None:
    board = chess.Board.from_chess960_pos(number)
    for _ in range(20):
        if board.is_game_over():
            break
        result = client.play(board, Limit(nodes=50))
        assert result.move is not None
        assert result.move in board.legal_moves
        board.push(result.move)


def test_chess960_castling(client: SimpleEngine) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", chess960=True)
    castling = list(board.generate_castling_moves())
    assert len(castling) == 2
    for move in castling:
        assert client.play(board, QUICK, root_moves=[move]).move == move


def test_a_new_game_and_an_old_one(client: SimpleEngine) -> None:
    board = chess.Board()
    for game in range(3):
        board.reset()
        for _ in range(4):
            result = client.play(board, QUICK, game=game)
            assert result.move is not None
            board.push(result.move)
