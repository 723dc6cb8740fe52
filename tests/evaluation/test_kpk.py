"""King and pawn against king: exact, by Syzygy's table."""

from __future__ import annotations

import chess
import pytest

import evaluation
from evaluation.trace import KPK_RESULTS
from tests.support import TABLES
from tests.support.kernel import searcher
from tests.support.syzygy_samples import Probing, random_boards


def wins(board: chess.Board) -> bool:
    searcher().position.set_board(board)
    return "wins" in KPK_RESULTS[searcher().evaluator.kpk.result(searcher().position)]


def test_it_is_what_syzygy_says() -> None:
    probing = Probing(TABLES)
    won = 0
    for board in random_boards("KPvK", 4000):
        value = probing.value(board)
        assert wins(board) == (value != 0), board.fen()
        won += value != 0
    assert 2000 < won < 3800


@pytest.mark.parametrize(
    ("fen", "result", "sign"),
    [
        ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", "drawn", 0),
        ("8/8/8/8/k7/8/P7/K7 w - - 0 1", "drawn", 0),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", "White wins", 1),
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", "White wins", 1),
        ("8/8/8/8/4p3/4k3/8/4K3 w - - 0 1", "Black wins", -1),
    ],
)
def test_the_search_knows_it(fen: str, result: str, sign: int) -> None:
    board = chess.Board(fen)
    searcher().position.set_board(board)
    score = searcher().evaluate()
    assert score == evaluation.evaluate(board, network=None)
    assert searcher().evaluator.is_known_draw(searcher().position) == (sign == 0)
    explanation = evaluation.explain(board, network=None)
    assert explanation.white_score == (score if board.turn else -score)
    assert explanation.known_ending == f"king and pawn against king, {result}"
    assert explanation.white_score * sign > 300 if sign else score == 0
