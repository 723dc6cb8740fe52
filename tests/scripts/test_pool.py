"""lib.pool: each task once, whatever happens to the workers, on this machine and on a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lib.errors import ProgramError
from lib.pool import Result, Task, run_tasks
from tests.support import ROOT, SCRIPTS
from tests.support.dask_cluster import PATIENCE_SECONDS, Cluster, running_cluster, wait_until
from tests.support.pool_work import Done, Work, run, sleep_and_tidy
from uci_engine.api.cluster import GivenUp

# As /proc/net/tcp writes the state of a listening socket, and 127.0.0.1 on a little-endian machine.
LISTENING = "0A"
LOOPBACK_ADDRESS = int.from_bytes(bytes([127, 0, 0, 1]), sys.byteorder).to_bytes(4, "big").hex().upper()


def tasks(folder: Path, count: int, faults: dict[int, str] | None = None, seconds: float = 0.0) -> Iterator[Task]:
    for number in range(count):
        yield Task(f"task {number}", Work(number, str(folder), (faults or {}).get(number, ""), seconds))


def attempts(folder: Path, number: int) -> int:
    return len((folder / str(number)).read_text().splitlines())


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# ---- On this machine ----


def test_each_task_gives_one_result(tmp_path: Path) -> None:
    results = list(run_tasks(run, tasks(tmp_path, 20), workers=2))
    assert sorted(results, key=lambda result: int(result.key[5:])) == [
        Result(f"task {number}", Done(number**2)) for number in range(20)
    ]
    assert len({(tmp_path / str(number)).read_text() for number in range(20)}) <= 2


def test_no_tasks_no_results() -> None:
    assert list(run_tasks(run, [])) == []


def test_a_task_that_raises_gives_its_traceback_and_is_not_repeated(tmp_path: Path) -> None:
    results = {result.key: result for result in run_tasks(run, tasks(tmp_path, 3, {1: "raises"}))}
    assert results["task 1"].value is None
    assert "ValueError: no square of 1" in str(results["task 1"].error)
    assert [results[f"task {number}"].value for number in (0, 2)] == [Done(0), Done(4)]
    assert attempts(tmp_path, 1) == 1


def test_a_result_that_cannot_travel_is_an_error(tmp_path: Path) -> None:
    (result,) = run_tasks(run, tasks(tmp_path, 1, {0: "unpicklable"}))
    assert "pickle" in str(result.error)


def test_a_task_whose_worker_died_is_tried_again(tmp_path: Path) -> None:
    faults = {0: "dies once", 3: "dies", 5: "dies once"}
    results = list(run_tasks(run, tasks(tmp_path, 8, faults), workers=2, retries=2))
    assert len(results) == len({result.key for result in results}) == 8
    failed = {result.key: result.error for result in results if result.error is not None}
    assert failed == {"task 3": "its worker died 3 times, at last with exit code -9"}
    assert [attempts(tmp_path, number) for number in range(8)] == [2, 1, 1, 3, 1, 2, 1, 1]


def test_tasks_are_taken_as_workers_have_room(tmp_path: Path) -> None:
    taken: list[str] = []

    def watched() -> Iterator[Task]:
        for task in tasks(tmp_path, 1000):
            taken.append(task.key)
            yield task

    results = run_tasks(run, watched(), workers=2)
    for _ in range(5):
        next(results)
    results.close()
    assert len(taken) <= 5 + 2


def test_closing_ends_what_runs_in_good_order(tmp_path: Path) -> None:
    work = [Task("short", Work(0, str(tmp_path))), Task("long", Work(1, str(tmp_path), seconds=PATIENCE_SECONDS))]
    results = run_tasks(sleep_and_tidy, work, workers=2)
    next(results)
    wait_until((tmp_path / "1").exists)
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < PATIENCE_SECONDS / 2
    assert (tmp_path / "1").read_text() == "tidied"


def test_the_same_key_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two tasks are called 'task 0'"):
        list(run_tasks(run, [*tasks(tmp_path, 1), *tasks(tmp_path, 1)]))


def test_a_pool_needs_a_worker() -> None:
    with pytest.raises(ValueError, match="0 workers"):
        run_tasks(run, [], workers=0)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.scripts.test_pool import *\n"
        "if __name__ == '__main__':\n"
        f"    list(run_tasks(run, tasks(Path({str(tmp_path)!r}), 1, seconds=600)))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SCRIPTS, ROOT)))}
    parent = subprocess.Popen([sys.executable, str(script)], env=environment)
    try:
        trace = tmp_path / "0"
        wait_until(lambda: trace.exists() and trace.read_text().endswith("\n"))
        worker = int(trace.read_text())
        assert is_alive(worker)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not is_alive(worker))


# ---- On a cluster ----


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def listening_addresses(process: int) -> set[str]:
    """Where a process listens for TCP connections, as the kernel writes it: addresses in hexadecimal."""
    sockets = set()
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            sockets.add(os.readlink(file))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].partition(":")[0])
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="looks at sockets in /proc")
def test_the_cluster_of_the_tests_listens_on_the_loopback_interface_alone(cluster: Cluster) -> None:
    for process in (cluster.scheduler, *cluster.workers):
        assert listening_addresses(process.pid) == {LOOPBACK_ADDRESS}


@pytest.mark.slow
def test_a_cluster_loses_a_worker_and_nothing_else(cluster: Cluster, tmp_path: Path) -> None:
    count = 40
    results: list[Result] = []
    faults = {7: "raises"}
    killed = ""
    for result in run_tasks(run, tasks(tmp_path, count, faults, seconds=0.05), cluster=cluster.address):
        results.append(result)
        if len(results) == 10:
            # One that has worked: the first result is its.
            killed = (tmp_path / results[0].key[5:]).read_text().split()[0]
            next(worker for worker in cluster.workers if str(worker.pid) == killed).kill()
    assert len(results) == len({result.key for result in results}) == count
    by_number = {int(result.key[5:]): result for result in results}
    assert all(by_number[number].value == Done(number**2) for number in range(count) if number != 7)
    assert "ValueError: no square of 7" in str(by_number[7].error)
    # Both had worked, and what the dead one had begun was done again.
    processes = [(tmp_path / str(number)).read_text().split() for number in range(count)]
    assert any(killed in some for some in processes)
    assert {process for some in processes for process in some} == {str(w.pid) for w in cluster.workers}


@pytest.mark.slow
def test_a_result_that_is_lost_on_its_way_is_waited_for(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    hasty: list[object] = []

    class HastyCompletion(distributed.as_completed):
        """Reports the first future at once, as when its worker dies between the report and the question."""

        def add(self, future: distributed.Future[Any]) -> None:
            if hasty:
                super().add(future)  # type: ignore[no-untyped-call]
            else:
                hasty.append(future)
                self.queue.put_nowait(future)

    monkeypatch.setattr("distributed.as_completed", HastyCompletion)
    results = list(run_tasks(run, tasks(tmp_path, 3, seconds=1.0), cluster=cluster.address))
    assert sorted(result.value.square for result in results) == [0, 1, 4]


@pytest.mark.slow
def test_a_cluster_can_be_left_early(cluster: Cluster, tmp_path: Path) -> None:
    results = run_tasks(run, tasks(tmp_path, 1000, seconds=0.01), cluster=cluster.address)
    for _ in range(3):
        next(results)
    results.close()
    assert len(list(tmp_path.iterdir())) < 20
    assert list(run_tasks(run, [Task("again", Work(3, str(tmp_path)))], cluster=cluster.address)) == [
        Result("again", Done(9))
    ]


def test_a_task_that_the_cluster_gives_up_is_an_error_of_that_task(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")

    def give_up(
        function: object, tasks: Iterable[object], address: str
    ) -> Generator[tuple[object, GivenUp], None, None]:
        yield from ((task, GivenUp("three workers died")) for task in tasks)

    monkeypatch.setattr("uci_engine.api.cluster.run_on_cluster", give_up)
    results = list(run_tasks(run, [Task("a", 1), Task("b", 2)], cluster="tcp://127.0.0.1:9"))
    assert results == [Result(key, None, "three workers died") for key in "ab"]


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("uci_engine.api.cluster.CLUSTER_SECONDS", 0.5)
    with pytest.raises(ProgramError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(run_tasks(run, [], cluster="tcp://127.0.0.1:9"))
