"""A UCI engine that plays games, through python-chess's asynchronous client.

Called by `engines.room`, for match and selfplay. What must stay true: the engine's time is measured where its lines
pass, not where the tool gets round to them; an engine that does not answer, start or leave costs a bounded time and
then its life, with all the processes that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shlex
import signal
import time
from collections import deque

import chess
import chess.engine

from lib.engines.spec import EngineSpec

START_SECONDS = 30.0
QUIT_SECONDS = 2.0
HALF_OPEN_SECONDS = 1.0
LONGEST_LINE_BYTES = 2**20
KEPT_ERROR_LINES = 20


class LaunchError(RuntimeError):
    """An engine that did not start, refused its options, or did not answer in time."""


class RunningEngine(chess.engine.UciProtocol):
    """A process that speaks UCI, with the times at which its searches began and ended.

    With `every_info` false only the last exact score of a search is handed on, without its line of moves: reading
    every line of every search would cost more than the tool's own work for a move.
    """

    def __init__(self, spec: EngineSpec, every_info: bool = True) -> None:
        super().__init__()
        self.spec = spec
        # The `bestmove` line as it came.
        self.answer = ""
        # Why the process was ended before its time, if this side did it or saw it go.
        self.lost = ""
        self.error_lines: deque[str] = deque(maxlen=KEPT_ERROR_LINES)
        self._every_info = every_info
        self._pending = b""
        self._info = b""
        self._info_is_exact = False
        self._asked: float | None = None
        self._answered = 0.0

    def seconds_used(self) -> float:
        """What the last search took: from `go`, `ponderhit` or the `stop` of a wrong guess, to `bestmove`."""
        return 0.0 if self._asked is None else self._answered - self._asked

    def seconds_waited(self) -> float:
        """What a search that has not answered has taken up to now."""
        return 0.0 if self._asked is None else time.perf_counter() - self._asked

    async def new_game(self) -> None:
        """Send `ucinewgame` and wait until the engine is ready; ends any pondering."""
        if self.spec.ponder:
            await self.ping()
        self.send_line("ucinewgame")
        self.first_game = False
        self.ponderhit = False
        await self.ping()

    async def search(self, board: chess.Board, limit: chess.engine.Limit) -> chess.engine.PlayResult:
        """Ask for a move, with score and depth; raises as `play` does. Call `new_game` before the first."""
        self._asked = None
        self.answer = ""
        return await self.play(board, limit, info=chess.engine.INFO_SCORE, ponder=self.spec.ponder)

    def is_alive(self) -> bool:
        """Whether the process is there, whatever the event loop knows of it."""
        if self.transport is None or self.transport.get_returncode() is not None:
            return False
        try:
            os.kill(self.transport.get_pid(), 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """End the process and what it started, at once."""
        if self.transport is None or self.transport.get_returncode() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.transport.get_pid(), signal.SIGKILL)
            else:
                self.transport.kill()

    async def close(self, seconds: float = QUIT_SECONDS) -> bool:
        """Ask the engine to leave; whether it did so by itself within this time. It is gone in any case."""
        obeyed = True
        try:
            if not self.returncode.done():
                async with asyncio.timeout(seconds):
                    await self.quit()
        except TimeoutError:
            obeyed = False
            self.kill()
            await asyncio.wait([self.returncode], timeout=seconds)
        if self.transport is not None:
            self.transport.close()
        return obeyed

    def send_line(self, line: str) -> None:
        """As the library does, and start the clock."""
        if self._asked is None and line.startswith(("go ", "stop", "ponderhit")):
            self._asked = time.perf_counter()
        if line.startswith("go "):
            self._info, self._info_is_exact = b"", False
        super().send_line(line)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Stamp answers with their time of arrival, and hold back what nobody has asked for."""
        arrived = time.perf_counter()
        if fd != 1 or isinstance(data, str):
            super().pipe_data_received(fd, data)
            return
        *lines, self._pending = (self._pending + data).split(b"\n")
        if len(self._pending) > LONGEST_LINE_BYTES:
            self._pending = b""
        passed: list[bytes] = []
        for line in map(bytes.strip, lines):
            if line.startswith(b"info ") and not self._every_info:
                self._keep_score(line)
                continue
            if line.startswith(b"bestmove"):
                self._answered = arrived
                self.answer = line.decode("utf-8", errors="replace")
                passed += [self._info] if self._info else []
                self._info = b""
            passed.append(line)
        if passed:
            super().pipe_data_received(fd, b"\n".join(passed) + b"\n")

    def _keep_score(self, line: bytes) -> None:
        if b" score " not in line or line.startswith(b"info string") or self._is_secondary(line):
            return
        exact = b"bound" not in line
        if exact or not self._info_is_exact:
            short, _, moves = line.partition(b" pv ")
            self._info, self._info_is_exact = line if b" score " in moves else short, exact

    @staticmethod
    def _is_secondary(line: bytes) -> bool:
        return b" multipv " in line and b" multipv 1 " not in line

    def error_line_received(self, line: str) -> None:
        """Keep the end of what the engine says on stderr, for the report of its death."""
        self.error_lines.append(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """An engine that closes its end can be talked to no more, even if its process lives on."""
        super().pipe_connection_lost(fd, exc)
        if fd in (0, 1) and not self.returncode.done():
            # A process that ends closes its pipes first; whether it does may become known much later.
            self.loop.call_later(HALF_OPEN_SECONDS, self._end_half_open)

    def _end_half_open(self) -> None:
        if self.transport is not None and self.transport.get_returncode() is None:
            self.lost = "closed its pipe"
            self.kill()


async def launch(spec: EngineSpec, *, every_info: bool = True, start_seconds: float = START_SECONDS) -> RunningEngine:
    """Start an engine, set its options, and wait until it is ready. Raises LaunchError.

    Close it with `close`; it stays bound to the running event loop.
    """
    # What engines print beside the protocol is no news for the reader of a table.
    logging.getLogger("chess.engine").setLevel(logging.CRITICAL)
    loop = asyncio.get_running_loop()
    try:
        _, engine = await loop.subprocess_exec(
            lambda: RunningEngine(spec, every_info), *spec.command, cwd=spec.directory, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise LaunchError(f"{spec.name}: cannot run {shlex.join(spec.command)}: {error}") from None
    try:
        async with asyncio.timeout(start_seconds):
            await engine.initialize()
            await engine.configure(dict(spec.options))
            await engine.ping()
    except (TimeoutError, chess.engine.EngineError) as error:
        reason = f"not ready within {start_seconds:g} s" if isinstance(error, TimeoutError) else str(error)
        said = f"; stderr: {engine.error_lines[-1]}" if engine.error_lines else ""
        engine.kill()
        await engine.close()
        raise LaunchError(f"{spec.name}: {reason}{said}") from None
    except BaseException:
        engine.kill()
        raise
    return engine
