"""The sum of pieces by square, kept move by move, is the one counted from the board, on every core."""

from __future__ import annotations

import random

import chess
import pytest

from evaluation.trace import accumulated_indices
from evaluation.weights import Weights
from tests.evaluation.test_evaluation import random_weights
from tests.support.kernel import ALL_CORES, core_or_skip, on_core, random_game, start_board
from uci_engine.board import moves
from uci_engine.core import load


def check_random_games(games: int, plies: int, chess960: bool) -> int:
    """Along random games, forwards and backwards; returns how many positions were compared.

    Only now and then the evaluation reads the score, which chooses the tables by the kings' places.
    """
    compared = 0
    weights = random_weights(3)
    core = load()
    evaluator = core.modules["evaluation.evaluator"].Evaluator(weights)
    position = core.position_class(weights.piece_square())
    for number in range(games):
        chance = random.Random(number)
        start = start_board(number, chess960)
        position.set_board(start)
        line = [(board.copy(stack=1), len(board.move_stack)) for board in random_game(number, start, plies)]
        made: list[int] = []
        for board, ply in [*line, *reversed(line)]:
            if ply > len(made):
                move = board.peek()
                made.append(moves.encode(line[ply - 1][0], move))
                position.make(made[-1])
            while ply < len(made):
                position.unmake(made.pop())
            if chance.random() < 0.1:
                evaluator.sum_of_terms(position, False)
                assert position.score == accumulated(weights, board), board.fen()
                compared += 1
    return compared


def accumulated(weights: Weights, board: chess.Board) -> int:
    """The packed sum of the terms of pieces by square, not summed up by a board."""
    total = 0
    for colour in chess.COLORS:
        for name, indices in accumulated_indices(board, colour).items():
            total += (1 if colour else -1) * sum(weights.packed(name)[index] for index in indices)
    return total


@pytest.mark.parametrize("chess960", [False, True])
@pytest.mark.parametrize("core", ALL_CORES)
def test_the_score_kept_move_by_move_is_the_one_counted_anew(core: str, chess960: bool) -> None:
    games = 100 if core == "compiled" else 8
    assert on_core(core_or_skip(core), __name__, "check_random_games", games, 80, chess960) > 10 * games
