"""The shape of the source: which package may import which, and how long a file may be. Ruff checks the rest."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from uci_engine.core import KERNEL_MODULES

PROGRAMS = sorted((ROOT / "scripts").glob("*.py"))
TOOLS = [*PROGRAMS, *sorted((ROOT / "scripts" / "lib").rglob("*.py"))]
SOURCES = [path for package in ("evaluation", "uci_engine") for path in sorted((ROOT / package).rglob("*.py"))]
KERNEL = [ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in KERNEL_MODULES]
MAX_FILE_LINES = 400
# A class of C type is one block of one file, so a kernel module can have more.
MAX_KERNEL_LINES = 800
# One function, in numbered steps, and what belongs to it.
MAX_SEARCH_LINES = 1000


def test_imports_keep_to_the_contracts_of_pyproject() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", [*SOURCES, *TOOLS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_is_short_enough_to_read(path: Path) -> None:
    limit = MAX_KERNEL_LINES if path in KERNEL else MAX_FILE_LINES
    if path == ROOT / "uci_engine" / "search" / "search.py":
        limit = MAX_SEARCH_LINES
    assert len(path.read_text("utf-8").splitlines()) <= limit


def test_no_tool_imports_a_program() -> None:
    programs = {program.stem for program in PROGRAMS}
    for path in TOOLS:
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not programs & imported, path


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_can_be_run_and_says_how(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env python3\n")
    assert f"{path.name} " in (ast.get_docstring(ast.parse(text)) or "") + " "
    assert text.endswith('if __name__ == "__main__":\n    run_program(main)\n')
