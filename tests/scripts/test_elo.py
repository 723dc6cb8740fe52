"""The statistics of matches: against published figures, against sums done another way, and by simulation."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.elo import PAIR_SCORES, Sprt, estimate, likeliest_with_score, score_of_elo

COUNTS = st.lists(st.integers(1, 2000), min_size=5, max_size=5)


# Large tests of the Stockfish testing framework, as fastchess's tests quote them.
@pytest.mark.parametrize(
    ("counts", "sprt", "ratio"),
    [
        ((223, 9863, 21279, 10037, 246), Sprt(0.5, 2.5), -3.07),
        ((871, 26175, 55983, 26678, 821), Sprt(0.0, 2.0), -4.98),
    ],
)
def test_the_likelihood_ratio_is_the_published_one(counts: tuple[int, ...], sprt: Sprt, ratio: float) -> None:
    assert sprt.ratio(counts) == pytest.approx(ratio, abs=0.006)


@given(COUNTS)
def test_the_estimate_agrees_with_the_textbook(counts: list[int]) -> None:
    pairs = [score for score, count in zip(PAIR_SCORES, counts, strict=True) for _ in range(count)]
    mean, deviation = statistics.fmean(pairs), statistics.pstdev(pairs) / math.sqrt(len(pairs))
    result = estimate(counts)
    assert result.score == pytest.approx(mean)
    assert result.elo == pytest.approx(-400 * math.log10(1 / mean - 1), abs=1e-9)
    normal = statistics.NormalDist(mean, deviation)
    assert score_of_elo(result.low_elo) == pytest.approx(max(0.0, normal.inv_cdf(0.025)), rel=1e-9)
    assert score_of_elo(result.high_elo) == pytest.approx(min(1.0, normal.inv_cdf(0.975)), rel=1e-9)
    assert result.error_elo == pytest.approx((result.high_elo - result.low_elo) / 2)
    assert result.superiority == pytest.approx(1 - normal.cdf(0.5), abs=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0), (0, 0, 7, 0, 0), (0, 0, 0, 0, 3), (2, 0, 0, 0, 0)])
def test_too_little_gives_no_false_certainty(counts: tuple[int, ...]) -> None:
    result = estimate(counts)
    assert result.error_elo == math.inf
    assert 0.0 < result.superiority < 1.0
    assert Sprt().verdict(counts) == ""


@given(COUNTS, st.floats(-300, 300))
def test_the_likeliest_distribution_has_the_score(counts: list[int], elo: float) -> None:
    best = likeliest_with_score([count / sum(counts) for count in counts], score_of_elo(elo))
    assert sum(best) == pytest.approx(1)
    assert np.dot(best, PAIR_SCORES) == pytest.approx(score_of_elo(elo), abs=1e-9)


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "H1"), (8.0, "H0")])
def test_the_error_rates_of_the_sequential_test(elo: float, wrong: str) -> None:
    # The pairs of a usual test: many draws, and colours that matter.
    model = likeliest_with_score([0.04, 0.22, 0.45, 0.24, 0.05], score_of_elo(elo))
    random, sprt, tests, mistakes = np.random.default_rng(1), Sprt(0.0, 8.0), 500, 0
    for _ in range(tests):
        counts = np.zeros(5, dtype=np.int64)
        while not (verdict := sprt.verdict([int(count) for count in counts])):
            counts += random.multinomial(80, model)
        mistakes += verdict == wrong
    # At most so many wrong decisions as were asked for, within three deviations, and not suspiciously few.
    assert 0.01 < mistakes / tests < 0.05 + 3 * math.sqrt(0.05 * 0.95 / tests)
