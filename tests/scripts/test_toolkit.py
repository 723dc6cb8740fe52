"""What all programs stand on: tasks for workers, the journal of a run, how a program ends and what it may print."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import PATIENCE_SECONDS, SCRIPTS, run_python
from tests.support.dask_cluster import Cluster, running_cluster
from tests.support.pool_work import Work, run
from toolkit import console
from toolkit.errors import ProgramError
from toolkit.journal import Journal
from toolkit.pool import Task, run_tasks
from uci_engine.text import printable

SETTINGS = {"effort": "5 nodes", "options": ("a",)}

# ---- A program ----


@pytest.mark.parametrize(
    ("failure", "code", "code_of_work", "complaint"),
    [
        (None, 3, 0, ""),
        (KeyboardInterrupt(), 130, 130, "error: interrupted\n"),
        (ProgramError("no openings"), 2, 1, "error: no openings\n"),
        (FileNotFoundError(2, "No such file", "x.pgn"), 2, 1, "error: x.pgn: No such file\n"),
        (LookupError("no weights"), None, 1, "error: no weights\n"),
    ],
)
def test_a_program_and_its_long_work_end_with_a_code_and_one_sentence(
    failure: BaseException | None,
    code: int | None,
    code_of_work: int,
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work() -> int:
        if failure is not None:
            raise failure
        return 3

    assert console.run_to_end(work, (LookupError,)) == code_of_work
    assert capsys.readouterr() == ("", complaint)
    if code is not None:
        with pytest.raises(SystemExit) as left:
            console.run_program(work)
        assert left.value.code == code
        assert capsys.readouterr() == ("", complaint)


def test_text_from_outside_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b]0;title\x07\x1b[2JKöln\u202e\r\n\x9b1m"
    shown = r"\x1b]0;title\x07\x1b[2JKöln\u202e\r\n\x9b1m"
    assert printable(name) == shown
    console.complain(name)
    console.say(name)
    console.standard_output().print(console.make_table(name, [name], [[name]]))
    out, err = capsys.readouterr()
    assert err == f"error: {shown}\n"
    assert out.count(shown) == 4
    assert "\x1b" not in out


def test_what_cannot_be_used_is_one_sentence_of_the_program(tmp_path: Path) -> None:
    done = run_python(SCRIPTS / "suite.py", "/no/such/file.epd", "--engine", "cmd=none", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: /no/such/file.epd: No such file or directory\n")


# ---- The journal: entries that survive a kill, and one run at a time ----


def begun(path: Path, *numbers: int) -> Path:
    """A journal with these entries."""
    with Journal(path, SETTINGS) as journal:
        for number in numbers:
            journal.append({"number": number})
    return path


@pytest.mark.parametrize("torn", [b"", b"{", b'{"number": 3, "te', b"\xff\xfe"])
def test_entries_come_back_in_their_order_and_a_torn_line_is_dropped(tmp_path: Path, torn: bytes) -> None:
    path = begun(tmp_path / "journal", 2, 1, 3)
    with path.open("ab") as file:
        file.write(torn)
    with Journal(path, SETTINGS, resume=True) as again:
        assert again.entries == [{"number": 2}, {"number": 1}, {"number": 3}]
        again.append({"number": 1})
        # Before the end of the program, which may be a kill.
        assert path.read_bytes().endswith(b'{"number":1}\n')
    with Journal(path, SETTINGS, resume=True) as last:
        assert [entry["number"] for entry in last.entries] == [2, 1, 3, 1]


def test_an_unfinished_run_is_not_overwritten(tmp_path: Path) -> None:
    # Nothing was finished, so nothing is lost.
    assert not begun(tmp_path / "journal").exists()
    path = begun(tmp_path / "journal", 1)
    with pytest.raises(ProgramError, match="continue it with --resume"):
        Journal(path, SETTINGS)
    with pytest.raises(ProgramError, match=r"was begun with other settings: effort$"):
        Journal(path, {**SETTINGS, "effort": "other"}, resume=True)


@pytest.mark.parametrize(
    "content",
    [b"hello", b'[Event "x"]', b'{"settings": 3}x\n', b'{"settings":{}}\n{"a":1\n', b'{"settings":{}}\n[]\n'],
)
def test_another_file_is_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(ProgramError):
        Journal(path, {}, resume=True)
    assert path.read_bytes() == content


LINES = st.sampled_from([b'{"settings":{"a":[1]}}\n', b'{"b":2}\n', b'{"b":3}', b"[]\n", b"\n"])


@given(st.lists(LINES | st.binary(max_size=20), max_size=6).map(b"".join))
def test_any_bytes_are_a_journal_or_are_not_touched(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.journal"
    path.write_bytes(data)
    try:
        with Journal(path, {"a": [1]}, resume=True) as journal:
            journal.append({"b": 4})
            entries = journal.entries
    except ProgramError:
        assert path.read_bytes() == data
    else:
        with Journal(path, {"a": [1]}, resume=True) as again:
            assert again.entries == entries


def test_two_runs_cannot_write_the_same_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", SETTINGS), pytest.raises(ProgramError, match="another run"):
        Journal(tmp_path / "journal", SETTINGS, resume=True)


def test_a_journal_is_optional() -> None:
    with Journal(None, SETTINGS) as journal:
        journal.append({"number": 1})
    with pytest.raises(ProgramError, match="--journal"):
        Journal(None, SETTINGS, resume=True)


# ---- Tasks: each once, whatever happens to the workers ----


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
