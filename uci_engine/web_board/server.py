"""The server of the board: one page, on the loopback address, for whoever has its address.

The address has a secret part, so that other users of the machine and other pages in the browser do not find it. Host
and Origin are checked, so no page from elsewhere may ask, whatever name it gives this machine. A request is a POST of
JSON to one of the names below, or of games to `load`. Its answers are lines of JSON, the last of them a `problem` where
there is one. When the page goes away or asks something else, the search stops. The server keeps the games that were
loaded last, and nothing of the one on the board.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
from collections.abc import AsyncIterator, Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from types import FrameType

import chess
import uvicorn
from chess.engine import EngineError
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from evaluation.files import reason_of
from uci_engine.game_analysis.pages import render
from uci_engine.search.strength import MAX_ELO, MIN_ELO
from uci_engine.web_board.address import secret
from uci_engine.web_board.desk import Answer, Desk
from uci_engine.web_board.library import MAX_FILE_BYTES, Library
from uci_engine.web_board.questions import QUESTIONS, Fields, pgn, positions, premoves, review
from uci_engine.web_board.report import Report
from uci_engine.web_board.saved_games import save

ADDRESS = "127.0.0.1"
# The names by which a browser reaches it, also through a tunnel.
HOSTS = [ADDRESS, "localhost"]
# The browser keeps games by address, so the port should be the same every time.
USUAL_PORT = 8064
MAX_BODY_BYTES = 1 << 20
# How long requests may still come, and answers be taken, when the server ends.
GRACE_SECONDS = 1.0
TEMPLATES = Path(__file__).with_name("templates")
PARTS = "game sound engine analysis pgn library report exercises moves premove live"
SCRIPTS = [f"{name}.js" for name in PARTS.split()]
USUAL_LEVEL = 1100
LEVELS = (
    (MIN_ELO, "beginner"),
    (USUAL_LEVEL, "casual player"),
    (1400, "weak club player"),
    (1700, "club player"),
    (2000, "strong club player"),
    (MAX_ELO, "master"),
)
# A new version has another page.
HEADERS = {"Cache-Control": "no-store"}


def bound_socket(port: int | None) -> socket.socket:
    """A listening socket on the loopback address. None is the usual port, or a free one. ValueError: it is taken."""
    try:
        return socket.create_server((ADDRESS, USUAL_PORT if port is None else port))
    except OSError as error:
        if port is not None:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({reason_of(error)})"
            raise ValueError(f"port {port} {why}: name another one with --port") from None
        return socket.create_server((ADDRESS, 0))


class BoardServer(uvicorn.Server):
    """Serves the page until Ctrl-C or SIGTERM. `token` is the first part of every path."""

    def __init__(self, desk: Desk, path: Path, start: chess.Board) -> None:
        """`path`: where games are saved. `start`: the first position."""
        self.token = secret()
        # Called when the page is opened.
        self.on_open: Callable[[], object] = lambda: None
        self._desk = desk
        self._library, report = Library(path.parent), Report(path.parent)
        self._questions = QUESTIONS | {"review": partial(review, keep=report.keep)}
        self._requests: dict[str, Callable[[Fields], Answer]] = {
            "positions": positions,
            "premoves": premoves,
            "pgn": pgn,
            "save": partial(save, path),
            "games": self._library.games,
            "open": self._library.open,
            "report": report.all,
        }
        self._page = render(
            "board.html.j2",
            {"start": start.fen()},
            folder=TEMPLATES,
            scripts=SCRIPTS,
            styles=("live.css",),
            policy="; connect-src 'self'",
            levels=LEVELS,
            usual_level=USUAL_LEVEL,
            saved=path.resolve(),
        )
        routes = [Route(f"/{self.token}/", self._open, methods=["GET"])]
        for name in ("load", *self._questions, *self._requests):
            routes.append(Route(f"/{self.token}/{name}", partial(self._answer, name), methods=["POST"]))
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
        handlers = {404: lambda *_: PlainTextResponse("Open the address that secateur board prints.", 404)}
        app = Starlette(routes=routes, middleware=[hosts], exception_handlers=handlers)
        super().__init__(uvicorn.Config(app, ws="none", log_level="error"))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and at once the answer that is being told. uvicorn itself would raise the signal again at the end."""
        self._desk.stop()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, also where a request does not come, or nobody takes the answer."""
        for connection in self.server_state.connections:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, connection.transport.abort)
        await super().shutdown(sockets)

    async def _open(self, request: Request) -> Response:
        self.on_open()
        return HTMLResponse(self._page, headers=HEADERS)

    async def _answer(self, name: str, request: Request) -> Response:
        if request.headers.get("origin") != f"http://{request.headers.get('host')}":
            raise HTTPException(403, "Only the page of this server may ask.")
        body, most = BytesIO(), MAX_FILE_BYTES if name == "load" else MAX_BODY_BYTES
        try:
            async for part in request.stream():
                # What is too large is taken to its end, so that the page reads the answer.
                body.write(part[: most + 1 - body.tell()])
        except ClientDisconnect:
            return Response()
        if body.tell() > most:
            raise HTTPException(413, f"At once at most {most >> 20} MiB can be loaded.")
        body.seek(0)
        return StreamingResponse(self._lines(name, body), headers=HEADERS, media_type="application/x-ndjson")

    async def _lines(self, name: str, body: BytesIO) -> AsyncIterator[str]:
        try:
            if name == "load":
                answers = iterate_in_threadpool(self._library.load(body))
            elif name in self._questions:
                answers = self._desk.ask(partial(self._questions[name], fields=Fields(body.read())))
            else:
                # The one answer, made in a thread as those of a load are.
                answers = iterate_in_threadpool(map(self._requests[name], [Fields(body.read())]))
            async for answer in answers:
                yield json.dumps(answer) + "\n"
        except (ValueError, OverflowError, EngineError) as error:
            yield json.dumps({"problem": str(error)}) + "\n"
