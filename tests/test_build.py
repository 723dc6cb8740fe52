"""What is packed: the sdist, the wheel made from it, and no wheel where nothing can be compiled.

The first tests build the real thing, once for all of them; the last build a kernel of one small module, to
see what the build refuses. Nothing is downloaded: the build uses the setuptools and the Cython that are
installed.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from setuptools import build_meta

from build_backend import backend, toolchain
from tests.support import ROOT, run_python
from uci_engine import __version__
from uci_engine.core import FAST_INSTRUCTIONS, KERNEL_MODULES, has_fast_instructions

NOT_TO_COPY = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")

SmallBuild = Callable[..., subprocess.CompletedProcess[str]]

needs_compiler = pytest.mark.skipif(
    os.environ.get("SECATEUR_REQUIRE_COMPILER") != "1" and toolchain.system_compiler_problem() is not None,
    reason="no C compiler",
)
own_headers_fit = pytest.mark.skipif(
    sys.platform != "linux" or not toolchain.OWN_HEADERS_FIT, reason="Secateur's header is for Linux and the stable ABI"
)


def python(*arguments: object, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python where only what stands in the folder is found, and what is installed."""
    return run_python(*arguments, folder=folder, **{"PYTHONPATH": ""} | settings)


def build(kind: str, source: Path, output: Path, **settings: str) -> Path:
    """Build an "sdist" or a "wheel"; returns the file."""
    words = ("-m", "build", "--no-isolation", f"--{kind}", "--outdir", output, source)
    result = python(*words, folder=output.parent, **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    (file,) = output.iterdir()
    return file


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "copy", ignore=shutil.ignore_patterns(*NOT_TO_COPY))
    with tarfile.open(build("sdist", folder / "copy", folder / "out")) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"secateur-{__version__}"


