"""The checks: what they take for a fault. The workflows: what they name."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import pytest

import check
from tests.support import ROOT
from tests.support.kernel import IS_BUILT
from toolkit.engines.client import Info, read_info

# White mates in two, by the rook's sacrifice on a6.
MATE = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
PINNED = re.compile(r"uses: [\w/.-]+@[0-9a-f]{40} # v[\d.]+")


@pytest.mark.parametrize(
    ("report", "is_fault"),
    [
        ("score mate 2 pv a1a6 b7a6 b6b7", False),
        ("score mate 2 pv a1a6", True),
        ("score mate 3 pv a1a6 b7a6 b6b7", True),
        ("score mate 1 pv a1a6 b7a6 b6b7", True),
        ("score mate -2 pv a1a6 b7a6 b6b7", True),
        ("score mate 1 lowerbound pv a1a6", False),
        ("score cp 900 pv a1a6 b7a6", False),
        ("score cp 900 pv a1a6 a1a6", True),
    ],
)
def test_a_mate_and_its_line_are_judged(report: str, is_fault: bool) -> None:
    assert bool(list(check.mate_faults(chess.Board(MATE), 2, [info(report)]))) == is_fault


def info(report: str) -> Info:
    found = read_info(f"info depth 5 {report}")
    assert found is not None
    return found


def test_the_length_of_a_mate_is_counted_from_the_side_that_is_mated() -> None:
    board = chess.Board(MATE)
    board.push_uci("a1a6")
    assert not list(check.mate_faults(board, -1, [info("score mate -1 pv b7a6 b6b7")]))


def test_our_own_mates_are_played_through() -> None:
    for line in check.OWN_MATES.read_text("utf-8").splitlines():
        board = chess.Board()
        assert board.set_epd(line)["dm"]
        assert board.is_valid()


@pytest.mark.skipif(not IS_BUILT, reason="plain Python takes minutes")
@pytest.mark.parametrize(("length", "code"), [(2, 0), (3, 1)])
def test_a_suite_is_asked_with_one_thread_and_four(
    length: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "mates.epd"
    suite.write_text(f"{chess.Board(MATE).epd()} dm {length};\n")
    assert check.main(["mates", "--suite", str(suite)]) == code
    lines = capsys.readouterr().out.splitlines()
    assert [line[:16] for line in lines if MATE in line] == ["mates: 1 threads", "mates: 4 threads"] * code


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_name_actions_by_digest(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("uses: ") == len(PINNED.findall(text))
    assert re.search(r"^permissions:", text, re.MULTILINE)
