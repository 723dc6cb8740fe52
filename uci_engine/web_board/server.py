"""The server of the board: one page, on the loopback address, for whoever has its address.

The address has a random token, so that other users of the machine and other pages in the browser do not find it. Host
and Origin are checked, so no page from elsewhere may ask, whatever name it gives this machine. A request is a POST of
JSON to one of the names below. Its answers are lines of JSON, the last of them a `problem` where there is one. When the
page goes away or asks something else, the search stops. The server itself keeps nothing of a game.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from types import FrameType

import chess
import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from uci_engine.api import Engine
from uci_engine.game_analysis.pages import render
from uci_engine.search.strength import MAX_ELO, MIN_ELO
from uci_engine.web_board.desk import AT_THE_END, Answer, Desk
from uci_engine.web_board.questions import QUESTIONS
from uci_engine.web_board.requests import Fields, load, positions
from uci_engine.web_board.saved_games import SavedGames

ADDRESS = "127.0.0.1"
# The names by which a browser reaches it, also through a tunnel.
HOSTS = [ADDRESS, "localhost"]
# The browser keeps games by address, so the port should be the same every time.
USUAL_PORT = 8064
MAX_BODY_BYTES = 1 << 20
# In JSON a character has up to four bytes, apart from rare ones.
MAX_PGN_LENGTH = MAX_BODY_BYTES // 4
# A page has up to six. More would come near the descriptors that a process may have, 256 on macOS.
MAX_CONNECTIONS = 64
# How long a request may take to arrive, its body too.
REQUEST_SECONDS = 30.0
# How long answers may go on when the server ends.
GRACE_SECONDS = 1.0
TEMPLATES = Path(__file__).with_name("templates")
SCRIPTS = ("game.js", "engine.js", "explain.js", "pgn.js", "live.js")
LEVELS = (
    (MIN_ELO, "beginner"),
    (1200, "casual player"),
    (1400, "weak club player"),
    (1600, "club player"),
    (1900, "strong club player"),
    (2200, "candidate master"),
    (2400, "master"),
    (MAX_ELO, "grandmaster"),
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def bound_socket(port: int | None) -> socket.socket:
    """A listening socket on the loopback address. None is the usual port, or a free one. ValueError: it is taken."""
    try:
        return socket.create_server((ADDRESS, USUAL_PORT if port is None else port))
    except OSError:
        if port is not None:
            raise ValueError(f"port {port} is taken, or not allowed: name another one with --port") from None
        return socket.create_server((ADDRESS, 0))


class _Connection(H11Protocol):
    """A connection. It is cut where a request does not come in time.

    Where there are too many, the oldest is cut that has not named the token.
    """

    _deadline: asyncio.TimerHandle | None = None

    @property
    def is_own(self) -> bool:
        """Whether its last request named the token."""
        return self.scope is not None and "is_own" in self.scope["state"]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.began = self.loop.time()
        self._deadline = self.loop.call_later(REQUEST_SECONDS, transport.abort)
        if len(self.connections) > MAX_CONNECTIONS:
            ours = [each for each in self.connections if isinstance(each, _Connection)]
            oldest = min(ours, key=lambda each: (each.is_own, each.began))
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_unfinished = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if is_unfinished and self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)
        elif not is_unfinished and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def shutdown(self) -> None:
        super().shutdown()
        # uvicorn would end with a traceback for an answer that nobody takes, or a request that does not come.
        self.loop.call_later(2 * GRACE_SECONDS, self.transport.abort)


class BoardServer(uvicorn.Server):
    """Serves the page until Ctrl-C. `token` is the first part of every path."""

    def __init__(self, engine: Engine, games: SavedGames, start: chess.Board, pgn: str) -> None:
        """`start` is the first position. `pgn`: games to begin with, "" for none."""
        self.token = secrets.token_urlsafe(16)
        # Set when the page is opened, or when the server has ended.
        self.was_opened = threading.Event()
        self._desk = Desk(engine)
        self._requests = {"positions": positions, "load": load, "save": games.save}
        self._page = render(
            "board.html.j2",
            {"start": start.fen(), "pgn": pgn, "longest": MAX_PGN_LENGTH},
            folder=TEMPLATES,
            scripts=SCRIPTS,
            styles=("live.css",),
            policy="; connect-src 'self'",
            levels=LEVELS,
        )
        routes = [Route(f"/{self.token}/", self._open, methods=["GET"])]
        for name in (*QUESTIONS, *self._requests):
            routes.append(Route(f"/{self.token}/{name}", partial(self._answer, name), methods=["POST"]))
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
        app = Starlette(routes=routes, middleware=[hosts])
        config = uvicorn.Config(
            app,
            http=_Connection,
            ws="none",
            log_level="error",
            # So many are accepted at a time, before there can be too many.
            backlog=MAX_CONNECTIONS,
            timeout_graceful_shutdown=int(3 * GRACE_SECONDS),
        )
        super().__init__(config)

    def run_on(self, listening: socket.socket) -> None:
        """Serve on this socket until Ctrl-C or SIGTERM."""
        try:
            self.run(sockets=[listening])
        finally:
            self.was_opened.set()
            self._desk.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and at once the answer that is being told. uvicorn itself would raise the signal again at the end."""
        self._desk.stop()
        self.should_exit = True

    async def _open(self, request: Request) -> Response:
        request.state.is_own = True
        self.was_opened.set()
        return HTMLResponse(self._page, headers=HEADERS)

    async def _answer(self, name: str, request: Request) -> Response:
        request.state.is_own = True
        if request.headers.get("origin") != f"http://{request.headers.get('host')}":
            raise HTTPException(403, "Only the page of this server may ask.")
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise HTTPException(413, f"A request has at most {MAX_BODY_BYTES >> 10} KiB.")
        except ClientDisconnect:
            return Response()
        return StreamingResponse(self._lines(name, body), headers=HEADERS, media_type="application/x-ndjson")

    async def _lines(self, name: str, body: bytes) -> AsyncIterator[str]:
        try:
            fields = Fields(body)
            if name in QUESTIONS:
                async for answer in self._desk.ask(partial(QUESTIONS[name], fields=fields)):
                    yield json.dumps(answer) + "\n"
            else:
                yield json.dumps(await self._done(name, fields)) + "\n"
        except ValueError as error:
            yield json.dumps({"problem": str(error)}) + "\n"

    async def _done(self, name: str, fields: Fields) -> Answer:
        """What needs no engine. ValueError: it cannot be done, or the server ends before it is."""
        work = asyncio.create_task(run_in_threadpool(self._requests[name], fields))
        try:
            while not (work.done() or self.should_exit):
                await asyncio.wait({work}, timeout=0.1)
            await asyncio.wait({work}, timeout=GRACE_SECONDS)
            if not work.done():
                raise ValueError(AT_THE_END)
            return work.result()
        finally:
            work.cancel()
