"""The documents agree with the sources: links, paths, programs and their flags, options and their defaults.

The shape of the sources, too.

    python -m tests.test_documents

writes the table of options in GUIS.md, which is made from `uci_engine.options`.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT, SCRIPTS, run_python
from uci_engine.options import Option, Options, ValueOption

README = ROOT / "README.md"
GUIS = ROOT / "GUIS.md"
PROGRAMS = ROOT / "scripts" / "README.md"
# All that these name must exist. EXPERIMENTS.md and CHANGELOG.md may name what was removed.
GUIDES = (README, GUIS, ROOT / "RESULTS.md", ROOT / "CONTRIBUTING.md", PROGRAMS)
DOCUMENTS = (*GUIDES, ROOT / "scripts" / "EXPERIMENTS.md", ROOT / "CHANGELOG.md")
# One of Stockfish, and a placeholder.
OTHER_OPTIONS = {"skill level", "use nnue", "name"}
# Flags in no source of a program: those of argparse, of engines and of Dask.
OTHER_FLAGS = {"--help", "--tuning", "--uci", "--host", "--nworkers", "--nthreads"}

TABLE_HEAD = "| option | default | values | meaning |\n|---|---|---|---|\n"
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PATH = re.compile(r"(?<![\w./-])(?:uci_engine|evaluation|tests|scripts|\.ci)/[\w./*-]*")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# In a command, and in the settings of lichess-bot.
OPTION = re.compile(r"(?:option\.|^    )([A-Z]\w*(?: \w+)*?|[a-z]\w+)(?:=|: )", re.MULTILINE)


def by_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def code(path: Path) -> str:
    """All code in a document: its blocks, and the text between backticks."""
    return "\n".join([*FENCE.findall(text(path)), *CODE.findall(FENCE.sub("", text(path)))])


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes from the headings of a document."""
    headings = HEADING.findall(FENCE.sub("", text(path)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolves(path: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    return file.exists() and (not anchor or anchor in anchors(file))


def option_row(option: Option) -> str:
    _, _, rest = option.declaration().partition(" default ")
    default, _, bounds = rest.partition(" min ")
    values = bounds.replace(" max ", " to ") or option.type_name
    return f"| `{option.name}` | {default and f'`{default}`'} | {values} | {option.help} |\n"


def option_table() -> str:
    """All options that a GUI sees, in the order in which the engine declares them."""
    return TABLE_HEAD + "".join(option_row(option) for option in Options())


def option_table_found() -> str:
    """The table that stands in the guide."""
    tables = re.findall(rf"^{re.escape(TABLE_HEAD)}(?:\|.*\n)*", GUIS.read_text("utf-8"), re.MULTILINE)
    return str(tables[0])


@pytest.mark.parametrize("path", DOCUMENTS, ids=by_name)
def test_every_link_inside_resolves(path: Path) -> None:
    inside = [target for target in LINK.findall(FENCE.sub("", text(path))) if not re.match(r"[a-z]+:", target)]
    assert not [target for target in inside if not resolves(path, target)]


@pytest.mark.parametrize("path", GUIDES, ids=by_name)
def test_every_path_exists(path: Path) -> None:
    assert not [name for name in PATH.findall(code(path)) if not list(ROOT.glob(name.rstrip("./")))]


@pytest.mark.parametrize("path", GUIDES, ids=by_name)
def test_every_command_has_flags_and_options_that_exist(path: Path) -> None:
    sources = "\n".join(text(file) for file in (ROOT / "scripts").rglob("*.py"))
    lines = [line for line in code(path).replace("\\\n", " ").splitlines() if re.search(r"scripts/\w+\.py", line)]
    assert not {flag for line in lines for flag in FLAG.findall(line) if flag not in sources} - OTHER_FLAGS
    known = {option.name.lower() for option in Options(tuning=True)}
    assert not {name.lower() for name in OPTION.findall(code(path))} - known - OTHER_OPTIONS


def test_every_program_is_explained() -> None:
    programs = {path.name for path in (ROOT / "scripts").glob("*.py")}
    assert programs == set(re.findall(r"^\| `(\w+\.py)` \|", text(PROGRAMS), re.MULTILINE))


def test_the_table_of_options_is_that_of_the_engine() -> None:
    assert option_table_found() == option_table(), "run: python -m tests.test_documents"


def test_readme_names_options_with_the_defaults_that_they_have() -> None:
    defaults = {option.name: option.default for option in Options() if isinstance(option, ValueOption)}
    (table,) = re.findall(r"^\| option \| default \|.*\n\|[-|]*\n((?:\|.*\n)+)", text(README), re.MULTILINE)
    for names, said, _ in re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", table, re.MULTILINE):
        assert said == ", ".join(str(defaults[name]).lower() or "empty" for name in CODE.findall(names))
    # In the settings of lichess-bot.
    for name, value in re.findall(r"^    (\w[\w ]*): (\d+)$", text(GUIS), re.MULTILINE):
        assert not any(message.is_error for message in Options().set(name, value))


@pytest.mark.parametrize("path", [README, GUIS], ids=by_name)
def test_the_examples_in_python_run(path: Path, tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text("1. e4 e5 2. Nf3 Qg5 3. Nxg5 *\n")
    for example in re.findall(r"^```python\n(.*?)^```$", text(path), re.MULTILINE | re.DOTALL):
        source = re.sub(r'"/home/[^"]*/secateur"', repr([sys.executable, "-m", "uci_engine"]), example)
        result = run_python("-c", source, folder=tmp_path)
        assert (result.returncode, result.stderr) == (0, ""), source
        assert result.stdout, source


# The shape of the source: which package may import which. Ruff checks the rest. -------------------------------------

PROGRAM_FILES = sorted(SCRIPTS.glob("*.py"))


def test_imports_keep_to_the_contracts_of_pyproject() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    result = run_python("-c", program, PYTHONPATH=os.pathsep.join((str(ROOT), str(SCRIPTS))))
    assert result.returncode == 0, result.stdout


def test_a_contract_names_every_program() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (named,) = (each["forbidden_modules"] for each in contracts if "match" in each.get("forbidden_modules", ()))
    assert named == [path.stem for path in PROGRAM_FILES]


@pytest.mark.parametrize("path", PROGRAM_FILES, ids=lambda path: path.name)
def test_a_program_can_be_run_and_says_how(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env python3\n")
    assert f"{path.name} " in (ast.get_docstring(ast.parse(text)) or "") + " "
    assert text.endswith('if __name__ == "__main__":\n    run_program(main)\n')


if __name__ == "__main__":
    GUIS.write_text(GUIS.read_text("utf-8").replace(option_table_found(), option_table()), "utf-8")
