"""Endgames: the scale factor of each kind and of hopeless ones, and king and pawn against king by Syzygy's table."""

from __future__ import annotations

import chess
import pytest

from evaluation import set_up
from evaluation.base.constants import DRAWISH_SCALE, DRAWN_SCALE, ENDGAME_SCALES, FULL_SCALE
from evaluation.terms.endgames import endgame_scale
from evaluation.trace import KPK_RESULTS
from tests.support import TABLES
from tests.support.kernel import searcher
from tests.support.syzygy_samples import Probing, random_boards

KINDS = [
    ("pawns", "4k3/pp6/8/8/8/8/PPP5/4K3 w - - 0 1"),
    ("minors", "4k1n1/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1"),
    ("minors", "4kb2/pp6/8/8/8/8/PPP5/2B1K3 w - - 0 1"),
    ("opposite bishops", "4kb2/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1"),
    ("opposite bishops and others", "r3kb2/pp6/8/8/8/8/PPP5/R3KB2 w - - 0 1"),
    ("opposite bishops and others", "4kbn1/pp6/8/8/8/8/PPP5/4KBN1 w - - 0 1"),
    ("rooks", "r3k3/pp6/8/8/8/8/PPP5/R3K3 w - - 0 1"),
    ("rooks and minors", "r3k1n1/pp6/8/8/8/8/PPP5/R3KB2 w - - 0 1"),
    ("queens", "3qk3/pp6/8/8/8/8/PPP5/3QK3 w - - 0 1"),
    ("equal", "n1b1k1n1/pp6/8/8/8/8/PPP5/B1N1KB2 w - - 0 1"),
    ("equal", "r2qk3/pp6/8/8/8/8/PPP5/R2QK3 w - - 0 1"),
    ("unequal", "4k3/pp6/8/8/8/8/PPP5/R3K3 w - - 0 1"),
    ("unequal", "r3k3/pp6/8/8/8/8/PPP5/B3K1N1 w - - 0 1"),
]


def scale_of(board: chess.Board, strong: chess.Color) -> int:
    _, base_board = set_up(board)
    return endgame_scale(base_board, int(strong))


@pytest.mark.parametrize(("kind", "fen"), KINDS)
def test_the_scale_is_that_of_the_kind_of_ending_and_the_number_of_pawns(kind: str, fen: str) -> None:
    for board in (chess.Board(fen), chess.Board(fen).mirror()):
        for colour in chess.COLORS:
            assert scale_of(board, colour) == ENDGAME_SCALES[kind][len(board.pieces(chess.PAWN, colour)) - 1]


@pytest.mark.parametrize(
    ("fen", "scale"),
    [
        ("4k3/p7/8/8/8/8/8/4KN2 w - - 0 1", DRAWN_SCALE),
        ("4k3/p7/8/8/8/8/8/3NKN2 w - - 0 1", DRAWN_SCALE),
        ("4k1n1/p7/8/8/8/8/8/R3K3 w - - 0 1", DRAWISH_SCALE),
        ("4k3/p7/8/8/8/8/8/Q3K3 w - - 0 1", FULL_SCALE),
        # The bishop does not attack the corner: with the king in it, beside it, too far away.
        ("k7/8/8/P7/8/8/8/2B1K3 w - - 0 1", DRAWN_SCALE),
        ("8/1k6/P7/P7/8/8/3p4/2B1K3 w - - 0 1", DRAWN_SCALE),
        ("2k5/8/8/P7/8/8/8/2B1K3 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("7k/8/8/7P/8/8/8/4KB2 w - - 0 1", DRAWN_SCALE),
        # The bishop attacks the corner; a pawn on another file; a knight.
        ("k7/8/8/P7/8/8/8/4KB2 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("k7/8/8/PP6/8/8/8/2B1K3 w - - 0 1", ENDGAME_SCALES["unequal"][1]),
        ("k7/8/8/P7/8/8/8/2B1K1N1 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("7k/8/8/P6P/8/8/8/4KB2 w - - 0 1", ENDGAME_SCALES["unequal"][1]),
        # Edge pawns alone.
        ("1k6/8/8/P7/P7/8/8/4K3 w - - 0 1", DRAWN_SCALE),
    ],
)
def test_endings_that_are_hard_or_impossible_to_win(fen: str, scale: int) -> None:
    assert scale_of(chess.Board(fen), chess.WHITE) == scale
    assert scale_of(chess.Board(fen).mirror(), chess.BLACK) == scale


def test_king_and_pawn_against_king_is_what_syzygy_says() -> None:
    probing, position, evaluator = Probing(TABLES), searcher().position, searcher().evaluator
    won = 0
    for board in random_boards("KPvK", 4000):
        position.set_board(board)
        is_drawn, is_white = probing.value(board) == 0, bool(board.pawns & board.occupied_co[chess.WHITE])
        result = "drawn" if is_drawn else "White wins" if is_white else "Black wins"
        assert KPK_RESULTS[evaluator.kpk.result(position)] == f"king and pawn against king, {result}", board.fen()
        assert evaluator.is_known_draw(position) == is_drawn
        # For the side with the pawn.
        score = searcher().evaluate() if board.turn == is_white else -searcher().evaluate()
        assert score == 0 if is_drawn else score > 300, board.fen()
        won += not is_drawn
    assert 2000 < won < 3800
