"""The move picker: every move once, in the order promised, whatever is remembered from elsewhere. The histories and the
threats that it orders by.
"""

from __future__ import annotations

import random
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel import is_compiled, random_game, searcher, start_board
from uci_engine.board import moves
from uci_engine.search.stack import PLIES_BACK

# By squares, by pawns, after the moves one and two plies before, and half of that after the one four plies before.
HISTORY_LIMIT = (1 << 14) * 9 // 2
PLY = 4
# What one table of the correction history can say; a total adds up five.
CORRECTION_LIMIT = 1 << 15
# The entries of the piece types and to-squares of a move: nothing, least, greatest, and two of knights and pawns.
PIECES_TO = (0, 1, 511, 2 << 6 | 21, 1 << 6 | 28)
# The pieces that are worth less than a knight or bishop, than a rook, and than a queen.
LESS = {
    chess.KNIGHT: {chess.PAWN},
    chess.BISHOP: {chess.PAWN},
    chess.ROOK: {chess.PAWN, chess.KNIGHT, chess.BISHOP},
    chess.QUEEN: {chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK},
}


def set_up(board: chess.Board) -> tuple[Any, Any]:
    """A position and the searcher over it, with empty histories."""
    machine = searcher()
    machine.position.set_board(board)
    machine.stack.clear()
    machine.histories.clear()
    machine.stack.find_threats(PLY)
    return machine.position, machine


def picked(machine: Any, tt_move: int = 0, quiescence: bool = False, skip_after: int = 0) -> list[int]:
    """All moves of a ply in their order; the picker must go on saying that there are no more.

    `skip_after`: so many moves it is told to skip quiet ones, if not 0.
    """
    machine.picker.begin(PLY, tt_move, quiescence)
    found: list[int] = []
    while move := machine.picker.next(PLY):
        found.append(move)
        if len(found) == skip_after:
            machine.picker.skip_quiets(PLY)
    assert machine.picker.next(PLY) == 0
    return found


def unsettle(machine: Any, generator: random.Random, legal: list[int]) -> None:
    """Killers and histories as in the middle of a search: some of these moves, some of other positions."""
    for _ in range(20):
        move = generator.choice([*legal, generator.randrange(1, 1 << 16)])
        machine.stack.add_killer(PLY, move)
        machine.histories.update_quiet(PLY, generator.choice(legal), generator.randrange(-2000, 2000))


@pytest.mark.parametrize("chess960", [False, True])
def test_every_legal_move_comes_exactly_once(chess960: bool) -> None:
    checks = 0
    for game in range(12 if is_compiled() else 3):
        generator = random.Random(game)
        for board in random_game(game, start_board(game, chess960), 60):
            position, machine = set_up(board)
            legal = position.legal_moves()
            if not legal:
                break
            unsettle(machine, generator, legal)
            tt_move = generator.choice([0, generator.choice(legal)])
            found = picked(machine, tt_move)
            assert sorted(found) == sorted(legal), board.fen()
            if tt_move in legal:
                assert found[0] == tt_move
            checks += board.is_check()
            count = generator.randint(1, len(found))
            spared = [move for move in found[count:] if position.is_noisy(move) or position.gives_check(move)]
            assert picked(machine, tt_move, skip_after=count) == found[:count] + spared, board.fen()
            quiet_free = picked(machine, tt_move, quiescence=True)
            expected = legal if board.is_check() else [move for move in legal if position.is_noisy(move)]
            assert sorted(quiet_free) == sorted(expected), board.fen()
    assert checks > 0


def stage(position: Any, move: int, killers: set[int]) -> int:
    """Of a move: 0 captures that lose nothing, 1 killers, 2 quiet moves, 3 losing captures."""
    if position.is_noisy(move):
        return 0 if position.see_at_least(move, 0) else 3
    return 1 if move in killers else 2


