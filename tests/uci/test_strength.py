"""Limited strength over UCI, with the real program: options as in Stockfish, the clock, the seed, full strength."""

from __future__ import annotations

import time

import chess
import pytest

from tests.support.kernel import is_compiled
from tests.support.uci_process import Search, UciProcess
from uci_engine.search.strength import MAX_ELO, MIN_ELO

START = chess.Board()
MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"  # a1a8
PATIENCE_MS = 60_000


def weaken(engine: UciProcess, elo: int) -> None:
    engine.send("setoption name UCI_LimitStrength value true", f"setoption name UCI_Elo value {elo}")


def nodes_of(search: Search) -> int:
    return search.infos[-1].numbers["nodes"]


def centre_distance(square: chess.Square) -> int:
    return min(chess.square_manhattan_distance(square, centre) for centre in (chess.D4, chess.D5, chess.E4, chess.E5))


def play(engine: UciProcess, plies: int) -> list[str]:
    """The engine against itself, from the start position."""
    engine.send("ucinewgame")
    board = chess.Board()
    while board.ply() < plies and not board.is_game_over():
        engine.send(" ".join(["position startpos moves", *map(str, board.move_stack)]))
        board.push_uci(engine.search(f"go movetime {PATIENCE_MS}", board).best)
    return [move.uci() for move in board.move_stack]


def test_full_strength_is_the_search_without_the_options(survivor: UciProcess) -> None:
    survivor.send("setoption name UCI_LimitStrength value false")
    before = survivor.search("go depth 5")
    weaken(survivor, MIN_ELO)
    survivor.send("ucinewgame")
    survivor.search("go depth 5")
    # UCI_Elo alone limits nothing.
    survivor.send("setoption name UCI_LimitStrength value false", "ucinewgame")
    after = survivor.search("go depth 5")
    assert (before.best, before.ponder, nodes_of(before)) == (after.best, after.ponder, nodes_of(after))
    assert [info.pv for info in before.infos] == [info.pv for info in after.infos]


@pytest.mark.timing
@pytest.mark.parametrize("elo", [MIN_ELO, 1500, MAX_ELO])
def test_weak_play_obeys_the_clock(survivor: UciProcess, elo: int) -> None:
    weaken(survivor, elo)
    for go in ("go movetime 30", "go wtime 60 btime 60", "go wtime 0 btime 0"):
        began = time.perf_counter()
        survivor.search(go, START)
        # Far more than allowed, for a busy machine. The highest level would search for much longer on most.
        assert time.perf_counter() - began < 2.0


def test_a_question_for_a_mate_is_answered_at_full_strength(survivor: UciProcess) -> None:
    weaken(survivor, MIN_ELO)
    survivor.send(f"position fen {MATE_IN_ONE}")
    assert survivor.search("go mate 1").best == "a1a8"


def test_the_same_seed_gives_the_same_game() -> None:
    with UciProcess("--tuning") as engine:
        engine.send("setoption name Seed value 7")
        weaken(engine, 1100)
        first, second = play(engine, 30), play(engine, 30)
        assert first == second
        engine.send("setoption name Seed value 8")
        assert play(engine, 30) != first


@pytest.mark.skipif(not is_compiled(), reason="takes minutes in plain Python")
@pytest.mark.parametrize("fen", ["8/8/8/3k4/8/8/8/KR6 w - - 0 1", "8/8/8/3k4/8/8/8/KQ6 w - - 0 1"])
@pytest.mark.parametrize("elo", [MIN_ELO, 1500, 2000])
def test_every_level_mates_a_bare_king(survivor: UciProcess, fen: str, elo: int) -> None:
    weaken(survivor, elo)
    survivor.send("ucinewgame")
    board = chess.Board(fen)
    while not board.is_game_over() and board.halfmove_clock < 100:
        survivor.send(f"position fen {board.fen()}")
        board.push_uci(survivor.search(f"go movetime {PATIENCE_MS}", board).best)
        # The king takes what it can, and stays near the centre.
        if replies := list(board.legal_moves):
            board.push(max(replies, key=lambda move: (board.is_capture(move), -centre_distance(move.to_square))))
    assert board.is_checkmate()


@pytest.mark.timing
def test_on_a_clock_a_level_takes_time_unless_that_is_switched_off(survivor: UciProcess) -> None:
    weaken(survivor, MIN_ELO)
    survivor.send("ucinewgame", f"position fen {MIDDLEGAME.replace('3 9', '3 20')}")
    # Full strength would take about 1.2 s.
    go = "go wtime 10000 btime 10000 winc 1000 binc 1000"
    assert survivor.search(go).infos[-1].numbers["time"] >= 100
    survivor.send("setoption name Human Pace value false")
    assert min(survivor.search(go).infos[-1].numbers["time"] for _ in range(3)) < 100
    survivor.send("setoption name Human Pace value true")
    for clock_ms in (9_000_000, 10**18):
        survivor.send(f"go wtime {clock_ms} btime {clock_ms}")
        survivor.wait_for("info depth 1")
        time.sleep(0.2)
        started = time.perf_counter()
        survivor.send("stop")
        assert not any("error" in line for line in survivor.wait_for("bestmove"))
        assert time.perf_counter() - started < 5.0
