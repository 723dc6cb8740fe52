"""What only the real program shows: the answer to `uci`, floods, what is refused, how it ends in every state, how soon.

How a line is read is tested in test_protocol.py, in which order commands are executed in test_loop.py, what a search
answers in tests/test_engine.py. Random conversations are in test_random_conversations.py.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
import chess.engine
import pytest
from chess.engine import ConfigMapping, Limit, Opponent, SimpleEngine

from tests.support import ENVIRONMENT, PATIENCE_SECONDS, wait_until
from tests.support.uci_process import EXIT_SECONDS, UciProcess, read_option
from uci_engine.uci.protocol import MAX_LINE_BYTES

START = chess.Board()
MATED = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and file descriptors as POSIX has them")


def is_pv(line: str) -> bool:
    return " pv " in line


def test_the_answer_to_uci_declares_every_option_and_is_always_the_same(either_engine: UciProcess) -> None:
    either_engine.send("uci")
    lines = either_engine.wait_for("uciok")
    assert lines[0].startswith("id name Secateur ")
    assert lines[1].startswith("id author ")
    names = {read_option(line).name.lower() for line in lines[2:-1]}
    assert len(names) == len(lines) - 3 > 20
    either_engine.send("uci")
    assert either_engine.wait_for("uciok") == lines


def test_a_flood_of_commands_is_executed(either_engine: UciProcess) -> None:
    either_engine.send("position startpos", *["go infinite", "stop"] * 100)
    for _ in range(100):
        either_engine.answer(START)
    either_engine.send("go infinite")
    either_engine.wait_for(is_pv)
    either_engine.send(*["isready"] * 1000)
    for _ in range(1000):
        assert not [line for line in either_engine.wait_for("readyok") if line.startswith("bestmove")]
    either_engine.send(*["stop"] * 50, "ponderhit", *["ucinewgame"] * 100)
    either_engine.wait_for("bestmove")
    assert either_engine.sync() == []


def test_the_last_report_is_complete(either_engine: UciProcess) -> None:
    _, infos = either_engine.search("go depth 3", START)
    report = infos[-1]
    assert {"depth", "seldepth", "nodes", "nps", "hashfull", "time"} <= report.numbers.keys()
    assert report.numbers["depth"] == 3
    assert report.score is not None
    assert report.bound is None
    # A short search does not report single moves.
    assert all(info.currmove is None for info in infos)


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


def test_a_bench_can_be_stopped(engine: UciProcess) -> None:
    engine.send("bench 100", "isready", "stop")
    assert not any(line.startswith("nodes") for line in engine.wait_for("info string bench was stopped"))
    engine.search("go depth 1", START)
    # Neither a bench nor what waits for it keeps the program from its end.
    engine.send("go infinite", "speedtest 1 1", "go depth 1", "quit")
    assert engine.wait_for_exit() == 0
    assert "info string speedtest was stopped" in engine.lines


def test_a_start_is_silent_and_a_command_as_arguments_leaves_standard_input_alone() -> None:
    with UciProcess("isready") as engine:
        assert engine.wait_for_exit() == 0
        assert engine.lines == ["readyok"]
        engine.lines.clear()


# How it ends -------------------------------------------------------------------------------------------------------


# What is sent, and what is waited for.
STATES: dict[str, tuple[list[str], str | Callable[[str], bool]]] = {
    "just started": ([], ""),
    "ready": (["position startpos", "isready"], "readyok"),
    "searching": (["go infinite"], is_pv),
    "searching by the clock": (["go wtime 9000000 btime 9000000"], is_pv),
    "pondering": (["go ponder wtime 1000 btime 1000"], is_pv),
    "a second go waits": (["go infinite", "go infinite", "position startpos", "go depth 3"], ""),
    "holding back (none)": ([f"position fen {MATED}", "go infinite", "isready"], "readyok"),
    "no position": (["position fen rubbish", "go infinite", "isready"], "readyok"),
    "counting": (["go perft 30", "isready"], "readyok"),
    "benchmarking": (["bench", "isready"], "readyok"),
}


def bring(engine: UciProcess, state: str) -> None:
    """Into one of these states."""
    lines, wanted = STATES[state]
    engine.send(*lines)
    if wanted:
        engine.wait_for(wanted)


# At the end of the input these run on, because they end by themselves.
RUN_ON = ("searching by the clock", "counting")

ENDINGS: dict[str, Callable[[UciProcess], object]] = {
    "quit": lambda engine: engine.send("quit"),
    "end of input": lambda engine: engine.close_input(),
    "SIGINT": lambda engine: engine.process.send_signal(signal.SIGINT),
    "SIGTERM": lambda engine: engine.process.send_signal(signal.SIGTERM),
}


@pytest.mark.parametrize(
    ("state", "ending"),
    [(state, ending) for state in STATES for ending in ENDINGS if ending != "end of input" or state not in RUN_ON],
)
def test_it_ends_in_every_state(state: str, ending: str) -> None:
    if ending.startswith("SIG"):
        if os.name != "posix":
            pytest.skip("no signals")
        if state in ("just started", "a second go waits"):
            pytest.skip("Python itself may be still starting")
    with UciProcess() as engine:
        bring(engine, state)
        ENDINGS[ending](engine)
        assert engine.wait_for_exit(EXIT_SECONDS) == 0
        # On the way out, the audit: every go answered, nothing on stderr.


@pytest.mark.timing
def test_it_ends_in_less_than_a_second() -> None:
    times = []
    for _ in range(3):
        with UciProcess() as engine:
            bring(engine, "searching")
            started = time.perf_counter()
            engine.quit()
            times.append(time.perf_counter() - started)
    assert min(times) < 1.0


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("go nodes 600000", r" nodes 6\d{5} "),
        ("go depth 9", r"info depth 9 "),
        ("go movetime 300", r" time \d{3,} "),
        ("go wtime 30000 btime 30000", r" time \d{3,} "),
        ("go btime 30000", r" time \d{3,} "),
        ("go ponder movetime 300\nponderhit", r" time \d{3,} "),
        ("go perft 5", r"Nodes searched: 4865609"),
        ("bench 5", r"nps \d+"),
        ("go infinite\nposition startpos moves e2e4\ngo depth 7\nisready", r"info depth 7 "),
        ("uci", r"uciok"),
    ],
)
def test_what_ends_by_itself_is_finished(lines: str, found: str) -> None:
    with UciProcess() as engine:
        # The last line has no end of its own.
        engine.send_bytes(lines.encode())
        engine.close_input()
        assert engine.wait_for_exit() == 0
        assert any(re.search(found, line) for line in engine.lines)


@posix_only
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("state", RUN_ON)
def test_a_signal_ends_what_runs_on(state: str, ending: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with UciProcess() as engine:
        engine.send(f"setoption name Debug Log File value {log}")
        bring(engine, state)
        engine.close_input()
        wait_until(lambda: "(end of input)" in log.read_text())
        ENDINGS[ending](engine)
        assert engine.wait_for_exit(EXIT_SECONDS) == 0
        assert " >> (signal)\n" in log.read_text()


# A main thread that no signal can interrupt stands for one that was just about to wait when the signal came.
DEAF = """
import signal
from uci_engine.uci.loop import Inbox, quit_on_signals
inbox = Inbox()
quit_on_signals(inbox)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
print("waiting", flush=True)
print(inbox.get().what.name, flush=True)
inbox.get()
"""


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_not_need_the_main_thread(number: signal.Signals) -> None:
    command = [sys.executable, "-c", DEAF]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "waiting\n"
        program.send_signal(number)
        assert program.stdout.readline() == "QUIT\n"
        # Nothing more happens there, and that ends it.
        assert program.wait(PATIENCE_SECONDS) == 0


@posix_only
@pytest.mark.parametrize("go", ["", "go infinite", "go ponder", "go wtime 9000000 btime 9000000"])
def test_a_closed_output_ends_it(go: str) -> None:
    with UciProcess(reads_output=False) as engine:
        engine.send(go, "isready")
        if "wtime" in go:
            engine.close_input()
        while engine.output.readline() != b"readyok\n":
            pass
        engine.output.close()
        # Where the input stays open, the process must notice by itself that nobody listens.
        if "wtime" not in go:
            engine.send("isready")
        assert engine.wait_for_exit() == 0


@posix_only
def test_a_blocked_output_does_not_keep_it() -> None:
    with UciProcess(reads_output=False) as engine:
        engine.send(*["uci"] * 500, "go depth 1", "quit")
        assert engine.wait_for_exit() == 0


@posix_only
@pytest.mark.parametrize("redirection", [">&-", "<&-", "<&- >&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_may_be_closed_from_the_start(redirection: str) -> None:
    command = ["sh", "-c", f'exec "$0" -m uci_engine {redirection}', sys.executable]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    ended = subprocess.run(command, stdin=nothing, stdout=pipe, stderr=pipe, env=ENVIRONMENT, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stderr) == (0, b"")


# How soon ---------------------------------------------------------------------------------------------------------


@pytest.mark.timing
def test_isready_and_stop_are_answered_at_once_during_a_search(either_engine: UciProcess) -> None:
    delays: dict[str, list[float]] = {"isready": [], "stop": []}
    for _ in range(10):
        either_engine.send("go infinite")
        either_engine.wait_for(is_pv)
        for question, answer in (("isready", "readyok"), ("stop", "bestmove")):
            sent_at = either_engine.send(question)
            either_engine.wait_for(answer)
            delays[question].append(either_engine.arrived_at() - sent_at)
    assert max(map(statistics.median, delays.values())) < 0.2


@pytest.mark.timing
@pytest.mark.parametrize("go", ["go movetime 20", "go wtime 50 btime 50", "go wtime 1 btime 1 winc 1 binc 1"])
def test_answers_come_in_time(either_engine: UciProcess, go: str) -> None:
    delays = []
    for _ in range(9):
        either_engine.send("ucinewgame", "position startpos")
        either_engine.sync()
        sent_at = either_engine.send(go)
        either_engine.answer(START)
        delays.append(either_engine.arrived_at() - sent_at)
    # How exactly the clock is kept is measured elsewhere, on a machine with nothing else to do.
    assert min(delays) < 0.1


# A game -----------------------------------------------------------------------------------------------------------

# lichess-bot holds the engine through python-chess. The same calls in the same order; the clock is kept as the server
# keeps it.
ONE_GIGABYTE_IN_KIB = 1 << 20
# What lichess-bot's own sample asks for, on a machine that has not got it.
STOCK: ConfigMapping = {"Move Overhead": 100, "Threads": 2, "Hash": 512}
# lichess-bot gives ten seconds for a first move, because lichess does not run the clock then.
FIRST_MOVE = Limit(time=0.1, clock_id="first move")
SECONDS, INCREMENT = 5.0, 0.02


def play_to_the_end(engine: SimpleEngine, board: chess.Board) -> str:
    """A game to its end, as lichess-bot with `ponder`; the opponent moves at once and at random. Returns the result."""
    choice = random.Random(7).choice
    clock = SECONDS
    while not board.is_game_over(claim_draw=True):
        is_first = len(board.move_stack) < 2
        limit = Limit(
            white_clock=clock, black_clock=SECONDS, white_inc=INCREMENT, black_inc=INCREMENT, clock_id="real time"
        )
        started = time.perf_counter()
        result = engine.play(
            board,
            FIRST_MOVE if is_first else limit,
            info=chess.engine.INFO_ALL,
            ponder=not is_first,
            draw_offered=False,
        )
        if not is_first:
            clock -= time.perf_counter() - started
            assert clock > 0, "the bot has lost on time"
            clock += INCREMENT
        assert "score" in result.info
        assert result.move is not None
        assert result.move in board.legal_moves
        board.push(result.move)
        if not board.is_game_over():
            board.push(choice(list(board.legal_moves)))
    engine.send_game_result(board)
    return board.result(claim_draw=True)


def test_a_game_as_lichess_bot_plays_it() -> None:
    command = [sys.executable, "-m", "uci_engine"]
    if sys.platform == "linux":
        command = ["sh", "-c", f"ulimit -v {ONE_GIGABYTE_IN_KIB}; exec {shlex.join(command)}"]
    with SimpleEngine.popen_uci(command, timeout=PATIENCE_SECONDS, env=ENVIRONMENT) as engine:
        engine.configure(STOCK)
        engine.ping()
        engine.send_opponent_information(opponent=Opponent("Maia", "BOT", 1500, True), engine_rating=2000)
        board = chess.Board()
        assert play_to_the_end(engine, board) == "1-0"
        assert board.is_checkmate()
        engine.quit()
        assert engine.protocol.returncode.result() == 0
