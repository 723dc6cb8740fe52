"""The correction history keeps its range and its places. What it is worth in a search, the benchmark's total tells."""

from __future__ import annotations

from functools import cache
from typing import Any

import chess
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import new_position
from uci_engine.core import load

# What one table can say; a total adds up four.
LIMIT = (1 << 15) - 1
MOVES = (2 << 6 | 21) << 9 | (1 << 6 | 28)


@cache
def shared() -> Any:
    position = new_position(chess.Board("4k3/pp3ppp/2n5/8/8/2N5/PP3PPP/4K3 w - - 0 1"))
    return load().modules["uci_engine.search.history"].CorrectionHistory(position)


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(-40_000, 40_000)), max_size=300))
def test_a_total_stays_in_its_range(lessons: list[tuple[int, int]]) -> None:
    memory = shared()
    memory.clear()
    assert memory.correction(MOVES) == 0
    for depth, error_cp in lessons:
        memory.update(MOVES, depth, error_cp)
        assert abs(memory.correction(MOVES)) <= 4 * (LIMIT + 1)


def test_every_pair_of_last_moves_has_a_place() -> None:
    memory = shared()
    memory.clear()
    for moves in (0, 1, (1 << 18) - 1, 511, 511 << 9, MOVES):
        before = memory.correction(moves)
        memory.update(moves, 15, 100)
        assert memory.correction(moves) > before
