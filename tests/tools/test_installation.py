"""An engine that runs uncompiled by accident says so, with the command that mends it.

Some tests run the real program in a copy of the packages without extension files. Others pretend that this process is
installed in some way, and read the command.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.support import ROOT, run_python
from uci_engine import core
from uci_engine.command_line import console
from uci_engine.tools import doctor


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
    return run_python("-m", "uci_engine", *arguments, folder=folder, data=lines, PYTHONPATH="")


def test_the_uncompiled_engine_says_so_unless_it_was_asked_for(uncompiled: Path) -> None:
    lines = run(uncompiled, lines="uci\nquit\n").stdout.splitlines()
    (warning,) = [line for line in lines if line.startswith("info string")]
    assert "uncompiled" in warning
    assert warning.endswith(f"install -e {uncompiled}")
    assert lines[-1] == "uciok"
    assert "info string" not in run(uncompiled, "--core", "python-chess", lines="uci\nquit\n").stdout


def test_doctor_fails_on_the_slow_core(uncompiled: Path) -> None:
    result = run(uncompiled, "doctor")
    assert result.returncode == 1
    (slow,) = [line for line in result.stdout.splitlines() if line.startswith("SLOW ")]
    assert slow.endswith(f"install -e {uncompiled}")
    assert "FAILED" not in result.stdout


def test_a_core_that_was_asked_for_is_no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    found = core.load("auto")
    assert not found.is_fallback or not core.compiled_modules() or "this processor lacks" in found.reason

    def warning(is_fallback: bool) -> str | None:
        chosen = replace(found, reason="chosen by chance", is_fallback=is_fallback)
        return doctor.slow_core_warning(chosen)

    assert warning(False) is None
    assert doctor.mending_command() in (warning(True) or "")
    # Another Python cannot run the compiled core.
    monkeypatch.setattr(platform, "python_implementation", lambda: "PyPy")
    assert "PyPy" in (warning(True) or "")
    assert doctor.mending_command() not in (warning(True) or "")


def test_the_command_that_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_ROOT", tmp_path)
    assert "--force-reinstall" in doctor.mending_command()
    (tmp_path / "setup.py").touch()
    monkeypatch.setattr(sys, "executable", "/opt/my python/bin/python")
    assert doctor.mending_command() == f"'/opt/my python/bin/python' -m pip install -e {tmp_path}"


def test_a_failure_of_a_stale_build_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale: list[str] = []
    fail = Mock(side_effect=AttributeError("the compiled class has no such field"))
    monkeypatch.setattr(doctor, "stale_sources", lambda: stale)
    monkeypatch.setattr(doctor, "compiled_modules", lambda: ["uci_engine.search.search"])
    with pytest.raises(AttributeError):
        console.guarded(fail)
    stale.append("uci_engine/search/search.py")
    assert console.guarded(fail) == 1
    error = capsys.readouterr().err
    assert stale[0] in error
    assert error.endswith(f"{doctor.mending_command()}\n")
    assert error.count("\n") == 1
