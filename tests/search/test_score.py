"""The scale of scores: bands that do not overlap, mates by distance, to the table and back, UCI words."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import constants
from tests.support.kernel import searcher
from uci_engine import score

PLIES = st.integers(0, score.MAX_PLY)
STATIC = st.integers(1 - score.STATIC_LIMIT, score.STATIC_LIMIT - 1)
WINS = [
    *range(score.TABLEBASE_WIN - score.MAX_PLY, score.TABLEBASE_WIN + 1),
    *range(score.MATE - score.MAX_PLY, score.MATE + 1),
]
DECISIVE = [*WINS, *(-win for win in WINS)]


def test_bands_are_apart_and_fit_in_16_bits() -> None:
    marks = [
        score.DRAW,
        score.STATIC_LIMIT,
        score.TABLEBASE_BOUND,
        score.TABLEBASE_WIN,
        score.MATE_BOUND,
        score.MATE,
        score.INFINITE,
    ]
    assert marks == sorted(set(marks))
    assert score.NO_SCORE < -score.INFINITE
    stored = [searcher().score_to_tt(value, score.MAX_PLY) for value in DECISIVE]
    assert all(-(2**15) <= value < 2**15 for value in [*stored, *marks, score.NO_SCORE])


@pytest.mark.parametrize(
    ("value", "moves"),
    [
        (score.MATE - 1, 1),
        (score.MATE - 2, 1),
        (score.MATE - 3, 2),
        (score.MATE - 5, 3),
        (-score.MATE, 0),
        (-(score.MATE - 2), -1),
        (-(score.MATE - 4), -2),
        (score.MATE - score.MAX_PLY, score.MAX_PLY // 2),
    ],
)
def test_mate_in_moves(value: int, moves: int) -> None:
    assert score.is_mate(value)
    assert score.mate_in_moves(value) == moves
    assert score.to_uci(value) == f"mate {moves}"


def test_the_evaluation_and_the_scale_have_one_limit() -> None:
    assert score.STATIC_LIMIT == constants.STATIC_LIMIT


@given(STATIC)
def test_static_scores_are_centipawns(value: int) -> None:
    assert not score.is_mate(value)
    assert score.to_uci(value) == f"cp {value}"


def test_a_tablebase_win_is_no_mate() -> None:
    assert not any(score.is_mate(value) for value in (score.TABLEBASE_WIN, -score.TABLEBASE_WIN))


@given(st.one_of(STATIC, st.sampled_from(DECISIVE)), PLIES)
def test_round_trip_through_the_table(value: int, ply: int) -> None:
    assert searcher().score_from_tt(searcher().score_to_tt(value, ply), ply) == value


@given(PLIES, PLIES, PLIES, st.sampled_from([score.MATE, score.TABLEBASE_WIN]))
def test_table_stores_the_distance_from_the_node(stored_at: int, read_at: int, left: int, win: int) -> None:
    # A win `left` plies below the node, seen from roots at two different distances.
    stored_at, read_at = min(stored_at, score.MAX_PLY - left), min(read_at, score.MAX_PLY - left)
    for sign in (1, -1):
        stored = searcher().score_to_tt(sign * (win - stored_at - left), stored_at)
        assert stored == sign * (win - left)
        assert searcher().score_from_tt(stored, read_at) == sign * (win - read_at - left)


@given(STATIC, PLIES)
def test_table_leaves_other_scores_alone(value: int, ply: int) -> None:
    assert searcher().score_to_tt(value, ply) == searcher().score_from_tt(value, ply) == value


def test_win_draw_loss_is_a_distribution_symmetric_and_monotone() -> None:
    values = [*range(-score.MATE, -2000, 97), *range(-2000, 2001), *range(2001, score.MATE + 1, 97)]
    results = [score.win_draw_loss(value) for value in values]
    assert all(sum(result) == 1000 and min(result) >= 0 for result in results)
    for value, (wins, draws, losses) in zip(values, results, strict=True):
        assert score.win_draw_loss(-value) == (losses, draws, wins)
    for (wins, _, losses), (more_wins, _, fewer_losses) in itertools.pairwise(results):
        assert wins <= more_wins
        assert losses >= fewer_losses


def test_win_draw_loss_of_known_cases() -> None:
    assert score.win_draw_loss(score.MATE - 1) == (1000, 0, 0)
    assert score.win_draw_loss(-score.MATE) == (0, 0, 1000)
    assert score.win_draw_loss(score.TABLEBASE_WIN) == (1000, 0, 0)
    wins, draws, losses = score.win_draw_loss(score.DRAW)
    assert wins == losses
    assert draws > 500
    assert score.win_draw_loss(round(score.WIN_MIDPOINT_CP))[0] == 500
