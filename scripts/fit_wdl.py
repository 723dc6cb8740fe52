#!/usr/bin/env python3
"""The model of wins behind the scores that the engine shows: its constants, fitted to games of the engine.

    python scripts/fit_wdl.py data.positions

The games must be of the engine against itself, as selfplay.py makes them, not shuffled. All positions count, also those
that are not quiet, because the engine shows their scores too. Mates are left out, and so are the first moves of each
game, where the choice of openings still decides.

The last three lines go into uci_engine/score.py. The table of predicted results comes from a fit to a part of the
games, and is checked on the others: whole games are held out, because positions of one game share their result.

With n pieces on the board, a score of x centipawns for the side to move wins with probability
1 / (1 + exp((midpoint - x) / spread)), and loses with the same of -x. Midpoint and spread are polynomials of n / 32.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Legendre, Polynomial
from scipy.optimize import minimize
from scipy.special import expit

from toolkit.console import make_table, run_program, standard_output
from toolkit.errors import ProgramError
from toolkit.training.positions import game_numbers, games_of_files, read_positions, split_rows, white_to_move
from uci_engine import score as scores

Floats = npt.NDArray[np.float64]

# The minimizer starts here, and never looks below the least. Both in centipawns.
START_CP = 100.0
LEAST_CP = 1.0
# Less than this no probability counts, so that its logarithm stays finite wherever the minimizer looks.
SMALL = 1e-9
# Decimals of the constants: enough that no score changes by more than the rest of its rounding.
DECIMALS = 1

# The degree of the polynomials. Fewer pieces than FEWEST_PIECES count as so many.
DEGREE = 2
FEWEST_PIECES = 6
# Moves at the start of each game that are left out.
SKIPPED_MOVES = 4
# The share of the games that are held out.
HELD_OUT = 0.2
# Bounds of the bands in the table: pieces, and what the engine shows for the better side.
PIECE_BANDS = ((2, 8), (9, 16), (17, 24), (25, 32))
SHOWN_BANDS = ((0, 25), (25, 50), (50, 75), (75, 100), (100, 150), (150, 200), (200, 300), (300, 600))
LEAST_IN_BAND = 20


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
        return Outcomes(*(getattr(self, field.name)[chosen] for field in fields(self)))


def read_outcomes(positions: npt.NDArray[Any], skip_moves: int) -> Outcomes:
    """The positions of an array of RECORD, unshuffled, that count.

    Left out are scores that are no centipawns (mates and tablebase wins, which are shown apart), and the first
    `skip_moves` full moves of each game, where the choice of openings still decides.
    """
    game = game_numbers(positions)
    moves = positions["fullmove"].astype(np.int64)
    first = np.r_[True, game[1:] != game[:-1]][: len(game)]
    played = moves - moves[first][game]
    sign = np.where(white_to_move(positions), 1, -1)
    score = positions["score_cp"].astype(np.int64) * sign
    result = 1 + (positions["result"].astype(np.int64) - 1) * sign
    counts = (np.abs(score) < scores.STATIC_LIMIT) & (played >= skip_moves)
    pieces = np.bitwise_count(positions["occupied"]).astype(np.int64)
    return Outcomes(score.astype(np.float64), pieces, result, game).where(counts)


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """All outcomes of several files, their games with new numbers."""
    score_cp, pieces, result = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("score_cp", "pieces", "result")
    )
    return Outcomes(score_cp, pieces, result, games_of_files([part.game for part in parts]))


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

    def probabilities(self, outcomes: Outcomes) -> Floats:
        """A row for each position: probability of a loss, a draw and a win."""
        return _probabilities(outcomes.score_cp, *self.curves(outcomes.pieces))

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

    def cost(coefficients: Floats) -> float:
        midpoint, spread = (basis @ half for half in np.split(START_CP * coefficients, 2))
        return -likelihood(outcomes, np.maximum(midpoint, LEAST_CP), np.maximum(spread, LEAST_CP))

    start = np.zeros(2 * (degree + 1))
    start[[0, degree + 1]] = 1.0
    found = minimize(cost, start, method="BFGS", options={"gtol": 1e-6})
    halves = (Legendre(half, domain).convert(kind=Polynomial) for half in np.split(START_CP * found.x, 2))
    model = WinModel(pieces, *(tuple(round(float(number), DECIMALS) for number in half.coef) for half in halves))
    if not model.is_sound:
        raise ProgramError(f"these positions give no usable model of degree {degree}: try a lower degree or more games")
    return model


def _probabilities(score_cp: Floats, midpoint: Floats, spread: Floats) -> Floats:
    """A row for each position: probability of a loss, a draw and a win."""
    wins, losses = expit((score_cp - midpoint) / spread), expit((-score_cp - midpoint) / spread)
    return np.column_stack((losses, 1.0 - wins - losses, wins))


def likelihood(outcomes: Outcomes, midpoint: Floats, spread: Floats) -> float:
    """The mean logarithm of the likelihood of a position's result."""
    probabilities = _probabilities(outcomes.score_cp, midpoint, spread)
    reached = np.take_along_axis(probabilities, outcomes.result[:, None], axis=1)
    return float(np.log(np.maximum(reached, SMALL)).mean())


def show_calibration(model: WinModel, outcomes: Outcomes) -> None:
    """Show predicted against observed shares of wins, draws and losses of the better side, by pieces and score."""
    sign = np.where(outcomes.score_cp < 0, -1, 1)
    score, result = outcomes.score_cp * sign, 1 + (outcomes.result - 1) * sign
    better = Outcomes(score, outcomes.pieces, result, outcomes.game)
    shown = 100.0 * score / model.curves(outcomes.pieces)[0]
    probabilities = model.probabilities(better)
    rows = []
    for fewest, most in PIECE_BANDS:
        for low, high in SHOWN_BANDS:
            here = (outcomes.pieces >= fewest) & (outcomes.pieces <= most) & (shown >= low) & (shown < high)
            count = int(here.sum())
            if count < LEAST_IN_BAND:
                continue
            expected = 100.0 * probabilities[here].mean(axis=0)[::-1]
            observed = 100.0 * np.bincount(result[here], minlength=3)[::-1] / count
            cells = [f"{e:.0f} / {o:.0f}" for e, o in zip(expected, observed, strict=True)]
            rows.append((f"{fewest} to {most}", f"{low / 100:.2f} to {high / 100:.2f}", str(count), *cells))
    title = f"percent of the better side, predicted / observed, in {outcomes.games} games that were held out"
    head = ["pieces", "shown score", "positions", "won", "drawn", "lost"]
    standard_output().print(make_table(title, head, rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, fit and show; returns the exit code. Raises ProgramError and OSError for what cannot be fitted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="positions in the order of their games")
    words = parser.parse_args(arguments)
    outcomes = joined([read_outcomes(read_positions(path, scored=True)[1], SKIPPED_MOVES) for path in words.files])
    shares = (HELD_OUT, 1.0 - HELD_OUT)
    test, train = map(outcomes.where, split_rows(outcomes.game, shares, np.random.default_rng(0)))
    pieces = (FEWEST_PIECES, scores.MAX_PIECES)
    show_calibration(fit(train, DEGREE, pieces), test)
    model = fit(outcomes, DEGREE, pieces)
    print(f"{len(outcomes)} positions of {outcomes.games} games. For uci_engine/score.py:\n\n{model.source()}", end="")
    return 0


if __name__ == "__main__":
    run_program(main)
