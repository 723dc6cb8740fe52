"""Examples to learn from: positions of files, each once, with what is expected of it.

The expected result of a position, White's view from 0 to 1, mixes what its score promises with what its game brought.
A score in centipawns promises 1 / (1 + exp(-score / scale)); each file has a scale, because engines count differently.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit, log1p

from toolkit.console import Advance, show_progress
from toolkit.errors import ProgramError
from toolkit.pool import in_order
from toolkit.training.positions import (
    RECORD,
    are_first,
    are_quiet,
    games_of_files,
    has_scores,
    in_blocks,
    keys,
    read_positions,
)

# Stockfish's centipawns: at 100 it wins half of its games, and loses almost none.
STOCKFISH_SCALE_CP: Final = 100.0
# Scales that are thought possible, in centipawns.
SCALES_CP: Final = (20.0, 2000.0)
# Positions of a task.
CHUNK: Final = 32768

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """A file of positions.

    mix: the share of the score, against that of the result. score_scale_cp: at which a score promises a result, None to
    fit it to the results. weight: how much each position counts.
    """

    path: Path
    mix: float = 1.0
    score_scale_cp: float | None = STOCKFISH_SCALE_CP
    weight: float = 1.0


@dataclass(frozen=True)
class Examples:
    """Positions, one a row. `expected`: from 0 to 1, White's view. `games`: a number for each game."""

    records: npt.NDArray[Any]
    expected: npt.NDArray[np.float32]
    games: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.records)

    def rows(self, chosen: npt.NDArray[Any]) -> Self:
        """Those with these numbers, in this order."""
        return type(self)(*(getattr(self, each.name)[chosen] for each in fields(self)))


def read_examples(
    sources: Sequence[Source], max_score_cp: int = 1500, limit: int = 0
) -> tuple[Examples, list[dict[str, Any]]]:
    """The quiet positions of all files with scores up to a bound, in order, each once; and facts of each file.

    limit: of each file the first positions, 0 for all. Raises ProgramError, OSError.
    """
    parts: list[Examples] = []
    facts = []
    known = np.empty(0, np.uint64)
    for source in sources:
        part, fact = _read_file(source, max_score_cp, limit)
        found = keys(part.records)
        is_new = are_first(found) & ~np.isin(found, known)
        known = np.concatenate([known, found[is_new]])
        parts.append(part.rows(is_new))
        facts.append(fact)
    if not len(known):
        raise ProgramError(f"no position of {', '.join(source.path.name for source in sources)} can be used")
    records, expected, weight = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("records", "expected", "weight")
    )
    return Examples(records, expected, games_of_files([part.games for part in parts]), weight), facts


def _read_file(source: Source, max_score_cp: int, limit: int) -> tuple[Examples, dict[str, Any]]:
    provenance, everything = read_positions(source.path)
    everything = everything[: limit or None]
    kept_records, kept_games = [np.empty(0, RECORD)], [np.empty(0, np.int64)]
    with show_progress(f"reading {source.path.name}", len(everything)) as advance:
        for block, numbers in in_blocks(everything):
            kept = are_quiet(block) & (np.abs(block["score_cp"].astype(np.int32)) <= max_score_cp)
            kept_records.append(block[kept])
            kept_games.append(numbers[kept])
            advance(len(block))
    records, games = np.concatenate(kept_records), np.concatenate(kept_games)
    # In 32 bits throughout: there may be hundreds of millions.
    expected: npt.NDArray[Any] = records["result"] / np.float32(2)
    mix = source.mix if has_scores(provenance) else 0.0
    scale = None
    if mix and len(records):
        scale = source.score_scale_cp or fit_scale(records["score_cp"], expected)
        promised = expit(records["score_cp"] / np.float32(scale))
        expected = np.float32(mix) * promised + np.float32(1 - mix) * expected
    facts = {
        "file": source.path.name,
        "sha256": hashlib.sha256(records.view(np.uint8).data).hexdigest(),
        "positions": len(records),
        "games": len(np.unique(games)),
        "mix": mix,
        "score_scale": scale,
        "weight": source.weight,
        "provenance": provenance,
    }
    return Examples(records, expected, games, np.full(len(records), source.weight, np.float32)), facts


def of_chunks(function: Callable[[bytes], Any], records: npt.NDArray[Any], workers: int, advance: Advance) -> list[Any]:
    """What a function says of records, CHUNK at a time and packed, in order; with more workers in so many processes.

    Raises ProgramError.
    """
    chunks = (records[first : first + CHUNK].tobytes() for first in range(0, max(len(records), 1), CHUNK))
    found = []
    for answer in in_order(function, chunks, workers):
        found.append(answer)
        advance(min(CHUNK, len(records) - CHUNK * (len(found) - 1)))
    return found


def command_text(program: str, words: Sequence[str]) -> str:
    """A command line for a record of how something was made: files stand without their folders."""
    return shlex.join([program, *(re.sub(r"[^ =]*[/\\]", "", word) for word in words)])


def fit_scale(scores_cp: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """The scale at which scores promise best what is expected, from the same view. Raises ProgramError without any."""
    if not len(scores_cp):
        raise ProgramError("no positions to fit a scale to")
    scores = scores_cp.astype(np.float64)
    found = minimize_scalar(
        lambda logarithm: log_loss(scores / np.exp(logarithm), expected),
        bounds=(np.log(SCALES_CP[0]), np.log(SCALES_CP[1])),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def log_loss(logits: Floats, expected: npt.NDArray[Any]) -> float:
    """The mean logistic loss (cross-entropy) of scores in units of the scale."""
    return float(np.mean(np.maximum(logits, 0) + log1p(np.exp(-np.abs(logits))) - expected * logits))
