"""The checks: what they take for a fault. The workflows: what they name."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import pytest

import check
from tests.support import ROOT
from tests.support.kernel import IS_BUILT
from toolkit.engines.client import read_info

# White mates in two, by the rook's sacrifice on a6.
MATE = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
PINNED = re.compile(r"uses: [\w/.-]+@[0-9a-f]{40} # v[\d.]+")


@pytest.mark.parametrize(
    ("length", "report", "is_fault"),
    [
        (2, "score mate 2 pv a1a6 b7a6 b6b7", False),
        (2, "score mate 2 pv a1a6", True),
        (2, "score mate 3 pv a1a6 b7a6 b6b7", True),
        (2, "score mate 1 pv a1a6 b7a6 b6b7", True),
        (2, "score mate -2 pv a1a6 b7a6 b6b7", True),
        (2, "score mate 1 lowerbound pv a1a6", False),
        (2, "score cp 900 pv a1a6 b7a6", False),
        (2, "score cp 900 pv a1a6 a1a6", True),
        (-1, "score mate -1 pv b7a6 b6b7", False),
    ],
)
def test_a_mate_and_its_line_are_judged_by_the_side_to_move(length: int, report: str, is_fault: bool) -> None:
    board = chess.Board(MATE)
    if length < 0:
        board.push_uci("a1a6")
    info = read_info(f"info depth 5 {report}")
    assert info is not None
    assert bool(list(check.mate_faults(board, length, [info]))) == is_fault


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
