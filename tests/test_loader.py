"""`uci_engine.core.load`: which core is chosen and why, and that no process ever mixes two.

A core is chosen once per process, so each case runs in one of its own. Most run in a small tree of their
own too: the real loader over a kernel of empty modules, in which "compiled" means a file with the right
name.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from tests.support import ROOT, run_python
from uci_engine import core as real_core
from uci_engine.command_line import console
from uci_engine.tools import doctor

HERE_COMPILED = not real_core.missing_modules()

SHOW = """
import sys
core = load(NAME)
print(core.name, core.position_class.__name__)
print(core.reason)
print({sys.modules[module].__file__.rpartition(".")[2] for module in KERNEL_MODULES})
"""


class Tree:
    """A directory with the real loader and a kernel without content."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.build_info = root / "uci_engine" / "build_info.json"
        library, *modules = [root.joinpath(*name.split(".")) for name in (real_core.LIBRARY, *real_core.KERNEL_MODULES)]
        self.library = library.with_name("kernel" + EXTENSION_SUFFIXES[-1])
        self.sources = [path.with_suffix(".py") for path in modules]
        for source in self.sources:
            source.parent.mkdir(parents=True, exist_ok=True)
            source.touch()
        for name in ("evaluation/__init__.py", "uci_engine/__init__.py"):
            (root / name).touch()
        shutil.copy(ROOT / "uci_engine" / "core.py", root / "uci_engine")
        (root / "uci_engine" / "board" / "position.py").write_text("class Position: pass\n")
        (root / "uci_engine" / "board" / "chess_position.py").write_text("class ChessPosition: pass\n")

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def pretend_compiled(self, *more_sources: Path, count: int = len(real_core.KERNEL_MODULES)) -> None:
        """Put the library and extension files of the first `count` modules, all empty, and note the build."""
        self.library.touch()
        for source in self.sources[:count]:
            source.with_name(source.stem + EXTENSION_SUFFIXES[-1]).touch()
        digests = {
            self.name(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (*self.sources, *more_sources)
        }
        self.note({"sources": digests})

    def note(self, info: dict[str, object]) -> None:
        self.build_info.write_text(json.dumps(info))

    def run(self, program: str) -> str:
        """What a program prints that has `load` at hand; the last line of the traceback if it fails."""
        program = f"from uci_engine.core import KERNEL_MODULES, load, stale_sources\n{program}"
        result = run_python("-c", program, folder=self.root, PYTHONPATH=str(self.root))
        assert (result.returncode == 0) == (result.stderr == "")
        return result.stdout.strip() if result.returncode == 0 else result.stderr.splitlines()[-1]

    def show(self, name: str) -> list[str]:
        return self.run(SHOW.replace("NAME", repr(name))).splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_auto_takes_the_python_chess_core_where_nothing_is_compiled(tree: Tree) -> None:
    first, reason, files = tree.show("auto")
    assert first == "python-chess ChessPosition"
    assert reason == "chosen because the compiled core is not installed"
    assert files == "{'py'}"


@pytest.mark.parametrize(("name", "board"), [("python-chess", "ChessPosition"), ("interpreted", "Position")])
def test_a_plain_core_ignores_the_extension_files(tree: Tree, name: str, board: str) -> None:
    tree.pretend_compiled()
    assert tree.show(name) == [f"{name} {board}", "requested", "{'py'}"]


@pytest.mark.parametrize("name", ["auto", "compiled"])
def test_extension_files_are_preferred(tree: Tree, name: str) -> None:
    tree.pretend_compiled()
    answer = tree.show(name)
    assert answer[0].startswith("ImportError")
    assert "evaluation" in answer[0], "the empty extension file should have been tried, and refused"


@pytest.mark.skipif(not real_core.instructions(), reason="here nothing is known of the processor")
def test_a_core_for_another_processor_is_not_run(tree: Tree) -> None:
    tree.pretend_compiled()
    tree.note({"instructions": [*list(real_core.instructions() or ())[:3], "tachyons", "avx99"]})
    problem = "the compiled core needs instructions that this processor lacks (avx99, tachyons)"
    assert tree.show("compiled") == [f"ImportError: {problem}"]
    first, reason, files = tree.show("auto")
    assert first.startswith("python-chess ")
    assert reason == f"chosen because {problem}"
    assert files == "{'py'}"


@pytest.mark.skipif(not real_core.has_fast_instructions(), reason="this processor lacks them, or nothing is known")
@pytest.mark.parametrize("is_fast", [True, False])
def test_the_second_copy_is_for_the_processors_that_have_its_instructions(tree: Tree, is_fast: bool) -> None:
    tree.pretend_compiled()
    fast = tree.library.with_name("kernel_fast" + EXTENSION_SUFFIXES[-1])
    fast.touch()
    tree.note({"fast_copy": list(real_core.FAST_INSTRUCTIONS)})
    lacking = "import uci_engine.core as found; found.FAST_INSTRUCTIONS = {'tachyons': ''}\n"
    # A real extension file of a module imports the library.
    program = "try:\n    load()\nexcept ImportError:\n    import uci_engine.kernel"
    answer = tree.run(program if is_fast else lacking + program)
    assert answer.startswith("ImportError"), "the empty library should have been tried, and refused"
    assert (str(fast) in answer, str(tree.library) in answer) == (is_fast, not is_fast)


@pytest.mark.parametrize("name", ["auto", "compiled"])
def test_a_mixture_is_refused(tree: Tree, name: str) -> None:
    tree.pretend_compiled(count=3)
    (answer,) = tree.show(name)
    assert answer.startswith(f"ImportError: the compiled core lacks {', '.join(real_core.KERNEL_MODULES[3:])}; ")
    tree.pretend_compiled()
    tree.library.unlink()
    (answer,) = tree.show(name)
    assert answer.startswith("ImportError: the compiled core lacks uci_engine.kernel; ")


def test_the_first_core_that_loads_decides(tree: Tree) -> None:
    program = "try:\n    load('compiled')\nexcept ImportError:\n    first = load('python-chess')\n"
    program += "assert load('auto') is load('python-chess') is first\n"
    program += "load('interpreted')"
    assert tree.run(program).startswith("RuntimeError: this process already runs the python-chess core")


def test_a_module_imported_too_early_is_noticed(tree: Tree) -> None:
    """A module that calls itself compiled stands for the real one, which these trees do not have."""
    program = "import evaluation.base.bitboards\n"
    program += "from importlib.machinery import ExtensionFileLoader\n"
    program += "evaluation.base.bitboards.__spec__.loader = ExtensionFileLoader('evaluation.base.bitboards', '')\n"
    program += "load('python-chess')"
    assert tree.run(program).startswith("RuntimeError: evaluation.base.bitboards was imported compiled before")


def test_what_has_changed_since_the_build_is_stale(tree: Tree) -> None:
    shared = tree.sources[1].with_name("shared.py")
    shared.write_text("ONE = 1\n")
    tree.pretend_compiled(shared)
    assert tree.run("print(stale_sources())") == "[]"
    edited = [tree.sources[4], shared]
    for path in edited:
        path.write_text("# changed\n")
    assert tree.run("print(stale_sources())") == str(sorted(map(tree.name, edited)))
    # Of extension files of unknown origin, all.
    tree.build_info.unlink()
    assert tree.run("print(len(stale_sources()))") == str(len(real_core.KERNEL_MODULES))


def test_the_real_kernel_is_compiled_from_these_sources() -> None:
    """Otherwise, whatever else is tested of it would not be tested of what the sources say."""
    if os.environ.get("SECATEUR_REQUIRE_COMPILER") != "1" and not HERE_COMPILED:
        pytest.skip("the compiled core is not installed")
    assert HERE_COMPILED
    assert real_core.stale_sources() == [], "compile again: python setup.py build_ext --inplace"


# What /proc/cpuinfo says of the processor, and what is made of it ----------------------------------------------------

OLD = "processor\t: 0\nflags\t\t: fpu sse2 popcnt\n\nprocessor\t: 1\nflags\t\t: fpu avx2\n"
NEW = "processor\t: 0\nvmx flags\t: vnmi\nflags\t\t: fpu sse2 abm avx2 bmi1 bmi2 popcnt\n"


@pytest.mark.parametrize(
    ("system", "machine", "text", "known", "lacking"),
    [
        # The first processor counts.
        ("linux", "x86_64", OLD, {"fpu", "sse2", "popcnt"}, ["avx2", "bmi2"]),
        ("linux", "x86_64", NEW, {"fpu", "sse2", "abm", "avx2", "bmi1", "bmi2", "popcnt"}, []),
        # A file that lists nothing is of a processor that has nothing.
        *(
            ("linux", "x86_64", text, set(), ["avx2", "bmi2", "popcnt"])
            for text in ("", "Features\t: fp\n", "\0\xff: :\n")
        ),
        # Elsewhere and without the file nothing is known, so nothing is lacking and nothing is used.
        ("linux", "x86_64", None, None, []),
        *((system, machine, NEW, None, []) for system, machine in (("linux", "aarch64"), ("darwin", "x86_64"))),
        ("win32", "AMD64", NEW, None, []),
    ],
)
def test_what_is_known_and_what_is_lacking(
    system: str,
    machine: str,
    text: str | None,
    known: set[str] | None,
    lacking: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    monkeypatch.setattr(real_core, "CPUINFO", tmp_path / "cpuinfo")
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text, "utf-8")
    assert real_core.instructions() == known
    assert real_core.lacking_instructions(["popcnt", "bmi2", "avx2"]) == lacking
    assert real_core.has_fast_instructions() == (text == NEW and known is not None)


@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="only there the file is read")
def test_this_processor_says_what_it_has() -> None:
    assert "sse2" in (real_core.instructions() or ())


