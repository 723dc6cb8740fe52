"""The sums of a board: what it keeps move by move equals what it finds anew, on every board."""

from __future__ import annotations

import random
from typing import Any

import chess
import pytest

from evaluation.trace import accumulated_indices
from evaluation.weights import Weights
from tests.evaluation.test_evaluation import random_weights
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, on_core, start_board
from uci_engine.board import moves
from uci_engine.core import load


def sums(position: Any) -> tuple[int, int, int, int]:
    return position.score, position.phase, position.pawn_key, position.material_key


def check_random_games(games: int, plies: int, chess960: bool) -> int:
    """After each random move, its twin and each move taken back: the sums kept, and those made anew.

    Now and then the evaluation reads the score, which chooses the tables of the kings' buckets.
    """
    compared = 0
    weights = random_weights(3)
    core = load()
    evaluator = core.modules["evaluation.evaluator"].Evaluator(weights)
    position = core.position_class(weights.piece_square())
    for number in range(games):
        chance = random.Random(number)
        board = start_board(number, chess960)
        position.set_board(board)
        played = []
        for _ in range(plies):
            legal = sorted(board.legal_moves, key=chess.Move.uci)
            if not legal:
                break
            before = sums(position)
            move = chance.choice(legal)
            played.append((moves.encode(board, move), before))
            position.make(played[-1][0])
            board.push(move)
            compared += refreshed(position, board)
            if chance.random() < 0.05:
                evaluator.sum_of_terms(position, False)
                assert position.score == accumulated(weights, board), board.fen()
            if not board.is_check():
                kept = sums(position)
                position.make_null()
                assert sums(position) == kept
                position.unmake_null()
                assert sums(position) == kept
        while played:
            encoded, before = played.pop()
            position.unmake(encoded)
            board.pop()
            compared += refreshed(position, board)
            if not played or chance.random() < 0.05:
                evaluator.sum_of_terms(position, False)
                assert position.score == accumulated(weights, board), board.fen()
    return compared


def accumulated(weights: Weights, board: chess.Board) -> int:
    """The packed sum of the terms of pieces by square, not summed up by a board."""
    total = 0
    for colour in chess.COLORS:
        for name, indices in accumulated_indices(board, colour).items():
            total += (1 if colour else -1) * sum(weights.packed(name)[index] for index in indices)
    return total


def refreshed(position: Any, board: chess.Board) -> int:
    kept = sums(position)
    position.refresh()
    assert sums(position) == kept, board.fen()
    return 1


@pytest.mark.parametrize("chess960", [False, True])
def test_kept_move_by_move_and_made_anew(chess960: bool) -> None:
    assert check_random_games(200 if is_compiled() else 8, 80, chess960) > 500


@pytest.mark.parametrize("core", ALL_CORES)
def test_kept_move_by_move_and_made_anew_on_every_core(core: str) -> None:
    assert on_core(core_or_skip(core), __name__, "check_random_games", 6, 60, True) > 200