def test_stages_come_in_their_order() -> None:
    seen = set()
    for game in range(20 if is_compiled() else 4):
        generator = random.Random(game)
        for board in random_game(game, start_board(game, False), 50):
            if board.is_check():
                continue
            position, machine = set_up(board)
            quiet = [move for move in position.legal_moves() if not position.is_noisy(move)]
            killers = set(generator.sample(quiet, min(2, len(quiet))))
            for move in killers:
                machine.stack.add_killer(PLY, move)
            stages = [stage(position, move, killers) for move in picked(machine)]
            assert stages == sorted(stages), board.fen()
            seen |= set(stages)
    assert seen == {0, 1, 2, 3}


def test_quiet_moves_come_by_history_and_then_by_number() -> None:
    position, machine = set_up(chess.Board())
    generator = random.Random(1)
    for move in position.legal_moves():
        machine.histories.update_quiet(PLY, move, generator.choice((-500, 0, 700)))
    order = picked(machine)
    assert order == sorted(order, key=lambda move: (machine.histories.quiet_history(PLY, move), move), reverse=True)
    assert len({machine.histories.quiet_history(PLY, move) for move in order}) == 3


@given(st.lists(st.integers(-8000, 8000), min_size=1, max_size=80))
def test_history_stays_in_its_range_and_follows_the_bonus(bonuses: list[int]) -> None:
    board = chess.Board()
    _, machine = set_up(board)
    move = moves.encode(board, chess.Move.from_uci("e2e4"))
    for bonus in bonuses:
        before = machine.histories.quiet_history(PLY, move)
        machine.histories.update_quiet(PLY, move, bonus)
        after = machine.histories.quiet_history(PLY, move)
        assert -HISTORY_LIMIT <= after <= HISTORY_LIMIT
        # The smallest steps can be lost in rounding.
        if bonus > 100 and before < HISTORY_LIMIT // 2:
            assert after > before
        if bonus < -100 and before > -HISTORY_LIMIT // 2:
            assert after < before


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(-40_000, 40_000)), max_size=300))
def test_a_correction_stays_in_its_range(lessons: list[tuple[int, int]]) -> None:
    _, machine = set_up(chess.Board())
    assert machine.histories.correction(PLY) == 0
    for depth, error_cp in lessons:
        machine.histories.update_correction(PLY, depth, error_cp)
        assert abs(machine.histories.correction(PLY)) <= 5 * CORRECTION_LIMIT


@pytest.mark.parametrize("plies_back", [1, 2, 4])
def test_every_pair_of_moves_has_a_correction(plies_back: int) -> None:
    _, machine = set_up(chess.Board("4k3/pp3ppp/2n5/8/8/2N5/PP3PPP/4K3 w - - 0 1"))
    for piece_to in PIECES_TO:
        machine.stack.moved_piece_to[PLY + PLIES_BACK - plies_back] = piece_to
        before = machine.histories.correction(PLY)
        machine.histories.update_correction(PLY, 15, 100)
        assert machine.histories.correction(PLY) > before


def attacked_by(board: chess.Board, piece_types: set[int]) -> int:
    """The squares that these pieces of the side not to move attack."""
    squares = chess.SquareSet()
    for square, piece in board.piece_map().items():
        if piece.color != board.turn and piece.piece_type in piece_types:
            squares |= board.attacks(square)
    return int(squares)


@pytest.mark.parametrize("chess960", [False, True])
def test_threats_and_checks_are_those_of_python_chess(chess960: bool) -> None:
    for game in range(4):
        for board in random_game(game, start_board(game, chess960), 80):
            position, machine = set_up(board)
            assert machine.stack.attacked[PLY] == attacked_by(board, set(chess.PIECE_TYPES)), board.fen()
            threats = {piece_type: machine.stack.threats[8 * PLY + piece_type] for piece_type in LESS}
            assert threats == {piece_type: attacked_by(board, less) for piece_type, less in LESS.items()}, board.fen()
            for move in position.legal_moves():
                assert machine.stack.gives_check(PLY, move) == position.gives_check(move), board.fen()
