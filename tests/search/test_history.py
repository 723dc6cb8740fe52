"""The histories: which moves share one, and what the move before gets."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from tests.support.kernel import new_position
from uci_engine.core import load

PLY = 5
BONUS = 1000
KNIGHT_MOVE = chess.B1 | chess.C3 << 6
# The eighth ranks of four boards. Their rooks attack neither b1 nor c3, then b1, then c3, then both.
ROOKS = ("8", "1r6", "2r5", "1rr5")


@pytest.fixture
def position() -> Any:
    return new_position()


@pytest.fixture
def stack(position: Any) -> Any:
    return load().modules["uci_engine.search.stack"].SearchStack(position)


@pytest.fixture
def histories(position: Any, stack: Any) -> Any:
    stack.clear()
    return load().modules["uci_engine.search.history"].Histories(position, stack)


def set_up(position: Any, stack: Any, fen: str) -> None:
    position.set_board(chess.Board(fen))
    stack.find_threats(PLY)


@pytest.mark.parametrize("rewarded", ROOKS)
def test_the_butterfly_history_distinguishes_attacked_squares(
    position: Any, stack: Any, histories: Any, rewarded: str
) -> None:
    def found(rooks: str) -> int:
        set_up(position, stack, f"{rooks}/4k3/8/8/8/8/8/1N2K3 w - - 0 1")
        return int(histories.quiet_history(PLY, KNIGHT_MOVE))

    assert {found(rooks) for rooks in ROOKS} == {0}
    found(rewarded)
    histories.update_quiet(PLY, KNIGHT_MOVE, BONUS)
    whole = found(rewarded)
    assert whole > BONUS
    assert [found(rooks) for rooks in ROOKS] == [whole - (0 if rooks == rewarded else BONUS) for rooks in ROOKS]


def test_the_pawn_history_distinguishes_pawns(position: Any, stack: Any, histories: Any) -> None:
    found: list[int] = []
    for fen in ("4k3/8/8/8/8/8/P7/1N2K3 w - - 0 1", "4k3/8/8/8/8/P7/8/1N2K3 w - - 0 1"):
        set_up(position, stack, fen)
        if not found:
            histories.update_quiet(PLY, KNIGHT_MOVE, BONUS)
        found.append(histories.quiet_history(PLY, KNIGHT_MOVE))
    assert found[1] == found[0] - BONUS


def test_the_move_before_has_a_bonus(position: Any, stack: Any, histories: Any) -> None:
    set_up(position, stack, "4k3/8/8/8/8/8/8/1N2K3 w - - 0 1")
    stack.set_move(PLY, KNIGHT_MOVE, True)
    position.make(KNIGHT_MOVE)
    stack.find_threats(PLY + 1)
    histories.update_previous_move(PLY + 1, BONUS)
    position.unmake(KNIGHT_MOVE)
    # By squares, after the moves of 1 and 2 plies before, and half of that after the one of 4: there are none yet.
    assert histories.quiet_history(PLY, KNIGHT_MOVE) == BONUS * 7 // 2


def test_a_new_game_forgets_all_histories(position: Any, stack: Any, histories: Any) -> None:
    set_up(position, stack, "4k3/8/8/8/8/8/P7/1N2K3 w - - 0 1")
    histories.update_quiet(PLY, KNIGHT_MOVE, BONUS)
    assert histories.quiet_history(PLY, KNIGHT_MOVE) != 0
    histories.clear()
    assert histories.quiet_history(PLY, KNIGHT_MOVE) == 0
