"""Endings of the tablebases, played out: every win is won inside the fifty-move rule, every draw is held."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import chess
import pytest

from tests.support.endings import DRAW, WIN, Referee, ending_of, play_out
from tests.support.syzygy_samples import WORKSHOP
from toolkit.engines.engine import Engine
from toolkit.engines.spec import TimeControl, own_engine

ENDINGS = 100


@pytest.mark.slow
@pytest.mark.skipif(not WORKSHOP[0].is_dir(), reason="the tables are not here")
@pytest.mark.parametrize(
    "control", [TimeControl(depth=4), TimeControl(movetime_seconds=0.005), TimeControl(0.05, 0.005)], ids=str
)
def test_every_win_is_won_and_every_draw_held(control: TimeControl) -> None:
    """The opponent defends a lost ending as long as it can, and in a draw makes any move that does not lose."""
    folders = [folder for folder in WORKSHOP if folder.is_dir()]
    referee = Referee(folders, seed=1)
    path = os.pathsep.join(map(str, folders))
    with Engine(replace(own_engine(), control=control), [("SyzygyPath", path)]) as engine:
        for value, expected in ((WIN, {"won"}), (DRAW, {"drawn", "won"})):
            boards = [referee.position(value) for _ in range(ENDINGS)]
            records = [(board.turn == chess.WHITE, play_out(engine, referee, board)) for board in boards]
            endings = Counter(ending_of(record, white) for white, record in records)
            assert set(endings) <= expected, endings
