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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
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

# The value of a task, or what went wrong.
Answer = tuple[Any, str | None]
# How to have a function work on a payload, and how many tasks there may be at a time.
Pool = tuple[Callable[[Callable[[Any], Any], Any], "Future[Answer]"], Callable[[], int]]
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
    waiting = iter(tasks)
    running: dict[Future[Answer], str] = {}
    with _on_this_machine(workers) if cluster is None else _on_cluster(cluster) as (submit, room):
        while True:
            for task in islice(waiting, max(0, room() - len(running))):
                running[submit(function, task.payload)] = task.key
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                value, problem = future.result()
                if problem is not None:
                    raise ProgramError(problem)
                yield running.pop(future), value


def in_order(function: Callable[[Any], Any], payloads: Iterable[Any], workers: int) -> Generator[Any, None, None]:
    """What a function says of each payload, in their order: here, or with more workers in so many processes.

    Raises as `run_tasks` and as the function do.
    """
    if workers < 2:
        yield from map(function, payloads)
        return
    tasks = (Task(str(number), payload) for number, payload in enumerate(payloads))
    early: dict[str, Any] = {}
    number = 0
    with closing(run_tasks(function, tasks, workers=workers)) as results:
        for key, value in results:
            early[key] = value
            while str(number) in early:
                yield early.pop(str(number))
                number += 1


def _attempt(function: Callable[[Any], Any], payload: Any) -> Answer:
    """What went wrong is a sentence where it is known, and otherwise a traceback."""
    try:
        return function(payload), None
    except (ProgramError, OSError) as error:
        return None, sentence(error)
    except Exception:
        return None, traceback.format_exc()


# ---- On this machine ----


@contextmanager
def _on_this_machine(workers: int) -> Iterator[Pool]:
    # A fresh interpreter: a fork of a process that has threads may hang.
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_worker)
    try:
        yield lambda function, payload: executor.submit(_attempt, function, payload), lambda: workers
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


@contextmanager
def _on_cluster(address: str) -> Iterator[Pool]:
    # The programs that use no cluster need none of this.
    from distributed import Client, KilledWorker

    # It logs the loss of a connection with tracebacks; what matters of that is raised below.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ProgramError(f"no Dask scheduler answers at {address}: {error}") from None

    def room() -> int:
        threads: dict[str, int] = client.nthreads()
        # One task waits at every worker, so that none is idle while its result travels.
        return max(1, sum(threads.values()) + len(threads))

    # Where the client goes, the scheduler forgets what has not started.
    with client:
        try:
            client.wait_for_workers(1, timeout=CLUSTER_SECONDS)
        except TimeoutError:
            raise ProgramError(f"the scheduler at {address} has no workers") from None
        send_library(client)
        try:
            yield partial(client.get_executor(pure=False).submit, attempt, engine_digest()), room
        except ProgramError:
            raise
        except KilledWorker as death:
            raise ProgramError(f"given up by the cluster: {death}") from death
        except (OSError, CancelledError):
            raise ProgramError(f"the scheduler at {address} does not answer any more") from None
