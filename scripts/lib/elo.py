"""The statistics of matches: Elo, its error, the likelihood of superiority, and the sequential probability ratio test.

Everything is computed from pairs of games (one opening, both colours). The two results of a pair depend on each other;
games counted singly would overstate the error.

A pair gives 0, 1/2, 1, 3/2 or 2 points; the five counts, in this order (LL, LD, DD and WL, WD, WW), are called
pentanomial. Sources: M. Van den Bergh, "A practical introduction to the GSPRT" and "Normalized Elo practical"
(hardy.uhasselt.be/Fishtest), which the Stockfish testing framework follows; A. Wald, "Sequential Analysis" (1947).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lib.errors import ProgramError

Pentanomial = tuple[int, int, int, int, int]
Model = Literal["logistic", "normalized"]

# Points of a pair, as a share of the two to be had.
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
# 95 % of a normal distribution lie within so many standard deviations.
DEVIATIONS_95 = 1.959963984540054
# What stands for a count of zero in the likelihood ratio, so that no result is held for impossible.
MIN_COUNT = 1e-3
# One normalized Elo is a score of this share of a game's standard deviation; the same near 1/2 as logistic Elo.
NORMALIZED_ELO = 800.0 / math.log(10.0)
MIN_MOVEMENT = 1e-9
NUMBER = re.compile(r"-?\d+(\.\d*)?")
MAX_ROUNDS = 100


def elo_of_score(score: float) -> float:
    """Logistic Elo difference at which this score (0 to 1) is expected; infinite at the ends."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def score_of_elo(elo: float) -> float:
    """Expected score (0 to 1) of the side that is stronger by `elo`."""
    return 1.0 / (1.0 + math.pow(10.0, -elo / 400.0))


def pentanomial(pairs: Iterable[float]) -> Pentanomial:
    """Count pairs by the points (0 to 2, in halves) that the first engine made in them."""
    counts = [0] * 5
    for points in pairs:
        counts[round(points * 2)] += 1
    return (counts[0], counts[1], counts[2], counts[3], counts[4])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of pairs says about the difference of two engines.

    elo: logistic; low_elo, high_elo: the ends of the 95 % interval; error_elo: half its width.
    normalized_elo and its error: the score in standard deviations of a game, on the scale of Elo.
    superiority: the likelihood (0 to 1) that the first engine is the stronger one.
    """

    pairs: int
    score: float
    score_error: float
    elo: float
    low_elo: float
    high_elo: float
    error_elo: float
    normalized_elo: float
    normalized_error: float
    superiority: float


def estimate(counts: Sequence[int]) -> Estimate:
    """The estimate from pentanomial counts. Without any spread the errors are infinite, not zero.

    The mean of the pairs is taken for normally distributed; its variance is that of the sample over the number of
    pairs. Logistic Elo is not linear, so the interval is that of the score, translated at both ends.
    """
    pairs = sum(counts)
    if not pairs:
        return Estimate(0, 0.5, math.inf, 0.0, -math.inf, math.inf, math.inf, 0.0, math.inf, 0.5)
    score, variance = _moments([count / pairs for count in counts], PAIR_SCORES)
    if variance <= 0.0:
        elo = elo_of_score(score)
        likely = 0.5 if score == 0.5 else float(score > 0.5)
        normalized = math.copysign(math.inf, score - 0.5) if score != 0.5 else 0.0
        return Estimate(pairs, score, math.inf, elo, -math.inf, math.inf, math.inf, normalized, math.inf, likely)
    deviation = math.sqrt(variance / pairs)
    low = elo_of_score(score - DEVIATIONS_95 * deviation)
    high = elo_of_score(score + DEVIATIONS_95 * deviation)
    # A pair's variance is half of a game's, as if its games were independent of each other.
    game_deviation = math.sqrt(2.0 * variance)
    return Estimate(
        pairs=pairs,
        score=score,
        score_error=DEVIATIONS_95 * deviation,
        elo=elo_of_score(score),
        low_elo=low,
        high_elo=high,
        error_elo=(high - low) / 2.0,
        normalized_elo=(score - 0.5) / game_deviation * NORMALIZED_ELO,
        normalized_error=DEVIATIONS_95 * deviation / game_deviation * NORMALIZED_ELO,
        superiority=0.5 * math.erfc(-(score - 0.5) / deviation / math.sqrt(2.0)),
    )


def _moments(shares: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of a distribution."""
    mean = sum(share * value for share, value in zip(shares, values, strict=True))
    variance = sum(share * (value - mean) ** 2 for share, value in zip(shares, values, strict=True))
    return mean, variance


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test between two hypotheses: the first engine is stronger by elo0, or by elo1.

    alpha: how often elo1 may be accepted where elo0 is true; beta: how often elo0, where elo1 is true.
    """

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "logistic"

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ProgramError(f"elo0={self.elo0:g} is not below elo1={self.elo1:g}")
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 0.5):
            raise ProgramError("alpha and beta are above 0 and below 0.5")
        if self.model not in ("logistic", "normalized"):
            raise ProgramError(f"the model is logistic or normalized, not {self.model}")

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

        For each hypothesis the distribution of pairs is the likeliest one that has the hypothesis's strength.
        """
        if not any(counts):
            return 0.0
        filled = [max(float(count), MIN_COUNT) for count in counts]
        total = sum(filled)
        shares = [count / total for count in filled]
        if self.model == "logistic":
            null = likeliest_with_score(shares, score_of_elo(self.elo0))
            other = likeliest_with_score(shares, score_of_elo(self.elo1))
        else:
            # The ratio of a pair's score to its deviation is that of a game times the root of two.
            null = likeliest_with_ratio(shares, math.sqrt(2.0) * self.elo0 / NORMALIZED_ELO)
            other = likeliest_with_ratio(shares, math.sqrt(2.0) * self.elo1 / NORMALIZED_ELO)
        return total * sum(share * math.log(q / p) for share, p, q in zip(shares, null, other, strict=True))

    def verdict(self, counts: Sequence[int]) -> Literal["H0", "H1", ""]:
        """`H1`: elo1 is accepted; `H0`: elo0 is; empty while the test has to go on."""
        ratio = self.ratio(counts)
        if ratio >= self.upper:
            return "H1"
        return "H0" if ratio <= self.lower else ""


