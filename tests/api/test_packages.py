"""What a user's program meets: files that clash with the packages' names, the types that it gets, and a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import chess
import pytest

from tests.support import ROOT, run_python

USER_PROGRAM = """
import chess
from chess.engine import InfoDict, Limit, PlayResult, PovScore
from uci_engine import Analysis, Engine, Explanation

def first_move(engine: Engine) -> chess.Move | None:
    result: PlayResult = engine.play(chess.Board(), Limit(time=0.1))
    return result.move

with Engine(hash=64, threads=2, uci_elo=1800) as engine:
    info: InfoDict = engine.analyse(chess.Board(), Limit(depth=1))
    lines: list[InfoDict] = engine.analyse(chess.Board(), Limit(depth=1), multipv=2)
    score: PovScore = engine.evaluate(chess.Board())
    explanation: Explanation = engine.explain_evaluation(chess.Board())
    term: int = explanation["material"]
    analysis: Analysis
    with engine.analysis(chess.Board()) as analysis:
        for info in analysis:
            break
"""
WRONG_PROGRAM = """
from uci_engine import Engine
Engine(hash="64")
Engine(hsah=64)
Engine().play("e4")
"""


@pytest.mark.parametrize("name", ["evaluation.py", "evaluation/__init__.py"])
def test_a_file_that_hides_the_evaluation_is_named(tmp_path: Path, name: str) -> None:
    stray = tmp_path / name
    stray.parent.mkdir(exist_ok=True)
    stray.write_text("raise SystemExit('the wrong file was run')", "utf-8")
    place = stray if name == "evaluation.py" else stray.parent
    sentence = f"{place} hides the package 'evaluation', which this program needs: rename it, or remove its folder"
    program = run_python("-m", "uci_engine", "bench", "1", folder=tmp_path)
    assert program.returncode == 1
    assert program.stderr.startswith(f"secateur: {sentence}")
    assert program.stderr.count("\n") == 1
    library = run_python("-c", "from uci_engine import Engine", folder=tmp_path)
    assert library.stderr.splitlines()[-1].startswith(f"ImportError: {sentence}")


def test_the_name_of_the_program_is_not_that_of_the_package(tmp_path: Path) -> None:
    result = run_python("-c", "import secateur", folder=tmp_path)
    expected = "ImportError: Secateur's Python package is called uci_engine: from uci_engine import Engine"
    assert result.stderr.splitlines()[-1] == expected
    assert run_python("-m", "secateur", "--version", folder=tmp_path).stdout.startswith("Secateur ")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the environment is laid out otherwise")
def test_a_users_program_passes_mypy(tmp_path: Path) -> None:
    """In a virtual environment whose packages are ours and those of this Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv").rglob("site-packages")
    (packages / "ours.pth").write_text(f"{ROOT}\n{Path(chess.__file__).parents[1]}\n", "utf-8")
    (tmp_path / "program.py").write_text(USER_PROGRAM, "utf-8")
    (tmp_path / "wrong.py").write_text(WRONG_PROGRAM, "utf-8")
    python = tmp_path / "venv" / "bin" / "python"

    def check(name: str) -> str:
        words = ("-m", "mypy", "--strict", "--python-executable", python, name)
        return run_python(*words, folder=tmp_path, PYTHONPATH="").stdout

    assert check("program.py").startswith("Success"), check("program.py")
    errors = check("wrong.py")
    assert "Found 4 errors" in errors, errors


# An engine stays with the process that made it: a forked child is told so, ends by itself, and may make its own.
FORKING_PROGRAM = """
import gc, os, signal, sys, warnings
import chess
from chess.engine import EngineTerminatedError, Limit
from tests.api.test_engine import other_calls, searches
from uci_engine import Engine

warnings.simplefilter("ignore", DeprecationWarning)
os.register_at_fork(after_in_child=lambda: signal.alarm(10))
board, limit = chess.Board(), Limit(depth=2)

def fork(run):
    child = os.fork()
    if child == 0:
        run()
        sys.exit()
    return child

def check_end(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def play_with_own():
    assert Engine(hash=2, threads=2).play(board, limit).move is not None

def be_refused():
    global engine, analysis
    calls = [
        *searches(engine, board, limit), *other_calls(engine, board), lambda: engine.configure(hash=2), engine.new_game,
        analysis.stop, analysis.wait, analysis.get, analysis.empty, lambda: analysis.info,
    ]
    with engine, analysis:
        for call in calls:
            try:
                call()
            except EngineTerminatedError as error:
                assert "another process" in str(error)
            else:
                raise AssertionError("not refused")
    del calls, call, engine, analysis
    gc.collect()

engine = Engine(hash=2, threads=2)
engine.play(board, limit)
check_end(fork(play_with_own))
analysis = engine.analysis(board)
analysis.get()
# Another thread may hold the lock at the fork.
with engine._condition:
    child = fork(be_refused)
check_end(child)
assert not analysis.is_done
assert engine.play(board, limit).move is not None
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child() -> None:
    result = run_python("-c", FORKING_PROGRAM)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
