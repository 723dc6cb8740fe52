"""Many tasks on many processes: of this machine, or of a cluster run by Dask.

`run_tasks` hands out tasks only a little ahead of the workers, so that a caller may stop early. Invariant: it yields
one result for each task, whatever happens to the workers.
"""

from __future__ import annotations

import copyreg
import multiprocessing
import os
import pickle
import re
import signal
import struct
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from lib.errors import ProgramError, missing_library

# How long a worker may take to leave its task when it is asked to end.
FAREWELL_SECONDS = 5.0
OWN_EXCEPTION = re.compile(r"^lib\.[\w.]+: ")


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work. `key` is unique in its run; `payload` is the function's argument and can be pickled."""

    key: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a task: the function's value, or a traceback (or another sentence) as `error`."""

    key: str
    value: Any
    error: str | None = None

    @property
    def complaint(self) -> str:
        """What the error says in the end, without the name of an exception of ours."""
        lines = (self.error or "").strip().splitlines()
        return OWN_EXCEPTION.sub("", lines[-1]) if lines else ""

    def value_or_raise(self) -> Any:
        """The value. Raises ProgramError when there is none."""
        if self.error is not None:
            raise ProgramError(self.complaint)
        return self.value


def run_tasks(
    function: Callable[[Any], Any],
    tasks: Iterable[Task],
    *,
    workers: int = 1,
    cluster: str | None = None,
    retries: int = 3,
) -> Generator[Result, None, None]:
    """Run `function(task.payload)` for every task and yield each result exactly once, in the order of finishing.

    function: callable by its module and name; it imports what it needs at the top of its module, and works in a
    thread that is not the main one (on a cluster it may have to).
    workers: processes on this machine (at least 1). cluster: the address of a Dask scheduler (`tcp://host:8786`);
    `workers` and `retries` are then the cluster's business.
    A task whose worker died is tried again, up to `retries` times (on a cluster: the scheduler's `allowed-failures`,
    3 by default). A task that raises is not: its result holds the traceback. A cluster that has lost its last worker
    is waited for.
    Closing the generator, or leaving it by an exception, ends the local workers and cancels what has not started.

    Raises ValueError for a key that comes twice, ProgramError when the cluster cannot be reached or used.
    """
    if workers < 1:
        raise ValueError(f"{workers} workers cannot do anything")
    if cluster is not None:
        return _on_cluster(function, _once_each(tasks), cluster)
    return _on_this_machine(function, _once_each(tasks), workers, retries)


def _once_each(tasks: Iterable[Task]) -> Iterator[Task]:
    seen: set[str] = set()
    for task in tasks:
        if task.key in seen:
            raise ValueError(f"two tasks are called {task.key!r}")
        seen.add(task.key)
        yield task


# ---- On this machine ----