def likeliest_with_score(shares: Sequence[float], score: float) -> list[float]:
    """The distribution of pairs with this mean score under which the observed shares are likeliest.

    shares: all above zero. By Lagrange it is shares / (1 + x (values - score)), x such that the mean comes out.
    """
    return _tilted(shares, [value - score for value in PAIR_SCORES])


def likeliest_with_ratio(shares: Sequence[float], ratio: float) -> list[float]:
    """The likeliest distribution in which (mean - 1/2) / deviation of a pair is `ratio`.

    Lagrange again, with weights that depend on the mean and the deviation of the solution: repeated until they agree.
    """
    mean, variance = _moments(shares, PAIR_SCORES)
    # Begin where the mean is right for the observed deviation, and inside of what a mean can be.
    start = min(max(0.5 + ratio * math.sqrt(variance), 0.01), 0.99)
    current = likeliest_with_score(shares, start)
    for _ in range(MAX_ROUNDS):
        mean, variance = _moments(current, PAIR_SCORES)
        deviation = math.sqrt(variance)
        weights = [
            value - 0.5 - ratio * deviation / 2.0 * (1.0 + ((value - mean) / deviation) ** 2) for value in PAIR_SCORES
        ]
        improved = _tilted(shares, weights)
        movement = max(abs(a - b) for a, b in zip(current, improved, strict=True))
        current = improved
        if movement < MIN_MOVEMENT:
            break
    return current


def _tilted(shares: Sequence[float], weights: Sequence[float]) -> list[float]:
    """shares / (1 + x weights), x such that the weights come out as zero on average."""
    low, high = -1.0 / max(weights), -1.0 / min(weights)

    def mean(x: float) -> tuple[float, float]:
        """The mean of the weights, and how it changes with x."""
        terms = [(share, weight, 1.0 + x * weight) for share, weight in zip(shares, weights, strict=True)]
        value = sum(share * weight / divisor for share, weight, divisor in terms)
        return value, -sum(share * (weight / divisor) ** 2 for share, weight, divisor in terms)

    x = _root(mean, low, high)
    return [share / (1.0 + x * weight) for share, weight in zip(shares, weights, strict=True)]


def _root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a falling function is zero, in an open interval around zero at whose ends it is infinite.

    Newton's method, kept inside; exact in proportion to the distance from the nearer end, where a rare result puts it.
    """
    left, right = low, high
    x = 0.0
    for _ in range(MAX_ROUNDS):
        value, slope = function(x)
        if value > 0.0:
            left = x
        else:
            right = x
        following = x - value / slope
        if not left < following < right:
            following = (left + right) / 2.0
        if abs(following - x) <= MIN_MOVEMENT * min(following - low, high - following):
            return following
        x = following
    return x


def parse_sprt(words: Sequence[str]) -> Sprt:
    """A test from words like `elo0=0 elo1=5 alpha=0.05 beta=0.05 model=logistic`. Raises ProgramError."""
    values: dict[str, float] = {}
    model: Model = "logistic"
    for word in words:
        key, _, value = word.partition("=")
        if key == "model" and value in ("logistic", "normalized"):
            model = "normalized" if value == "normalized" else "logistic"
        elif key in ("elo0", "elo1", "alpha", "beta") and NUMBER.fullmatch(value):
            values[key] = float(value)
        else:
            raise ProgramError(f"{word!r} is none of elo0=, elo1=, alpha=, beta=, model=logistic, model=normalized")
    return Sprt(**values, model=model)
