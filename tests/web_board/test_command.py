"""The arguments of `secateur board`: what is refused, and what is shown."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from tests.support import wait_until
from tests.web_board.served import Served


def command(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{before}\nimport sys\nfrom uci_engine.__main__ import program\nsys.exit(program())"
    words = [sys.executable, "-c", program, "board", "--no-browser", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["--fen", "nonsense"], 1, "position"),
        (["--port", "70000"], 2, "65535"),
        (["--port", "TAKEN"], 1, "taken"),
        (["--option", "Nothing=1"], 2, "Nothing"),
    ],
)
def test_wrong_arguments_end_in_one_sentence(tmp_path: Path, arguments: list[str], code: int, word: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = command(tmp_path, *(port if each == "TAKEN" else each for each in arguments))
    assert result.returncode == code
    assert result.stdout == ""
    assert word in result.stderr
    assert "Errno" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="its home and the rights of its files are others")
def test_other_users_do_not_see_the_address(tmp_path: Path) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text("import pathlib, sys; pathlib.Path('opened').write_text(sys.argv[1])")
    opened = tmp_path / "opened"
    with Served(tmp_path, browser=f"{sys.executable} {browser} %s") as served:
        wait_until(lambda: opened.exists() and opened.read_text() != "", "the browser opens nothing")
        assert served.path not in opened.read_text()
        file = Path(url2pathname(urlparse(opened.read_text()).path))
        assert file.stat().st_mode & 0o777 == 0o600
        assert served.address in file.read_text()
        # Nobody needs it any more.
        served.open("GET", "").read()
        wait_until(lambda: not file.exists(), "the file stays")
    with Served(tmp_path, browser=f"{sys.executable} {browser} %s"):
        pass
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.parametrize("library", ["starlette", "uvicorn", "jinja2"])
def test_what_to_install_is_said_where_it_is_missing(tmp_path: Path, library: str) -> None:
    result = command(tmp_path, before=f"import sys; sys.modules[{library!r}] = None")
    assert result.returncode == 1
    assert "[board]" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_position_reaches_the_page(tmp_path: Path) -> None:
    with Served(tmp_path, "--fen", "8/8/8/8/8/5k2/8/4R2K b KQ - 3 9") as served:
        assert "8/8/8/8/8/5k2/8/4R2K b - - 3 9" in served.open("GET", "").read().decode()
        assert served.process.stderr is not None
        assert "castling" in served.process.stderr.readline()
