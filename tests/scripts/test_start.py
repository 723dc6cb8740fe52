"""What is seen at the start of a program costs no journal, no tables and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import match
from tests.support import ENVIRONMENT, FAKE_ENGINE, SCRIPTS
from toolkit.errors import ProgramError

FAKE = f"{sys.executable} {FAKE_ENGINE}"


def test_a_misspelt_engine_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--engine", f"cmd='{FAKE}'", "--each", "depth=1", "--games", "2", "--longest", "2"]
    words += ["--pgn", str(tmp_path / "games.pgn"), "--engine"]
    with pytest.raises(ProgramError, match="cannot run stokfish"):
        match.main([*words, "cmd=stokfish"])
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
    assert match.main([*words, f"cmd='{FAKE}'"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "words", "complaint"),
    [
        ("calibrate", ["--levels", "1500"], "known rating"),
        ("factorial_test", ["--engine", "cmd=stokfish depth=1", "--change", "x=1"], "cannot run stokfish"),
        ("perft", ["/no/such/file.epd"], "No such file"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(program: str, words: list[str], complaint: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / f"{program}.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert complaint in done.stderr
