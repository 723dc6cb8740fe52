"""`secateur analyse --cluster` on two Dask workers, one of them killed midway: no game is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.game_analysis.test_analyse_command import SHORT, command, environment, games_of, journal_length
from tests.support.dask_cluster import PATIENCE_SECONDS, running_cluster, wait_until
from tests.support.uci_process import PACKAGE_ROOT
from uci_engine.api.cluster import ClusterError, run_on_cluster

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow
GAMES = 24


def test_a_lost_worker_loses_no_game(tmp_path: Path) -> None:
    (tmp_path / "many.pgn").write_text("".join(SHORT.format(white=f"P{number}") for number in range(GAMES)), "utf-8")
    folder = tmp_path / "cluster"
    folder.mkdir()
    with running_cluster(folder, PACKAGE_ROOT) as cluster:
        words = ("many.pgn", "--nodes", 3000, "--output", "out", "--cluster", cluster.address)
        process = subprocess.Popen(
            command(*words),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_until(lambda: journal_length(tmp_path / "out" / "unfinished.journal") > 2)
            cluster.workers[0].kill()
            output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, errors
    assert f"{GAMES} of {GAMES} games analysed" in output
    games = games_of(tmp_path / "out" / "games.pgn")
    assert [game.headers["White"] for game in games] == [f"P{number}" for number in range(GAMES)]
    assert len(list((tmp_path / "out").glob("game-*.html"))) == GAMES


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.api.cluster.CLUSTER_SECONDS", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://127"):
        list(run_on_cluster(len, [""], "tcp://127.0.0.1:1"))
