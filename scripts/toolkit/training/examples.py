"""Examples to fit weights to: labelled positions with their coefficients, split by game.

The expected result of a position, White's view from 0 to 1, mixes what its score promises with what its game brought.
A score in centipawns promises 1 / (1 + exp(-score / scale)); each file has a scale, because engines count differently.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit, log1p

from toolkit.console import show_progress
from toolkit.errors import ProgramError
from toolkit.training.coefficients import Coefficients, find_coefficients, join
from toolkit.training.positions import (
    RECORD,
    are_quiet,
    games_of_files,
    has_scores,
    in_blocks,
    keys,
    read_positions,
    split_rows,
)

# Stockfish's centipawns: at 100 it wins half of its games, and loses almost none.
STOCKFISH_SCALE_CP = 100.0
# Scales that are thought possible, in centipawns.
SCALES_CP = (20.0, 2000.0)
# Of an error's interval.
RESAMPLES = 500

Floats = npt.NDArray[np.float64]


def command_text(program: str, words: Sequence[str]) -> str:
    """A command line for a record of how something was made: files stand without their folders."""
    return shlex.join([program, *(re.sub(r"[^ =]*[/\\]", "", word) for word in words)])


@dataclass(frozen=True)
class Choice:
    """Which positions are taken, and what is expected of them.

    max_score_cp: positions beyond are left out. mix: the share of the score, against that of the result. score_scale:
    of the scores of all files, None to fit it to the results of each. limit: the first positions of each file, 0 for
    all.
    """

    max_score_cp: int = 1500
    mix: float = 0.7
    score_scale: float | None = None
    limit: int = 0


@dataclass(frozen=True)
class Examples:
    """Positions, one a row. `expected`: from 0 to 1, White's view. `games`: a number for each game."""

    records: npt.NDArray[Any]
    coefficients: Coefficients
    expected: Floats
    games: npt.NDArray[np.int64]
    sources: tuple[dict[str, Any], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, chosen: npt.NDArray[Any]) -> Examples:
        """Those with these numbers, in this order."""
        return replace(
            self,
            records=self.records[chosen],
            coefficients=self.coefficients.rows(chosen),
            expected=self.expected[chosen],
            games=self.games[chosen],
        )


def read_examples(paths: Sequence[Path], choice: Choice, workers: int) -> Examples:
    """The chosen positions of all files, in order, each position once. Raises ProgramError, OSError."""
    parts = [_read_file(path, choice, workers) for path in paths]
    everything = Examples(
        np.concatenate([part.records for part in parts]),
        join([part.coefficients for part in parts]),
        np.concatenate([part.expected for part in parts]),
        games_of_files([part.games for part in parts]),
        tuple(source for part in parts for source in part.sources),
    )
    _, first = np.unique(keys(everything.records), return_index=True)
    # King and pawn against king is not fitted: its score does not come from the weights alone.
    first = first[everything.coefficients.kpk_result[first] == 0]
    if not len(first):
        raise ProgramError(f"no position of {', '.join(path.name for path in paths)} can be used")
    return everything.rows(np.sort(first))


def chosen_positions(path: Path, choice: Choice) -> tuple[dict[str, Any], npt.NDArray[Any], npt.NDArray[np.int64]]:
    """What the header of a file says, its chosen positions, and the number of each one's game.

    Raises ProgramError, OSError.
    """
    provenance, everything = read_positions(path)
    everything = everything[: choice.limit or None]
    parts, games = [np.empty(0, RECORD)], [np.empty(0, np.int64)]
    with show_progress(f"reading {path.name}", len(everything)) as advance:
        for block, numbers in in_blocks(everything):
            chosen = are_quiet(block) & (np.abs(block["score_cp"].astype(np.int32)) <= choice.max_score_cp)
            parts.append(block[chosen])
            games.append(numbers[chosen])
            advance(len(block))
    return provenance, np.concatenate(parts), np.concatenate(games)


def _read_file(path: Path, choice: Choice, workers: int) -> Examples:
    provenance, records, games = chosen_positions(path, choice)
    with show_progress(f"coefficients of {path.name}", len(records)) as advance:
        coefficients = find_coefficients(records, workers, advance)
    expected = records["result"] / 2.0
    score_scale = None
    if has_scores(provenance) and choice.mix:
        score_scale = choice.score_scale or fit_scale(records["score_cp"].astype(np.float64), expected)
        expected = choice.mix * expit(records["score_cp"] / score_scale) + (1 - choice.mix) * expected
    source = {
        "file": path.name,
        "sha256": hashlib.sha256(records.tobytes()).hexdigest(),
        "positions": len(records),
        "score_scale": score_scale,
    }
    return Examples(records, coefficients, expected, games, (source,))


def split_games(examples: Examples, parts: dict[str, float], seed: int) -> dict[str, Examples]:
    """The examples of each part, shuffled. A game is in one part. Raises ProgramError as `split_rows` does."""
    chance = np.random.default_rng(seed)
    found = {}
    for name, rows in zip(parts, split_rows(examples.games, tuple(parts.values()), chance), strict=True):
        chance.shuffle(rows)
        found[name] = examples.rows(rows)
    return found


def fit_scale(scores_cp: Floats, expected: Floats) -> float:
    """The scale at which scores promise best what is expected, from the same view. Raises ProgramError without any."""
    if not len(scores_cp):
        raise ProgramError("no positions to fit a scale to")
    found = minimize_scalar(
        lambda logarithm: log_loss(scores_cp / np.exp(logarithm), expected),
        bounds=(np.log(SCALES_CP[0]), np.log(SCALES_CP[1])),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def log_loss(logits: Floats, expected: Floats) -> float:
    """The mean logistic loss (cross-entropy) of scores in units of the scale."""
    return float(np.mean(np.maximum(logits, 0) + log1p(np.exp(-np.abs(logits))) - expected * logits))


def rms_error(logits: Floats, expected: Floats) -> float:
    """The root mean square error of the promised result."""
    return float(np.sqrt(np.mean((expit(logits) - expected) ** 2)))


@dataclass(frozen=True)
class ErrorOfEvaluation:
    """scale: in centipawns, at which the evaluation promises best what the deep search does. error: root mean square,
    with the half of its 95 % interval (games are resampled). correlation: of both expected results.
    """

    name: str
    scale: float
    error: float
    interval: float
    correlation: float


def error_of(name: str, scores_cp: npt.NDArray[Any], expected: Floats, games: npt.NDArray[Any]) -> ErrorOfEvaluation:
    """Of scores against expected results, both from the same view. games: the number of each one's, from 0."""
    scores = scores_cp.astype(np.float64)
    scale = fit_scale(scores, expected)
    promised = expit(scores / scale)
    squares = np.bincount(games, (promised - expected) ** 2)
    counts = np.bincount(games).astype(np.float64)
    chance = np.random.default_rng(0)
    # One after another: together they would take more memory than all else.
    draws = (chance.integers(len(counts), size=len(counts)) for _ in range(RESAMPLES))
    errors = [np.sqrt(squares[drawn].sum() / counts[drawn].sum()) for drawn in draws]
    low, high = np.quantile(errors, (0.025, 0.975))
    return ErrorOfEvaluation(
        name,
        scale,
        float(np.sqrt(squares.sum() / counts.sum())),
        float(high - low) / 2,
        float(np.corrcoef(promised, expected)[0, 1]),
    )
