"""A process behind three pipes: lines go in, lines come out with the time at which they came.

Nothing here knows chess. No process is left behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

# How long reading on may take once a process has ended: its own children may still hold the pipes.
CLOSING_SECONDS = 5.0
KEPT_ERROR_BYTES = 1 << 16


class EngineProcess:
    """A process, its output read as it comes.

    `lines` and `arrivals` (as `time.perf_counter` counts) only grow; a line is complete once it has its arrival.
    """

    def __init__(
        self, command: Sequence[str], directory: str | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it. `environment` None: ours. Raises OSError if it cannot be started."""
        self.lines: list[str] = []
        self.arrivals: list[float] = []
        self._news = threading.Condition()
        self._ended = False
        self._freed = False
        self._errors = b""
        self.process = subprocess.Popen(
            list(command),
            cwd=directory,
            env=None if environment is None else dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A session of its own: what it starts ends with it, and an interrupt of the tests is not meant for it.
            start_new_session=True,
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            arrival = time.perf_counter()
            with self._news:
                self.lines.append(raw.decode("latin-1").removesuffix("\n").removesuffix("\r"))
                self.arrivals.append(arrival)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while raw := os.read(self.process.stderr.fileno(), KEPT_ERROR_BYTES):
            self._errors = (self._errors + raw)[-KEPT_ERROR_BYTES:]

    @property
    def ended(self) -> bool:
        """Whether the output has come to its end."""
        return self._ended

    @property
    def errors(self) -> str:
        """What has arrived on stderr so far; once the process has ended, all of it, or its end."""
        return self._errors.decode("utf-8", errors="replace")

    def send_bytes(self, data: bytes) -> float:
        """Send these bytes; a process that has ended takes them too. Returns the time at which it was done."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (OSError, ValueError):  # nobody reads, which Windows reports its own way; or closed on our side
            with self._news:
                self._ended = True
        return time.perf_counter()

    def close_input(self) -> None:
        """Tell the process that no more will come."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:  # nobody reads
            self._ended = True

    def wait_for_line(self, beginning: str, first: int, seconds: float) -> bool:
        """Wait until a line from number `first` on begins so; False after this time, or if the output ends before."""
        deadline = time.monotonic() + seconds
        with self._news:
            while True:
                while first < len(self.arrivals):
                    if self.lines[first].startswith(beginning):
                        return True
                    first += 1
                remaining = deadline - time.monotonic()
                if self._ended or remaining <= 0:
                    return False
                self._news.wait(remaining)

    def wait_for_exit(self, seconds: float) -> int | None:
        """The exit code, once the process has ended and all it said has been read; None if it has not."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        for thread in self._threads:
            thread.join(CLOSING_SECONDS)
        return code

    def kill(self) -> None:
        """End the process and all that it started, and free everything. After that, nothing."""
        if self._freed:
            return
        # Its number may soon be another's.
        self._freed = True
        if hasattr(os, "killpg"):
            # PermissionError: all that is left of the session waits to be buried, on some systems.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(CLOSING_SECONDS)
        if any(thread.is_alive() for thread in self._threads):
            return  # somebody else holds the other end, and closing would wait for the reader
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            # What could not be written is nobody's any more.
            with contextlib.suppress(OSError):
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
