"""toolkit.pool: each task once, whatever happens to the workers, on this machine and on a cluster."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import PATIENCE_SECONDS
from tests.support.dask_cluster import Cluster, running_cluster
from tests.support.pool_work import Work, run
from toolkit.errors import ProgramError
from toolkit.pool import Task, run_tasks


def tasks(folder: Path, count: int, faults: dict[int, str] | None = None, seconds: float = 0.0) -> Iterator[Task]:
    for number in range(count):
        yield Task(f"task {number}", Work(number, str(folder), (faults or {}).get(number, ""), seconds))


# ---- On this machine ----


def test_each_task_gives_one_result(tmp_path: Path) -> None:
    results = list(run_tasks(run, tasks(tmp_path, 20), workers=2))
    assert len(results) == 20
    assert dict(results) == {f"task {number}": number**2 for number in range(20)}
    assert len({(tmp_path / str(number)).read_text() for number in range(20)}) <= 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [("raises", "ValueError: no square of 1"), ("complains", "^1 has no square"), ("dies", "has died")],
)
def test_a_task_that_fails_ends_the_run_and_is_not_repeated(fault: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=said):
        list(run_tasks(run, tasks(tmp_path, 8, {1: fault}), workers=2))
    assert len((tmp_path / "1").read_text().splitlines()) == 1


def test_tasks_are_taken_as_workers_have_room_and_closing_ends_what_runs(tmp_path: Path) -> None:
    taken: list[int] = []

    def watched() -> Iterator[Task]:
        for number in range(1000):
            taken.append(number)
            yield Task(str(number), Work(number, str(tmp_path), seconds=PATIENCE_SECONDS if number > 4 else 0))

    results = run_tasks(run, watched(), workers=2)
    for _ in range(5):
        next(results)
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < PATIENCE_SECONDS / 2
    # Of two that end together one may not have been given out.
    assert len(taken) <= 5 + 3


# ---- On a cluster ----


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.mark.slow
def test_a_cluster_loses_a_worker_and_nothing_else(cluster: Cluster, tmp_path: Path) -> None:
    count = 40
    results: list[tuple[str, int]] = []
    killed = ""
    for result in run_tasks(run, tasks(tmp_path, count, seconds=0.05), cluster=cluster.address):
        results.append(result)
        if len(results) == 10:
            # One that has worked: the first result is its.
            killed = (tmp_path / results[0][0][5:]).read_text().split()[0]
            next(worker for worker in cluster.workers if str(worker.pid) == killed).kill()
    assert len(results) == count
    assert dict(results) == {f"task {number}": number**2 for number in range(count)}
    # Both had worked, and what the dead one had begun was done again.
    processes = [(tmp_path / str(number)).read_text().split() for number in range(count)]
    assert any(killed in some for some in processes)
    assert {process for some in processes for process in some} == {str(w.pid) for w in cluster.workers}


@pytest.mark.slow
def test_a_scheduler_that_dies_is_one_complaint(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = run_tasks(run, tasks(tmp_path, 1000, seconds=0.05), cluster=cluster.address)
    next(results)
    cluster.scheduler.kill()
    with pytest.raises(ProgramError, match="scheduler"):
        list(results)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_what_is_wrong_on_a_machine_names_it(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProgramError, match=f"^on {platform.node()}: 1 has no square"):
        list(run_tasks(run, tasks(tmp_path, 4, {1: "complains"}), cluster=cluster.address))
    shutil.rmtree(tmp_path)
    with pytest.raises(ProgramError, match=f"^on {platform.node()}: {tmp_path}"):
        list(run_tasks(run, tasks(tmp_path, 4), cluster=cluster.address))
    # A folder of its own: a task from before may still run.
    folder = tmp_path.with_name("of another Secateur")
    folder.mkdir()
    monkeypatch.setattr("toolkit.pool.engine_digest", lambda: "other")
    with pytest.raises(ProgramError, match="another Secateur"):
        list(run_tasks(run, tasks(folder, 4), cluster=cluster.address))
    assert not list(folder.iterdir())


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.pool.CLUSTER_SECONDS", 0.5)
    with pytest.raises(ProgramError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(run_tasks(run, [], cluster="tcp://127.0.0.1:9"))
