"""The checks: what they take for a fault, and perft counts in files. The workflows: what they name."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import pytest

import check
from tests.support import ROOT
from tests.support.kernel import IS_BUILT, is_compiled
from toolkit.engines.client import read_info
from toolkit.errors import ProgramError

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


FISCHER = "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"
SUITE = f"# a remark\n{chess.STARTING_FEN} ;D1 20 ;D2 400 ;D3 0\n\n{FISCHER} ;D2 807\n"

# Many programs agree on these.
KNOWN = f"""\
{chess.STARTING_FEN} ;D4 197281
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 ;D3 97862
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 ;D5 674624
r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1 ;D4 422333
rnbqk1nr/bb3p1p/1q2r3/2pPp3/3P4/7P/1PP1NpPP/R1BQKBNR w KQkq c6 0 1 ;D3 2528
b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9 ;D4 273318
r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1 ;D4 285754
8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1 ;D4 118388
"""


@pytest.mark.skipif(not is_compiled(), reason="takes minutes in plain Python")
def test_well_known_counts_are_right(tmp_path: Path) -> None:
    (tmp_path / "known.epd").write_text(KNOWN)
    assert check.main(["perft", "--counts", str(tmp_path / "known.epd")]) == 0


@pytest.mark.parametrize(
    ("depth", "code", "shown"),
    [("2", 0, "3 counts right"), ("3", 1, "suite.epd:2: depth 3 gives 8902, not 0"), ("0", 1, "no count is right")],
)
def test_counts_are_compared_to_a_depth(
    tmp_path: Path, depth: str, code: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.epd").write_text(SUITE)
    assert check.main(["perft", "--counts", str(tmp_path / "suite.epd"), "--depth", depth]) == code
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["perft 1 20\n", "nonsense ;D1 20\n", f"{chess.STARTING_FEN} ;D1 twenty\n", f"{chess.STARTING_FEN} ;D1\n"]
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.epd").write_text(text)
    with pytest.raises(ProgramError, match=r"^bad\.epd:1: "):
        check.main(["perft", "--counts", str(tmp_path / "bad.epd")])


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name)
def test_workflows_name_actions_by_digest(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("uses: ") == len(PINNED.findall(text))
    assert re.search(r"^permissions:", text, re.MULTILINE)
