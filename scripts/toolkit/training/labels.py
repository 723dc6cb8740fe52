"""New scores for training positions, by another engine's search."""

from __future__ import annotations

import argparse
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import chess.engine
import numpy as np
import numpy.typing as npt

from evaluation.base.record import MAX_SCORE_CP
from toolkit.console import Advance
from toolkit.engines.client import running_engines
from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from toolkit.journal import Journal
from toolkit.pool import Task, run_tasks
from toolkit.training.positions import RECORD, board_of

# Positions of a task.
ENGINE_BATCH: Final = 500
LABEL_SECONDS: Final = 60.0

Scores = npt.NDArray[np.int16]


@dataclass(frozen=True)
class _Batch:
    """One task: positions, packed, to be scored by an engine."""

    engine: EngineSpec
    positions: bytes
    ahead: int


def scores_of_engine(
    engine: EngineSpec, positions: npt.NDArray[Any], words: argparse.Namespace, journal: Journal, advance: Advance
) -> Scores:
    """In centipawns, White's view. The journal holds them on the way. Raises EngineError, ProgramError, OSError.

    words: concurrency, cluster and ahead, of a command line.
    """
    batches = {str(first): positions[first : first + ENGINE_BATCH] for first in range(0, len(positions), ENGINE_BATCH)}
    done: dict[str, bytes] = {}

    def take(entry: Mapping[str, Any]) -> None:
        scores = b64decode(entry["scores"])
        if len(scores) != 2 * len(batches[entry["key"]]):
            raise ValueError("a position has one score")
        done[entry["key"]] = scores

    journal.replay(take)
    advance(min(len(done) * ENGINE_BATCH, len(positions)))
    tasks = (
        Task(key, _Batch(engine, batch.tobytes(), words.ahead)) for key, batch in batches.items() if key not in done
    )
    with closing(run_tasks(label_batch, tasks, workers=words.concurrency, cluster=words.cluster)) as results:
        for key, scores in results:
            entry = {"key": key, "scores": scores}
            take(entry)
            journal.append(entry)
            advance(len(batches[key]))
    return np.frombuffer(b"".join(done[key] for key in batches), "<i2").astype(np.int16)


def label_batch(batch: _Batch) -> str:
    """The engine's scores, White's view: numbers of 16 bits in base 64. Raises EngineError, ProgramError."""
    boards = [board_of(record) for record in np.frombuffer(batch.positions, RECORD)]
    with running_engines() as engines:
        engine = engines.engine(batch.engine)
        answers = engine.play_each(boards, batch.engine.control.fixed_limit(), LABEL_SECONDS, batch.ahead)
        scores = [
            _score_cp(batch.engine.name, board, answer.score) for board, answer in zip(boards, answers, strict=True)
        ]
    return b64encode(np.array(scores, "<i2").tobytes()).decode()


def _score_cp(name: str, board: chess.Board, score: chess.engine.PovScore | None) -> int:
    if score is None:
        raise ProgramError(f"{name} gives no score for {board.fen()}")
    return int(np.clip(score.white().score(mate_score=MAX_SCORE_CP), -MAX_SCORE_CP, MAX_SCORE_CP))
