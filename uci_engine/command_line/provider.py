"""`secateur provider`: the engine for the analysis board of lichess.org, as lichess's API has external engines.

The engine is registered with a secret. By that secret work is asked for, in requests that wait until there is some. The
lines of a search are the body of one request, which grows while it searches. Work that comes meanwhile ends the search.
"""

from __future__ import annotations

import os
import queue
import secrets
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from uci_engine.board.game import Game
from uci_engine.command_line.arguments import Parser, UsageError, number
from uci_engine.command_line.console import INTERRUPTED, result_of, show, warn
from uci_engine.engine import UciEngine
from uci_engine.memory import hash_maximum_mib
from uci_engine.options import usable_processors
from uci_engine.text import printable
from uci_engine.time_management import Limits
from uci_engine.tools.doctor import command_for
from uci_engine.uci.protocol import format_info

if TYPE_CHECKING:
    import httpx

LICHESS = "https://lichess.org"
BROKER = "https://engine.lichess.ovh"
TOKEN_VARIABLE = "LICHESS_API_TOKEN"
TOKEN_PAGE = "/account/oauth/token/create?scopes[]=engine:read&scopes[]=engine:write"
# How long a request for work may wait, and the pauses while lichess cannot be reached, in seconds.
POLL_SECONDS = 90.0
# How long anything else may wait: to connect, to send a part of an answer, and for the reply when all of it is sent.
REPLY_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
STOP_SECONDS = 0.05
DEFAULT_MIB = 256
# An object of JSON.
Json = dict[str, Any]

DESCRIPTION = f"""\
Analyse on lichess.org with this engine: it appears among the engines of the analysis board there. Ctrl-C ends it.

It needs a token of your account, which {LICHESS}{TOKEN_PAGE}
makes, in the environment variable {TOKEN_VARIABLE}.
"""


def run(words: Sequence[str], core: str) -> int:
    """Run the command. Returns the exit code."""
    parser = Parser("secateur provider", DESCRIPTION)
    most = hash_maximum_mib()
    add = parser.add_argument
    add("--name", default="Secateur", help="its name on lichess (default %(default)s)")
    threads = usable_processors()
    add("--threads", metavar="N", type=number(1, threads), default=threads, help="most threads (default %(default)s)")
    mib = min(DEFAULT_MIB, most)
    add("--hash", metavar="MIB", type=number(1, most), default=mib, help="most memory in MiB (default %(default)s)")
    add("--lichess", metavar="URL", default=LICHESS, help="where to register (default %(default)s)")
    add("--broker", metavar="URL", default=BROKER, help="where the work comes from (default %(default)s)")
    options = parser.parse_args(words)
    try:
        import httpx
    except ImportError:
        raise ImportError(f"this command needs httpx: {command_for('provider')}") from None
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not (token and token.isascii() and token.isprintable()):
        raise _refusal(f"{TOKEN_VARIABLE} holds no token: make one at {options.lichess}{TOKEN_PAGE}")
    if not _is_web_address(options.broker):
        raise _refusal(f"{options.broker} is no address of the web")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    registration = {
        "name": options.name,
        "maxThreads": options.threads,
        "maxHash": options.hash,
        "variants": ["chess"],
        "providerSecret": secrets.token_urlsafe(32),
    }
    # It is never closed: until the process ends, a thread may wait for work.
    client = httpx.Client(timeout=httpx.Timeout(REPLY_SECONDS, read=POLL_SECONDS))
    try:
        _register(client, f"{options.lichess}/api/external-engine", token, registration)
        show(f"{printable(options.name)} is among the engines of {options.lichess}/analysis")
        with closing(Provider(client, f"{options.broker}/api/external-engine/work", registration, core)) as provider:
            provider.serve()
    except KeyboardInterrupt:
        warn("secateur provider: ended")
        return INTERRUPTED


def _is_web_address(text: str) -> bool:
    import httpx

    with suppress(httpx.InvalidURL):
        url = httpx.URL(text)
        return url.scheme in ("http", "https") and bool(url.host)
    return False


