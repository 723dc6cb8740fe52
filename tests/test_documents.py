"""The documents agree with the sources: paths, programs, options and links."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support import ROOT, options_table

README = ROOT / "README.md"
RESULTS = ROOT / "RESULTS.md"
EXPERIMENTS = ROOT / "scripts" / "EXPERIMENTS.md"
PROGRAMS = ROOT / "scripts" / "README.md"
GUIS = ROOT / "GUIS.md"
# All that these name must exist. EXPERIMENTS.md and CHANGELOG.md may name what was removed.
GUIDES = (README, GUIS, RESULTS, ROOT / "CONTRIBUTING.md", PROGRAMS)
DOCUMENTS = (*GUIDES, EXPERIMENTS, ROOT / "CHANGELOG.md")
# Not options of Secateur: one of Stockfish, and a placeholder.
NOT_OURS = ("Skill Level", "Use NNUE", "NAME")
# Flags in no source of a program: those of argparse, of engines and of Dask.
OTHER_FLAGS = {"--help", "--tuning", "--uci", "--host", "--nworkers", "--nthreads"}
FOLDERS = ("uci_engine", "evaluation", "tests", "scripts", ".ci")

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(re.escape(name) for name in FOLDERS)})/[\w./*-]*")
MODULE = re.compile(r"(?<![\w./])(?:uci_engine|evaluation|toolkit)(?:\.[A-Za-z_]\w*)+")
PROGRAM = re.compile(r"(?<![\w/.])scripts/(\w+\.py)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
DECLARATION = re.compile(r"^option name (?P<name>.+?) type (?P<type>\w+)(?: default (?P<default>.*?))?(?: min .*)?$")


def by_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


def code(path: Path) -> str:
    """All code in a document: its blocks, and the text between backticks."""
    blocks = FENCE.findall(text(path))
    return "\n".join([*blocks, *CODE.findall(FENCE.sub("", text(path)))])


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes from the headings of a document."""
    headings = HEADING.findall(FENCE.sub("", text(path)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(path: Path, heading: str) -> str:
    """The text between a heading and the next one."""
    _, _, rest = text(path).partition(f"# {heading}\n")
    assert rest, f"{path.name} has no heading {heading!r}"
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


@cache
def declared(*arguments: str) -> dict[str, tuple[str, str]]:
    """Type and default of every option that the engine declares, by name."""
    command = [sys.executable, "-m", "uci_engine", "--core", "python-chess", *arguments, "uci"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    found = [match for line in output.splitlines() if (match := DECLARATION.match(line))]
    return {match["name"]: (match["type"], match["default"] or "") for match in found}


def unknown_flags(commands: str) -> set[str]:
    """The flags that no program in scripts/ has."""
    sources = "\n".join(text(file) for file in (ROOT / "scripts").rglob("*.py"))
    return {flag for flag in FLAG.findall(commands) if flag not in sources} - OTHER_FLAGS


def exists(module: str) -> bool:
    """Whether a dotted name is a module of this project, or a name in one."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        for root in (ROOT, ROOT / "scripts"):
            place = root.joinpath(*parts[:length])
            file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            if file.is_file():
                return all(re.search(rf"\b{name}\b", text(file)) for name in parts[length:])
    return False


@pytest.mark.parametrize("path", GUIDES, ids=by_name)
def test_every_path_exists(path: Path) -> None:
    paths = {match.rstrip(".") for match in PATH.findall(code(path))}
    assert not [name for name in sorted(paths) if not list(ROOT.glob(name.rstrip("/")))]


@pytest.mark.parametrize("path", GUIDES, ids=by_name)
def test_every_module_exists(path: Path) -> None:
    assert not [name for name in sorted(set(MODULE.findall(code(path)))) if not exists(name)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=by_name)
def test_every_link_inside_resolves(path: Path) -> None:
    broken = []
    for target in LINK.findall(FENCE.sub("", text(path))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("path", [*GUIDES, EXPERIMENTS], ids=by_name)
def test_every_command_names_a_program_and_options_that_it_has(path: Path) -> None:
    for command in code(path).replace("\\\n", " ").splitlines():
        names = PROGRAM.findall(command)
        assert not [name for name in names if not (ROOT / "scripts" / name).is_file()], command
        if names:
            assert not unknown_flags(command)


def test_every_program_is_explained() -> None:
    programs = {path.name for path in (ROOT / "scripts").glob("*.py")}
    assert programs == set(re.findall(r"^\| `(\w+\.py)` \|", section(PROGRAMS, "The programs"), re.MULTILINE))


def test_the_table_of_options_is_that_of_the_engine() -> None:
    assert options_table.found() == options_table.table(), "run: python -m tests.support.options_table"


def test_readme_names_options_with_the_defaults_that_they_have() -> None:
    rows = re.findall(r"^\| (`.+`) \| (.+) \| .+ \|$", section(README, "In a GUI"), re.MULTILINE)
    known = {name: "empty" if default == "<empty>" else default for name, (_, default) in declared().items()}
    assert rows
    for names, defaults in rows:
        assert [known[name] for name in CODE.findall(names)] == defaults.split(", ")


def test_the_games_and_shares_of_readme_are_those_of_the_results() -> None:
    rows = re.findall(r"^\|.* \S+ ± \d+ \|$", text(README), re.MULTILINE)
    assert rows
    assert set(rows) <= set(text(RESULTS).splitlines())
    assert set(re.findall(r"\S+ %", text(README))) <= set(re.findall(r"\S+ %", text(RESULTS)))


def test_every_option_in_a_command_or_setting_is_declared() -> None:
    settings = set(re.findall(r"^    (\w[\w ]*): ", text(GUIS), re.MULTILINE))
    assert "Hash" in settings
    for path in (README, GUIS, PROGRAMS, RESULTS, EXPERIMENTS):
        settings |= set(re.findall(r"option\.([A-Z]\w*(?: \w+)*?|[a-z]\w+)=", code(path)))
    known = {name.lower() for name in (*declared("--tuning"), *NOT_OURS)}
    assert not {name for name in settings if name.lower() not in known}


def test_the_example_for_python_chess_plays() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", text(GUIS), re.MULTILINE | re.DOTALL)
    program = [sys.executable, "-m", "uci_engine"]
    code, count = re.subn(r'"/home/[^"]*/secateur"', repr(program), example)
    assert count == 1
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert re.fullmatch(r"[a-h][1-8][a-h][1-8]\n", run.stdout)


@pytest.mark.parametrize("name", ["play", "test"])
def test_a_marker_of_ci_stands_before_a_block_of_code(name: str) -> None:
    assert re.search(rf"^<!-- ci: {name} -->\n```sh\n[^\n]+\n```$", text(README), re.MULTILINE)


def test_the_picture_in_contributing_shows_the_graph_that_is_tested() -> None:
    contract = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    layers = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    (picture,) = [block for block in FENCE.findall(text(ROOT / "CONTRIBUTING.md")) if "__main__" in block]
    lines = [set(re.findall(r"\w+", line)) for line in picture.splitlines()]
    levels = [next(number for number, words in enumerate(lines) if layer & words) for layer in layers[:-1]]
    assert levels == sorted(set(levels))
    assert layers[-1] <= lines[-2]
