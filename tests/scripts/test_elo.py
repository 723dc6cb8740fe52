"""The statistics of matches: against published figures, against sums done another way, and by simulation."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.elo import (
    PAIR_SCORES,
    Estimate,
    Sprt,
    estimate,
    likeliest_with_score,
    score_of_elo,
)

COUNTS = st.lists(st.integers(1, 2000), min_size=5, max_size=5)

# Likelihood ratios of large tests of the Stockfish testing framework, as fastchess's tests quote them.
PUBLISHED = [
    ((223, 9863, 21279, 10037, 246), Sprt(0.5, 2.5), -3.07),
    ((871, 26175, 55983, 26678, 821), Sprt(0.0, 2.0), -4.98),
]


@pytest.mark.parametrize(("counts", "sprt", "ratio"), PUBLISHED)
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
    assert result.superiority == pytest.approx(1 - normal.cdf(0.5), abs=1e-9)


@given(COUNTS)
def test_the_estimate_of_the_opponent_is_the_mirror_image(counts: list[int]) -> None:
    ours, theirs = estimate(counts), estimate(counts[::-1])
    assert theirs.elo == pytest.approx(-ours.elo, abs=1e-7)
    assert theirs.error_elo == pytest.approx(ours.error_elo)
    assert theirs.superiority == pytest.approx(1 - ours.superiority, abs=1e-9)
    assert Sprt(-5, 5).ratio(counts[::-1]) == pytest.approx(-Sprt(-5, 5).ratio(counts), abs=1e-6)


def test_pairs_that_cancel_each_other_out_have_a_smaller_error_than_their_games() -> None:
    cancelling, independent = estimate([0, 0, 100, 0, 1]), estimate([25, 0, 50, 0, 26])
    assert cancelling.error_elo < independent.error_elo / 5


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0), (0, 0, 7, 0, 0), (0, 0, 0, 0, 3), (2, 0, 0, 0, 0)])
def test_too_little_gives_no_false_certainty(counts: tuple[int, ...]) -> None:
    result = estimate(counts)
    assert isinstance(result, Estimate)
    assert result.error_elo == math.inf
    assert 0.0 < result.superiority < 1.0
    assert Sprt().verdict(counts) == ""


def log_likelihood(shares: list[float], model: list[float]) -> float:
    return sum(share * math.log(chance) for share, chance in zip(shares, model, strict=True))


@given(COUNTS, st.floats(-300, 300), st.lists(st.floats(-1, 1), min_size=5, max_size=5))
def test_no_distribution_with_that_score_is_likelier(counts: list[int], elo: float, other: list[float]) -> None:
    shares = [count / sum(counts) for count in counts]
    score = score_of_elo(elo)
    best = likeliest_with_score(shares, score)
    assert sum(best) == pytest.approx(1)
    assert np.dot(best, PAIR_SCORES) == pytest.approx(score, abs=1e-9)
    # A step that changes neither the sum nor the mean.
    basis = np.linalg.qr(np.array([np.ones(5), PAIR_SCORES]).T)[0]
    step = np.array(other) - basis @ (basis.T @ np.array(other))
    nearby = np.array(best) + 0.1 * min(best) * step
    assert log_likelihood(shares, list(nearby)) <= log_likelihood(shares, best) + 1e-12


def accepted(sprt: Sprt, model: list[float], pairs_at_a_time: int, tests: int, seed: int) -> float:
    """The share of simulated tests that accept elo1, when pairs come from this distribution."""
    random = np.random.default_rng(seed)
    passed = 0
    for _ in range(tests):
        counts = np.zeros(5, dtype=np.int64)
        while not (verdict := sprt.verdict([int(count) for count in counts])):
            counts += random.multinomial(pairs_at_a_time, model)
        passed += verdict == "H1"
    return passed / tests


def test_the_error_rates_of_the_sequential_test() -> None:
    # The pairs of a usual test: many draws, and colours that matter.
    shares = [0.04, 0.22, 0.45, 0.24, 0.05]
    tests = 500
    sprt = Sprt(0.0, 8.0)
    null, other = (likeliest_with_score(shares, score_of_elo(elo)) for elo in (sprt.elo0, sprt.elo1))
    # At most so many wrong decisions as were asked for, within three deviations, and not suspiciously few.
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / tests)
    for rate in (accepted(sprt, null, 80, tests, seed=1), 1 - accepted(sprt, other, 80, tests, seed=2)):
        assert 0.01 < rate < most


@pytest.mark.parametrize("elo", [0.0, 30.0, -120.0])
def test_the_error_bar_covers_the_truth_as_often_as_it_says(elo: float) -> None:
    model = likeliest_with_score([0.1, 0.2, 0.4, 0.2, 0.1], score_of_elo(elo))
    random = np.random.default_rng(3)
    matches = 2000
    results = [estimate([int(count) for count in counts]) for counts in random.multinomial(250, model, size=matches)]
    covered = sum(result.low_elo <= elo <= result.high_elo for result in results) / matches
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / matches))
    assert statistics.fmean(result.elo for result in results) == pytest.approx(elo, abs=1.5)
