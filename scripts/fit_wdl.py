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

from toolkit.console import at_least_one, make_table, run_program, standard_output
from toolkit.errors import ProgramError
from toolkit.training.positions import read_positions, split_rows
from toolkit.training.wins import Outcomes, WinModel, fit, joined, read_outcomes
from uci_engine import score as scores

# Bounds of the bands in the table: pieces, and what the engine shows for the better side.
PIECE_BANDS = ((2, 8), (9, 16), (17, 24), (25, 32))
SHOWN_BANDS = ((0, 25), (25, 50), (50, 75), (75, 100), (100, 150), (150, 200), (200, 300), (300, 600))
LEAST_IN_BAND = 20
# Numbers of pieces whose curve is printed.
SHOWN_PIECES = (6, 8, 10, 12, 16, 20, 24, 28, 32)


def split(outcomes: Outcomes, held_out: float, seed: int) -> tuple[Outcomes, Outcomes]:
    """The outcomes of some games, and those of the others, a share `held_out` of all."""
    test, train = split_rows(outcomes.game, (held_out, 1.0 - held_out), np.random.default_rng(seed))
    return outcomes.where(train), outcomes.where(test)


def show_curve(model: WinModel) -> None:
    """Show midpoint and spread for some numbers of pieces."""
    curves = zip(SHOWN_PIECES, *model.curves(np.array(SHOWN_PIECES)), strict=True)
    rows = [(str(number), f"{midpoint:.0f}", f"{spread:.0f}") for number, midpoint, spread in curves]
    head = ["pieces", "half of the games won (+1.00)", "spread"]
    standard_output().print(make_table("centipawns of the search", head, rows))


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


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="positions in the order of their games")
    parser.add_argument("--degree", type=at_least_one, default=2, metavar="N", help="of the polynomials (2)")
    parser.add_argument("--fewest", type=at_least_one, default=6, metavar="N", help="pieces that differ from fewer (6)")
    parser.add_argument("--skip-moves", type=int, default=4, metavar="N", help="left out at the start of a game (4)")
    parser.add_argument("--held-out", type=at_least_one, default=20, metavar="N", help="percent of the games (20)")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, fit and show; returns the exit code. Raises ProgramError and OSError for what cannot be fitted."""
    words = parse_arguments(arguments)
    outcomes = joined([read_outcomes(read_positions(path)[1], words.skip_moves) for path in words.files])
    train, test = split(outcomes, words.held_out / 100, words.seed)
    if not (len(train) and len(test)):
        raise ProgramError(f"{outcomes.games} games are too few to hold {words.held_out} % out")
    pieces = (words.fewest, scores.MAX_PIECES)
    show_calibration(fit(train, words.degree, pieces), test)
    model = fit(outcomes, words.degree, pieces)
    show_curve(model)
    print(f"{len(outcomes)} positions of {outcomes.games} games. For uci_engine/score.py:\n\n{model.source()}", end="")
    return 0


if __name__ == "__main__":
    run_program(main)
