"""An engine that runs uncompiled by accident says so, with the command that mends it.

Some tests run the real program in a copy of the packages without extension files. Others pretend that this process is
installed in some way, and read the command.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import pytest

from uci_engine import core
from uci_engine.tools import doctor

ROOT = Path(__file__).parents[2]
WHY = "because the compiled core is not installed"
SLOW = f"this is the uncompiled engine, about 200 times slower, {WHY}"


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which nothing was built."""
    folder = tmp_path_factory.mktemp("clone")
    built = shutil.ignore_patterns("build_info.json", "__pycache__", *(f"*{suffix}" for suffix in EXTENSION_SUFFIXES))
    for package in ("evaluation", "uci_engine"):
        shutil.copytree(ROOT / package, folder / package, ignore=built)
    shutil.copy(ROOT / "setup.py", folder)
    return folder


def run(folder: Path, *arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uci_engine", *arguments]
    return subprocess.run(command, cwd=folder, input=lines, capture_output=True, text=True, timeout=120, check=False)


def test_the_uncompiled_engine_says_so_at_uci(uncompiled: Path) -> None:
    lines = run(uncompiled, lines="uci\nquit\n").stdout.splitlines()
    (warning,) = [line for line in lines if line.startswith("info string")]
    assert warning.startswith(f"info string warning: {SLOW}; to mend it: ")
    assert warning.endswith(f"install -e {uncompiled}")
    assert lines[-1] == "uciok"


def test_who_asks_for_the_slow_core_is_not_warned(uncompiled: Path) -> None:
    assert "info string" not in run(uncompiled, "--core", "python-chess", lines="uci\nquit\n").stdout


def test_doctor_fails_on_the_slow_core(uncompiled: Path) -> None:
    result = run(uncompiled, "doctor")
    lines = result.stdout.splitlines()
    assert result.returncode == 1
    assert [line for line in lines if line.startswith(f"SLOW    {SLOW}; to mend it: ")]
    assert lines[-1] == "Everything works, and it is SLOW: see above."


def test_a_core_that_was_asked_for_is_no_fallback() -> None:
    found = core.load("auto")
    assert not found.is_fallback or not core.compiled_modules() or "this processor lacks" in found.reason
    assert doctor.slow_core_warning(fallback(False)) is None


def fallback(is_fallback: bool) -> core.Core:
    return core.Core("python-chess", f"chosen {WHY}", is_fallback, object, object, object, {})


def test_another_python_cannot_run_the_compiled_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "python_implementation", lambda: "PyPy")
    assert doctor.slow_core_warning(fallback(True)) == f"{SLOW}; only CPython, not PyPy, can run the compiled one"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, "secateur"),
        ({"url": "file:///home/you/secateur", "dir_info": {}}, "file:///home/you/secateur"),
        ({"url": "https://host/s.tar.gz", "archive_info": {}}, "https://host/s.tar.gz"),
        ({"url": "https://host/s", "vcs_info": {"vcs": "git", "commit_id": "abc"}}, "git+https://host/s@abc"),
        (
            {"url": "https://host/s", "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "v1"}},
            "git+https://host/s@v1",
        ),
    ],
)
def test_an_installed_engine_is_installed_again_from_where_it_came(
    origin: dict[str, object] | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Distribution:
        def read_text(self, _name: str) -> str | None:
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    monkeypatch.setattr(sys, "executable", "/opt/my python/bin/python")
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _name: Distribution())
    options = "--force-reinstall --no-deps --no-cache-dir"
    assert doctor.mending_command() == f"'/opt/my python/bin/python' -m pip install {options} {expected}"


def test_a_clone_under_the_systems_python_gets_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There pip refuses to install, and the user would be left with a command that fails."""
    (tmp_path / "setup.py").touch()
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    created = f"/usr/bin/python3 -m venv {tmp_path}/.venv"
    assert doctor.mending_command() == f"{created} && {tmp_path}/.venv/bin/pip install -e {tmp_path}"
    monkeypatch.setattr(sys, "prefix", "/home/you/environment")
    assert doctor.mending_command() == f"/usr/bin/python3 -m pip install -e {tmp_path}"


def test_without_pip_the_command_is_for_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "setup.py").touch()
    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    monkeypatch.setattr(sys, "prefix", "/home/you/environment")
    monkeypatch.setattr(doctor, "PathFinder", SimpleNamespace(find_spec=lambda _name: None))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert doctor.mending_command() == f"uv pip install --python /usr/bin/python3 -e {tmp_path}"


def test_windows_quotes_in_its_own_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "setup.py").touch()
    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    monkeypatch.setattr(sys, "prefix", "C:\\venv")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "executable", "C:\\Program Files\\python.exe")
    assert doctor.mending_command() == f'"C:\\Program Files\\python.exe" -m pip install -e {tmp_path}'