# An engine that runs uncompiled by accident says so, with the command that mends it ---------------------------------


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
    found = real_core.load("auto")
    assert not found.is_fallback or not real_core.compiled_modules() or "this processor lacks" in found.reason

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
    monkeypatch.setattr(doctor, "_installer", lambda: ["python"])
    monkeypatch.setattr(doctor, "_ROOT", tmp_path / "R&D")
    (tmp_path / "R&D").mkdir()
    (tmp_path / "R&D" / "setup.py").touch()
    monkeypatch.setattr(sys, "platform", "win32")
    assert doctor.mending_command() == f'python -e "{tmp_path / "R&D"}"'
    # It is installed as well, and Python has found the sources first.
    (tmp_path / "uci_engine").mkdir()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: tmp_path)
    assert doctor.mending_command().startswith(f"run this outside {tmp_path / 'R&D'}")


def test_doctor_has_the_command_for_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "python")
    monkeypatch.setattr(doctor, "extras", lambda: {"board": ["nowhere>=0.27"]})
    monkeypatch.setattr(doctor, "_is_installed", lambda requirement: requirement == "secateur")
    for installer, command in (("pip", "python -m pip install"), ("uv", "uv pip install --python python")):
        monkeypatch.setattr(
            importlib.metadata, "distribution", lambda _, by=installer: Mock(read_text=Mock(return_value=by))
        )
        assert doctor.command_for("board") == f"{command} 'nowhere>=0.27'"
    (tmp_path / "pipx_metadata.json").touch()
    lines: list[str] = []
    assert doctor.examine("auto", lines.append) == 0
    assert "absent  extra board; to add it: pipx inject secateur 'nowhere>=0.27'" in lines


def test_a_failure_of_a_stale_build_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale: list[str] = []
    missing: list[str] = []
    fail = Mock(side_effect=AttributeError("the compiled class has no such field"))
    monkeypatch.setattr(doctor, "stale_sources", lambda: stale)
    monkeypatch.setattr(doctor, "compiled_modules", lambda: ["uci_engine.search.search"])
    monkeypatch.setattr(doctor, "missing_modules", lambda: missing)
    with pytest.raises(AttributeError):
        console.guarded(fail)
    for found, name in ((stale, "uci_engine/search/search.py"), (missing, "uci_engine.kernel")):
        found.append(name)
        assert console.guarded(fail) == 1
        error = capsys.readouterr().err
        assert name in error
        assert error.endswith(f"{doctor.mending_command()}\n")
        assert error.count("\n") == 1
