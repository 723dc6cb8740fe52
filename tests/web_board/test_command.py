"""The arguments of `secateur board`: what is refused, and what is shown."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web_board.served import Served

for library in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(library)


def command(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{before}\nimport sys\nfrom uci_engine.__main__ import program\nsys.exit(program())"
    words = [sys.executable, "-c", program, "board", "--no-browser", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["missing.pgn"], 1, "No such file"),
        (["large.pgn"], 1, "KiB"),
        (["--fen", "nonsense"], 1, "position"),
        (["--fen", "8/8/8/8/8/8/8/8 w - - 0 1", "games.pgn"], 2, "not allowed"),
        (["--port", "70000"], 2, "65535"),
        (["--option", "Nothing=1"], 2, "Nothing"),
    ],
)
def test_wrong_arguments_end_in_one_sentence(tmp_path: Path, arguments: list[str], code: int, word: str) -> None:
    (tmp_path / "large.pgn").write_text("1. e4 e5 " * 100_000)
    result = command(tmp_path, *arguments)
    assert result.returncode == code
    assert result.stdout == ""
    assert word in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = command(tmp_path, "--port", str(taken.getsockname()[1]))
    assert result.returncode == 1
    assert "in use" in result.stderr


@pytest.mark.parametrize("library", ["starlette", "uvicorn", "jinja2"])
def test_what_to_install_is_said_where_it_is_missing(tmp_path: Path, library: str) -> None:
    result = command(tmp_path, before=f"import sys; sys.modules[{library!r}] = None")
    assert result.returncode == 1
    assert "[board]" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_of_games_and_a_position_reach_the_page(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[White "</script><b>"]\n\n1. e4 *\n')
    with Served(tmp_path, "games.pgn") as served:
        text = served.open("GET", "").read().decode()
        assert "1. e4 *" in text
        assert "</script><b>" not in text
    with Served(tmp_path, "--fen", "8/8/8/8/8/5k2/8/4R2K b - - 3 9") as served:
        assert "8/8/8/8/8/5k2/8/4R2K b - - 3 9" in served.open("GET", "").read().decode()
    with Served(tmp_path, "--fen", "8/8/8/8/8/5k2/8/4R2K b KQ - 3 9") as served:
        assert "8/8/8/8/8/5k2/8/4R2K b - - 3 9" in served.open("GET", "").read().decode()
        assert served.process.stderr is not None
        assert "castling" in served.process.stderr.readline()
