"""What /proc/cpuinfo says of the processor, and what is made of it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from uci_engine import core

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
    monkeypatch.setattr(core, "CPUINFO", tmp_path / "cpuinfo")
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text, "utf-8")
    assert core.instructions() == known
    assert core.lacking_instructions(["popcnt", "bmi2", "avx2"]) == lacking
    assert core.has_fast_instructions() == (text == NEW and known is not None)


@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="only there the file is read")
def test_this_processor_says_what_it_has() -> None:
    assert "sse2" in (core.instructions() or ())
