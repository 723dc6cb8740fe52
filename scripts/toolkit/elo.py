"""The statistics of matches: Elo, its error, likelihood of superiority, ratings, sequential probability ratio test.

Everything is computed from pairs of games (one opening, both colours). The two results of a pair depend on each other;
games counted singly would overstate the error.

A pair gives 0, 1/2, 1, 3/2 or 2 points; the five counts, in this order (LL, LD, DD and WL, WD, WW), are called
pentanomial. Sources: M. Van den Bergh, "A practical introduction to the GSPRT" (hardy.uhasselt.be/Fishtest), which the
Stockfish testing framework follows; A. Wald, "Sequential Analysis" (1947).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit, ndtr

from toolkit.errors import ProgramError

Pentanomial = tuple[int, int, int, int, int]
Floats = NDArray[np.float64]

# Points of a pair, as a share of the two to be had.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
# 95 % of a normal distribution lie within so many standard deviations.
DEVIATIONS_95 = 1.959963984540054
# What stands for a count of zero in the likelihood ratio, so that no result is held for impossible.
MIN_COUNT = 1e-3
# One Elo in the units of the logistic curve.
LOGITS_PER_ELO = math.log(10) / 400


def elo_of_score(score: float) -> float:
    """Logistic Elo difference at which this score (0 to 1) is expected; infinite at the ends."""
    return float(logit(np.clip(score, 0.0, 1.0))) / LOGITS_PER_ELO


def score_of_elo(elo: float) -> float:
    """Expected score (0 to 1) of the side that is stronger by `elo`."""
    return float(expit(elo * LOGITS_PER_ELO))


def pentanomial(pairs: Iterable[float]) -> Pentanomial:
    """Count pairs by the points (0 to 2, in halves) that the first engine made in them."""
    counts = Counter(round(points * 2) for points in pairs)
    return counts[0], counts[1], counts[2], counts[3], counts[4]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of pairs says about the difference of two engines.

    elo: logistic; low_elo, high_elo: the ends of the 95 % interval; error_elo: half its width.
    superiority: the likelihood (0 to 1) that the first engine is the stronger one.
    """

    pairs: int
    score: float
    elo: float
    low_elo: float
    high_elo: float
    error_elo: float
    superiority: float


