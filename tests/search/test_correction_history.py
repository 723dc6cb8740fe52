"""The correction history keeps its range and its places. What it is worth in a search, the benchmark's total tells."""

from __future__ import annotations

from functools import cache
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import new_position
from uci_engine.core import load
from uci_engine.search.stack import PLIES_BACK

# What one table can say; a total adds up five.
LIMIT = (1 << 15) - 1
# The entries of the piece types and to-squares of a move: nothing, least, greatest, and two of knights and pawns.
MOVES = (0, 1, 511, 2 << 6 | 21, 1 << 6 | 28)
PLY = 4


@cache
def shared() -> tuple[Any, Any]:
    """A correction history and its search stack."""
    position = new_position(chess.Board("4k3/pp3ppp/2n5/8/8/2N5/PP3PPP/4K3 w - - 0 1"))
    modules = load().modules
    stack = modules["uci_engine.search.stack"].SearchStack(position)
    return modules["uci_engine.search.history"].CorrectionHistory(position, stack), stack


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(-40_000, 40_000)), max_size=300))
def test_a_total_stays_in_its_range(lessons: list[tuple[int, int]]) -> None:
    history, _ = shared()
    history.clear()
    assert history.correction(PLY) == 0
    for depth, error_cp in lessons:
        history.update(PLY, depth, error_cp)
        assert abs(history.correction(PLY)) <= 5 * (LIMIT + 1)


@pytest.mark.parametrize("plies_back", [1, 2, 4])
def test_every_pair_of_moves_has_a_place(plies_back: int) -> None:
    history, stack = shared()
    history.clear()
    for move in MOVES:
        stack.moved_piece_to[PLY + PLIES_BACK - plies_back] = move
        before = history.correction(PLY)
        history.update(PLY, 15, 100)
        assert history.correction(PLY) > before
