"""scripts/perft.py: files read, and counts compared."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from perft import main
from tests.support.kernel import is_compiled
from toolkit.errors import ProgramError

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
FISCHER = "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"
SUITE = f"# a remark\n{chess.STARTING_FEN} ;D1 20 ;D2 400 ;D3 0\n\n{CASTLING} ;D2 568\n{FISCHER} ;D2 807\n"

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
    assert main([str(tmp_path / "known.epd")]) == 0


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
