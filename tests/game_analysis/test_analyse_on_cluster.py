"""`secateur analyse --cluster` on two Dask workers, one of them killed midway: no game is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.game_analysis.test_analyse_command import SHORT, command, environment, games_of, journal_length
from tests.support.dask_cluster import PATIENCE_SECONDS, running_cluster, wait_until
from tests.support.uci_process import PACKAGE_ROOT
from uci_engine.api.cluster import ClusterError, GivenUp, run_on_cluster
from uci_engine.command_line import analyse

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


def test_a_game_that_the_cluster_gives_up_is_told_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.pgn").write_text("".join(SHORT.format(white=f"P{number}") for number in range(2)), "utf-8")

    def give_up_the_first(function: Callable[[Any], Any], tasks: Iterable[Any], address: str) -> Iterator[Any]:
        first, second = tasks
        yield first, GivenUp("given up by the cluster: three workers died")
        yield second, function(second)

    monkeypatch.setattr("uci_engine.command_line.analyse.run_on_cluster", give_up_the_first)
    output = tmp_path / "out"
    words = [str(tmp_path / "two.pgn"), "--nodes", "10", "--output", str(output), "--cluster", "tcp://127.0.0.1:1"]
    assert analyse.run(words, "auto") == 0
    out, errors = capsys.readouterr()
    assert "1 of 2 games analysed" in out
    assert "game 1: given up by the cluster: three workers died" in errors
    assert [game.headers["White"] for game in games_of(output / "games.pgn")] == ["P1"]
    assert "three workers died" in (output / "index.html").read_text("utf-8")


def test_a_function_that_raises_ends_the_run(tmp_path: Path) -> None:
    with running_cluster(tmp_path) as cluster, pytest.raises(ClusterError, match=r"a task failed .*TypeError"):
        list(run_on_cluster(len, [1], cluster.address))


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.api.cluster.CLUSTER_SECONDS", 0.5)
    with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://127"):
        list(run_on_cluster(len, [""], "tcp://127.0.0.1:1"))
