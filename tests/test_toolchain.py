"""What the build does where a compiler or Python's headers are missing: it finds others, or says what to install.

Nothing is downloaded. A system without a compiler is one whose PATH and configuration name none.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from setuptools import build_meta

from build_backend import backend, toolchain

posix_only = pytest.mark.skipif(os.name != "posix", reason="here the compiler is named by Python's configuration")
VARIABLES = ("CC", "SECATEUR_REQUIRE_COMPILER", "SECATEUR_SANITIZE", "SECATEUR_PORTABLE")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    *,
    problem: str | None = None,
    headers: bool = True,
    system: tuple[str, str] = ("linux", "x86_64"),
) -> None:
    """A machine on which the system's compiler has this problem, with or without headers."""
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
