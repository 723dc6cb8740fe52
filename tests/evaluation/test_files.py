"""Files of users: replaced as a whole, and by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.files import locked, replace_file, replaced
from tests.support import ENVIRONMENT, PATIENCE_SECONDS

HOLDER = """\
import sys
from pathlib import Path
from evaluation.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes, and links need more rights")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_mode_and_a_link_to_it(tmp_path: Path, mode: int) -> None:
    path, link = tmp_path / "file", tmp_path / "folder" / "link"
    path.write_bytes(b"old")
    path.chmod(mode)
    link.parent.mkdir()
    link.symlink_to("../file")
    with replaced(link) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        temporary = next(each for each in tmp_path.iterdir() if each.name.startswith(".file"))
        assert temporary.stat().st_mode & ~mode & 0o777 == 0
    assert link.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)
    (tmp_path / "other").touch()
    replace_file(tmp_path / "another", b"new")
    assert (tmp_path / "another").stat().st_mode == (tmp_path / "other").stat().st_mode


def fail(path: Path) -> None:
    with replaced(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def test_a_file_stays_when_its_replacement_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        fail(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def take(path: Path, patience_seconds: float = 0.0) -> bool:
    with locked(path, patience_seconds):
        return path.exists()


def test_a_lock_is_held_by_one_process_and_freed_by_its_death(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            take(path)
        process.kill()
    assert take(path, PATIENCE_SECONDS)
    assert not path.exists()
