"""The comparison of marks with another engine's: the counts, and a run with the engine against itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import compare_analysis
from compare_analysis import Compared, mark_of
from tests.game_analysis.test_pgn import SCHOLAR
from tests.support import SCRIPTS
from uci_engine.game_analysis.judgement import BLUNDER_LOSS, INACCURACY_LOSS, MISTAKE_LOSS


def compared(mark: str, reference_loss: float) -> Compared:
    return Compared(1, "1.e4", "", mark, 0.0, reference_loss)


@pytest.mark.parametrize(
    ("loss", "mark"),
    [(0.0, "none"), (INACCURACY_LOSS, "inaccuracy"), (MISTAKE_LOSS, "mistake"), (BLUNDER_LOSS, "blunder")],
)
def test_marks_of_losses(loss: float, mark: str) -> None:
    assert mark_of(loss) == mark


def test_the_counts() -> None:
    moves = [compared("blunder", 0.5), compared("mistake", 0.5), compared("sound", 0.5), compared("blunder", 0.01)]
    lines = compare_analysis.summary(moves)
    assert "named a blunder: 1 of 3 (33.3 %)" in lines[1]
    assert "a mistake or a blunder: 2 of 3" in lines[2]
    assert "less than an inaccuracy): 1 of 2 (50.0 %)" in lines[4]
    assert "0 of 0" in compare_analysis.summary([])[1]


def test_the_engine_compared_with_itself(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(SCHOLAR, "utf-8")
    command = [SCRIPTS / "compare_analysis.py", tmp_path / "games.pgn", "--nodes", "500", "--factor", "2"]
    engine = f"{sys.executable} -m uci_engine"
    result = subprocess.run(
        [sys.executable, *map(str, command), "--engine", engine],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "its blunders that are named a blunder: 1 of 1" in result.stdout
