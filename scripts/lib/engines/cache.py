"""Engines that are kept running between games, in a worker process.

Invariant: an engine that died or broke a rule is replaced before its next game, and none outlives its cache.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from types import TracebackType
from typing import Self

from lib.engines.engine import QUIT_SECONDS, START_SECONDS, Engine, EngineError, EngineTimeoutError
from lib.engines.spec import EngineSpec

# Engines that wait for their next game; each holds the memory of its hash table.
MAX_WAITING = 12
START_ATTEMPTS = 3


class EngineCache:
    """Running engines by name. Use it as a context."""

    def __init__(self) -> None:
        # The one that was used last stands last.
        self._engines: dict[str, Engine] = {}

    def engine(self, spec: EngineSpec) -> Engine:
        """The engine with these options, started if it does not run. Raises EngineError when it cannot be started."""
        engine = self._engines.get(spec.name)
        if engine is not None and (engine.has_ended or not _differ_in_values_only(engine.spec, spec)):
            self.dismiss(spec)
            engine = None
        if engine is None:
            engine = _start(spec)
        self._engines.pop(spec.name, None)
        self._engines[spec.name] = engine
        engine.spec = spec
        engine.configure(spec.options)
        while len(self._engines) > MAX_WAITING:
            self.dismiss(next(iter(self._engines.values())).spec)
        return engine

    def dismiss(self, spec: EngineSpec) -> None:
        """End this engine, so that the next game starts a fresh one."""
        engine = self._engines.pop(spec.name, None)
        if engine is not None:
            engine.close()

    def close(self) -> None:
        """End all engines, whatever they are doing."""
        engines, self._engines = list(self._engines.values()), {}
        try:
            for engine in engines:
                if engine.asked_at is None:
                    engine.leave()
                else:
                    engine.kill()
            deadline = time.monotonic() + QUIT_SECONDS
            while any(engine.exit_code is None for engine in engines) and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            for engine in engines:
                engine.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _differ_in_values_only(one: EngineSpec, other: EngineSpec) -> bool:
    """Whether a process of the one can play for the other after `setoption`."""
    return (one.command, one.directory, one.ponder) == (other.command, other.directory, other.ponder) and (
        {name for name, _ in one.options} == {name for name, _ in other.options}
    )


def _start(spec: EngineSpec) -> Engine:
    for attempt in range(START_ATTEMPTS):
        try:
            return Engine(spec, start_seconds=START_SECONDS)
        except EngineTimeoutError:
            # It has been waited for long enough.
            raise
        except EngineError:
            if attempt + 1 == START_ATTEMPTS:
                raise
            time.sleep(0.5)
    raise AssertionError("unreachable")


# The cache of a process that keeps its engines from task to task.
_kept: list[EngineCache] = []


@contextmanager
def running_engines(keep: bool) -> Iterator[EngineCache]:
    """A cache to work with. keep: one for the life of this process, which must do one task at a time."""
    if not keep:
        with EngineCache() as cache:
            yield cache
        return
    if not _kept:
        _kept.append(EngineCache())
        # A worker ends without the usual clean-up at the end of Python; this is done all the same.
        Finalize(_kept[0], _close_at_exit, args=(_kept[0],), exitpriority=10)
    yield _kept[0]


def _close_at_exit(cache: EngineCache) -> None:
    """Close the cache of a process that is leaving; a second request to leave must not interrupt it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    cache.close()
