"""King and pawn against king: exact, by Syzygy's table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import chess
import pytest

import evaluation
from evaluation.explanation import KPK_RESULTS
from tests.support import TABLES
from tests.support.syzygy_samples import Probing
from uci_engine.core import load
from uci_engine.search.thread_pool import new_searcher


@pytest.fixture(scope="module")
def searcher() -> Any:
    return new_searcher(load(), load().table_class(1))


def boards(count: int) -> Iterator[chess.Board]:
    """Legal positions of king and pawn against king, of either colour."""
    choice = random.Random(4)
    while count:
        board = chess.Board(None)
        colour = choice.random() < 0.5
        squares = [choice.randrange(8, 56), choice.randrange(64), choice.randrange(64)]
        pieces = (chess.Piece(chess.PAWN, colour), chess.Piece(chess.KING, colour), chess.Piece(chess.KING, not colour))
        for square, piece in zip(squares, pieces, strict=True):
            board.set_piece_at(square, piece)
        board.turn = choice.random() < 0.5
        if len(set(squares)) == 3 and board.is_valid():
            count -= 1
            yield board


def wins(searcher: Any, board: chess.Board) -> bool:
    searcher.position.set_board(board)
    return "wins" in KPK_RESULTS[searcher.evaluator.kpk.result(searcher.position)]


def test_it_is_what_syzygy_says(searcher: Any) -> None:
    probing = Probing(TABLES)
    won = 0
    for board in boards(4000):
        value = probing.value(board)
        assert wins(searcher, board) == (value != 0), board.fen()
        won += value != 0
    assert 2000 < won < 3800


def test_the_search_knows_it(searcher: Any) -> None:
    for fen, expected in (
        ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", 0),
        ("8/8/8/8/k7/8/P7/K7 w - - 0 1", 0),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", -1),
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", 1),
        ("8/8/8/8/4p3/4k3/8/4K3 w - - 0 1", -1),
    ):
        board = chess.Board(fen)
        searcher.position.set_board(board)
        score = searcher.evaluate()
        assert (score > 300) - (score < -300) == expected, (fen, score)
        assert expected or score == 0
        assert searcher.evaluator.is_known_draw(searcher.position) == (expected == 0)
        assert score == evaluation.evaluate(board, network=None)
        explanation = evaluation.explain(board, network=None)
        assert explanation.white_score == (score if board.turn else -score)
        assert explanation.known_ending in evaluation.format_explanation(explanation)
        winner = {0: "drawn", 1: "White wins", -1: "Black wins"}[expected if board.turn else -expected]
        assert explanation.known_ending == f"king and pawn against king, {winner}"
