"""Engines that are kept running between games, in a worker process.

Invariant: an engine that died or broke a rule is replaced before its next game.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from toolkit.engines.engine import Engine, end_engines
from toolkit.engines.spec import EngineSpec

# Engines that wait for their next game; each holds the memory of its hash table.
MAX_WAITING = 12


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
            engine = Engine(spec)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        end_engines(self._engines.values())


def _differ_in_values_only(one: EngineSpec, other: EngineSpec) -> bool:
    """Whether a process of the one can play for the other after `setoption`."""
    return (one.command, one.directory) == (other.command, other.directory) and (
        {name for name, _ in one.options} == {name for name, _ in other.options}
    )


# The one of a process of ours, which does one task at a time and ends its engines when it ends (toolkit.pool). There is
# none on a cluster, whose workers outlive the program.
_kept: list[EngineCache] = []


def keep_engines() -> None:
    """From now on `running_engines` keeps its engines from task to task, for the life of this process."""
    _kept.append(EngineCache())


@contextmanager
def running_engines() -> Iterator[EngineCache]:
    """A cache for one task."""
    if _kept:
        yield _kept[0]
    else:
        with EngineCache() as cache:
            yield cache