@pytest.fixture(scope="module")
def wheel(unpacked_sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return build("wheel", unpacked_sdist, folder / "out", SECATEUR_REQUIRE_COMPILER="1")


def test_the_sdist_holds_all_that_a_build_needs_and_nothing_built(unpacked_sdist: Path) -> None:
    files = files_of(unpacked_sdist)
    assert {".ci/run", "CHANGELOG.md", "scripts/build_backend/include/Python.h"} <= files
    rooms = [ROOT / room for room in ("evaluation", "scripts", "tests", "uci_engine")]
    assert {path.relative_to(ROOT).as_posix() for room in rooms for path in room.rglob("*.py")} <= files
    assert not [name for name in files if name.endswith((".c", ".so", ".pyd", ".pyc", "build_info.json"))]


@pytest.mark.slow
@needs_compiler
def test_the_wheel_holds_the_packages_with_the_compiled_kernel_and_works(
    wheel: Path, unpacked_sdist: Path, tmp_path: Path
) -> None:
    # It serves every later Python.
    assert wheel.name.startswith(f"secateur-{__version__}-cp311-abi3-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    files = files_of(tmp_path)
    sources = {name for name in files_of(unpacked_sdist) if name.startswith(("evaluation/", "uci_engine/"))}
    built = {name.partition(".")[0] for name in files if name.endswith((".so", ".pyd"))}
    assert built == {module.replace(".", "/") for module in (*KERNEL_MODULES, "uci_engine.kernel")}
    assert sources <= files
    assert not [name for name in files if name.endswith(".c")]
    about = f"secateur-{__version__}.dist-info"
    assert {name.split("/")[0] for name in files} == {"evaluation", "uci_engine", "secateur.py", about}
    metadata = (tmp_path / about / "METADATA").read_text("utf-8")
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: chess<2,>=1.11"]

    # What it holds works.
    result = python("-m", "uci_engine", "--core", "compiled", "doctor", folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert str(tmp_path) in result.stdout
    assert "All is well." in result.stdout


@pytest.mark.slow
@needs_compiler
@own_headers_fit
def test_our_own_headers_declare_all_that_the_kernel_needs(wheel: Path, unpacked_sdist: Path) -> None:
    """After `wheel`, which leaves the C code. What is missing belongs into scripts/build_backend/include/Python.h."""
    assert wheel.is_file()
    code = sorted((unpacked_sdist / "build" / "cython").rglob("*.c"))
    assert len(code) == 2 * len(KERNEL_MODULES) + 1
    command = [*shlex.split(os.environ.get("CC", "cc")), "-fsyntax-only", f"-DPy_LIMITED_API={toolchain.OLDEST_ABI}"]
    command += [f"-I{toolchain.OWN_HEADERS}", *toolchain.OWN_HEADERS_FLAGS, "-Werror=incompatible-pointer-types"]
    result = subprocess.run([*command, *map(str, code)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


SOURCE = """\
from __future__ import annotations

from evaluation.base.typed import nogil


class Counter:
    count: int

    def next(self) -> int:
        self.count += 1
        return self.count

    def twice(self) -> object:
        with nogil:
            self.next()
        return self.next()
"""
OVERRIDE = "\n\nclass Two(Counter):\n    def next(self) -> int:\n        return 2\n"


@pytest.fixture
def small(tmp_path: Path) -> SmallBuild:
    """Builds, in place, a package whose whole kernel is one module with the source given."""
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts" / "build_backend", tmp_path / "scripts" / "build_backend")
    package = tmp_path / "uci_engine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0"\n')
    core = (ROOT / "uci_engine" / "core.py").read_text("utf-8")
    (package / "core.py").write_text(f'{core}KERNEL_MODULES = ("uci_engine.counter",)\n')
    types = Path("evaluation", "base")
    (tmp_path / types).mkdir(parents=True)
    for name in ("typed.py", "typed.pxd"):
        shutil.copy(ROOT / types / name, tmp_path / types)

    def build_small(source: str = SOURCE, **settings: str) -> subprocess.CompletedProcess[str]:
        (package / "counter.py").write_text(source)
        return python("setup.py", "build_ext", "--inplace", folder=tmp_path, **settings)

    return build_small


def extension_files(root: Path) -> list[Path]:
    return [path for path in root.joinpath("uci_engine").rglob("*") if path.suffix in (".so", ".pyd")]


@needs_compiler
@pytest.mark.skipif(os.name != "posix", reason="here the compiler is named by Python's configuration")
def test_without_a_compiler_nothing_is_built(small: SmallBuild, tmp_path: Path) -> None:
    result = small(CC="", PATH="/nonexistent", SECATEUR_REQUIRE_COMPILER="0", SECATEUR_SANITIZE="0")
    assert result.returncode != 0
    assert f"pip install '{toolchain.ZIG_REQUIREMENT}'" in result.stderr
    assert not extension_files(tmp_path)


@needs_compiler
def test_what_cython_complains_of_fails_the_build_until_it_is_put_right(small: SmallBuild, tmp_path: Path) -> None:
    for old, new, said in (
        ("self.count += 1\n", "self.count += len(str(self))\n", "not allowed without gil"),
        ("return self.count\n", "return self.count\n        self.count = 2\n", "Unreachable code"),
        ("return self.next()\n", f"return self.next()\n{OVERRIDE}", "next is a C function of a base class"),
    ):
        for _ in range(2):
            result = small(SOURCE.replace(old, new))
            assert result.returncode != 0
            assert not extension_files(tmp_path)
        lines = [line for line in result.stderr.splitlines() if line.startswith("uci_engine/counter.py:")]
        assert [line for line in lines if said in line], result.stderr
    result = small()
    assert result.returncode == 0, result.stderr
    assert len(extension_files(tmp_path)) == 2


@needs_compiler
def test_a_module_is_compiled_anew_for_other_flags(small: SmallBuild, tmp_path: Path) -> None:
    assert "building 'uci_engine.counter'" in small().stdout
    for name, old, new in (
        ("setup.py", '"evaluation.network.inference"', '"uci_engine.counter"'),
        ("scripts/build_backend/toolchain.py", 'OLDEST_ABI = "0x030B0000"', 'OLDEST_ABI = "0x030B00F0"'),
    ):
        assert "building 'uci_engine.counter'" not in small().stdout
        text = (tmp_path / name).read_text("utf-8")
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new), "utf-8")
        assert "building 'uci_engine.counter'" in small().stdout


@needs_compiler
def test_a_wheel_holds_nothing_of_an_earlier_one(small: SmallBuild, tmp_path: Path) -> None:
    assert small().returncode == 0
    gone = tmp_path / "uci_engine" / "gone.py"
    gone.write_text("from __future__ import annotations\n")
    for modules in ('("uci_engine.counter", "uci_engine.gone")', '("uci_engine.counter",)'):
        with (tmp_path / "uci_engine" / "core.py").open("a") as file:
            file.write(f"KERNEL_MODULES = {modules}\n")
        result = python("setup.py", "build", folder=tmp_path)
        assert result.returncode == 0, result.stderr
        gone.unlink(missing_ok=True)
    built = {path.name.split(".")[0] for path in tmp_path.joinpath("build").glob("lib*/uci_engine/*")}
    assert built == {"__init__", "build_info", "core", "counter", "kernel"}


def hide_headers(folder: Path) -> str:
    """A PYTHONPATH with which Python looks for its headers where there are none."""
    text = "import sysconfig\nreal = sysconfig.get_path\n"
    text += "sysconfig.get_path = lambda name, *rest: '/nonexistent' if name == 'include' else real(name, *rest)\n"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(text)
    return str(folder)


@needs_compiler
@own_headers_fit
def test_without_pythons_headers_a_module_is_compiled_and_works(small: SmallBuild, tmp_path: Path) -> None:
    result = small(SOURCE, PYTHONPATH=hide_headers(tmp_path / "hiding"))
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "uci_engine" / "build_info.json").read_text("utf-8"))["headers"] == "Secateur's"
    assert extension_files(tmp_path)
    result = python("-c", "from uci_engine.counter import Counter; print(Counter().twice())", folder=tmp_path)
    assert result.stdout == "2\n", result.stderr


@needs_compiler
@pytest.mark.skipif(not has_fast_instructions(), reason="this processor lacks them, or nothing is known")
def test_what_was_built_says_which_instructions_it_needs(small: SmallBuild, tmp_path: Path) -> None:
    fast = sorted(FAST_INSTRUCTIONS)
    for settings, expected, copied in (
        ({"SECATEUR_PORTABLE": "0"}, fast, []),
        ({"SECATEUR_PORTABLE": "0", "CFLAGS": "-march=x86-64"}, [], []),
        ({"SECATEUR_PORTABLE": "1", "CFLAGS": "-march=x86-64"}, [], []),
        ({"SECATEUR_PORTABLE": "1"}, [], fast),
    ):
        result = small(SOURCE, SECATEUR_SANITIZE="0", **settings)
        assert result.returncode == 0, result.stderr
        info = json.loads((tmp_path / "uci_engine" / "build_info.json").read_text("utf-8"))
        assert info["instructions"] == expected
        assert ("-mavx2" in info["flags"]) == bool(expected)
        assert info["fast_copy"] == copied
        assert any("fast" in file.name for file in extension_files(tmp_path)) == bool(copied)


def test_the_citation_is_of_this_version() -> None:
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text("utf-8").splitlines()


# Where a compiler or Python's headers are missing: the build finds others, or says what to install -------------------


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    *,
    problem: str | None = None,
    headers: bool = True,
    system: tuple[str, str] = ("linux", "x86_64"),
) -> None:
    """A machine on which the system's compiler has this problem, with or without headers, and no variable is set."""
    for name in ("CC", "SECATEUR_REQUIRE_COMPILER", "SECATEUR_SANITIZE", "SECATEUR_PORTABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "system_compiler_problem", lambda: problem)
    monkeypatch.setattr(sys, "platform", system[0])
    monkeypatch.setattr(platform, "machine", lambda: system[1])
    if not headers:
        monkeypatch.setattr(sysconfig, "get_path", lambda _name: "/nonexistent")


NONE_FOUND = "no C compiler was found (cc)"


@pytest.mark.parametrize("has_headers", [True, False])
@pytest.mark.parametrize(("problem", "compiler"), [(None, "system"), (NONE_FOUND, "zig")])
def test_zig_and_our_own_headers_are_taken_where_the_system_has_none(
    problem: str | None, compiler: str, has_headers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "OWN_HEADERS_FIT", True)
    monkeypatch.setattr(build_meta, "get_requires_for_build_wheel", lambda _settings: ["wheel"])
    pretend(monkeypatch, problem=problem, headers=has_headers)
    # The hooks that pip calls.
    for hook in (backend.get_requires_for_build_wheel, backend.get_requires_for_build_editable):
        assert hook() == ["wheel", *([toolchain.ZIG_REQUIREMENT] if problem else [])]
    assert toolchain.find() == compiler
    assert has_headers or toolchain.own_headers() == toolchain.OWN_HEADERS


@pytest.mark.parametrize(
    ("machine", "variables", "sentence"),
    [
        ({"headers": False}, {}, r"Python's header files are missing \(/nonexistent\)\. "),
        ({"system": ("linux", "mips")}, {}, r"^Secateur cannot be compiled: no C compiler was found \(cc\)\. "),
        ({}, {"SECATEUR_REQUIRE_COMPILER": "1"}, "no C compiler was found"),
        ({}, {"SECATEUR_SANITIZE": "thread"}, "no C compiler was found"),
        ({}, {"SECATEUR_SANITIZE": "adress"}, "adress"),
        # A compiler that the user names is not replaced.
        ({}, {"CC": "mycc"}, "CC is 'mycc', and no C compiler was found"),
    ],
)
def test_where_nothing_can_help_the_build_refuses_in_one_sentence(
    machine: dict[str, Any], variables: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "OWN_HEADERS_FIT", False)
    pretend(monkeypatch, **({"problem": NONE_FOUND} | machine))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=sentence):
        toolchain.requirements()


def test_nothing_is_fetched_for_pypy_which_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem=NONE_FOUND, headers=False)
    monkeypatch.setattr(toolchain, "CPYTHON", False)
    assert toolchain.requirements() == []


# The system's compiler ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="here the compiler is named by Python's configuration")
def test_a_missing_compiler_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -pthread")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.system_compiler_problem() == "no C compiler was found (cc)"


@pytest.mark.skipif(os.name != "posix", reason="here the compiler is named by Python's configuration")
@pytest.mark.parametrize("variable", ["CC", "CFLAGS", "LDFLAGS"])
def test_a_compiler_that_does_not_work_is_noticed(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like Debian's gcc without libc6-dev, or with the user's flags."""
    compiler = tmp_path / "cc"
    says = "echo 'In file probe.c:' >&2; echo 'error: no math.h' >&2; exit 1"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *--fail*) {says};; esac\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv(variable, f"{compiler} --fail" if variable == "CC" else "--fail")
    assert toolchain.system_compiler_problem() == f"the C compiler {compiler} does not work (error: no math.h)"
