"""Static evaluations of other engines, as their command `eval` prints them, and their error against a deep search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy.special import expit

from lib.console import Advance
from lib.engines.engine import Engine, EngineError
from lib.engines.spec import EngineSpec
from lib.training.examples import Floats, fit_scale
from lib.training.positions import board_of

# As Stockfish prints them, in pawns: `Classical evaluation   +0.66 (white side)`.
EVALUATION: Final = re.compile(r"(?P<name>\w+) evaluation:?\s+(?P<pawns>[+-]?\d+\.\d+) +\(white side\)")
EVAL_SECONDS: Final = 10.0
RESAMPLES: Final = 500


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


def read_evaluations(lines: Sequence[str]) -> dict[str, float]:
    """What the lines after `eval` say, in centipawns, White's view, by the word before "evaluation"."""
    found = (EVALUATION.match(line) for line in lines)
    return {match["name"]: 100 * float(match["pawns"]) for match in found if match}


def ask_engine(spec: EngineSpec, records: npt.NDArray[Any], advance: Advance) -> dict[str, Floats]:
    """The evaluations of an engine, by the engine's name and theirs, in centipawns, White's view.

    Raises EngineError for an engine that does not answer, or has not the same evaluations of each position.
    """
    found: dict[str, list[float]] = {}
    with Engine(spec) as engine:
        for number, record in enumerate(records):
            engine.set_position(board_of(record))
            engine.send("eval", "isready")
            lines = engine.read_until("readyok", EVAL_SECONDS)
            evaluations = read_evaluations([line.text for line in lines])
            if not evaluations or (number and evaluations.keys() != found.keys()):
                raise EngineError(f"{spec.name} does not evaluate {board_of(record).fen()}")
            for name, score in evaluations.items():
                found.setdefault(name, []).append(score)
            advance()
    return {f"{spec.name}: {name}": np.array(scores) for name, scores in found.items()}


def static_scores(engine: Engine, boards: Sequence[chess.Board], name: str) -> list[float]:
    """What an engine's command `eval` says under a name, in centipawns, White's view. Fast: it is asked all at once.

    Raises EngineError for an engine that does not answer, or says nothing under that name.
    """
    for board in boards:
        engine.set_position(board)
        engine.send("eval")
    engine.send("isready")
    lines = engine.read_until("readyok", EVAL_SECONDS)
    # `eval` says much: only a line that begins with the name is looked at.
    found = (read_evaluations([line.text]) for line in lines if line.text.startswith(name))
    scores = [each[name] for each in found if name in each]
    if len(scores) != len(boards):
        raise EngineError(f"{engine.name} says {name!r} of {len(scores)} positions among {len(boards)}")
    return scores


def error_of(name: str, scores: Floats, expected: Floats, games: npt.NDArray[np.int64]) -> ErrorOfEvaluation:
    """Of scores in centipawns against expected results, both from the same view."""
    scale = fit_scale(scores, expected)
    promised = expit(scores / scale)
    squares = np.bincount(games, (promised - expected) ** 2)
    counts = np.bincount(games).astype(np.float64)
    drawn = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    errors = np.sqrt(squares[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    low, high = np.quantile(errors, (0.025, 0.975))
    return ErrorOfEvaluation(
        name,
        scale,
        float(np.sqrt(squares.sum() / counts.sum())),
        float(high - low) / 2,
        float(np.corrcoef(promised, expected)[0, 1]),
    )
