"""A Dask scheduler and two workers for tests, in processes and directories that know nothing of our scripts.

They run whatever they are sent, so they listen on the loopback interface alone, their dashboards too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support import ENVIRONMENT, wait_until

# A program without a dashboard still serves HTTP at its address.
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")


class Cluster(NamedTuple):
    """The scheduler's address and process, and the two workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that lives as long as the block; it writes into this directory only."""
    address_file, log_file = folder / "scheduler.json", folder / "log"
    processes: list[subprocess.Popen[bytes]] = []

    def start(*words: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", *map(str, words), "--scheduler-file", str(address_file)]
        with log_file.open("ab") as log:
            process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=log, stderr=log)
        processes.append(process)
        return process

    try:
        scheduler = start("distributed.cli.dask_scheduler", "--port", 0, *LOOPBACK)
        wait_until(lambda: address_file.exists() and address_file.stat().st_size > 0)
        worker = ("distributed.cli.dask_worker", "--nthreads", 1, "--no-nanny", *LOOPBACK)
        workers = [start(*worker, "--local-directory", folder / name) for name in ("one", "two")]
        # Not before both are there: the tests kill one that has work.
        wait_until(lambda: log_file.read_bytes().count(b"Registered to:") >= len(workers))
        yield Cluster(json.loads(address_file.read_text())["address"], scheduler, workers)
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()
