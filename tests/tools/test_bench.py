"""The benchmark's total identifies search and evaluation: pinned here, the same twice, and the same on every core."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import closing
from typing import Any

import chess
import pytest

from tests.support import ROOT
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from uci_engine.core import load
from uci_engine.engine import UciEngine
from uci_engine.options import NETWORK_BY_DEFAULT
from uci_engine.tools import bench

DEPTH = 2
# What `secateur bench` and `secateur bench 5` must say on every core. A change of search or evaluation changes these
# numbers and the last line of its commit message ("Bench: N") together; any other change changes neither.
# By whether the network is on: at the depth of the benchmark, and at depth 5. Another network changes those
# with it.
PINNED_TOTALS = {False: (138986, 19774), True: (126332, 18645)}
PINNED = PINNED_TOTALS[NETWORK_BY_DEFAULT][0]
TRAILER = re.compile(r"^Bench: ([0-9]+)$", re.MULTILINE)


def total(depth: int | None, use_nnue: bool | None = None) -> tuple[int, list[str]]:
    """The total of nodes on this process's core, and what was written before it.

    `use_nnue`: with or without the network; None: as a new engine has it.
    """
    lines: list[str] = []
    with closing(UciEngine(owns_process=False)) as engine:
        if use_nnue is not None:
            engine.set_option("Use NNUE", "true" if use_nnue else "false")
        bench.bench(engine, depth, lines.append)
    match = re.match(r"\nnodes ([0-9]+)\n", lines[-1])
    assert match is not None
    return int(match[1]), lines[:-1]


def test_the_total_is_the_same_twice() -> None:
    depth = 6 if is_compiled() else 2
    first, again = total(depth), total(depth)
    assert first == again
    assert len(first[1]) == len(bench.POSITIONS)
    assert first[0] > 10 * len(bench.POSITIONS)


@pytest.mark.parametrize("name", ALL_CORES)
@pytest.mark.parametrize("use_nnue", PINNED_TOTALS)
def test_the_total_with_and_without_the_network_is_pinned_at_a_small_depth(use_nnue: bool, name: str) -> None:
    found = on_core(core_or_skip(name), __name__, "total", 5, use_nnue)
    assert found[0] == PINNED_TOTALS[use_nnue][1]


@pytest.mark.parametrize("use_nnue", PINNED_TOTALS)
def test_the_total_with_and_without_the_network_is_pinned_on_the_compiled_core(use_nnue: bool) -> None:
    found = on_core(core_or_skip("compiled"), __name__, "total", None, use_nnue)
    assert found[0] == PINNED_TOTALS[use_nnue][0]


@pytest.mark.parametrize("use_nnue", PINNED_TOTALS)
def test_the_benchmark_is_that_of_a_new_engine(use_nnue: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uci_engine.options.NETWORK_BY_DEFAULT", use_nnue)
    assert total(DEPTH) == total(DEPTH, use_nnue) != total(DEPTH, not use_nnue)


@pytest.mark.slow
def test_the_total_is_pinned_on_the_python_chess_core() -> None:
    assert on_core("python-chess", __name__, "total", None)[0] == PINNED


def test_the_newest_commit_that_states_a_total_states_this_one() -> None:
    # CI tests a copy of the sources without their history, and names the repository they came from.
    repository = os.environ.get("SECATEUR_REPOSITORY", str(ROOT))
    git = shutil.which("git")
    if git is None or subprocess.run([git, "-C", repository, "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("there is no history here")
    if subprocess.run([git, "-C", repository, "diff", "--quiet", "HEAD"]).returncode:
        pytest.skip("there are changes that no commit speaks of yet")
    command = [git, "-C", repository, "log", "-1", "--grep=^Bench: [0-9]*$", "--format=%B"]
    message = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert TRAILER.findall(message)[-1:] == [str(PINNED)]


def test_a_depth_more_is_more_work() -> None:
    assert total(1)[0] < total(2)[0] < total(3)[0]


@pytest.mark.parametrize("name", [name for name in ALL_CORES if name != load().name])
def test_the_total_is_the_same_on_the_other_cores(name: str) -> None:
    assert tuple(on_core(core_or_skip(name), __name__, "total", DEPTH)) == total(DEPTH)


def test_a_limited_depth_is_the_usual_one_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "DEFAULT_DEPTH", 1)
    assert total(None) == total(1)


def test_a_stop_before_the_beginning_is_not_lost() -> None:
    lines: list[str] = []
    with closing(UciEngine(owns_process=False)) as engine:
        bench.bench(engine, 100, lines.append, lambda: True)
    assert lines == ["info string bench was stopped"]


def test_a_search_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError("too little")

    monkeypatch.setattr("uci_engine.engine.UciEngine._think", fail)
    with pytest.raises(MemoryError, match="too little"):
        total(1)


def test_the_positions_can_be_played() -> None:
    assert len(set(bench.POSITIONS)) == len(bench.POSITIONS)
    for fen in bench.POSITIONS:
        board = chess.Board(fen)
        assert board.is_valid(), fen
        assert any(board.legal_moves), fen
