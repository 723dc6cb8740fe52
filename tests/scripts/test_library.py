"""The library of the programs: its modules import each other in one direction, and nobody else's."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.support import SCRIPTS

MODULES = {
    ".".join(path.relative_to(SCRIPTS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SCRIPTS / "lib").rglob("*.py"))
}
PROGRAMS = {path.stem for path in SCRIPTS.glob("*.py")}


def imports(path: Path) -> set[str]:
    """Every module that is imported, also inside of functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & MODULES.keys()) or {str(node.module)}
    return found


@cache
def reachable(module: str) -> frozenset[str]:
    """All of the library that the module imports, and all that those import."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = (imports(MODULES[waiting.pop()]) & MODULES.keys()) - found
        found |= new
        waiting += new
    return frozenset(found)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_module_of_the_library_imports_itself_in_a_circle(module: str) -> None:
    assert module not in reachable(module)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_engines_know_nothing_of_games_and_nobody_imports_a_program(module: str) -> None:
    assert not imports(MODULES[module]) & PROGRAMS
    if module.startswith("lib.engines"):
        assert {name.split(".")[1] for name in reachable(module) if "." in name} <= {"engines", "errors"}
