"""scripts/speed.py and what it stands on: CPU time of other processes, engines at a pipe, figures from samples."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import chess
import pytest

import speed
from speed import Samples, Search, cpu_seconds, figures, search, stop_seconds
from tests.support import ROOT
from toolkit.engines.client import Engine
from toolkit.engines.spec import EngineSpec, parse_engine

OURS = f"cmd='{sys.executable} -m uci_engine' dir={ROOT} name=ours option.Hash=4"

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the clock of a process")


def fake(tmp_path: Path, program: str) -> EngineSpec:
    """An engine that answers `uci` and `isready`, and runs this statement for every other `line`."""
    path = tmp_path / "fake.py"
    path.write_text(
        "import os, sys, time\n"
        "for line in map(str.strip, sys.stdin):\n"
        "    if line == 'uci': print('id name Fake\\noption name Clear Hash type button\\nuciok', flush=True)\n"
        "    elif line == 'isready': print('readyok', flush=True)\n"
        "    elif line == 'quit': break\n"
        f"    else: {program}\n"
    )
    return parse_engine(f"cmd='{sys.executable} {path}' name=fake")


# ---- CPU time ----


@linux_only
def test_cpu_time_counts_work_and_not_sleep(tmp_path: Path) -> None:
    work = "end = time.process_time() + 0.2 * line.startswith('work')"
    program = f"exec({work!r} + '\\nwhile time.process_time() < end: pass\\nprint(line, flush=True)')"
    with Engine(fake(tmp_path, program)) as engine:
        before = cpu_seconds(engine)
        engine.send("work")
        engine.read_until("work", 30.0)
        worked = cpu_seconds(engine)
        time.sleep(0.3)
        assert 0.2 <= worked - before < 0.5
        assert cpu_seconds(engine) - worked < 0.05


# ---- Measuring ----


@linux_only
def test_a_search_lasts_its_processor_time() -> None:
    with Engine(parse_engine(OURS)) as engine:
        done = search(engine, chess.Board(), 0.15)
        assert 0.15 <= done.cpu_seconds < 0.15 + 1.0
        assert done.nodes > 0
        assert done.depth > 0
        assert 0 < stop_seconds(engine, chess.Board(), random.Random(1)) < 5


@linux_only
def test_depth_counts_what_was_complete_before_the_stop(tmp_path: Path) -> None:
    program = (
        "exec(\"if line == 'go infinite':\\n"
        " print('info depth 4 nodes 10 pv e2e4\\\\ninfo depth 5 upperbound pv e2e4', flush=True)\\n"
        " end = time.process_time() + 0.2\\n"
        " while time.process_time() < end: pass\\n"
        "if line == 'stop': print('info depth 9 nodes 1000 pv e2e4\\\\nbestmove e2e4', flush=True)\")"
    )
    with Engine(fake(tmp_path, program)) as engine:
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
