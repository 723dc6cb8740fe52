"""An engine stays with the process that made it: a forked child is told so, ends by itself, and may make its own."""

from __future__ import annotations

import os

import pytest

from tests.support import run_python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

BEGINNING = """
import os, signal, sys, warnings
import chess
from chess.engine import EngineTerminatedError, Limit
from uci_engine import Engine

warnings.simplefilter("ignore", DeprecationWarning)
os.register_at_fork(after_in_child=lambda: signal.alarm(10))
board, limit = chess.Board(), Limit(depth=2)

def refusals(engine, analysis=None):
    move = chess.Move.from_uci("e2e4")
    calls = [
        lambda: engine.play(board, limit), lambda: engine.analyse(board, limit), lambda: engine.analysis(board),
        lambda: engine.evaluate(board), lambda: engine.explain(board), lambda: engine.explain(board, move, limit),
        lambda: engine.compare_moves(board, limit), lambda: engine.probe_tablebases(board),
        lambda: engine.configure(hash=2), engine.new_game,
    ]
    if analysis is not None:
        calls += [analysis.stop, analysis.wait, analysis.get, analysis.empty, lambda: analysis.info]
    for call in calls:
        try:
            call()
        except EngineTerminatedError as error:
            assert str(error) == "this engine belongs to another process, make one in this process", error
        else:
            raise AssertionError("not refused")

def end_of(child):
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, status
"""
PROGRAMS = {
    "a child leaves the blocks of the parent": """
with Engine(hash=2, threads=2) as engine, engine.analysis(board) as analysis:
    analysis.get()
    child = os.fork()
    if child == 0:
        refusals(engine, analysis)
        sys.exit()
    end_of(child)
    assert not analysis.is_done
    analysis.stop()
    assert analysis.wait().move is not None
    assert engine.play(board, limit).move is not None
""",
    "a child drops the engine, and ends while the parent searches": """
import gc
engine = Engine(hash=2)
analysis = engine.analysis(board)
engine._condition.acquire()
child = os.fork()
if child == 0:
    refusals(engine)
    engine.close()
    del engine, analysis
    gc.collect()
    sys.exit()
engine._condition.release()
end_of(child)
assert engine.play(board, limit).move is not None
engine.close()
""",
    "a child has an engine of its own": """
engine = Engine(hash=2)
engine.play(board, limit)
child = os.fork()
if child == 0:
    own = Engine(hash=2, threads=2)
    assert own.play(board, limit).move is not None
    sys.exit()
end_of(child)
assert engine.play(board, limit).move is not None
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forked_child(name: str) -> None:
    result = run_python("-c", BEGINNING + PROGRAMS[name])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
