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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Legendre, Polynomial
from scipy.optimize import minimize
from scipy.special import expit

from toolkit.console import make_table, run_program, standard_output
from toolkit.errors import ProgramError
from toolkit.training.positions import game_numbers, read_positions, split_rows, white_to_move
from uci_engine import score as scores

Floats = npt.NDArray[np.float64]
# Positions for a fit: score and result (0, 1 or 2) for the side to move, number of pieces, number of the game.
Outcomes = npt.NDArray[Any]
OUTCOME = np.dtype([("score_cp", float), ("pieces", int), ("result", int), ("game", int)])

# The minimizer starts here, and never looks below the least. Both in centipawns.
START_CP = 100.0
LEAST_CP = 1.0
# Less than this no probability counts, so that its logarithm stays finite wherever the minimizer looks.
SMALL = 1e-9
# Decimals of the constants: enough that no score changes by more than the rest of its rounding.
DECIMALS = 1

# The degree of the polynomials.
DEGREE = 2
# Fewer pieces count as so many.
FEWEST_PIECES = 6
# By the number of pieces: what the polynomials are asked for.
SHARES = np.maximum(np.arange(scores.MAX_PIECES + 1), FEWEST_PIECES) / scores.MAX_PIECES
# Moves at the start of each game that are left out.
SKIPPED_MOVES = 4
# The share of the games that are held out.
HELD_OUT = 0.2
# Bounds of the bands in the table: pieces, and what the engine shows for the better side.
PIECE_BANDS = ((2, 8), (9, 16), (17, 24), (25, 32))
SHOWN_BANDS = ((0, 25), (25, 50), (50, 75), (75, 100), (100, 150), (150, 200), (200, 300), (300, 600))
LEAST_IN_BAND = 20


def read_outcomes(positions: npt.NDArray[Any]) -> Outcomes:
    """The positions of an array of RECORD, unshuffled, that count.

    Left out are scores that are no centipawns (mates and tablebase wins, which are shown apart), and the first moves of
    each game.
    """
    found = np.empty(len(positions), OUTCOME)
    sign = np.where(white_to_move(positions), 1, -1)
    found["score_cp"] = positions["score_cp"] * sign
    found["pieces"] = np.bitwise_count(positions["occupied"])
    found["result"] = 1 + (positions["result"].astype(int) - 1) * sign
    found["game"] = game_numbers(positions)
    moves = positions["fullmove"].astype(int)
    first = np.unique(found["game"], return_index=True)[1]
    played = moves - moves[first][found["game"]]
    counts: npt.NDArray[np.bool_] = (np.abs(found["score_cp"]) < scores.STATIC_LIMIT) & (played >= SKIPPED_MOVES)
    return np.compress(counts, found)


@dataclass(frozen=True)
class WinModel:
    """Coefficients in centipawns, lowest power of pieces / 32 first."""

    midpoint_cp: tuple[float, ...]
    spread_cp: tuple[float, ...]

    def source(self) -> str:
        """The lines of `uci_engine.score` that define it."""
        pieces = (FEWEST_PIECES, scores.MAX_PIECES)
        return f"WIN_PIECES = {pieces}\nWIN_MIDPOINT_CP = {self.midpoint_cp}\nWIN_SPREAD_CP = {self.spread_cp}\n"

    def curves(self) -> tuple[Floats, Floats]:
        """Midpoint and spread by the number of pieces."""
        return Polynomial(self.midpoint_cp)(SHARES), Polynomial(self.spread_cp)(SHARES)


def fit(outcomes: Outcomes) -> WinModel:
    """The likeliest model. Raises ProgramError when there is no usable one."""
    # On this domain Legendre polynomials are nearly independent, which powers are not.
    domain = (SHARES.min(), SHARES.max())

    def polynomials(coefficients: Floats) -> list[Legendre]:
        return [Legendre(half, domain) for half in np.split(START_CP * coefficients, 2)]

    def cost(coefficients: Floats) -> float:
        midpoint, spread = (np.maximum(each(SHARES), LEAST_CP) for each in polynomials(coefficients))
        return -likelihood(outcomes, midpoint, spread)

    start = np.eye(1, DEGREE + 1)[0]
    found = minimize(cost, np.tile(start, 2), method="BFGS", options={"gtol": 1e-6})
    halves = (each.convert(kind=Polynomial).coef for each in polynomials(found.x))
    model = WinModel(*(tuple(round(float(number), DECIMALS) for number in half) for half in halves))
    if np.min(model.curves()) <= LEAST_CP:
        raise ProgramError("these positions give no usable model: more games are needed")
    return model


def probabilities(outcomes: Outcomes, midpoint: Floats, spread: Floats) -> Floats:
    """A row for each position: probability of a loss, a draw and a win. midpoint, spread: by the number of pieces."""
    middle, width = midpoint[outcomes["pieces"]], spread[outcomes["pieces"]]
    wins, losses = (expit((sign * outcomes["score_cp"] - middle) / width) for sign in (1, -1))
    return np.column_stack((losses, 1.0 - wins - losses, wins))


def likelihood(outcomes: Outcomes, midpoint: Floats, spread: Floats) -> float:
    """The mean logarithm of the likelihood of a position's result."""
    reached = probabilities(outcomes, midpoint, spread)[np.arange(len(outcomes)), outcomes["result"]]
    return float(np.log(np.maximum(reached, SMALL)).mean())


def show_calibration(model: WinModel, outcomes: Outcomes) -> None:
    """Show predicted against observed shares of wins, draws and losses of the better side, by pieces and score."""
    better = outcomes.copy()
    better["score_cp"] = np.abs(outcomes["score_cp"])
    better["result"] = np.where(outcomes["score_cp"] < 0, 2 - outcomes["result"], outcomes["result"])
    pieces, result = better["pieces"], better["result"]
    shown = 100.0 * better["score_cp"] / model.curves()[0][pieces]
    likely = probabilities(better, *model.curves())
    rows = []
    for fewest, most in PIECE_BANDS:
        for low, high in SHOWN_BANDS:
            here = (pieces >= fewest) & (pieces <= most) & (shown >= low) & (shown < high)
            count = int(here.sum())
            if count < LEAST_IN_BAND:
                continue
            expected = 100.0 * likely[here].mean(axis=0)[::-1]
            observed = 100.0 * np.bincount(result[here], minlength=3)[::-1] / count
            cells = [f"{e:.0f} / {o:.0f}" for e, o in zip(expected, observed, strict=True)]
            rows.append((f"{fewest} to {most}", f"{low / 100:.2f} to {high / 100:.2f}", str(count), *cells))
    games = len(np.unique(outcomes["game"]))
    title = f"percent of the better side, predicted / observed, in {games} games that were held out"
    head = ["pieces", "shown score", "positions", "won", "drawn", "lost"]
    standard_output().print(make_table(title, head, rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, fit and show; returns the exit code. Raises ProgramError and OSError for what cannot be fitted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="positions in the order of their games")
    words = parser.parse_args(arguments)
    outcomes = read_outcomes(np.concatenate([read_positions(path, scored=True)[1] for path in words.files]))
    shares = (HELD_OUT, 1.0 - HELD_OUT)
    test, train = split_rows(outcomes["game"], shares, np.random.default_rng(0))
    show_calibration(fit(outcomes[train]), outcomes[test])
    games = len(np.unique(outcomes["game"]))
    print(f"{len(outcomes)} positions of {games} games. For uci_engine/score.py:\n\n{fit(outcomes).source()}", end="")
    return 0


if __name__ == "__main__":
    run_program(main)
