"""The benchmark: its total identifies search and evaluation. It is pinned here, and the same on every core."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from tests.support.kernel import core_or_skip, on_all_cores, on_core
from uci_engine.engine import UciEngine
from uci_engine.search.info import BestMove
from uci_engine.tools import bench

DEPTH = 2
# What `secateur bench` must say, by whether the network is on. A change of search, evaluation or network changes both
# numbers and the last line of its commit message ("Bench: N") together; any other change changes none.
PINNED = {True: 95891, False: 111014}


def total(depth: int | None, use_nnue: bool | None = None) -> tuple[int, list[str]]:
    """The total of nodes on this process's core, and what was written before it.

    `use_nnue`: with or without the network; None: as a new engine has it.
    """
    lines: list[str] = []
    with closing(UciEngine()) as engine:
        if use_nnue is not None:
            engine.options.set("Use NNUE", "true" if use_nnue else "false")
        bench.bench(engine, depth, lines.append)
    match = re.match(r"\nnodes ([0-9]+)\n", lines[-1])
    assert match is not None
    return int(match[1]), lines[:-1]


def test_the_totals_are_the_pinned_ones() -> None:
    found = {use_nnue: on_core(core_or_skip("compiled"), __name__, "total", None, use_nnue)[0] for use_nnue in PINNED}
    assert found == PINNED, f"if this is meant, set PINNED = {found} here, and end the commit with Bench: {found[True]}"


@pytest.mark.parametrize("use_nnue", [pytest.param(True, marks=pytest.mark.slow), False])
def test_every_core_counts_the_same(use_nnue: bool) -> None:
    first, *others = on_all_cores(__name__, "total", 5, use_nnue).values()
    assert others == [first] * len(others)


@pytest.mark.slow
def test_the_python_chess_core_counts_the_same_to_the_end() -> None:
    totals = [on_core(core_or_skip(name), __name__, "total", None) for name in ("compiled", "python-chess")]
    assert totals[0] == totals[1]


def test_a_stop_before_the_beginning_is_not_lost() -> None:
    lines: list[str] = []
    with closing(UciEngine()) as engine:
        bench.bench(engine, 100, lines.append, lambda: True)
    assert lines == ["info string bench was stopped"]


def test_a_search_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = BestMove(None, error=MemoryError("too little"))
    monkeypatch.setattr(UciEngine, "go", lambda *arguments: arguments[-1](answer))
    with pytest.raises(MemoryError, match="too little"):
        total(1)
