"""The journal: entries that survive a kill, and one run at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import ProgramError
from toolkit.journal import Journal

SETTINGS = {"effort": "5 nodes", "options": ("a",)}


def refuses_changed_entries(journal: Path, resume: Callable[[], object], *changes: dict[str, Any]) -> None:
    """A run is not resumed when the last entry of its journal has any of these changes."""
    whole = journal.read_bytes()
    *lines, last = whole.splitlines(keepends=True)
    for change in ({"key": None, "first": None, "pair": None}, *changes):
        changed = b"".join(lines) + json.dumps(json.loads(last) | change).encode() + b"\n"
        journal.write_bytes(changed)
        with pytest.raises(ProgramError, match="is no entry of this"):
            resume()
        assert journal.read_bytes() == changed
    journal.write_bytes(whole)


def begun(path: Path, *numbers: int) -> Path:
    """A journal with these entries."""
    with Journal(path, SETTINGS) as journal:
        for number in numbers:
            journal.append({"number": number})
    return path


@pytest.mark.parametrize("torn", [b"", b"{", b'{"number": 3, "te', b"\xff\xfe"])
def test_entries_come_back_in_their_order_and_a_torn_line_is_dropped(tmp_path: Path, torn: bytes) -> None:
    path = begun(tmp_path / "journal", 2, 1, 3)
    with path.open("ab") as file:
        file.write(torn)
    with Journal(path, SETTINGS, resume=True) as again:
        assert again.entries == [{"number": 2}, {"number": 1}, {"number": 3}]
        again.append({"number": 1})
        # Before the end of the program, which may be a kill.
        assert path.read_bytes().endswith(b'{"number":1}\n')
    with Journal(path, SETTINGS, resume=True) as last:
        assert [entry["number"] for entry in last.entries] == [2, 1, 3, 1]


def test_an_unfinished_run_is_not_overwritten(tmp_path: Path) -> None:
    # Nothing was finished, so nothing is lost.
    assert not begun(tmp_path / "journal").exists()
    path = begun(tmp_path / "journal", 1)
    with pytest.raises(ProgramError, match="continue it with --resume"):
        Journal(path, SETTINGS)
    with pytest.raises(ProgramError, match=r"was begun with other settings: effort$"):
        Journal(path, {**SETTINGS, "effort": "other"}, resume=True)


@pytest.mark.parametrize(
    "content",
    [b"hello", b'[Event "x"]', b'{"settings": 3}x\n', b'{"settings":{}}\n{"a":1\n', b'{"settings":{}}\n[]\n'],
)
def test_another_file_is_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(ProgramError):
        Journal(path, {}, resume=True)
    assert path.read_bytes() == content


LINES = st.sampled_from([b'{"settings":{"a":[1]}}\n', b'{"b":2}\n', b'{"b":3}', b"[]\n", b"\n"])


@given(st.lists(LINES | st.binary(max_size=20), max_size=6).map(b"".join))
def test_any_bytes_are_a_journal_or_are_not_touched(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.journal"
    path.write_bytes(data)
    try:
        with Journal(path, {"a": [1]}, resume=True) as journal:
            journal.append({"b": 4})
            entries = journal.entries
    except ProgramError:
        assert path.read_bytes() == data
    else:
        with Journal(path, {"a": [1]}, resume=True) as again:
            assert again.entries == entries


def test_two_runs_cannot_write_the_same_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", SETTINGS), pytest.raises(ProgramError, match="another run"):
        Journal(tmp_path / "journal", SETTINGS, resume=True)


def test_a_journal_is_optional() -> None:
    with Journal(None, SETTINGS) as journal:
        journal.append({"number": 1})
    with pytest.raises(ProgramError, match="--journal"):
        Journal(None, SETTINGS, resume=True)
