"""scripts/speed.py and what it stands on: CPU time of other processes, engines at a pipe, figures from samples."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import chess
import pytest

import speed
from speed import Samples, Search, cpu_seconds, figures, perft_cpu_seconds, search, show, stop_seconds
from tests.support import ROOT
from toolkit.engines.answer import Info, read_info
from toolkit.engines.engine import Engine, EngineError
from toolkit.engines.spec import EngineSpec, parse_engine
from toolkit.errors import ProgramError
from toolkit.perft import NoPerftError

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


def test_elsewhere_it_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ProgramError, match="only Linux"):
        speed.main(["--engine", OURS])


# ---- Engines at a pipe ----


@pytest.mark.parametrize(
    ("text", "info"),
    [
        ("info depth 3 seldepth 5 score cp -4 nodes 77 nps 9 time 1 pv e2e4 e7e5", Info(3, 77, "e2e4", -4)),
        ("info depth 3 score mate -2 lowerbound nodes 77 pv e2e4", Info(3, 77, "e2e4", None, -2, False)),
        ("info depth 3 multipv 1 score cp 1 pv e2e4", Info(3, None, "e2e4", 1)),
        ("info depth 3 multipv 2 score cp 1 pv e2e4", None),
        ("info nodes 5 string pv e2e4 depth 9", Info(None, 5)),
        ("info string depth 3", Info()),
        ("info depth x nodes pv", Info(None, None)),
        ("bestmove e2e4", None),
        ("", None),
    ],
)
def test_info_lines(text: str, info: Info | None) -> None:
    assert read_info(text) == info


def test_a_pipe_starts_talks_and_ends(tmp_path: Path) -> None:
    with Engine(fake(tmp_path, "print('heard', line, flush=True)"), [("Nonsense", "1")]) as engine:
        assert list(engine.options) == ["clear hash"]
        assert engine.start_seconds > 0
        engine.set_position(chess.Board())
        assert engine.read(10).text == f"heard position fen {chess.STARTING_FEN}"
        sent = engine.send("one", "two")
        lines = engine.read_until("heard", 10) + engine.read_until("heard", 10)
        assert [line.text for line in lines] == ["heard one", "heard two"]
        assert all(line.arrived >= sent - 1 for line in lines)
        with pytest.raises(EngineError, match=r"^fake said nothing for 0\.05 s"):
            engine.read(0.05)
    assert engine.exit_code == 0


def test_an_engine_that_will_not_go_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.engines.engine.QUIT_SECONDS", 0.1)
    with Engine(fake(tmp_path, "time.sleep(600)")) as engine:
        engine.send("sleep")
    assert engine.exit_code == -9


def test_what_an_engine_said_when_it_died_is_told(tmp_path: Path) -> None:
    with (
        Engine(fake(tmp_path, "sys.exit('no such thing as ' + line)")) as engine,
        pytest.raises(EngineError, match="fake ended, exit code 1; stderr: no such thing as ucinewgame"),
    ):
        # Found out while a line is sent, or while the answer is awaited.
        engine.new_game()


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        ("cmd=/no/such/engine", "cannot run"),
        (f"cmd='{sys.executable} -c pass'", "ended"),
        (OURS + " option.Nonsense=1", "has no option 'Nonsense'"),
    ],
)
def test_what_cannot_start_is_an_error(engine: str, why: str) -> None:
    with pytest.raises(EngineError, match=why):
        Engine(parse_engine(engine))


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
def test_an_engine_that_only_sleeps_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("speed.PATIENCE_SECONDS", 0.1)
    with (
        Engine(fake(tmp_path, "time.sleep(0)")) as engine,
        pytest.raises(EngineError, match="does not use its processor time"),
    ):
        search(engine, chess.Board(), 0.05)


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
    assert speed.main([*words, "--perft", "3", "--stops", "3"]) == 0
    shown = capsys.readouterr().out
    assert "1 (1 to 1)" in shown
    assert "stop to bestmove, 99 % within" in shown


@linux_only
def test_an_engine_without_perft_has_no_figure_for_it(tmp_path: Path) -> None:
    with pytest.raises(NoPerftError):
        perft_cpu_seconds(fake(tmp_path, "print('bestmove e2e4', flush=True)"), 3)


def test_every_position_is_legal_and_a_middlegame() -> None:
    for fen in speed.MIDDLEGAMES:
        board = chess.Board(fen)
        assert board.is_valid()
        assert not board.is_check()
        assert len(board.piece_map()) > 20


# ---- Figures ----


def samples(*rounds: list[tuple[int, float]], perfts: list[float]) -> Samples:
    return Samples([[Search(*search, depth=3) for search in searches] for searches in rounds], perfts)


def test_rates_are_of_rounds_and_ratios_of_pairs() -> None:
    ours = samples([(100, 1.0), (300, 1.0)], [(400, 2.0), (10, 1.0)], perfts=[1.0, 3.0])
    theirs = samples([(50, 1.0), (100, 2.0)], [(100, 1.0), (10, 2.0)], perfts=[2.0, 1.0])
    found = figures(ours, theirs)
    assert found["thousand nodes per CPU second"] == pytest.approx([0.2, 0.41 / 3])
    assert found["nodes, as a multiple of the first"] == [2.0, 6.0, 2.0, 2.0]
    assert found["perft, as a multiple of the first"] == [0.5, 3.0]
    assert figures(ours, samples([(1, 1.0)] * 2, [(1, 1.0)] * 2, perfts=[]))["perft, as a multiple of the first"] == []


def test_figures() -> None:
    assert show([]) == "-"
    assert show([3.0, 1.0, 2.0]) == "2 (1 to 3)"
