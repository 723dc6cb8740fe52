"""scripts/perft.py: files read, and counts compared."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from perft import main
from toolkit.errors import ProgramError

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
FISCHER = "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"
SUITE = f"# a remark\n{chess.STARTING_FEN} ;D1 20 ;D2 400 ;D3 0\n\n{CASTLING} ;D2 568\n{FISCHER} ;D2 807\n"


@pytest.mark.parametrize(
    ("depth", "code", "shown"),
    [
        ("2", 0, "3 positions: 4 counts right, 0 wrong"),
        ("3", 1, "suite.epd:2: depth 3 gives 8902, not 0"),
        ("0", 1, "0 counts right"),
    ],
)
def test_counts_are_compared_to_a_depth(
    tmp_path: Path, depth: str, code: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.epd").write_text(SUITE)
    assert main([str(tmp_path / "suite.epd"), "--depth", depth]) == code
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["perft 1 20\n", "nonsense ;D1 20\n", f"{chess.STARTING_FEN} ;D1 twenty\n", f"{chess.STARTING_FEN} ;D1\n"]
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(text)
    with pytest.raises(ProgramError, match=r"^bad\.epd:1: "):
        main([str(path)])
