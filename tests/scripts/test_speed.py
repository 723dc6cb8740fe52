"""scripts/speed.py and what it stands on: CPU time of other processes, figures from samples."""

from __future__ import annotations

import sys

import chess
import chess.engine
import pytest

import speed
from speed import Sample, cpu_seconds, figures, measure
from tests.scripts import fake
from tests.support import PATIENCE_SECONDS, ROOT
from toolkit.engines.client import Engine

OURS = f"cmd='{sys.executable} -m uci_engine' dir={ROOT} name=ours option.Hash=4"

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the clock of a process")


@linux_only
def test_cpu_time_counts_work_and_not_sleep() -> None:
    with Engine(fake("slow")) as engine:
        before = cpu_seconds(engine)
        answer = engine.play(chess.Board(), chess.engine.Limit(depth=1), PATIENCE_SECONDS)
        assert cpu_seconds(engine) - before < 0.5 < 1.0 <= answer.seconds


@linux_only
def test_a_search_lasts_its_processor_time_and_counts_what_was_complete_before_the_stop() -> None:
    done = measure(fake("busy"), chess.Board(), 0.1)
    assert (done.depth, done.nodes) == (4, 1000)
    assert 0.2 <= done.cpu_seconds < 0.5
    assert done.start_seconds > 0
    assert 0 < done.stop_seconds < 5


@linux_only
def test_the_program_compares(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MIDDLEGAMES", speed.MIDDLEGAMES[:1])
    words = ["--engine", OURS, "--engine", OURS.replace("name=ours", "name=again"), "--rounds", "2", "--cpu", "0.02"]
    assert speed.main(words) == 0
    assert "1 (1 to 1)" in capsys.readouterr().out


def test_ratios_are_of_pairs() -> None:
    ours = [Sample(100, 1.0, 3), Sample(300, 1.0, 3), Sample(400, 2.0, 3)]
    theirs = [Sample(50, 1.0, 3), Sample(100, 2.0, 3), Sample(100, 1.0, 3)]
    found = figures(ours, theirs)
    assert found["thousand nodes per CPU second"] == pytest.approx([0.1, 0.3, 0.2])
    assert found["nodes, as a multiple of the first"] == [2.0, 6.0, 2.0]
