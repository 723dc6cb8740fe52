"""`secateur provider` against a server that has lichess's API of external engines, as far as its documentation says."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from subprocess import PIPE
from typing import Any

import chess
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support import ENVIRONMENT, run_python, wait_until

COMMON = {
    "sessionId": "a",
    "threads": 9,
    "hash": 9999,
    "multiPv": 2,
    "variant": "chess",
    "initialFen": chess.STARTING_FEN,
}
# The third ends only by the fourth.
JOBS: list[dict[str, object]] = [
    {"moves": ["e2e5"]},
    {"moves": ["e2e4"], "depth": 3},
    {"moves": []},
    {"moves": ["e2e4", "e7e5"], "movetime": 100},
]


class Lichess:
    """`registered` is what the engine says of itself, `lines` what came back for each job."""

    def __init__(self) -> None:
        self.registered: dict[str, Any] = {}
        self.lines: dict[str, list[str]] = {}
        self.given: list[int] = []
        self.ended: list[str] = []
        routes = [Route("/api/external-engine", self.known)]
        routes.append(Route("/api/external-engine/one", self.register, methods=["PUT"]))
        routes.append(Route("/api/external-engine/work", self.work, methods=["POST"]))
        routes.append(Route("/api/external-engine/work/{job}", self.take, methods=["POST"]))
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error"))
        threading.Thread(target=self.server.run, args=[[self.socket]], daemon=True).start()

    async def known(self, request: Request) -> Response:
        allowed = request.headers["Authorization"] == "Bearer lip_right"
        return JSONResponse([{"id": "one", "name": "Secateur"}] if allowed else {}, 200 if allowed else 401)

    async def register(self, request: Request) -> Response:
        self.registered = await request.json()
        return JSONResponse({})

    async def work(self, request: Request) -> Response:
        assert (await request.json())["providerSecret"] == self.registered["providerSecret"]
        await asyncio.sleep(0.1)
        number = len(self.given)
        if number == len(JOBS) or not {2: "1" in self.ended, 3: self.lines.get("2")}.get(number, True):
            return Response(status_code=204)
        self.given.append(number)
        return JSONResponse({"id": str(number), "work": {**COMMON, **JOBS[number]}, "engine": {}})

    async def take(self, request: Request) -> Response:
        lines = self.lines.setdefault(request.path_params["job"], [])
        async for part in request.stream():
            lines += part.decode().splitlines()
        self.ended.append(request.path_params["job"])
        return Response()


@pytest.fixture
def lichess() -> Iterator[Lichess]:
    server = Lichess()
    yield server
    server.server.should_exit = True


def test_work_is_searched_and_its_lines_go_back(lichess: Lichess) -> None:
    command = [sys.executable, "-m", "uci_engine", "provider", "--lichess", lichess.url, "--broker", lichess.url]
    environment = {**ENVIRONMENT, "LICHESS_API_TOKEN": "lip_right"}
    with subprocess.Popen(command, env=environment, stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_until(lambda: "3" in lichess.ended)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (0, f"Secateur is among the engines of {lichess.url}/analysis\n")
    assert "'e2e5', is not legal" in errors
    assert errors.count("\n") == 1
    assert len(lichess.registered["providerSecret"]) >= 16
    assert set(lichess.lines) == {"1", "2", "3"}
    assert all(" score " in line for lines in lichess.lines.values() for line in lines)
    assert {line.split()[6] for line in lichess.lines["1"] if line.startswith("info depth 3 ")} == {"1", "2"}


@pytest.mark.parametrize(("token", "word"), [("", "holds no token"), ("lip_wrong", "the token is not valid")])
def test_without_a_token_there_is_one_sentence(lichess: Lichess, token: str, word: str) -> None:
    result = run_python("-m", "uci_engine", "provider", "--lichess", lichess.url, LICHESS_API_TOKEN=token)
    assert (result.returncode, result.stdout) == (1, "")
    assert word in result.stderr
    assert result.stderr.count("\n") == 1
