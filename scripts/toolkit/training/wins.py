"""The model of wins, draws and losses that `uci_engine.score` holds, and its fit to games by maximum likelihood.

With n pieces on the board, a score of x centipawns for the side to move wins with probability
1 / (1 + exp((midpoint - x) / spread)), and loses with the same of -x. Midpoint and spread are polynomials of n / 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Legendre, Polynomial
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from toolkit.errors import ProgramError
from toolkit.training.positions import BLACK_TO_MOVE, game_numbers, games_of_files
from uci_engine import score as scores

Floats = npt.NDArray[np.float64]

# The minimizer starts here, and never looks below the least. Both in centipawns.
START_CP = 100.0
LEAST_CP = 1.0
# Less than this no probability of a draw counts, so that its logarithm stays finite wherever the minimizer looks.
SMALL = 1e-9
# Decimals of the constants: enough that no score changes by more than the rest of its rounding.
DECIMALS = 1


@dataclass(frozen=True)
class Outcomes:
    """Positions for a fit: score and result (0, 1 or 2) for the side to move, number of pieces, number of the game."""

    score_cp: Floats
    pieces: npt.NDArray[np.int64]
    result: npt.NDArray[np.int64]
    game: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.score_cp)

    @property
    def games(self) -> int:
        """The number of games."""
        return len(np.unique(self.game))

    def where(self, chosen: npt.NDArray[Any]) -> Outcomes:
        """Those that a mask or an array of indices chooses."""
        return Outcomes(self.score_cp[chosen], self.pieces[chosen], self.result[chosen], self.game[chosen])


def read_outcomes(positions: npt.NDArray[Any], skip_moves: int) -> Outcomes:
    """The positions of an array of RECORD, unshuffled, that count.

    Left out are scores that are no centipawns (mates and tablebase wins, which are shown apart), and the first
    `skip_moves` full moves of each game, where the choice of openings still decides.
    """
    game = game_numbers(positions)
    moves = positions["fullmove"].astype(np.int64)
    first = np.r_[True, game[1:] != game[:-1]][: len(game)]
    played = moves - moves[first][game]
    sign = np.where(positions["turn_ep"] & BLACK_TO_MOVE, -1, 1)
    score = positions["score_cp"].astype(np.int64) * sign
    result = 1 + (positions["result"].astype(np.int64) - 1) * sign
    counts = (np.abs(score) < scores.STATIC_LIMIT) & (played >= skip_moves)
    squares = np.ascontiguousarray(positions["occupied"]).view(np.uint8).reshape(-1, 8)
    pieces = np.unpackbits(squares, axis=1).sum(axis=1, dtype=np.int64)
    return Outcomes(score.astype(np.float64), pieces, result, game).where(counts)


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """All outcomes of several files, their games with new numbers."""
    return Outcomes(
        np.concatenate([part.score_cp for part in parts]),
        np.concatenate([part.pieces for part in parts]),
        np.concatenate([part.result for part in parts]),
        games_of_files([part.game for part in parts]),
    )


@dataclass(frozen=True)
class WinModel:
    """Coefficients in centipawns, lowest power of pieces / 32 first. `pieces`: the range to which they are clamped."""

    pieces: tuple[int, int]
    midpoint_cp: tuple[float, ...]
    spread_cp: tuple[float, ...]

    def source(self) -> str:
        """The lines of `uci_engine.score` that define it."""
        return f"WIN_PIECES = {self.pieces}\nWIN_MIDPOINT_CP = {self.midpoint_cp}\nWIN_SPREAD_CP = {self.spread_cp}\n"

    def curves(self, pieces: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Midpoint and spread for these numbers of pieces."""
        share = np.clip(pieces, *self.pieces) / scores.MAX_PIECES
        return Polynomial(self.midpoint_cp)(share), Polynomial(self.spread_cp)(share)

    def likelihood(self, outcomes: Outcomes) -> float:
        """The mean logarithm of the likelihood of a position's result."""
        return -float(_costs(outcomes, *self.curves(outcomes.pieces))[0].mean())

    def probabilities(self, outcomes: Outcomes) -> Floats:
        """A row for each position: probability of a loss, a draw and a win."""
        midpoint, spread = self.curves(outcomes.pieces)
        wins = expit((outcomes.score_cp - midpoint) / spread)
        losses = expit((-outcomes.score_cp - midpoint) / spread)
        return np.column_stack((losses, 1.0 - wins - losses, wins))

    @cached_property
    def is_sound(self) -> bool:
        """Whether midpoint and spread are positive for every number of pieces."""
        midpoint, spread = self.curves(np.arange(self.pieces[0], self.pieces[1] + 1))
        return bool(midpoint.min() > LEAST_CP and spread.min() > LEAST_CP)


def fit(outcomes: Outcomes, degree: int, pieces: tuple[int, int]) -> WinModel:
    """The likeliest model with polynomials of this degree. Raises ProgramError when there is no usable one."""
    if not len(outcomes):
        raise ProgramError("there are no positions to fit")
    # On this domain Legendre polynomials are nearly independent, which powers are not.
    domain = (pieces[0] / scores.MAX_PIECES, pieces[1] / scores.MAX_PIECES)
    share = np.clip(outcomes.pieces, *pieces) / scores.MAX_PIECES
    basis = np.column_stack([Legendre.basis(power, domain)(share) for power in range(degree + 1)])

    def cost(coefficients: Floats) -> tuple[float, Floats]:
        midpoint, spread = (basis @ half for half in np.split(START_CP * coefficients, 2))
        costs, of_midpoint, of_spread = _costs(outcomes, midpoint, spread)
        slopes = [(of_midpoint * (midpoint > LEAST_CP)) @ basis, (of_spread * (spread > LEAST_CP)) @ basis]
        return float(costs.mean()), START_CP * np.concatenate(slopes) / len(outcomes)

    start = np.zeros(2 * (degree + 1))
    start[[0, degree + 1]] = 1.0
    found = minimize(cost, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    halves = (Legendre(half, domain).convert(kind=Polynomial) for half in np.split(START_CP * found.x, 2))
    model = WinModel(pieces, *(tuple(round(float(number), DECIMALS) for number in half.coef) for half in halves))
    if not model.is_sound:
        raise ProgramError(f"these positions give no usable model of degree {degree}: try a lower degree or more games")
    return model


def _costs(outcomes: Outcomes, midpoint: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """The negative logarithm of each likelihood, and its derivatives by midpoint and spread."""
    midpoint, spread = np.maximum(midpoint, LEAST_CP), np.maximum(spread, LEAST_CP)
    x, a = outcomes.score_cp / spread, midpoint / spread
    no_win, no_loss = expit(a - x), expit(a + x)
    # 1 - win - loss is this product: (exp(2a) - 1) exp(x) / ((exp(x) + exp(a)) (1 + exp(x + a))).
    below = np.maximum(-np.expm1(-2.0 * a), SMALL)
    draw = -(np.log(below) + log_expit(a - x) + log_expit(a + x))
    result = outcomes.result
    costs = np.choose(result, (-log_expit(-a - x), draw, -log_expit(x - a)))
    by_a = np.choose(result, (no_loss, no_win + no_loss - 2.0 / below, no_win))
    by_x = np.choose(result, (no_loss, no_loss - no_win, -no_win))
    return costs, by_a / spread, -(by_a * a + by_x * x) / spread
