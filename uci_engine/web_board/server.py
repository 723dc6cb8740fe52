"""The server of the board: one page, on the loopback address, for whoever has its address.

The address has a random token, so that other users of the machine and other pages in the browser do not find it. Host
and Origin are checked, so no page from elsewhere may ask, whatever name it gives this machine. A request is a POST of
JSON to one of the names below; its answer is lines of JSON, and ends when there is no more to tell. When the page goes
away or asks something else, the search stops. The server itself keeps nothing of a game.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import chess
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from uci_engine.api.engine import Engine
from uci_engine.game_analysis.html import render
from uci_engine.search.strength import MAX_ELO, MIN_ELO
from uci_engine.web_board import requests
from uci_engine.web_board.desk import Answer, Desk, Tell, Turn
from uci_engine.web_board.questions import QUESTIONS
from uci_engine.web_board.saved_games import SavedGames

ADDRESS = "127.0.0.1"
# The names by which a browser reaches it, also through a tunnel.
HOSTS = [ADDRESS, "localhost"]
# The browser keeps games by address, so the port should be the same every time.
USUAL_PORT = 8064
# A request of a game with all its moves is smaller; a PGN file may be as large.
MAX_BODY_BYTES = 512 << 10
MAX_CONNECTIONS = 200
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
    """A listening socket on the loopback address. None is the usual port, or a free one. OSError: the port is taken."""
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, USUAL_PORT if port is None else port))
        except OSError:
            if port is not None:
                raise
            listening.bind((ADDRESS, 0))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


class BoardServer(uvicorn.Server):
    """Serves the page until Ctrl-C. `token` is the first part of every path."""

    def __init__(self, engine: Engine, games: SavedGames, start: str | None, pgn: str) -> None:
        """`start` is the FEN of the first position, None for the usual one. `pgn`: games to begin with, "" for none."""
        self.token = secrets.token_urlsafe(16)
        self._desk = Desk(engine)
        self._games = games
        data = {"start": start or chess.STARTING_FEN, "pgn": pgn, "longest": MAX_BODY_BYTES // 2}
        self._page = render(
            "board.html.j2",
            data,
            folder=TEMPLATES,
            scripts=SCRIPTS,
            styles=("live.css",),
            policy="; connect-src 'self'",
            levels=LEVELS,
        )
        routes = [
            Route("/{token}/", self._show_page, methods=["GET"]),
            Route("/{token}/{name}", self._answer, methods=["POST"]),
        ]
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
        app = Starlette(routes=routes, middleware=[hosts])
        super().__init__(
            uvicorn.Config(
                app,
                log_level="error",
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=2,
                server_header=False,
                ws="none",
                lifespan="off",
            )
        )

    def run_on(self, listening: socket.socket) -> None:
        """Serve on this socket until Ctrl-C or SIGTERM, and close the engine."""
        try:
            self.run(sockets=[listening])
        finally:
            self._desk.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and at once the answer that is being told. uvicorn itself would raise the signal again at the end."""
        self._desk.stop()
        self.should_exit = True

    # Requests ------------------------------------------------------------------------------------------------------

    def _refusal(self, request: Request) -> Response | None:
        """Why a request is not answered: it has not the token, or is from another page."""
        if not secrets.compare_digest(request.path_params["token"].encode(), self.token.encode()):
            return PlainTextResponse("This is not the address that secateur board has shown.\n", 404)
        if request.method == "POST" and request.headers.get("origin") != f"http://{request.headers.get('host')}":
            return PlainTextResponse("Only the page of this server may ask.\n", 403)
        return None

    async def _show_page(self, request: Request) -> Response:
        return self._refusal(request) or HTMLResponse(self._page, headers=HEADERS)

    async def _answer(self, request: Request) -> Response:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        name = request.path_params["name"]
        try:
            asked = requests.Request(await _body(request))
            if name in QUESTIONS:
                tab = asked.text("tab")
                lines = self._told(tab, lambda turn, tell: QUESTIONS[name](turn, asked, tell))
                return StreamingResponse(lines, media_type="application/x-ndjson", headers=HEADERS)
            if name == "positions":
                answer = await run_in_threadpool(requests.positions, asked)
            elif name == "load":
                answer = await run_in_threadpool(requests.load, asked, MAX_BODY_BYTES)
            elif name == "save":
                answer = await run_in_threadpool(requests.save, asked, self._games)
            else:
                return PlainTextResponse("There is no such question.\n", 404)
        except ClientDisconnect:
            return Response()
        except ValueError as error:
            return _line({"problem": str(error)}, 400)
        return _line(answer)

    async def _told(self, tab: str, work: Callable[[Turn, Tell], None]) -> AsyncIterator[str]:
        """The answers to a question, as lines of JSON. The question stops when nobody reads on."""
        loop = asyncio.get_running_loop()
        answers: asyncio.Queue[Answer | None] = asyncio.Queue()

        def tell(answer: Answer | None) -> None:
            # After the end nobody listens.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(answers.put_nowait, answer)

        turn, future = self._desk.ask(tab, work, tell)
        future.add_done_callback(lambda _: tell(None))
        try:
            while (answer := await answers.get()) is not None:
                yield json.dumps(answer) + "\n"
            if not future.cancelled():
                # A fault of this program is not hidden.
                future.result()
        finally:
            turn.stop()


async def _body(request: Request) -> bytes:
    """The body of a request. ValueError: it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise ValueError(f"a request has at most {MAX_BODY_BYTES >> 10} KiB")
    return body


def _line(answer: Answer, status: int = 200) -> Response:
    return Response(json.dumps(answer) + "\n", status, HEADERS, "application/x-ndjson")