def estimate(counts: Sequence[int]) -> Estimate:
    """The estimate from pentanomial counts. Without any spread the errors are infinite, not zero.

    The mean of the pairs is taken for normally distributed; its variance is that of the sample over the number of
    pairs. Logistic Elo is not linear, so the interval is that of the score, translated at both ends.
    """
    pairs = sum(counts)
    if not pairs:
        return Estimate(0, 0.5, 0.0, -math.inf, math.inf, math.inf, 0.5)
    values = np.repeat(PAIR_SCORES, counts)
    score, deviation = float(values.mean()), float(values.std()) / math.sqrt(pairs)
    if not deviation:
        # As if one more pair, ahead of them, had been as likely won as lost.
        doubt = 0.5 ** (pairs + 1)
        likely = 0.5 if score == 0.5 else 1.0 - doubt if score > 0.5 else doubt
        return Estimate(pairs, score, elo_of_score(score), -math.inf, math.inf, math.inf, likely)
    low = elo_of_score(score - DEVIATIONS_95 * deviation)
    high = elo_of_score(score + DEVIATIONS_95 * deviation)
    superiority = float(ndtr((score - 0.5) / deviation))
    return Estimate(pairs, score, elo_of_score(score), low, high, (high - low) / 2.0, superiority)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test between two hypotheses: the first engine is stronger by elo0, or by elo1 (logistic Elo).

    alpha: how often elo1 may be accepted where elo0 is true; beta: how often elo0, where elo1 is true.
    """

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ProgramError(f"elo0={self.elo0:g} is not below elo1={self.elo1:g}")
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 0.5):
            raise ProgramError("alpha and beta are above 0 and below 0.5")

    @property
    def lower(self) -> float:
        """At or below this likelihood ratio elo0 is accepted (Wald's bound)."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """At or above this likelihood ratio elo1 is accepted."""
        return math.log((1.0 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[int]) -> float:
        """The generalised log-likelihood ratio of elo1 against elo0, for pentanomial counts.

        For each hypothesis the distribution of pairs is the likeliest one that has the hypothesis's score.
        """
        if not any(counts):
            return 0.0
        filled = [max(float(count), MIN_COUNT) for count in counts]
        total = sum(filled)
        shares = [count / total for count in filled]
        null, other = (likeliest_with_score(shares, score_of_elo(elo)) for elo in (self.elo0, self.elo1))
        return total * sum(share * math.log(q / p) for share, p, q in zip(shares, null, other, strict=True))

    def verdict(self, counts: Sequence[int]) -> Literal["H0", "H1", ""]:
        """`H1`: elo1 is accepted; `H0`: elo0 is; empty while the test has to go on."""
        ratio = self.ratio(counts)
        if ratio >= self.upper:
            return "H1"
        return "H0" if ratio <= self.lower else ""


def likeliest_with_score(shares: Sequence[float], score: float) -> list[float]:
    """The distribution of pairs with this mean score under which the observed shares (above zero) are likeliest.

    By Lagrange it is shares / (1 + x (value - score)), x such that the mean comes out.
    """
    weights = [value - score for value in PAIR_SCORES]

    def excess(x: float) -> float:
        """The mean. It falls between the ends of the interval, where it is infinite."""
        return sum(share * weight / (1.0 + x * weight) for share, weight in zip(shares, weights, strict=True))

    low, high = -1.0 / max(weights), -1.0 / min(weights)
    # Where a result is rare, the solution is near an end, in proportion to its share.
    margin = 1e-3 * min(shares)
    x = brentq(excess, low + margin, high - margin, xtol=1e-14, rtol=1e-14)
    return [share / (1.0 + x * weight) for share, weight in zip(shares, weights, strict=True)]


def fit_elo(
    sides: Floats, scores: Floats, known_elo: Floats | float, expected_elo: Floats, prior_elo: float
) -> tuple[Floats, Floats]:
    """The Elo of several things at once, each with half the width of its 95 % interval: logistic regression.

    sides: a row for each pair of games; 1 for what its first side has, -1 for what its second side has, 0 for neither.
    scores: of the first side in each pair, 0 to 1. known_elo: by how much it was known to be stronger.
    expected_elo and prior_elo: mean and standard deviation of the prior, which keeps finite what has won every game.

    This is Bradley and Terry's model. The errors are those that the scatter of the pairs shows (White's sandwich), as
    the games of a pair depend on each other.
    """
    pairs, things = sides.shape
    centre, known = expected_elo * LOGITS_PER_ELO, known_elo * LOGITS_PER_ELO
    ridge = np.eye(things) / (prior_elo * LOGITS_PER_ELO) ** 2

    def cost(logits: Floats) -> tuple[float, Floats]:
        """The negative logarithm of the likelihood, two games a pair, and of the prior; and its slope."""
        ahead, away = sides @ logits + known, logits - centre
        value = 2 * np.sum(np.logaddexp(0, ahead) - scores * ahead) + away @ ridge @ away / 2
        return float(value), 2 * sides.T @ (expit(ahead) - scores) + ridge @ away

    found = minimize(cost, centre, jac=True).x
    likely = expit(sides @ found + known)
    curvature = 2 * sides.T @ (sides * (likely * (1 - likely))[:, None]) + ridge
    # The second part is what the fit has taken up itself. It keeps few pairs that happen to be equal from proving much.
    squares = (scores - likely) ** 2 + likely * (1 - likely) / 2 * things / max(pairs, 1)
    scatter = 4 * sides.T @ (sides * squares[:, None]) + ridge
    inverse = np.linalg.inv(curvature)
    errors = DEVIATIONS_95 * np.sqrt(np.diag(inverse @ scatter @ inverse))
    return found / LOGITS_PER_ELO, errors / LOGITS_PER_ELO
