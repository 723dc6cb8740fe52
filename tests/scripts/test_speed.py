"""scripts/speed.py and what it stands on: CPU time of other processes, engines at a pipe, figures from samples."""

from __future__ import annotations

import random
import sys

import chess
import chess.engine
import pytest

import speed
from speed import Samples, Search, cpu_seconds, figures, search, stop_seconds
from tests.support import FAKE_ENGINE, PATIENCE_SECONDS, ROOT
from toolkit.engines.client import Engine
from toolkit.engines.spec import EngineSpec, parse_engine

OURS = f"cmd='{sys.executable} -m uci_engine' dir={ROOT} name=ours option.Hash=4"

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the clock of a process")


def fake(mode: str) -> EngineSpec:
    return EngineSpec(mode, (sys.executable, str(FAKE_ENGINE), mode))


# ---- Measuring ----


@linux_only
def test_cpu_time_counts_work_and_not_sleep() -> None:
    with Engine(fake("slow")) as engine:
        before = cpu_seconds(engine)
        answer = engine.play(chess.Board(), chess.engine.Limit(depth=1), PATIENCE_SECONDS)
        assert cpu_seconds(engine) - before < 0.5 < 1.0 <= answer.seconds
    with Engine(fake("busy")) as engine:
        before = cpu_seconds(engine)
        engine.send("go infinite", "stop")
        engine.read_until("bestmove", PATIENCE_SECONDS)
        assert 0.2 <= cpu_seconds(engine) - before < 0.5


@linux_only
def test_a_search_lasts_its_processor_time() -> None:
    with Engine(parse_engine(OURS)) as engine:
        done = search(engine, chess.Board(), 0.15)
        assert 0.15 <= done.cpu_seconds < 0.15 + 1.0
        assert done.nodes > 0
        assert done.depth > 0
        assert 0 < stop_seconds(engine, chess.Board(), random.Random(1)) < 5


@linux_only
def test_depth_counts_what_was_complete_before_the_stop() -> None:
    with Engine(fake("busy")) as engine:
        done = search(engine, chess.Board(), 0.1)
    assert (done.depth, done.nodes) == (4, 1000)


@linux_only
def test_the_program_compares(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MIDDLEGAMES", speed.MIDDLEGAMES[:2])
    words = ["--engine", OURS, "--engine", OURS.replace("name=ours", "name=again"), "--rounds", "2", "--cpu", "0.02"]
    assert speed.main([*words, "--stops", "3"]) == 0
    shown = capsys.readouterr().out
    assert "1 (1 to 1)" in shown
    assert "stop to bestmove, 99 % within" in shown


# ---- Figures ----


def samples(*rounds: list[tuple[int, float]]) -> Samples:
    return Samples([[Search(*search, depth=3) for search in searches] for searches in rounds])


def test_rates_are_of_rounds_and_ratios_of_pairs() -> None:
    ours = samples([(100, 1.0), (300, 1.0)], [(400, 2.0), (10, 1.0)])
    theirs = samples([(50, 1.0), (100, 2.0)], [(100, 1.0), (10, 2.0)])
    found = figures(ours, theirs)
    assert found["thousand nodes per CPU second"] == pytest.approx([0.2, 0.41 / 3])
    assert found["nodes, as a multiple of the first"] == [2.0, 6.0, 2.0, 2.0]
