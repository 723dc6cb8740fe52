"""What the build does where a compiler or Python's headers are missing: it finds others, or says what to install.

Nothing is downloaded. A system without a compiler is one whose PATH and configuration name none.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import sysconfig
from pathlib import Path

import pytest
from setuptools import build_meta

from build_backend import backend, toolchain
from build_backend.toolchain import NoToolchainError

posix_only = pytest.mark.skipif(os.name != "posix", reason="here the compiler is named by Python's configuration")
VARIABLES = ("CC", "SECATEUR_REQUIRE_COMPILER", "SECATEUR_UNCOMPILED", "SECATEUR_SANITIZE", "SECATEUR_PORTABLE")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    *,
    problem: str | None = None,
    headers: bool = True,
    folder: Path = Path("/nonexistent"),
    zig: bool = False,
    system: tuple[str, str] = ("linux", "x86_64"),
) -> None:
    """A machine on which the system's compiler has this problem, with or without headers and Zig."""
    monkeypatch.setattr(toolchain, "system_compiler_problem", lambda: problem)
    monkeypatch.setattr(sys, "platform", system[0])
    monkeypatch.setattr(platform, "machine", lambda: system[1])
    if not headers:
        monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(folder))
    found = importlib.util.find_spec("json") if zig else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: found)


NONE_FOUND = "no C compiler was found (cc)"


def test_with_a_compiler_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    assert toolchain.requirements() == []
    assert toolchain.find() == "system"


def test_without_a_compiler_zig_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem=NONE_FOUND, zig=True)
    assert toolchain.requirements() == [toolchain.ZIG_REQUIREMENT]
    assert toolchain.find() == "zig"


@pytest.mark.parametrize(("problem", "compiler"), [(None, "system"), (NONE_FOUND, "zig")])
def test_without_pythons_headers_our_own_are_taken(
    problem: str | None, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "OWN_HEADERS_FIT", True)
    pretend(monkeypatch, problem=problem, headers=False, zig=True)
    assert toolchain.find() == compiler
    assert toolchain.own_headers() == toolchain.OWN_HEADERS


def test_where_our_own_headers_do_not_serve_the_build_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "OWN_HEADERS_FIT", False)
    pretend(monkeypatch, headers=False, zig=True)
    for function in (toolchain.requirements, toolchain.find, toolchain.own_headers):
        with pytest.raises(NoToolchainError, match=r"Python's header files are missing \(/nonexistent\)\. "):
            function()


def test_where_zig_is_not_offered_the_build_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem=NONE_FOUND, system=("linux", "mips"))
    with pytest.raises(NoToolchainError, match=r"^Secateur cannot be compiled: no C compiler was found \(cc\)\. "):
        toolchain.requirements()


@pytest.mark.parametrize("variable", ["SECATEUR_REQUIRE_COMPILER", "SECATEUR_SANITIZE"])
def test_who_demands_the_systems_compiler_gets_no_other(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem=NONE_FOUND, zig=True)
    monkeypatch.setenv(variable, "1")
    for function in (toolchain.requirements, toolchain.find):
        with pytest.raises(NoToolchainError, match="no C compiler was found"):
            function()


def test_an_unknown_sanitizer_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, flag in (("1", "-fsanitize=address,undefined"), ("thread", "-fsanitize=thread")):
        monkeypatch.setenv("SECATEUR_SANITIZE", value)
        assert flag in toolchain.sanitizers()
    monkeypatch.setenv("SECATEUR_SANITIZE", "adress")
    with pytest.raises(SystemExit, match="adress"):
        toolchain.sanitizers()


def test_a_compiler_that_the_user_names_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem="no C compiler was found (mycc)", zig=True)
    monkeypatch.setenv("CC", "mycc")
    with pytest.raises(NoToolchainError, match="CC is 'mycc', and no C compiler was found"):
        toolchain.requirements()


def test_nothing_is_fetched_for_what_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, problem=NONE_FOUND, headers=False)
    monkeypatch.setenv("SECATEUR_UNCOMPILED", "1")
    assert toolchain.requirements() == []
    monkeypatch.delenv("SECATEUR_UNCOMPILED")
    monkeypatch.setattr(toolchain, "CPYTHON", False)
    assert toolchain.requirements() == []


# The system's compiler ---------------------------------------------------------------------------------------------


@posix_only
def test_a_missing_compiler_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _name: "cc -pthread")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.system_compiler_problem() == "no C compiler was found (cc)"


@posix_only
def test_a_compiler_that_does_not_work_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like Debian's gcc without libc6-dev."""
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'In file probe.c:' >&2\necho 'error: no math.h' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert toolchain.system_compiler_problem() == f"the C compiler {compiler} does not work (error: no math.h)"


# The command that mends it -----------------------------------------------------------------------------------------


def test_readme_names_the_same_packages() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    for name in ("debian", "fedora", "arch"):
        assert f"`sudo {toolchain.PACKAGES[name]}`" in readme
    assert f"`{toolchain.XCODE}`" in readme


# The hooks that pip calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_the_back_end_asks_for_zig_only_when_it_is_needed(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_meta, hook, lambda _settings: ["wheel"])
    pretend(monkeypatch)
    assert getattr(backend, hook)() == ["wheel"]
    pretend(monkeypatch, problem=NONE_FOUND)
    assert getattr(backend, hook)() == ["wheel", toolchain.ZIG_REQUIREMENT]


def test_the_back_end_refuses_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_meta, "get_requires_for_build_wheel", lambda _settings: [])
    pretend(monkeypatch, problem=NONE_FOUND, system=("linux", "mips"))
    with pytest.raises(SystemExit, match="Secateur cannot be compiled: no C compiler was found"):
        backend.get_requires_for_build_wheel()
