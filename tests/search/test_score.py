"""The scale of scores: bands that do not overlap, mates by distance, to the table and back, UCI words."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.base import constants
from uci_engine import score
from uci_engine.search.info import Info
from uci_engine.uci.protocol import format_info

PIECES = st.integers(2, 32)
PLIES = st.integers(0, score.MAX_PLY)
STATIC = st.integers(1 - score.STATIC_LIMIT, score.STATIC_LIMIT - 1)
WINS = [
    *range(score.TABLEBASE_WIN - score.MAX_PLY, score.TABLEBASE_WIN + 1),
    *range(score.MATE - score.MAX_PLY, score.MATE + 1),
]
DECISIVE = [*WINS, *(-win for win in WINS)]


def test_bands_are_apart_and_fit_in_16_bits() -> None:
    static = (score.DRAW, score.STATIC_LIMIT)
    marks = [*static, score.TABLEBASE_BOUND, score.TABLEBASE_WIN, score.MATE_BOUND, score.MATE, score.INFINITE]
    assert marks == sorted(set(marks))
    assert score.NO_SCORE < -score.INFINITE
    assert score.STATIC_LIMIT == constants.STATIC_LIMIT
    assert all(-(2**15) <= value < 2**15 for value in [*marks, score.NO_SCORE])


@given(PLIES, PIECES)
def test_mates_are_shown_in_moves(plies: int, pieces: int) -> None:
    count = (plies + 1) // 2
    for value, moves in ((score.MATE - plies, count), (plies - score.MATE, -count)):
        assert score.is_mate(value)
        assert score.mate_in_moves(value) == moves
        assert format_info(Info(score=value, pieces=pieces)) == f"info score mate {moves}"


@given(STATIC, PIECES)
def test_static_scores_are_shown_as_centipawns(value: int, pieces: int) -> None:
    assert not score.is_mate(value)
    shown = score.normalised(value, pieces)
    assert format_info(Info(score=value, pieces=pieces)) == f"info score cp {shown}"


@pytest.mark.parametrize("pieces", range(2, 33))
def test_half_of_the_games_are_won_at_a_pawn(pieces: int) -> None:
    midpoint_cp, _ = score.win_curve(pieces)
    for value in (math.floor(midpoint_cp), math.ceil(midpoint_cp)):
        # A whole internal centipawn may be more than one that is shown.
        assert abs(score.normalised(value, pieces) - 100) <= 100 / midpoint_cp + 0.5
        wins, _, _ = score.win_draw_loss(value, pieces)
        assert abs(wins - 500) <= 10


@given(st.one_of(STATIC, st.integers(1 - score.TABLEBASE_BOUND, score.TABLEBASE_BOUND - 1)), PIECES)
def test_shown_scores_are_symmetric_and_keep_their_sign(value: int, pieces: int) -> None:
    shown = score.normalised(value, pieces)
    assert score.normalised(-value, pieces) == -shown
    assert (shown > 0) - (shown < 0) == (value > 0) - (value < 0)
    assert abs(shown) < score.STATIC_LIMIT
    exact = abs(value) * 100 / score.win_curve(pieces)[0]
    assert not value or abs(shown) == max(1, min(score.STATIC_LIMIT - 1, math.floor(exact + 0.5)))


def test_decisive_scores_are_shown_as_they_are() -> None:
    for value, pieces in itertools.product(DECISIVE, range(2, 33)):
        assert score.normalised(value, pieces) == value


def test_the_curve_is_that_of_the_nearest_number_of_pieces() -> None:
    fewest, most = score.WIN_PIECES
    assert score.win_curve(2) == score.win_curve(fewest)
    assert score.win_curve(most + 1) == score.win_curve(most)
    assert all(score.win_curve(pieces)[0] > 1 < score.win_curve(pieces)[1] for pieces in range(fewest, most + 1))


@pytest.mark.parametrize("pieces", range(2, 33))
def test_win_draw_loss_is_a_distribution_symmetric_and_monotone(pieces: int) -> None:
    values = [*range(-score.MATE, -2000, 97), *range(-2000, 2001), *range(2001, score.MATE + 1, 97)]
    results = [score.win_draw_loss(value, pieces) for value in values]
    assert all(sum(result) == 1000 and min(result) >= 0 for result in results)
    for value, (wins, draws, losses) in zip(values, results, strict=True):
        assert score.win_draw_loss(-value, pieces) == (losses, draws, wins)
    for (wins, _, losses), (more_wins, _, fewer_losses) in itertools.pairwise(results):
        assert wins <= more_wins
        assert losses >= fewer_losses
    for value in (score.MATE - 1, score.TABLEBASE_WIN, score.TABLEBASE_BOUND):
        assert score.win_draw_loss(value, pieces) == (1000, 0, 0)
    assert score.win_draw_loss(score.DRAW, pieces)[1] > 0
