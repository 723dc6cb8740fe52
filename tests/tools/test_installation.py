"""An engine that runs uncompiled by accident says so, with the command that mends it.

Some tests run the real program in a copy of the packages without extension files. Others pretend that this process is
installed in some way, and read the command.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from uci_engine import core
from uci_engine.command_line import console
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


def test_the_command_that_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    assert doctor.mending_command() == "install it again, with pip's options --force-reinstall and --no-cache-dir"
    (tmp_path / "setup.py").touch()
    monkeypatch.setattr(sys, "executable", "/opt/my python/bin/python")
    assert doctor.mending_command() == f"'/opt/my python/bin/python' -m pip install -e {tmp_path}"


def test_a_failure_of_a_stale_build_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise AttributeError("the compiled class has no such field")

    stale: list[str] = []
    monkeypatch.setattr(doctor, "stale_sources", lambda: stale)
    monkeypatch.setattr(doctor, "compiled_modules", lambda: ["uci_engine.search.search"])
    with pytest.raises(AttributeError):
        console.guarded(fail)
    stale.append("uci_engine/search/search.py")
    assert console.guarded(fail) == 1
    sentence = f"secateur: changed since they were compiled: {stale[0]}; to mend it: {doctor.mending_command()}\n"
    assert capsys.readouterr().err == sentence
