"""An engine stays with the process that made it: a forked child is told so, ends by itself, and may make its own."""

from __future__ import annotations

import os

import pytest

from tests.support import run_python

PROGRAM = """
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
    result = run_python("-c", PROGRAM)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
