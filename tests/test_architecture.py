"""The shape of the source: which package may import which. Ruff checks the rest."""

from __future__ import annotations

import ast
import os
import tomllib
from pathlib import Path

import pytest

from tests.support import ROOT, SCRIPTS, run_python

PROGRAMS = sorted(SCRIPTS.glob("*.py"))


def test_imports_keep_to_the_contracts_of_pyproject() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    result = run_python("-c", program, PYTHONPATH=os.pathsep.join((str(ROOT), str(SCRIPTS))))
    assert result.returncode == 0, result.stdout


def test_a_contract_names_every_program() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (named,) = (each["forbidden_modules"] for each in contracts if "match" in each.get("forbidden_modules", ()))
    assert named == [path.stem for path in PROGRAMS]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_can_be_run_and_says_how(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env python3\n")
    assert f"{path.name} " in (ast.get_docstring(ast.parse(text)) or "") + " "
    assert text.endswith('if __name__ == "__main__":\n    run_program(main)\n')
