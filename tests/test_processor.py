"""What /proc/cpuinfo says of the processor, and what is made of it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from uci_engine import processor

OLD = "processor\t: 0\nflags\t\t: fpu sse2 popcnt\n\nprocessor\t: 1\nflags\t\t: fpu avx2\n"
NEW = "processor\t: 0\nvmx flags\t: vnmi\nflags\t\t: fpu sse2 abm avx2 bmi1 bmi2 popcnt\n"


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the place of /proc/cpuinfo, on Linux with x86-64."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="x86_64"))
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "cpuinfo")
    return tmp_path / "cpuinfo"


def test_the_first_processor_counts(linux: Path) -> None:
    linux.write_text(OLD)
    assert processor.instructions() == frozenset({"fpu", "sse2", "popcnt"})
    assert not processor.has_fast_instructions()
    assert processor.lacking(["popcnt", "bmi2", "avx2"]) == ["avx2", "bmi2"]


@pytest.mark.parametrize("text", ["", "processor\t: 0\nFeatures\t: fp asimd\n", "\0\xff: :\n"])
def test_a_file_that_lists_nothing_is_of_a_processor_that_has_nothing(linux: Path, text: str) -> None:
    linux.write_text(text, "utf-8")
    assert processor.instructions() == frozenset()
    assert not processor.has_fast_instructions()
    assert processor.lacking(["avx2"]) == ["avx2"]


def test_where_nothing_is_known_nothing_is_lacking_and_nothing_is_used(linux: Path) -> None:
    assert not linux.exists()
    assert processor.instructions() is None
    assert not processor.has_fast_instructions()
    assert processor.lacking(["avx2"]) == []


@pytest.mark.parametrize(("system", "machine"), [("linux", "aarch64"), ("darwin", "x86_64"), ("win32", "AMD64")])
def test_elsewhere_nothing_is_known(linux: Path, system: str, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    linux.write_text(NEW)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    assert processor.instructions() is None


@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="only there the file is read")
def test_this_processor_says_what_it_has() -> None:
    assert "sse2" in (processor.instructions() or ())