class _Worker:
    """A process that does one task after another, seen from the one that gives them out."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        # A fresh interpreter: a fork of a process that has threads may hang.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, function), daemon=True)
        self._process.start()
        # From now on the worker alone holds its end, so that its death ends the connection.
        theirs.close()
        self.task: Task | None = None
        self.attempts = 0

    def start(self, task: Task, attempts: int) -> None:
        """Hand the task over; a worker that is dead by now is noticed when its answer is read."""
        self.task, self.attempts = task, attempts
        data = pickle.dumps(task.payload)
        try:
            self.connection.send_bytes(data)
        except OSError:
            self._process.join(FAREWELL_SECONDS)

    def finish(self) -> tuple[Any, str | None] | None:
        """The value and the error of the task, once the connection is ready; None when the worker died."""
        try:
            answer: tuple[Any, str | None] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return answer

    def end(self) -> int | None:
        """End the process, politely first; returns its exit code."""
        self.connection.close()
        self._process.terminate()
        self._process.join(FAREWELL_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode
        self._process.close()
        return code


def _on_this_machine(
    function: Callable[[Any], Any], tasks: Iterator[Task], workers: int, retries: int
) -> Generator[Result, None, None]:
    again: deque[tuple[Task, int]] = deque()
    busy: dict[Connection, _Worker] = {}
    idle: list[_Worker] = []

    def next_task() -> tuple[Task, int] | None:
        if again:
            return again.popleft()
        task = next(tasks, None)
        return None if task is None else (task, 0)

    def give_out() -> None:
        while len(busy) < workers:
            chosen = next_task()
            if chosen is None:
                return
            worker = idle.pop() if idle else _Worker(function)
            busy[worker.connection] = worker
            worker.start(chosen[0], chosen[1] + 1)

    try:
        give_out()
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                worker = busy.pop(ready)
                task, attempts = worker.task, worker.attempts
                assert task is not None
                answer = worker.finish()
                if answer is not None:
                    idle.append(worker)
                    give_out()
                    yield Result(task.key, *answer)
                    continue
                code = worker.end()
                if attempts <= retries:
                    again.append((task, attempts))
                    give_out()
                else:
                    give_out()
                    yield Result(task.key, None, f"its worker died {attempts} times, at last with exit code {code}")
    finally:
        for worker in (*busy.values(), *idle):
            worker.end()


def _serve(connection: Connection, function: Callable[[Any], Any]) -> None:
    """The life of a worker process: until the other end of the connection closes, or it is told to end."""
    # An interrupt from the keyboard reaches every process of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            data = connection.recv_bytes()
        except (EOFError, OSError):
            return
        answer = _answer(function, data)
        try:
            connection.send_bytes(answer)
        except OSError:
            return


def _leave(number: int, frame: FrameType | None) -> None:
    """The answer to SIGTERM: leave the task by an exception, so that it can end its engines."""
    raise SystemExit(128 + number)


def _follow_parent() -> None:
    """End this process with its parent, even one that was killed: nobody would read the results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


def _answer(function: Callable[[Any], Any], data: bytes) -> bytes:
    """The pickled pair of value and error for a pickled payload."""
    try:
        return pickle.dumps((function(pickle.loads(data)), None))
    except Exception:
        return pickle.dumps((None, traceback.format_exc()))


# ---- On a cluster ----


def _reduced(record: struct.Struct) -> tuple[type[struct.Struct], tuple[str]]:
    return struct.Struct, (record.format,)


# Modules of ours that read binary files hold one. Python cannot pickle it by itself.
copyreg.pickle(struct.Struct, _reduced)


@contextmanager
def _source_travels(function: Callable[[Any], Any]) -> Iterator[None]:
    """Within this block functions and classes of our scripts are pickled with their code, not by their names.

    The other machines need Python and the libraries, but not these files, and a long-lived worker cannot mix two
    versions of them.
    """
    import cloudpickle

    scripts = Path(__file__).resolve().parents[1]
    ours = {
        module
        for module in list(sys.modules.values())
        if getattr(module, "__file__", None) and scripts in Path(str(module.__file__)).resolve().parents
    }
    ours.add(sys.modules[function.__module__])
    registered = [module for module in ours if module.__name__ != "__main__"]
    for module in registered:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)


def _on_cluster(function: Callable[[Any], Any], tasks: Iterator[Task], address: str) -> Generator[Result, None, None]:
    # The programs that use no cluster need none of this.
    try:
        import cloudpickle
    except ImportError as error:
        raise ProgramError(missing_library("cloudpickle")) from error
    from uci_engine.api.cluster import ClusterError, GivenUp, run_on_cluster

    with _source_travels(function):
        code = cloudpickle.dumps(function)

    def attempt(parcel: tuple[str, bytes]) -> bytes:
        # A local function, so that Dask too has to send it with its code.
        try:
            return bytes(cloudpickle.dumps((cloudpickle.loads(code)(cloudpickle.loads(parcel[1])), None)))
        except Exception:
            return bytes(cloudpickle.dumps((None, traceback.format_exc())))

    def parcels() -> Iterator[tuple[str, bytes]]:
        for task in tasks:
            with _source_travels(function):
                data = cloudpickle.dumps(task.payload)
            yield task.key, data

    try:
        with closing(run_on_cluster(attempt, parcels(), address)) as results:
            for (key, _), answer in results:
                if isinstance(answer, GivenUp):
                    yield Result(key, None, answer.reason)
                else:
                    yield Result(key, *cloudpickle.loads(answer))
    except ClusterError as error:
        raise ProgramError(str(error)) from error
