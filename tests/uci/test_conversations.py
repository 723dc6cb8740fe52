"""What only the real program shows: the answer to `uci`, floods, what people type beyond UCI, and what is refused.

How a line is read is tested in test_protocol.py, in which order commands are executed in test_loop.py, what a search
answers in tests/test_engine.py. Random conversations are in test_random_conversations.py.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import chess
import pytest

from tests.support.uci_lines import read_option
from tests.support.uci_process import UciProcess
from uci_engine.score import normalised
from uci_engine.uci.protocol import MAX_LINE_BYTES

START = chess.Board()


def test_the_answer_to_uci_declares_every_option_and_is_always_the_same(either_engine: UciProcess) -> None:
    either_engine.send("uci")
    lines = either_engine.wait_for("uciok")
    assert lines[0].startswith("id name Secateur ")
    assert lines[1].startswith("id author ")
    names = {read_option(line).name.lower() for line in lines[2:-1]}
    assert len(names) == len(lines) - 3 > 20
    either_engine.send("uci")
    assert either_engine.wait_for("uciok") == lines


@pytest.mark.timing
def test_the_start_is_quick_and_silent() -> None:
    started = time.perf_counter()
    with UciProcess() as engine:
        assert engine.sync() == []
        # A start is measured elsewhere; this is about work at the start that a chess program gives up on.
        assert engine.arrived_at() - started < 5


def test_a_flood_of_commands_is_executed(either_engine: UciProcess) -> None:
    either_engine.send("position startpos", *["go infinite", "stop"] * 100)
    for _ in range(100):
        either_engine.answer(START)
    either_engine.send("go infinite")
    either_engine.wait_for(lambda line: " pv " in line)
    either_engine.send(*["isready"] * 1000)
    for _ in range(1000):
        assert not [line for line in either_engine.wait_for("readyok") if line.startswith("bestmove")]
    either_engine.send(*["stop"] * 50, "ponderhit", *["ucinewgame"] * 100)
    either_engine.wait_for("bestmove")
    assert either_engine.sync() == []


def test_the_last_report_is_complete(either_engine: UciProcess) -> None:
    search = either_engine.search("go depth 3", START)
    report = search.last_pv
    assert {"depth", "seldepth", "nodes", "nps", "hashfull", "time"} <= report.numbers.keys()
    assert report.numbers["depth"] == 3
    assert report.score is not None
    assert report.bound is None
    # A short search does not report single moves.
    assert all(info.currmove is None for info in search.infos)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_games_take_no_more_threads_files_or_memory(engine: UciProcess) -> None:
    folder = Path("/proc", str(engine.process.pid))

    def play(games: int) -> tuple[int, int, int]:
        for _ in range(games):
            engine.send("ucinewgame", "position startpos", "go depth 4")
            engine.answer(START)
        pages = int((folder / "statm").read_text().split()[1])
        return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir())), pages

    before, after = play(2), play(20)
    assert after[:2] == before[:2]
    assert (after[2] - before[2]) * os.sysconf("SC_PAGE_SIZE") < 1 << 23


@pytest.mark.parametrize("line", ["d", "eval", "go perft 2"])
def test_without_a_position_people_are_told_so(survivor: UciProcess, line: str) -> None:
    survivor.send("position fen rubbish", line)
    refusal, answer = survivor.wait_for(lambda line: "no position" in line)
    assert refusal.startswith("info string error: ")
    assert not any("Error" in said for said in [answer, *survivor.sync()])


@pytest.mark.parametrize(
    "line",
    [
        b"bench x",
        b"bench 0",
        b"bench -3",
        b"go perft 65",
        b"position startpos moves" + b" g1f3 g8f6 f3g1 f6g8" * 25_000,
        b"isready " * (MAX_LINE_BYTES // 8 + 1),
    ],
    ids=range(6),
)
def test_one_sentence_refuses(survivor: UciProcess, line: bytes) -> None:
    survivor.send_bytes(line + b"\n")
    (answer,) = survivor.sync()
    assert answer.startswith("info string error: ")
    assert len(answer) < 300
    survivor.search("position startpos\ngo depth 1", START)


def test_ten_megabytes_in_a_line(survivor: UciProcess) -> None:
    for line in (
        b"x" * 10_000_000,
        b"x " * 5_000_000,
        b"position startpos moves" + b" e2e4" * 2_000_000,
        b"position startpos\ngo" + b" depth" * 1_600_000 + b" 1",
        b"go depth 1 searchmoves" + b" e2e5" * 2_000_000,
        b"go depth 1 searchmoves e2e4 " + b"x" * 10_000_000,
        b"go depth " + b"0" * 10_000_000 + b"x",
        b"setoption name " + b"value" * 2_000_000,
        b"setoption name Hash value " + b"9" * 10_000_000 + b"x",
    ):
        survivor.send_bytes(line)
        sent_at = survivor.send("", "isready")
        said = survivor.wait_for("readyok")
        # The duty is one second; it takes a third of one on a machine that has nothing else to do.
        assert survivor.arrived_at() - sent_at < 20.0
        # `isready` is answered during a search, too.
        if b"go " in line and not any(text.startswith("bestmove") for text in said):
            said += survivor.wait_for("bestmove")
        told = [text for text in said if text.startswith("info string ")]
        assert len(told) < 20
        assert all(len(text) < 300 for text in told)
    survivor.search("position startpos\ngo depth 1", START)


def test_the_evaluation_can_be_shown(survivor: UciProcess) -> None:
    survivor.send("position startpos moves e2e4", "eval")
    lines = survivor.sync()
    (raw,) = (line.split()[1] for line in lines if line.startswith("Score ") and line.endswith("(White's view)"))
    (shown,) = (line.split()[1] for line in lines if line.startswith("Normalised "))
    assert float(shown) == normalised(round(100 * float(raw)), 32) / 100


def test_help_names_the_commands(survivor: UciProcess) -> None:
    survivor.send("help")
    text = "\n".join(survivor.sync())
    assert all(word in text for word in ("isready", "setoption", "position", "go", "perft", "bench", "Hash"))


def test_a_bench_can_be_stopped(engine: UciProcess) -> None:
    engine.send("bench 100", "isready", "stop")
    assert not any(line.startswith("nodes") for line in engine.wait_for("info string bench was stopped"))
    engine.search("go depth 1", START)
    # Neither a bench nor what waits for it keeps the program from its end.
    engine.send("go infinite", "bench 100", "go depth 1", "quit")
    assert engine.wait_for_exit() == 0
    assert "info string bench was stopped" in engine.lines


def test_a_command_as_arguments_leaves_standard_input_alone() -> None:
    with UciProcess("isready") as engine:
        assert engine.wait_for_exit() == 0
        assert engine.lines.pop() == "readyok"
