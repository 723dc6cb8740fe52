"""`secateur provider` against a server that has lichess's API of external engines, as far as its documentation says."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from subprocess import PIPE

import chess
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support import ENVIRONMENT, run_python, wait_until

WORK = {"sessionId": "a", "threads": 9, "hash": 9999, "multiPv": 2, "initialFen": chess.STARTING_FEN, "moves": []}
# The third ends only by the fourth.
JOBS: list[dict[str, object]] = [{"moves": ["e2e5"]}, {"depth": 3}, {}, {"nodes": 9}]


class Lichess(Starlette):
    """`lines` is what came back for each job, `ended` the jobs that are done."""

    def __init__(self) -> None:
        super().__init__(routes=[Route("/api/external-engine{path:path}", self.answer, methods=["GET", "PUT", "POST"])])
        self.secret = ""
        self.left = list(enumerate([*JOBS, {}]))
        self.lines: dict[str, list[str]] = {}
        self.ended: list[str] = []

    async def answer(self, request: Request) -> Response:
        name = request.path_params["path"].rpartition("/")[2]
        if request.method == "GET":
            allowed = request.headers["Authorization"] == "Bearer lip_right"
            return JSONResponse([{"id": "one", "name": "Secateur"}], 200 if allowed else 401)
        if name not in ("one", "work"):
            async for part in request.stream():
                self.lines.setdefault(name, []).extend(part.decode().splitlines())
            self.ended.append(name)
            return Response()
        secret = (await request.json())["providerSecret"]
        if name == "one":
            self.secret = secret
            return JSONResponse({})
        await asyncio.sleep(0.1)
        number, job = self.left[0]
        if secret != self.secret or not {2: "1" in self.ended, 3: self.lines.get("2"), 4: False}.get(number, True):
            return Response(status_code=204)
        self.left.pop(0)
        return JSONResponse({"id": str(number), "work": WORK | job, "engine": {}})


def test_work_is_searched_and_its_lines_go_back() -> None:
    lichess = Lichess()
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(lichess, log_level="error"))
    threading.Thread(target=server.run, args=[[listening]], daemon=True).start()
    words = ["-m", "uci_engine", "provider", "--lichess", url, "--broker", url]
    for token, refusal in (("", " holds no token: "), ("lip_wrong", "the token is not valid")):
        result = run_python(*words, LICHESS_API_TOKEN=token)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert refusal in result.stderr
    for broker in ("http://nowhere:port", "engine.lichess.ovh"):
        result = run_python(*words, "--broker", broker, LICHESS_API_TOKEN="lip_right")
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert f"{broker} is no address" in result.stderr
    environment = ENVIRONMENT | {"LICHESS_API_TOKEN": "lip_right"}
    with subprocess.Popen([sys.executable, *words], env=environment, stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_until(lambda: "3" in lichess.ended)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    server.should_exit = True
    assert (process.returncode, output) == (130, f"Secateur is among the engines of {url}/analysis\n")
    assert ("'e2e5', is not legal" in errors, errors.splitlines()[1:]) == (True, ["secateur provider: ended"])
    assert set(lichess.lines) == {"1", "2", "3"}
    assert all(" score " in line for lines in lichess.lines.values() for line in lines)
    assert {line.split()[6] for line in lichess.lines["1"] if line.startswith("info depth 3 ")} == {"1", "2"}
