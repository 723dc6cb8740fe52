"""Engines that are kept running between games, in a worker process, and the tables that judge their games.

Called by what runs in workers: `games.pairs` and `selfplay`. What must stay true: an engine that died or broke a rule
is replaced before its next game; no engine outlives the room.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from lib.engines.playing import LaunchError, RunningEngine, launch
from lib.engines.spec import EngineSpec
from lib.games.adjudication import Tables

Value = TypeVar("Value")

# Engines of a gauntlet that wait for their next game; each holds its table's memory.
MOST_WAITING = 12
LAUNCH_ATTEMPTS = 3
# How long idle engines may take to leave when their process is told to end.
FAREWELL_SECONDS = 0.5


class EngineRoom:
    """Running engines by their description, and the event loop that they belong to. Use as a context."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._closed = False
        self._tables: dict[tuple[str, ...], Tables] = {}
        # The one that was used last stands last.
        self._engines: dict[EngineSpec, RunningEngine] = {}

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run asynchronous work with these engines to its end."""
        return self._runner.run(work)

    async def engine(self, spec: EngineSpec) -> RunningEngine:
        """The engine, started if it does not run. Raises LaunchError when it cannot be started several times."""
        engine = self._engines.get(spec)
        if engine is not None and engine.returncode.done():
            await self.dismiss(spec)
            engine = None
        if engine is None:
            engine = await self._start(spec)
        self._engines.pop(spec, None)
        self._engines[spec] = engine
        while len(self._engines) > MOST_WAITING:
            await self.dismiss(next(iter(self._engines)))
        return engine

    def tables(self, folders: tuple[str, ...]) -> Tables | None:
        """The Syzygy tables of these folders, opened once; None for no folders."""
        if folders and folders not in self._tables:
            self._tables[folders] = Tables(folders)
        return self._tables.get(folders)

    async def dismiss(self, spec: EngineSpec) -> None:
        """End this engine, so that the next game starts a fresh one."""
        engine = self._engines.pop(spec, None)
        if engine is not None:
            await engine.close()

    async def _start(self, spec: EngineSpec) -> RunningEngine:
        for attempt in range(LAUNCH_ATTEMPTS):
            try:
                return await launch(spec, every_info=False)
            except LaunchError:
                if attempt + 1 == LAUNCH_ATTEMPTS:
                    raise
                await asyncio.sleep(0.5)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End all engines and the event loop, which must not be running. Once closed, the room stays closed."""
        if self._closed:
            return
        self._closed = True
        engines, self._engines = list(self._engines.values()), {}
        try:
            self._runner.run(_close_all(engines))
        finally:
            for engine in engines:
                engine.kill()
            self._runner.close()
            self._close_tables()

    def abandon(self) -> None:
        """End all engines without the event loop, which an interrupt may have left in any state."""
        self._closed = True
        engines, self._engines = list(self._engines.values()), {}
        for engine in engines:
            if engine.command is None:
                engine.send_line("quit")
        deadline = time.monotonic() + FAREWELL_SECONDS
        while any(engine.is_alive() for engine in engines) and time.monotonic() < deadline:
            time.sleep(0.01)
        for engine in engines:
            engine.kill()
        self._close_tables()

    def _close_tables(self) -> None:
        for tables in self._tables.values():
            tables.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self.close()
        else:
            self.abandon()


async def _close_all(engines: list[RunningEngine]) -> None:
    for engine in engines:
        if engine.command is not None:
            engine.kill()
    await asyncio.gather(*(engine.close() for engine in engines))


@contextmanager
def engine_room(keep: bool) -> Iterator[EngineRoom]:
    """The room to work in. keep: one for the life of this process, which must do one task at a time."""
    if keep:
        # Not at the top: this file travels to the workers of a cluster, and what is kept in a process cannot.
        from lib.engines.resident import room_of_process

        yield room_of_process()
    else:
        with EngineRoom() as room:
            yield room
