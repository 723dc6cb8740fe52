"""The move picker: every move once, in the order promised, whatever is remembered from elsewhere."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import STARTS, is_compiled, new_position, random_game, start_board
from uci_engine.board import moves
from uci_engine.core import load

# By squares, by pawns, after the moves one and two plies before, and half of that after the one four plies before.
HISTORY_LIMIT = (1 << 14) * 9 // 2
PLY = 3


@cache
def shared() -> tuple[Any, Any]:
    """One position and the parts of a picker over it."""
    position = new_position()
    return position, Parts(position)


class Parts:
    """A picker with the search stack and the histories that it orders by."""

    def __init__(self, position: Any) -> None:
        modules = load().modules
        self.stack = modules["uci_engine.search.stack"].SearchStack(position)
        self.histories = modules["uci_engine.search.history"].Histories(position, self.stack)
        picker = modules["uci_engine.search.move_picker"].MovePicker(position, self.stack, self.histories)
        self.begin, self.next = picker.begin, picker.next

    def reward(self, ply: int, move: int, bonus: int) -> None:
        """What a quiet move that fails high is given."""
        self.stack.add_killer(ply, move)
        self.histories.update_quiet(ply, move, bonus)


def is_noisy(position: Any, move: int) -> bool:
    """Whether a legal move captures or promotes, by the position."""
    assert position.is_legal(move)
    return bool(position.is_noisy(move))


def set_up(board: chess.Board) -> tuple[Any, Any]:
    position, picker = shared()
    position.set_board(board)
    picker.stack.clear()
    picker.histories.clear()
    picker.stack.find_threats(PLY)
    return position, picker


def picked(picker: Any, tt_move: int = 0, quiescence: bool = False, ply: int = PLY) -> list[int]:
    """All moves of a ply in their order; the picker must go on saying that there are no more."""
    picker.begin(ply, tt_move, quiescence)
    found = list(iter(lambda: picker.next(ply), 0))
    assert picker.next(ply) == 0
    return found


def unsettle(picker: Any, generator: random.Random, legal: list[int]) -> None:
    """Killers and histories as in the middle of a search: some of these moves, some of other positions."""
    for _ in range(20):
        move = generator.choice([*legal, generator.randrange(1, 1 << 16)])
        picker.reward(PLY, move, generator.randrange(1, 2000))
        picker.histories.update_quiet(PLY, generator.choice(legal), generator.randrange(-2000, 2000))


@pytest.mark.parametrize("chess960", [False, True])
def test_every_legal_move_comes_exactly_once(chess960: bool) -> None:
    checks = 0
    for game in range(12 if is_compiled() else 3):
        generator = random.Random(game)
        for board in random_game(game, start_board(game, chess960), 60):
            position, picker = set_up(board)
            legal = position.legal_moves()
            if not legal:
                break
            unsettle(picker, generator, legal)
            tt_move = generator.choice([0, generator.choice(legal)])
            found = picked(picker, tt_move)
            assert sorted(found) == sorted(legal), board.fen()
            if tt_move in legal:
                assert found[0] == tt_move
            checks += board.is_check()
            quiet_free = picked(picker, tt_move, quiescence=True)
            expected = legal if board.is_check() else [move for move in legal if is_noisy(position, move)]
            assert sorted(quiet_free) == sorted(expected), board.fen()
    assert checks > 0


def stage(position: Any, move: int, killers: set[int]) -> int:
    """Of a move: 0 captures that lose nothing, 1 killers, 2 quiet moves, 3 losing captures."""
    if is_noisy(position, move):
        return 0 if position.see_at_least(move, 0) else 3
    return 1 if move in killers else 2


def test_stages_come_in_their_order() -> None:
    seen = set()
    for game in range(20 if is_compiled() else 4):
        generator = random.Random(game)
        for board in random_game(game, start_board(game, False), 50):
            if board.is_check():
                continue
            position, picker = set_up(board)
            quiet = [move for move in position.legal_moves() if not is_noisy(position, move)]
            killers = set(generator.sample(quiet, min(2, len(quiet))))
            for move in killers:
                picker.reward(PLY, move, 1)
            stages = [stage(position, move, killers) for move in picked(picker)]
            assert stages == sorted(stages), board.fen()
            seen |= set(stages)
    assert seen == {0, 1, 2, 3}


def test_quiet_moves_come_by_history_and_then_by_number() -> None:
    position, picker = set_up(chess.Board())
    generator = random.Random(1)
    for move in position.legal_moves():
        picker.histories.update_quiet(PLY, move, generator.choice((-500, 0, 700)))
    order = picked(picker)
    assert order == sorted(order, key=lambda move: (picker.histories.quiet_history(PLY, move), move), reverse=True)
    assert len({picker.histories.quiet_history(PLY, move) for move in order}) == 3


@given(st.lists(st.integers(-8000, 8000), min_size=1, max_size=80))
def test_history_stays_in_its_range_and_follows_the_bonus(bonuses: list[int]) -> None:
    board = chess.Board()
    _, picker = set_up(board)
    move = moves.encode(board, chess.Move.from_uci("e2e4"))
    for bonus in bonuses:
        before = picker.histories.quiet_history(PLY, move)
        picker.histories.update_quiet(PLY, move, bonus)
        after = picker.histories.quiet_history(PLY, move)
        assert -HISTORY_LIMIT <= after <= HISTORY_LIMIT
        # The smallest steps can be lost in rounding.
        if bonus > 100 and before < HISTORY_LIMIT // 2:
            assert after > before
        if bonus < -100 and before > -HISTORY_LIMIT // 2:
            assert after < before


def test_two_plies_are_open_at_once() -> None:
    position, picker = set_up(chess.Board(STARTS[1]))
    expected = picked(picker)
    picker.begin(PLY, 0, False)
    found = []
    while move := picker.next(PLY):
        found.append(move)
        position.make(move)
        assert len(picked(picker, ply=PLY + 1)) == len(position.legal_moves())
        position.unmake(move)
    assert found == expected
