#!/usr/bin/env python3
"""The model of wins behind the scores that the engine shows: its constants, fitted to games of the engine.

    python scripts/fit_wdl.py data.positions

The games must be of the engine against itself, as selfplay.py makes them, not shuffled. All positions count, also those
that are not quiet, because the engine shows their scores too. Mates are left out, and so are the first moves of each
game, where the choice of openings still decides.

The last three lines go into uci_engine/score.py. The table of predicted results comes from a fit to a part of the
games, and is checked on the others: whole games are held out, because positions of one game share their result.
toolkit/training/wins.py has the model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from toolkit.console import make_table, run_program, standard_output
from toolkit.errors import ProgramError
from toolkit.training.positions import read_positions, split_rows
from toolkit.training.wins import Outcomes, WinModel, fit, joined, read_outcomes
from uci_engine import score as scores

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


def split(outcomes: Outcomes) -> tuple[Outcomes, Outcomes]:
    """The outcomes of most games, and those that are held out."""
    test, train = split_rows(outcomes.game, (HELD_OUT, 1.0 - HELD_OUT), np.random.default_rng(0))
    return outcomes.where(train), outcomes.where(test)


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
    train, test = split(outcomes)
    if not (len(train) and len(test)):
        raise ProgramError(f"{outcomes.games} games are too few to hold some out")
    pieces = (FEWEST_PIECES, scores.MAX_PIECES)
    show_calibration(fit(train, DEGREE, pieces), test)
    model = fit(outcomes, DEGREE, pieces)
    print(f"{len(outcomes)} positions of {outcomes.games} games. For uci_engine/score.py:\n\n{model.source()}", end="")
    return 0


if __name__ == "__main__":
    run_program(main)
