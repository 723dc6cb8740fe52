"""A match on a Dask cluster of two workers, which know nothing of our files, one of them killed midway."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import SCRIPTS, SUPPORT
from tests.support.dask_cluster import PATIENCE_SECONDS, Cluster, running_cluster
from tests.support.games import read_games

pytest.importorskip("distributed")


FAKE = SUPPORT / "fake_engine.py"
PAIRS = 12


def wait_for(path: Path, pattern: str, count: int = 1) -> re.Match[str]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = list(re.finditer(pattern, path.read_text("utf-8", errors="replace") if path.exists() else ""))
        if len(found) >= count:
            return found[-1]
        time.sleep(0.05)
    raise AssertionError(f"waited for {pattern} in {path.name}")


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.mark.slow
def test_a_lost_worker_loses_no_game(tmp_path: Path, cluster: Cluster) -> None:
    engines = [f"name={name} cmd='{sys.executable} {FAKE}' option.Seed={seed}" for name, seed in (("A", 1), ("B", 2))]
    command = [sys.executable, str(SCRIPTS / "match.py"), "--engine", engines[0], "--engine", engines[1]]
    command += ["--each", "depth=1", "--longest", "6", "--games", str(2 * PAIRS), "--cluster", cluster.address]
    command += ["--pgn", str(tmp_path / "games.pgn"), "--json", str(tmp_path / "result.json")]
    with (tmp_path / "match.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(tmp_path / "games.pgn.journal", r'"key"', 2)
        cluster.workers[0].kill()
        assert process.wait(PATIENCE_SECONDS) == 0, (tmp_path / "match.log").read_text("utf-8", errors="replace")
    finally:
        process.kill()
        process.wait()
    rounds = [game.headers["Round"] for game in read_games(tmp_path / "games.pgn")]
    assert sorted(rounds) == sorted(f"{pair}.{game}" for pair in range(1, PAIRS + 1) for game in (1, 2))
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert result["pairings"][0]["games"] == 2 * PAIRS
