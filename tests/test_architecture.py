"""The shape of the source: which package may import which, and what no module may contain.

The imports are read from the text of the sources. So one inside a function, or for type checking only, counts too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from uci_engine.core import KERNEL_MODULES

ROOT = Path(__file__).parents[1]
PACKAGES = ("evaluation", "uci_engine")
MAX_FILE_LINES = 400
# A class of C type is one block of one file, so a kernel module can have more.
MAX_KERNEL_LINES = 800
# One function, in numbered steps, and what belongs to it.
MAX_SEARCH_LINES = 1000

# The graph between packages, from the highest to the lowest: each imports only those on the lines below its own. A
# module that stands in no package is a package by itself, except the four that make the engine. CONTRIBUTING.md shows
# the picture.
LAYERS = (
    ("__main__",),
    ("command_line",),
    ("uci",),
    ("api",),
    ("game_analysis",),
    ("tools",),
    ("engine",),
    ("search",),
    ("tablebases", "book"),
    ("time_management",),
    ("board",),
    ("core",),
    ("evaluation",),
)
ENGINE = ("engine", "engine_parts", "options", "static_evaluation")
# Any package but the evaluation may import these, and the version in `uci_engine`; they import only each other.
LEAVES = ("memory", "processor", "score", "task", "text", "tunable")
# These know of nothing but each other.
PURE = (
    "score",
    "search.info",
    "search.parameters",
    "text",
    "time_management.limits",
    "time_management.allocation",
    "tunable",
    "uci.protocol",
)


def module_name(path: Path, root: Path = ROOT) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
PROGRAMS = sorted((ROOT / "scripts").glob("*.py"))
LIBRARY = sorted((ROOT / "scripts" / "toolkit").rglob("*.py"))
MODULES = SOURCES | {module_name(path, ROOT / "scripts"): path for path in (*PROGRAMS, *LIBRARY)}
BUILD = sorted((ROOT / "scripts" / "build_backend").glob("*.py"))
EVERY_FILE = [ROOT / "setup.py", ROOT / "secateur.py", *BUILD, *SOURCES.values(), *PROGRAMS, *LIBRARY]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imported_names(module: str) -> Iterator[str]:
    """Every module that the module imports, ours or not."""
    path = MODULES[module]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively, in line {node.lineno}"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names)


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of this project that a module imports itself.

    `uci_engine` itself names its public objects for type checkers, and imports them only when a user asks for them.
    """
    if module == "uci_engine":
        return frozenset()
    return frozenset(name for name in imported_names(module) if name in MODULES) - {module}


@cache
def reachable(module: str) -> frozenset[str]:
    """All that the module imports, and all that those import."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        for name in imports(waiting.pop()) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)


def package_of(module: str) -> str:
    """The name in LAYERS of the package that holds a module; empty for a leaf."""
    first, *rest = module.split(".")
    if first == "evaluation":
        return first
    if not rest or rest[0] in LEAVES:
        return ""
    return "engine" if rest[0] in ENGINE else rest[0]


LEVELS = {package: level for level, packages in enumerate(LAYERS) for package in packages}


def test_the_sources_were_found() -> None:
    assert set(KERNEL_MODULES) <= set(SOURCES)
    assert {package_of(module) for module in SOURCES} == {*LEVELS, ""}
    assert {f"uci_engine.{name}" for name in (*LEAVES, *ENGINE)} <= set(SOURCES)
    assert "uci_engine.engine" in imports("uci_engine.uci.loop")


@pytest.mark.parametrize("package", LEVELS)
def test_imports_between_packages_run_one_way(package: str) -> None:
    wrong = [
        f"{module} imports {name}"
        for module in SOURCES
        if package_of(module) == package
        for name in sorted(imports(module))
        if (other := package_of(name)) and other != package and LEVELS[other] <= LEVELS[package]
    ]
    assert not wrong


def test_leaves_import_only_each_other() -> None:
    for module in SOURCES:
        if not package_of(module):
            assert not [name for name in imports(module) if package_of(name)], module


def test_the_package_itself_imports_nothing_when_the_program_starts() -> None:
    source = tree(SOURCES["uci_engine"])
    run_always = [node for node in source.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not run_always
    assert set(imported_names("uci_engine")) & set(MODULES) <= {"uci_engine.api", "uci_engine.core"}


def test_the_evaluation_knows_nothing_of_the_engine() -> None:
    for module in SOURCES:
        if package_of(module) == "evaluation":
            assert not [name for name in imported_names(module) if name.split(".")[0] == "uci_engine"], module


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_import_only_each_other(name: str) -> None:
    allowed = {f"uci_engine.{pure}" for pure in PURE}
    assert imports(f"uci_engine.{name}") <= allowed


def test_no_module_imports_itself_in_a_circle() -> None:
    assert "toolkit.engines.spec" in reachable("match")
    assert not [module for module in MODULES if module in reachable(module)]


def test_the_engines_of_tools_know_nothing_of_games() -> None:
    for module in MODULES:
        if module.startswith("toolkit.engines"):
            rooms = {name.split(".")[1] for name in reachable(module) if "." in name}
            assert rooms <= {"engines", "errors"}


@pytest.mark.parametrize("path", EVERY_FILE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_says_what_it_is_and_holds_nothing_forbidden(path: Path) -> None:
    source = tree(path)
    docstring = ast.get_docstring(source)
    assert docstring is not None
    assert docstring.strip(), "no docstring"
    for node in ast.walk(source):
        line = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom):
            assert all(alias.name != "*" for alias in node.names), f"{line}: import *"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{line}: an except without a type"
            assert any(not is_nothing(statement) for statement in node.body), f"{line}: a swallowed exception"
        assert not isinstance(node, ast.Global), f"{line}: a global that changes"


def is_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_a_module_is_short_enough_to_read(module: str) -> None:
    limit = MAX_KERNEL_LINES if module in KERNEL_MODULES else MAX_FILE_LINES
    if module == "uci_engine.search.search":
        limit = MAX_SEARCH_LINES
    assert len(SOURCES[module].read_text("utf-8").splitlines()) <= limit


@pytest.mark.parametrize("path", [*PROGRAMS, *LIBRARY], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_tool_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("path", [*PROGRAMS, *LIBRARY], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_tool_imports_a_program(path: Path) -> None:
    programs = {program.stem for program in PROGRAMS}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            assert not programs & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module not in programs


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_can_be_run_and_says_how(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env python3\n")
    assert f"{path.name} " in (ast.get_docstring(tree(path)) or "") + " "
    assert text.endswith('if __name__ == "__main__":\n    run_program(main)\n')


@pytest.mark.parametrize("module", sorted(set(SOURCES) - {"uci_engine.command_line.console"}))
def test_only_the_command_line_prints(module: str) -> None:
    calls = [node for node in ast.walk(tree(SOURCES[module])) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
