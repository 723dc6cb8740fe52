"""The shape of the source: which package may import which. Ruff checks the rest."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

PROGRAMS = sorted((ROOT / "scripts").glob("*.py"))
TOOLS = [*PROGRAMS, *sorted((ROOT / "scripts" / "toolkit").rglob("*.py"))]


def test_imports_keep_to_the_contracts_of_pyproject() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


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
