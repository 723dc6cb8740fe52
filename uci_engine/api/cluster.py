"""Tasks on a cluster that Dask runs. Its workers need Secateur, in the same version.

Invariant: every task gives one result, whatever happens to the workers, as long as the scheduler lives.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

# How long the cluster may take to answer, and to have a worker.
CLUSTER_SECONDS = 30.0


class ClusterError(RuntimeError):
    """The cluster cannot be used. The text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What stands for the result of a task that the cluster gave up: why, in a sentence."""

    reason: str


def run_on_cluster(
    function: Callable[[Any], Any], tasks: Iterable[Any], address: str
) -> Generator[tuple[Any, Any], None, None]:
    """Call the function for each task. Yields pairs of a task and its result, in the order of finishing.

    Tasks are handed out only a little ahead of the workers. A task whose worker has died is done again by another.
    Where several workers have died of a task, its result is a GivenUp. Closing the generator cancels what has not
    started. Raises ClusterError, also where the function raises or cannot be called on a worker.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install distributed") from None
    try:
        client = Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    waiting = iter(tasks)
    with client:
        try:
            client.wait_for_workers(1, timeout=CLUSTER_SECONDS)
        except TimeoutError:
            raise ClusterError(f"the scheduler at {address} has no workers") from None
        running: dict[Any, Any] = {}
        completed = as_completed(loop=client.loop)

        def give_out() -> None:
            threads = client.nthreads()
            # One task waits at every worker, so that none is idle while its result travels.
            while len(running) < max(1, sum(threads.values()) + len(threads)):
                task = next(waiting, None)
                if task is None:
                    return
                future = client.submit(function, task, pure=False)
                running[future] = task
                completed.add(future)

        try:
            give_out()
            for future in completed:
                task = running.pop(future)
                if future.status == "finished":
                    result = future.result()
                elif future.status == "error" and isinstance(death := future.exception(), KilledWorker):
                    result = GivenUp(f"given up by the cluster: {_sentence(death)}")
                elif future.status in ("pending", "lost"):
                    # The worker died before the result was fetched. The task is done again.
                    running[future] = task
                    completed.add(future)
                    continue
                else:
                    reason = _sentence(future.exception()) if future.status == "error" else future.status
                    raise ClusterError(f"a task failed on the cluster at {address}: {reason}")
                give_out()
                yield task, result
        finally:
            client.cancel(list(running))


def _sentence(error: BaseException | None) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:200]
