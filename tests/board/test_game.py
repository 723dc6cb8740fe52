"""The game that the GUI sends: what is played anew, and what an error leaves behind."""

import chess
import pytest

from tests.support.kernel import board_after
from uci_engine.board.game import Game, PositionError


def test_a_longer_line_only_plays_the_new_moves() -> None:
    game = Game()
    moves = ["e2e4", "e7e5", "g1f3", "b8c6"]
    for count in range(len(moves) + 1):
        board = game.board
        assert game.set(None, moves[:count], False) == []
        assert game.board is board
        assert game.board is not None
        assert [move.uci() for move in game.board.move_stack] == moves[:count]


@pytest.mark.parametrize(
    ("fen", "moves", "chess960"),
    [
        (None, ["e2e4"], False),
        (None, ["e2e4", "c7c5", "g1f3"], False),
        (None, [], False),
        (None, ["e2e4", "e7e5"], True),
        (chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"], False),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", ["e1e2"], False),
    ],
)
def test_any_other_line_is_set_up_anew(fen: str | None, moves: list[str], chess960: bool) -> None:
    game = Game()
    game.set(None, ["e2e4", "e7e5"], False)
    old = game.board
    game.set(fen, moves, chess960)
    expected = board_after(fen or chess.STARTING_FEN, " ".join(moves), chess960)
    assert game.board is not old
    assert game.board == expected
    assert game.board.move_stack == expected.move_stack


def test_notes_come_with_the_fen_that_is_read() -> None:
    game = Game()
    fen = "4k3/8/8/8/8/8/8/4K3 w KQ - 0 1"
    assert len(game.set(fen, [], False)) == 1
    assert game.set(fen, ["e1e2"], False) == []
    assert len(game.set(fen, ["e1d1"], False)) == 1


def test_no_position_of_a_game_beyond_the_75_move_rule_is_noted() -> None:
    game, board, said = Game(), chess.Board(), []
    for number in range(400):
        said += game.set(board.fen(), [], False)
        board.push_uci(("g1f3", "g8f6", "f3g1", "f6g8")[number % 4])
    assert said == game.set("4k3/8/8/8/8/8/8/4K3 w - - 0 10000", [], False) == []
    assert len(game.set("4k3/8/8/8/8/8/8/4K3 w - - -1 10000", [], False)) == 1


@pytest.mark.parametrize(
    ("fen", "moves"),
    [("nonsense", []), (None, ["e2e5"]), (None, ["e2e4", "e7e5", "0000"]), ("8/8/8/8/8/8/8/8 w - - 0 1", [])],
)
def test_after_an_error_there_is_no_position_until_a_good_one_comes(fen: str | None, moves: list[str]) -> None:
    game = Game()
    game.set(None, ["e2e4", "e7e5"], False)
    for _ in range(2):
        with pytest.raises(PositionError):
            game.set(fen, moves, False)
        assert game.board is None
    game.set(None, ["e2e4", "e7e5"], False)
    assert game.board is not None
    assert len(game.board.move_stack) == 2
