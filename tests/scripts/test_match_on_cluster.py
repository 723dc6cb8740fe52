"""A match on a Dask cluster of two workers, which know nothing of our files, one of them killed midway."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import SCRIPTS, SUPPORT
from tests.support.games import read_games

pytest.importorskip("distributed")


FAKE = SUPPORT / "fake_engine.py"
PATIENCE_SECONDS = 90.0
PAIRS = 12


def start(tmp_path: Path, *words: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
    with (tmp_path / "dask.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def wait_for(path: Path, pattern: str, count: int = 1) -> re.Match[str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = list(re.finditer(pattern, path.read_text("utf-8", errors="replace") if path.exists() else ""))
        if len(found) >= count:
            return found[-1]
        time.sleep(0.05)
    raise AssertionError(f"waited for {pattern} in {path.name}")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a scheduler with two workers, and one of the workers."""
    with ExitStack() as stack:
        words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        stack.callback(end, start(tmp_path, *words))
        address = wait_for(tmp_path / "dask.log", r"Scheduler at:\s+(tcp://\S+)")[1]
        words = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        workers = [start(tmp_path, *words) for _ in range(2)]
        for worker in workers:
            stack.callback(end, worker)
        wait_for(tmp_path / "dask.log", r"Registered to:", 2)
        yield address, workers[0]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_a_lost_worker_loses_no_game(tmp_path: Path, cluster: tuple[str, subprocess.Popen[bytes]]) -> None:
    address, victim = cluster
    engines = [f"name={name} cmd='{sys.executable} {FAKE}' option.Seed={seed}" for name, seed in (("A", 1), ("B", 2))]
    command = [sys.executable, str(SCRIPTS / "match.py"), "--engine", engines[0], "--engine", engines[1]]
    command += ["--each", "depth=1", "--longest", "6", "--games", str(2 * PAIRS), "--cluster", address]
    command += ["--pgn", str(tmp_path / "games.pgn"), "--json", str(tmp_path / "result.json")]
    with (tmp_path / "match.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(tmp_path / "games.pgn.journal", r'"key"', 2)
        end(victim)
        assert process.wait(PATIENCE_SECONDS) == 0, (tmp_path / "match.log").read_text("utf-8", errors="replace")
    finally:
        process.kill()
        process.wait()
    rounds = [game.headers["Round"] for game in read_games(tmp_path / "games.pgn")]
    assert sorted(rounds) == sorted(f"{pair}.{game}" for pair in range(1, PAIRS + 1) for game in (1, 2))
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert result["pairings"][0]["games"] == 2 * PAIRS
