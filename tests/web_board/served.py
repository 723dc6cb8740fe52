"""A running `secateur board`, and requests to it as its page and others would make them."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlparse

import pytest

for library in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(library)

GAMES_FILE = "secateur-games.pgn"
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"


class Served:
    """`secateur board` in a folder, on a free port. `address` is what it prints."""

    def __init__(self, folder: Path, *arguments: str, browser: str = "") -> None:
        """`browser`: its command line, in which %s is what to open. "" for none."""
        self.folder = folder
        command = [sys.executable, "-m", "uci_engine", "board", "--port", "0", *arguments]
        self.process = subprocess.Popen(
            command if browser else [*command, "--no-browser"],
            cwd=folder,
            env=os.environ | {"BROWSER": browser, "HOME": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlparse(self.address)
        self.host, self.port, self.path = str(parts.hostname), int(parts.port or 0), parts.path
        self.origin = f"http://{parts.netloc}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)

    def open(self, method: str, name: str, body: bytes | str = "", **headers: str) -> http.client.HTTPResponse:
        """Send a request as the page does, apart from these headers. An empty header is left out."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        whole = {"Connection": "close", "Origin": self.origin, **{key.title(): value for key, value in headers.items()}}
        path = name if name.startswith("/") else self.path + name
        connection.request(method, path, body, {key: value for key, value in whole.items() if value})
        return connection.getresponse()

    def ask(self, name: str, **fields: Any) -> list[dict[str, Any]]:
        """All answers to a question."""
        return list(answers(self.open("POST", name, json.dumps(fields))))


def answers(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The lines of an answer, as they come."""
    assert response.headers["Content-Type"] == "application/x-ndjson", response.read()
    while line := response.readline():
        yield json.loads(line)
