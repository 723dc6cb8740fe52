"""The program in every state it can be in: what it does when told to quit, and how soon it answers."""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
import pytest

from tests.support import ENVIRONMENT, PATIENCE_SECONDS, wait_until
from tests.support.uci_process import EXIT_SECONDS, UciProcess

START = chess.Board()
MATED = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and file descriptors as POSIX has them")


def is_pv(line: str) -> bool:
    return " pv " in line


STATES: dict[str, Callable[[UciProcess], object]] = {
    "just started": lambda engine: None,
    "introduced": lambda engine: (engine.send("uci"), engine.wait_for("uciok")),
    "ready": lambda engine: (engine.send("position startpos"), engine.sync()),
    "has searched": lambda engine: engine.search("go depth 1"),
    "searching": lambda engine: (engine.send("go infinite"), engine.wait_for(is_pv)),
    "searching by the clock": lambda engine: (
        engine.send("go wtime 9000000 btime 9000000"),
        engine.wait_for(is_pv),
    ),
    "pondering": lambda engine: (engine.send("go ponder wtime 1000 btime 1000"), engine.wait_for(is_pv)),
    "a second go waits": lambda engine: engine.send("go infinite", "go infinite", "position startpos", "go depth 3"),
    "holding back (none)": lambda engine: (
        engine.send(f"position fen {MATED}", "go infinite"),
        engine.sync(),
    ),
    "no position": lambda engine: (engine.send("position fen rubbish", "go infinite"), engine.sync()),
    "counting": lambda engine: (engine.send("go perft 30"), engine.sync()),
    "benchmarking": lambda engine: (engine.send("bench"), engine.sync()),
}

# At the end of the input these run on, because they end by themselves.
RUN_ON = ("searching by the clock", "counting")

ENDINGS: dict[str, Callable[[UciProcess], object]] = {
    "quit": lambda engine: engine.send("quit"),
    "end of input": lambda engine: engine.close_input(),
    "SIGINT": lambda engine: engine.process.send_signal(signal.SIGINT),
    "SIGTERM": lambda engine: engine.process.send_signal(signal.SIGTERM),
}


class TestEnding:
    @pytest.mark.parametrize(
        ("state", "ending"),
        [(state, ending) for state in STATES for ending in ENDINGS if ending != "end of input" or state not in RUN_ON],
    )
    def test_in_every_state(self, state: str, ending: str) -> None:
        if ending.startswith("SIG"):
            if os.name != "posix":
                pytest.skip("no signals")
            if state in ("just started", "a second go waits"):
                pytest.skip("Python itself may be still starting")
        with UciProcess() as engine:
            STATES[state](engine)
            ENDINGS[ending](engine)
            assert engine.wait_for_exit(EXIT_SECONDS) == 0
            # On the way out, the audit: every go answered, nothing on stderr.

    @pytest.mark.timing
    def test_takes_less_than_a_second(self) -> None:
        times = []
        for _ in range(3):
            with UciProcess() as engine:
                STATES["searching"](engine)
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
    def test_what_ends_by_itself_is_finished(self, lines: str, found: str) -> None:
        with UciProcess() as engine:
            # The last line has no end of its own.
            engine.send_bytes(lines.encode())
            engine.close_input()
            assert engine.wait_for_exit() == 0
            assert any(re.search(found, line) for line in engine.lines)

    @posix_only
    @pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM"])
    @pytest.mark.parametrize("state", RUN_ON)
    def test_a_signal_ends_what_runs_on(self, state: str, ending: str, tmp_path: Path) -> None:
        log = tmp_path / "log"
        with UciProcess() as engine:
            engine.send(f"setoption name Debug Log File value {log}")
            STATES[state](engine)
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
class TestBrokenPipes:
    @pytest.mark.parametrize("go", ["", "go infinite", "go ponder", "go wtime 9000000 btime 9000000"])
    def test_output_closed(self, go: str) -> None:
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

    def test_output_blocked(self) -> None:
        with UciProcess(reads_output=False) as engine:
            engine.send(*["uci"] * 500, "go depth 1", "quit")
            assert engine.wait_for_exit() == 0

    @pytest.mark.parametrize("redirection", [">&-", "<&-", "<&- >&-", "2>&-", "<&- >&- 2>&-"])
    def test_never_open(self, redirection: str) -> None:
        command = ["sh", "-c", f'exec "$0" -m uci_engine {redirection}', sys.executable]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        ended = subprocess.run(
            command, stdin=nothing, stdout=pipe, stderr=pipe, env=ENVIRONMENT, timeout=PATIENCE_SECONDS
        )
        assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.timing
class TestHowSoon:
    def test_isready_and_stop_during_a_search(self, either_engine: UciProcess) -> None:
        delays: dict[str, list[float]] = {"isready": [], "stop": []}
        for _ in range(10):
            either_engine.send("go infinite")
            either_engine.wait_for(is_pv)
            for question, answer in (("isready", "readyok"), ("stop", "bestmove")):
                sent_at = either_engine.send(question)
                either_engine.wait_for(answer)
                delays[question].append(either_engine.arrived_at() - sent_at)
        assert max(map(statistics.median, delays.values())) < 0.2

    @pytest.mark.parametrize("go", ["go movetime 20", "go wtime 50 btime 50", "go wtime 1 btime 1 winc 1 binc 1"])
    def test_answers_come_in_time(self, either_engine: UciProcess, go: str) -> None:
        delays = []
        for _ in range(9):
            either_engine.send("ucinewgame", "position startpos")
            either_engine.sync()
            sent_at = either_engine.send(go)
            either_engine.answer(START)
            delays.append(either_engine.arrived_at() - sent_at)
        # How exactly the clock is kept is measured elsewhere, on a machine with nothing else to do.
        assert min(delays) < 0.1
