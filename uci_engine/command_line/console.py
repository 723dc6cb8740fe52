"""Standard input, output and error: lines for people, progress, and errors."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

# On Windows a pipe without a reader is an invalid argument.
NOBODY_READS = (errno.EPIPE, errno.EINVAL)
# The exit code after Ctrl-C.
INTERRUPTED = 130

T = TypeVar("T")


def show(text: str) -> None:
    """Print a line at once. May be called from any thread. When nobody can read it, the process ends."""
    try:
        print(text, flush=True)
    except OSError as error:
        if error.errno in NOBODY_READS:
            os._exit(0)
        warn(f"secateur: the output cannot be written: {error.strerror}")
        os._exit(1)


def warn(text: str, end: str = "\n") -> None:
    """Print a line on standard error, if there is one."""
    with contextlib.suppress(OSError):
        print(text, end=end, file=sys.stderr, flush=True)


class Progress:
    """How many of `total` games are done, in a line that changes; nothing where standard error is no terminal."""

    def __init__(self, total: int, done: int) -> None:
        """`done`: were done before."""
        self._total, self._done_before, self._done = total, done, float(done)
        self._began = time.monotonic()
        self._width = 0
        # Several games are analysed at a time.
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._width:
            warn(f"\r{'':{self._width}}\r", end="")

    def add(self, share: float) -> None:
        """This share of a game is done, too."""
        with self._lock:
            self._done += share
            if sys.stderr is not None and sys.stderr.isatty():
                self._show()

    def _show(self) -> None:
        from datetime import timedelta

        left = (self._total - self._done) / (self._done - self._done_before) * (time.monotonic() - self._began)
        # A sum of shares may be a little too small.
        text = f"games {int(self._done + 1e-6)}/{self._total}, {timedelta(seconds=round(left))} left"
        warn(f"\r{text:{self._width}}", end="")
        self._width = len(text)


def result_of(future: Future[T]) -> T:
    """What the work of another thread gives. On every system Ctrl-C ends this wait, with KeyboardInterrupt."""
    from uci_engine.api import WAIT_SECONDS

    while not future.done():
        with contextlib.suppress(TimeoutError):
            future.exception(WAIT_SECONDS)
    return future.result()


def guarded(action: Callable[[], int]) -> int:
    """The exit code of the action. What is missing to run it is told in one sentence."""
    try:
        return action()
    except MemoryError:
        warn("secateur: there is not enough memory")
        return 1
    except Exception as error:
        from uci_engine.tools.doctor import stale_build

        # A stale build may fail in any way. Otherwise the requested core, python-chess or a thread is missing.
        problem = stale_build() or (error if isinstance(error, ImportError | RuntimeError) else None)
        if problem is None:
            raise
        warn(f"secateur: {problem}")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
