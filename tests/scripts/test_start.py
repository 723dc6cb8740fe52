"""What is seen at the start of a program costs no journal, no tables and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import match
from tests.support import ROOT, SCRIPTS, SUPPORT
from toolkit.errors import ProgramError

FAKE = f"{sys.executable} {SUPPORT / 'fake_engine.py'}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "results"
    path.mkdir()
    return path


def test_a_misspelt_engine_leaves_nothing_behind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--engine", f"cmd='{FAKE}'", "--each", "depth=1", "--games", "2", "--longest", "2"]
    words += ["--pgn", str(folder / "games.pgn"), "--engine"]
    with pytest.raises(ProgramError, match="cannot run stokfish"):
        match.main([*words, "cmd=stokfish"])
    assert capsys.readouterr().out == ""
    assert list(folder.iterdir()) == []
    assert match.main([*words, f"cmd='{FAKE}'"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "words", "complaint"),
    [
        ("calibrate", ["--levels", "1500"], "known rating"),
        ("factorial_test", ["--engine", "cmd=stokfish depth=1", "--change", "x=1"], "cannot run stokfish"),
        ("perft", ["/no/such/file.epd"], "No such file"),
        ("fuzz", ["--engine", "cmd=stokfish"], "error: stokfish: No such file or directory\n"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(program: str, words: list[str], complaint: str, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPTS / f"{program}.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, env=environment)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert complaint in done.stderr
