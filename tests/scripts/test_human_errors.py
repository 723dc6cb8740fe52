"""human_errors: levels and people judged by another engine, which is here ours."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from human_errors import main
from tests.support import ROOT

GAME = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 f3g5 e8g8 d2d3 h7h6 g5f7 f8f7 c4f7 g8f7 c1e3 c5e3 f2e3 f7g8 d1e1 d7d6"


def test_people_and_levels_have_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(
        "".join(json.dumps({"white": 1400, "black": black, "moves": GAME}) + "\n" for black in (1450, 1900))
    )
    engine = shlex.join([sys.executable, str(ROOT / "secateur.py")])
    assert main([str(path), "--ratings", "1400", "--positions", "6", "--nodes", "500", "--engine", engine]) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "1400" in line)
    # Two of a game at most.
    assert row.split("│")[2].strip() == "4"
    assert row.count("%") == 4
