"""The comparison of marks with another engine's: the counts, and a run with the engine against itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import compare_analysis
from compare_analysis import Compared
from tests.game_analysis.test_pgn import SCHOLAR
from tests.support import SCRIPTS


def compared(mark: str, reference_loss: float, percentage_loss: float) -> Compared:
    return Compared(1, "1.e4", "", mark, 0.0, reference_loss, percentage_loss)


def test_the_counts() -> None:
    moves = [compared("blunder", 0.5, 0.2), compared("mistake", 0.5, 0.1), compared("sound", 0.5, 0.2)]
    lines = compare_analysis.summary([*moves, compared("blunder", 0.01, 0.01)])
    assert "named a blunder: 1 of 2 (50.0 %)" in lines[2]
    assert "that are blunders by it: 1 of 2 (50.0 %)" in lines[5]
    assert "at least mistakes by it: 1 of 2 (50.0 %)" in lines[6]
    assert "no error by it: 1 of 2 (50.0 %)" in lines[7]
    assert "named a blunder: 1 of 3 (33.3 %)" in lines[9]
    assert "a mistake or a blunder: 2 of 3" in lines[10]
    assert "0 of 0" in compare_analysis.summary([])[2]


def test_the_engine_compared_with_itself(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(SCHOLAR, "utf-8")
    command = [SCRIPTS / "compare_analysis.py", tmp_path / "games.pgn", "--nodes", "500", "--factor", "2"]
    command += ["--scores", tmp_path / "scores.json"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, command), "--engine", f"{sys.executable} -m uci_engine"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    first = run()
    assert first.returncode == 0, first.stderr
    assert "its blunders that are named a blunder: 1 of 1" in first.stdout
    kept = (tmp_path / "scores.json").read_text("utf-8")
    assert run().stdout == first.stdout
    assert (tmp_path / "scores.json").read_text("utf-8") == kept
    (tmp_path / "scores.json").write_text("no JSON", "utf-8")
    refused = run()
    assert (refused.returncode, "is no file of scores" in refused.stderr) == (1, True)
