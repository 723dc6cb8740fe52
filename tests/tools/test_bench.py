"""The benchmark's total is the identity card of the search: the same twice, and the same on every core."""

from __future__ import annotations

import chess
import pytest

from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core
from uci_engine.core import load
from uci_engine.tools import bench

DEPTH = 2


def total(depth: int) -> tuple[int, list[str]]:
    """The total of nodes on this process's core, and what was written but for the nodes."""
    lines: list[str] = []
    count = bench.Bench(load(), depth, lines.append).count()
    assert count is not None
    return count, lines


def test_the_total_is_the_same_twice() -> None:
    depth = 6 if is_compiled() else 2
    first, again = total(depth), total(depth)
    assert first == again
    assert len(first[1]) == len(bench.POSITIONS)
    assert first[0] > 10 * len(bench.POSITIONS)


def test_a_depth_more_is_more_work() -> None:
    assert total(1)[0] < total(2)[0] < total(3)[0]


@pytest.mark.parametrize("name", [name for name in ALL_CORES if name != load().name])
def test_the_total_is_the_same_on_the_other_cores(name: str) -> None:
    assert tuple(on_core(core_or_skip(name), __name__, "total", DEPTH)) == total(DEPTH)


def test_a_limited_depth_is_the_usual_one_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "DEFAULT_DEPTH", 1)
    assert bench.Bench(load(), None, lambda line: None).count() == total(1)[0]


def test_a_stop_before_the_beginning_is_not_lost() -> None:
    lines: list[str] = []
    stopped = bench.Bench(load(), 100, lines.append)
    stopped.stop()
    stopped.run()
    assert lines == ["info string bench was stopped"]


def test_the_positions_can_be_played() -> None:
    assert len(set(bench.POSITIONS)) == len(bench.POSITIONS)
    for fen in bench.POSITIONS:
        board = chess.Board(fen)
        assert board.is_valid(), fen
        assert any(board.legal_moves), fen
