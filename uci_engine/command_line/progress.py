"""Progress of long commands on standard error: a bar on a terminal with rich, or else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from uci_engine.command_line.console import warn

if TYPE_CHECKING:
    from rich.progress import Progress

# How often progress is told where there is no bar.
PLAIN_SECONDS = 10.0


class Advance(Protocol):
    """Tells how much more is done, and perhaps what is done now."""

    def __call__(self, steps: float, text: str | None = None) -> None: ...


@contextmanager
def progress(what: str, total: int, done: int = 0) -> Iterator[Advance]:
    """Show how much of `total` is done, and how long the rest will take, while the block runs."""
    bar = _bar() if sys.stderr is not None and sys.stderr.isatty() else None
    if bar is None:
        yield _Lines(what, total, done)
        return
    with bar:
        task = bar.add_task(what, total=total, completed=done, text="", count=done)
        sum_of_steps = float(done)

        def advance(steps: float, text: str | None = None) -> None:
            nonlocal sum_of_steps
            sum_of_steps += steps
            if text is not None:
                bar.update(task, text=printable(text))
            bar.update(task, advance=steps, count=whole(sum_of_steps))

        yield advance


def _bar() -> Progress | None:
    """A bar, or None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description} {task.fields[count]}/{task.total:.0f}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    return Progress(*columns, console=Console(stderr=True, highlight=False), transient=True)


class _Lines:
    """Progress as lines: at most one in PLAIN_SECONDS."""

    def __init__(self, what: str, total: int, done: int) -> None:
        self._what, self._total, self._done, self._new = what, total, float(done), 0.0
        self._began = self._told = time.monotonic()

    def __call__(self, steps: float, text: str | None = None) -> None:
        self._done += steps
        self._new += steps
        now = time.monotonic()
        if now - self._told >= PLAIN_SECONDS and self._new > 0:
            self._told = now
            left = (self._total - self._done) * (now - self._began) / self._new
            warn(f"{self._what} {whole(self._done)}/{self._total}, {_clock(left)} left")


def whole(done: float) -> int:
    """The steps that are done, out of a sum of shares that may be a little too small."""
    return int(done + 1e-6)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def printable(text: str) -> str:
    """The text with everything escaped that could steer a terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
