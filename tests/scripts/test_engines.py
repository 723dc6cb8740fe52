"""Engines described on the command line, started, timed and ended."""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine
import pytest

from tests.scripts import fake
from tests.support import FAKE_ENGINE, wait_until
from toolkit.engines.client import Answer, Engine, EngineCache, EngineError, Line, identified, read_answer
from toolkit.engines.spec import EngineSpec, TimeControl, digest_of_program, parse_engine
from toolkit.errors import ProgramError

# ---- Descriptions ----


def test_a_description_and_what_it_takes_from_the_defaults_key_by_key_but_limits_together() -> None:
    spec = parse_engine(
        "name=New cmd='python -m \"my engine\"' dir=/some/where tc=40/60+0.5 option.Hash=64 "
        "'option.Move Overhead=20' option.SyzygyPath=/a=b"
    )
    options = (("Hash", "64"), ("Move Overhead", "20"), ("SyzygyPath", "/a=b"))
    assert spec == EngineSpec("New", ("python", "-m", "my engine"), "/some/where", TimeControl(60, 0.5, 40), options)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert str(spec.control) == "40/60+0.5"
    defaults = "cmd=x tc=5 option.Hash=16"
    assert parse_engine("name=A", defaults).control == TimeControl(5.0, 0.0)
    own = parse_engine("name=B nodes=100 option.Hash=32", defaults)
    assert (own.control, own.options) == (TimeControl(nodes=100), (("Hash", "32"),))


@pytest.mark.parametrize(
    "text",
    ["", "cmd='x", "cmd=x cmd=y", "cmd=x tc=0+1", "cmd=x nodes=1e3", "cmd=x movetime=nan", "cmd=x colour=red"],
)
def test_nonsense_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ProgramError, match=r"."):
        parse_engine(text)


# ---- Answers ----


def test_the_answer_holds_the_last_exact_score_of_the_main_line() -> None:
    with Engine(fake("good", ("Seed", "5"))) as engine:
        answer = engine.play(chess.Board(), chess.engine.Limit(depth=1), 10.0)
        engine.close()
        assert engine.exit_code == 0
    assert 0 < answer.seconds < 5
    assert answer.move in list(chess.Board().legal_moves)
    assert (answer.text, answer.depth, answer.nodes) == (f"bestmove {answer.move}", 2, 30)
    assert answer.score is not None
    assert abs(answer.score.white().score(mate_score=10_000)) <= 50


def test_without_an_exact_score_a_bound_will_do() -> None:
    board = chess.Board("7k/8/8/8/8/8/1q6/K7 w - - 0 1")
    texts = ("info depth 4 score cp 30 lowerbound", "info depth 4 score mate -3 lowerbound pv a1b2", "bestmove a1b2")
    lines = [Line(5.0 + number, text) for number, text in enumerate(texts)]
    answer = read_answer(board, lines, 4.5)
    assert (answer.move, answer.seconds, answer.depth) == (chess.Move.from_uci("a1b2"), 2.5, 4)
    assert answer.score == chess.engine.PovScore(chess.engine.Mate(-3), chess.WHITE)
    for text in ("bestmove 0000", "bestmove", "bestmove (none)", "bestmove xyzzy", "bestmove b1b2"):
        assert read_answer(board, [Line(5.0, text)], 4.5) == Answer(None, text, 0.5)


# ---- Processes ----


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (EngineSpec("nowhere", ("/no/such/program",)), "/no/such/program"),
        (EngineSpec("nowhere", (sys.executable,), "/no/such/folder"), "/no/such/folder"),
        (EngineSpec("failing", (sys.executable, "-c", "import sys; sys.exit('broken')")), "broken"),
        (fake("mute"), "uciok"),
        (fake("good", ("Colour", "red")), "Colour"),
        (fake("good", ("Seed", "-1")), "Seed"),
        (fake("good", ("UCI_LimitStrength", "maybe")), "UCI_LimitStrength"),
    ],
)
def test_an_engine_that_cannot_be_used_is_told(spec: EngineSpec, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        Engine(spec, start_seconds=1.0 if spec.name == "mute" else 20.0)


def is_alive(process_id: int) -> bool:
    """Whoever has ended and waits for init to notice is not alive."""
    psutil = pytest.importorskip("psutil")
    with suppress(psutil.Error):
        return bool(psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no sessions here")
def test_what_an_engine_started_ends_with_it_though_it_reads_no_more(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(f'id name {child.pid}\\nuciok', flush=True)\n"
        "for line in sys.stdin:\n"
        "    if line == 'isready\\n': print('readyok', flush=True)\n"
        "    if line == 'go\\n': time.sleep(600)\n"
    )
    with Engine(EngineSpec("parent", (sys.executable, str(program)))) as engine:
        child = int(engine.id_name)
        assert is_alive(child)
        engine.send("go", *["position startpos"] * 100_000)
        engine.close(0.1)
    wait_until(lambda: not is_alive(child))
    assert engine.exit_code is not None


def test_a_kept_engine_takes_other_values_and_is_replaced_for_other_options() -> None:
    with EngineCache() as cache:
        first = cache.engine(fake("good", ("Seed", "1")))
        assert cache.engine(fake("good", ("Seed", "2"))) is first
        assert first.spec.options == (("Seed", "2"),)
        second = cache.engine(fake())
        assert second is not first
        assert first.exit_code is not None
        second.kill()
        assert cache.engine(fake()) is not second


# ---- Identities ----


def test_a_replaced_program_is_another_engine(tmp_path: Path) -> None:
    program = tmp_path / "engine.py"
    program.write_bytes(FAKE_ENGINE.read_bytes())
    (spec,) = identified([EngineSpec("fake", (sys.executable, str(program)))])
    assert spec.identity is not None
    assert spec.identity.startswith("Fake (")
    Engine(spec).close()
    program.write_bytes(FAKE_ENGINE.read_bytes() + b"# changed")
    with pytest.raises(EngineError, match="is not the program that the run began with"):
        Engine(spec)
    # A journal knows them apart.
    assert spec.as_json() != identified([replace(spec, identity=None)])[0].as_json()


@pytest.mark.parametrize("way", ["launcher", "module", "script"])
def test_secateur_is_known_by_its_packages(tmp_path: Path, way: str) -> None:
    """However it is started: its launcher is always the same."""
    for package in ("evaluation", "uci_engine"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    launcher, weights = tmp_path / "launcher", tmp_path / "evaluation" / "weights.toml"
    launcher.write_text(f"#!{sys.executable}\n")
    commands = {
        "launcher": launcher,
        "module": f"{sys.executable} -m uci_engine",
        "script": f"{sys.executable} {launcher}",
    }
    spec = EngineSpec("own", tuple(str(commands[way]).split()), str(tmp_path) if way == "module" else None)
    digests = []
    for text in ("a", "b"):
        weights.write_text(text)
        digests.append(digest_of_program(spec, "Secateur 1"))
    assert len({*digests, digest_of_program(spec, "Other 1")}) == 3