def _register(client: httpx.Client, url: str, token: str, registration: Mapping[str, object]) -> None:
    """Register the engine, in place of one of the same name. Raises UsageError."""
    import httpx

    def asked(method: str, url: str, body: object = None) -> Any:
        answer = client.request(method, url, json=body, headers={"Authorization": f"Bearer {token}"})
        return answer.raise_for_status().json()

    try:
        known = [each["id"] for each in asked("GET", url) if each["name"] == registration["name"]]
        asked("PUT" if known else "POST", f"{url}/{known[0]}" if known else url, registration)
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        why = "the token is not valid, or not for engines" if status in (401, 403) else f"status {status}"
        raise _refusal(f"lichess does not register the engine: {why}") from None
    except httpx.RequestError as error:
        raise _refusal(f"lichess cannot be reached: {error or type(error).__name__}") from None
    except (httpx.InvalidURL, ValueError, TypeError, KeyError):
        raise _refusal(f"{url} is not lichess's API") from None


class Provider:
    """Takes work and answers it, one at a time. `close` ends the engine."""

    def __init__(self, client: httpx.Client, url: str, registration: Mapping[str, object], core: str) -> None:
        self._client = client
        self._url = url
        self._secret = registration["providerSecret"]
        self._most: Json = {"threads": registration["maxThreads"], "hash": registration["maxHash"]}
        self._engine = UciEngine(core)
        self._engine.options.set("UCI_AnalyseMode", "true")
        # One waits for work, one answers.
        self._pool = ThreadPoolExecutor(2, "work")
        self._answered: Future[None] = self._pool.submit(lambda: None)
        self._session: object = None

    def serve(self) -> NoReturn:
        """Answer all work that comes. Ends by an exception."""
        while True:
            job = result_of(self._pool.submit(self._next_job))
            self._finish()
            self._answered = self._pool.submit(self._answer, job)

    def close(self) -> None:
        self._finish()
        self._engine.close()

    def _finish(self) -> None:
        """End the search that runs, and wait until it is answered. Raises what has gone wrong there."""
        # While a search is set up, a stop is lost.
        while not self._answered.done():
            self._engine.stop()
            wait([self._answered], STOP_SECONDS)
        self._answered.result()

    def _next_job(self) -> Json:
        """Wait for work, also while lichess cannot be reached."""
        import httpx

        pause = FIRST_PAUSE
        while True:
            try:
                answer = self._client.post(self._url, json={"providerSecret": self._secret}).raise_for_status()
                if answer.status_code == httpx.codes.OK:
                    return dict(answer.json())
                pause = FIRST_PAUSE
            except httpx.ReadTimeout:
                pause = FIRST_PAUSE
            except (httpx.HTTPError, ValueError) as error:
                if pause == FIRST_PAUSE:
                    warn(f"secateur provider: no work can be had, and it is tried again: {error}")
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _answer(self, job: Json) -> None:
        """Search, and send the lines. Lichess hangs up when nobody wants them any more."""
        import httpx

        try:
            lines = self._begin(job["work"])
            self._client.post(f"{self._url}/{job['id']}", content=lines, timeout=REPLY_SECONDS)
        except httpx.HTTPError:
            # Nobody waits for the rest.
            return
        except (ValueError, TypeError, KeyError) as error:
            warn(printable(f"secateur provider: work that cannot be done: {error}"))
        finally:
            self._engine.stop()
            self._engine.wait()

    def _begin(self, work: Json) -> Iterator[bytes]:
        """Begin a search, and return its lines with a score. ValueError, TypeError, KeyError: it is no such work."""
        limits = Limits(
            movetime_ms=work.get("movetime"),
            depth=work.get("depth"),
            nodes=work.get("nodes"),
            infinite=not any(work.get(name) for name in ("movetime", "depth", "nodes")),
        )
        game = Game()
        # Castling is king takes rook, so that one notation serves all games.
        game.set(work["initialFen"], work["moves"], chess960=True)
        if work["sessionId"] != self._session:
            self._engine.new_game()
            self._session = work["sessionId"]
        threads, mib = (min(work[key], self._most[key]) for key in ("threads", "hash"))
        for name, value in (("Threads", threads), ("Hash", mib), ("MultiPV", work["multiPv"])):
            self._engine.options.set(name, str(value))
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._engine.go(
            game.position,
            limits,
            time.perf_counter(),
            lambda info: lines.put(format_info(info)) if info.score is not None else None,
            lambda best: lines.put(None),
        )
        return (f"{line}\n".encode() for line in iter(lines.get, None))


def _refusal(text: str) -> UsageError:
    return UsageError(printable(f"secateur provider: {text}"), exit_code=1)
