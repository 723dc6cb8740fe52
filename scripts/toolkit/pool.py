"""Many tasks on the processors of this machine, or on a cluster run by Dask.

`run_tasks` hands out tasks only a little ahead of the workers, so that a caller may stop early.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import platform
import shutil
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, Any

import evaluation
import toolkit
import uci_engine
from toolkit.engines.client import end_all_engines, keep_engines
from toolkit.engines.spec import digest_of_packages
from toolkit.errors import ProgramError, sentence

if TYPE_CHECKING:
    from distributed import Client

Answer = tuple[Any, str | None]
# How long a cluster may take to answer, and to have a worker.
CLUSTER_SECONDS = 30.0
# How long a process may take to end its engines.
TERMINATE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work. `key` is unique in its run; `payload` is the function's argument and can be pickled."""

    key: str
    payload: Any


def run_tasks(
    function: Callable[[Any], Any], tasks: Iterable[Task], *, workers: int = 1, cluster: str | None = None
) -> Generator[tuple[str, Any], None, None]:
    """Run `function(task.payload)` for every task and yield each key with its value once, in the order of finishing.

    function: callable by its module and name. On a cluster the module is of this library, which is sent to the workers.
    workers: processes on this machine (at least 1). cluster: the address of a Dask scheduler (`tcp://host:8786`);
    `workers` is then the cluster's business, and a task whose worker died is tried again.
    Closing the generator, or leaving it by an exception, ends the local workers with their engines, and cancels what
    has not started.

    Raises ProgramError for what a task raised, and when the cluster cannot be reached or used, or a process of this
    machine has died.
    """
    if cluster is not None:
        return _on_cluster(function, tasks, cluster)
    return _on_this_machine(function, tasks, workers)


def _attempt(function: Callable[[Any], Any], payload: Any) -> Answer:
    """The value, or what went wrong: as a sentence where it is known, and otherwise as a traceback."""
    try:
        return function(payload), None
    except (ProgramError, OSError) as error:
        return None, sentence(error)
    except Exception:
        return None, traceback.format_exc()


def _value(answer: Answer) -> Any:
    value, problem = answer
    if problem is not None:
        raise ProgramError(problem)
    return value


# ---- On this machine ----


def _on_this_machine(
    function: Callable[[Any], Any], tasks: Iterable[Task], workers: int
) -> Generator[tuple[str, Any], None, None]:
    waiting = iter(tasks)
    running: dict[Future[Answer], Task] = {}
    # A fresh interpreter: a fork of a process that has threads may hang.
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)

    def give_out() -> None:
        for task in islice(waiting, workers - len(running)):
            running[executor.submit(_attempt, function, task.payload)] = task

    try:
        give_out()
        while running:
            done = [(running.pop(future), future) for future in wait(running, return_when=FIRST_COMPLETED).done]
            for task, future in done:
                yield task.key, _value(future.result())
            give_out()
    except BrokenProcessPool:
        raise ProgramError("a process that worked for this program has died, perhaps for lack of memory") from None
    finally:
        _end(multiprocessing.active_children())
        executor.shutdown(cancel_futures=True)


def _end(processes: Sequence[BaseProcess]) -> None:
    """Each ends its engines. One that waits for the lock of another that has gone does not hear of it: it is killed."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(TERMINATE_SECONDS)
        process.kill()


def _begin_worker() -> None:
    """Have this process keep its engines, and end with them when it is told to, or when its parent has died."""
    # An interrupt from the keyboard reaches every process of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    keep_engines()
    threading.Thread(target=_follow_parent, daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        end_all_engines()
    finally:
        os._exit(128 + number)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


# ---- On a cluster ----


@cache
def engine_digest() -> str:
    """Of the engine's packages, as this process has them."""
    return digest_of_packages(Path(package.__path__[0]) for package in (evaluation, uci_engine))


def attempt(digest: str, function: Callable[[Any], Any], payload: Any) -> Answer:
    """What a worker of a cluster does with a task; digest: of the engine that it has to have."""
    if not __file__.startswith(toolkit.__path__[0]):
        return None, f"the workers on {platform.node()} have older programs: restart them"
    if digest != engine_digest():
        return None, f"{platform.node()} has another Secateur: install the same there, and restart its workers"
    value, problem = _attempt(function, payload)
    return value, None if problem is None else f"on {platform.node()}: {problem}"


def send_library(client: Client) -> None:
    """Have the workers of a cluster, also those that come later, import this library from an archive."""
    folder = Path(toolkit.__path__[0])
    name = f"toolkit-{digest_of_packages([folder])[:16]}"
    with TemporaryDirectory() as archives:
        client.upload_file(shutil.make_archive(str(Path(archives, name)), "zip", folder.parent, folder.name))


def require_same_python(versions: dict[str, str]) -> None:
    """versions: by the address of a worker. Raises ProgramError."""
    here = platform.python_version()
    for address, version in versions.items():
        if version.split(".")[:2] != here.split(".")[:2]:
            raise ProgramError(f"the worker at {address} has Python {version}, not {here} as this program")


def _on_cluster(
    function: Callable[[Any], Any], tasks: Iterable[Task], address: str
) -> Generator[tuple[str, Any], None, None]:
    # The programs that use no cluster need none of this.
    from distributed import Client, KilledWorker, as_completed
    from distributed.comm.core import CommClosedError

    # It logs the loss of a connection with tracebacks; what matters of that is raised below.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ProgramError(f"no Dask scheduler answers at {address}: {error}") from None
    waiting = iter(tasks)
    with client:
        try:
            client.wait_for_workers(1, timeout=CLUSTER_SECONDS)
        except TimeoutError:
            raise ProgramError(f"the scheduler at {address} has no workers") from None
        require_same_python(client.run(platform.python_version))
        send_library(client)
        running: dict[Any, str] = {}
        completed = as_completed(loop=client.loop)

        def give_out() -> None:
            threads = client.nthreads()
            # One task waits at every worker, so that none is idle while its result travels.
            wanted = max(1, sum(threads.values()) + len(threads))
            for task in islice(waiting, max(0, wanted - len(running))):
                future = client.submit(attempt, engine_digest(), function, task.payload, pure=False)
                running[future] = task.key
                completed.add(future)

        try:
            give_out()
            for future in completed:
                key = running.pop(future)
                # Where the worker died before the result was fetched, this waits until another has done it again.
                yield key, _value(future.result())
                give_out()
        except ProgramError:
            raise
        except KilledWorker as death:
            raise ProgramError(f"given up by the cluster: {death}") from death
        except Exception as error:
            # The client may learn of it a moment later.
            if client.status != "running" or isinstance(error, CommClosedError):
                raise ProgramError(f"the scheduler at {address} does not answer any more") from None
            raise ProgramError(f"a task failed on the cluster at {address}: {error!r}"[:300]) from error
        finally:
            client.cancel(list(running))
