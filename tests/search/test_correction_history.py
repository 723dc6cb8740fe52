"""The correction history: which positions share a correction, its range, and that a new game forgets."""

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
# White and Black have the same pawns and different pieces in all of these.
HOME = "4k3/pp3ppp/2n5/8/8/2N5/PP3PPP/4K3 w - - 0 1"
OTHER_PIECES = "4k3/pp3ppp/5b2/8/8/6B1/PP3PPP/4K3 w - - 0 1"
OTHER_KNIGHT = "4k3/pp3ppp/2n5/8/8/5N2/PP3PPP/4K3 w - - 0 1"
OTHER_PAWNS = "4k3/p4ppp/2n5/8/8/2N5/P4PPP/4K3 w - - 0 1"
NOTHING_ALIKE = "8/p3k1pp/8/4r3/8/8/PP1R4/2K5 w - - 0 1"


@cache
def shared() -> tuple[Any, Any]:
    """One position and a memory over it."""
    position = new_position()
    return position, load().modules["uci_engine.search.history"].CorrectionHistory(position)


def set_up(fen: str, turn: chess.Color = chess.WHITE) -> Any:
    """The memory, emptied, at a position."""
    memory = move_to(fen, turn)
    memory.clear()
    return memory


def move_to(fen: str, turn: chess.Color = chess.WHITE) -> Any:
    """The memory as it is, at a position."""
    position, memory = shared()
    board = chess.Board(fen)
    board.turn = turn
    position.set_board(board)
    return memory


def test_what_was_learnt_is_told_of_the_same_position_and_less_of_others() -> None:
    memory = set_up(HOME)
    memory.update(MOVES, 8, 40)
    whole = memory.correction(MOVES)
    assert 0 < whole < 4 * 40 * 256
    assert memory.correction(0) == whole * 3 // 4
    assert move_to(OTHER_PIECES).correction(MOVES) == whole // 2
    assert move_to(OTHER_KNIGHT).correction(MOVES) == whole * 3 // 4
    assert move_to(OTHER_PAWNS).correction(MOVES) == whole * 3 // 4
    assert move_to(NOTHING_ALIKE).correction(0) == 0


def test_nothing_is_told_to_the_other_side() -> None:
    memory = set_up(HOME)
    memory.update(MOVES, 8, 40)
    assert move_to(HOME, chess.BLACK).correction(MOVES) == 0


def test_deep_searches_weigh_more_and_repetition_convinces() -> None:
    seen = {}
    for depth in (1, 5, 15, 40):
        memory = set_up(HOME)
        memory.update(MOVES, depth, -30)
        seen[depth] = memory.correction(MOVES)
    assert 0 > seen[1] > seen[5] > seen[15] == seen[40]
    for _ in range(400):
        memory.update(MOVES, 15, -30)
    assert abs(memory.correction(MOVES) + 4 * 30 * 256) <= 4 * 16


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(-40_000, 40_000)), max_size=300))
def test_a_total_stays_in_its_range(lessons: list[tuple[int, int]]) -> None:
    memory = set_up(HOME)
    for depth, error_cp in lessons:
        memory.update(MOVES, depth, error_cp)
        assert abs(memory.correction(MOVES)) <= 4 * (LIMIT + 1)


def test_every_pair_of_last_moves_has_a_place() -> None:
    memory = set_up(HOME)
    for moves in (0, 1, (1 << 18) - 1, 511, 511 << 9, MOVES):
        before = memory.correction(moves)
        memory.update(moves, 15, 100)
        assert memory.correction(moves) > before


def test_a_new_game_forgets() -> None:
    memory = set_up(HOME)
    memory.update(MOVES, 8, 40)
    memory.clear()
    assert memory.correction(MOVES) == 0
