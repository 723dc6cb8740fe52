"""New scores for training positions: by another engine's search, or by the network of Stockfish 15."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Container, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import chess.engine
import numpy as np
import numpy.typing as npt

from lib.console import Advance
from lib.engines.cache import running_engines
from lib.engines.spec import EngineSpec
from lib.errors import ProgramError
from lib.journal import Journal
from lib.pool import Task, run_tasks
from lib.training import stockfish_network
from lib.training.positions import MAX_SCORE_CP, RECORD, board_of

# Positions of a task, and of a network's turn.
ENGINE_BATCH: Final = 500
NETWORK_BATCH: Final = 16384
LABEL_SECONDS: Final = 60.0

Scores = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Workers:
    """How many engines at a time, or on which Dask scheduler's workers; `ahead`: positions that one is sent at once."""

    count: int
    cluster: str | None
    ahead: int


@dataclass(frozen=True)
class _Batch:
    """One task: positions, packed, to be scored by an engine."""

    engine: EngineSpec
    positions: bytes
    ahead: int
    keep_engines: bool


def scores_of_network(
    network: stockfish_network.StockfishNetwork, positions: npt.NDArray[Any], advance: Advance
) -> Scores:
    """In centipawns, White's view."""
    scores = np.empty(len(positions), np.int16)
    for first in range(0, len(positions), NETWORK_BATCH):
        part = positions[first : first + NETWORK_BATCH]
        found = np.rint(stockfish_network.static_scores(network, part))
        scores[first : first + NETWORK_BATCH] = np.clip(found, -MAX_SCORE_CP, MAX_SCORE_CP)
        advance(len(part))
    return scores


def journal_settings(positions: npt.NDArray[Any], scorer: Mapping[str, Any]) -> dict[str, Any]:
    """What decides the scores: a journal with other settings is not gone on with."""
    return {
        "program": "scripts/positions.py label",
        "positions": hashlib.sha256(positions.tobytes()).hexdigest(),
        "engine": dict(scorer),
    }


def scores_of_engine(
    engine: EngineSpec,
    positions: npt.NDArray[Any],
    workers: Workers,
    journal: Journal,
    advance: Advance,
) -> Scores:
    """In centipawns, White's view. The journal holds them on the way. Raises EngineError, ProgramError, OSError."""
    scores = np.empty(len(positions), np.int16)
    done = {str(entry["key"]): str(entry["scores"]) for entry in journal.entries}
    advance(min(len(done) * ENGINE_BATCH, len(positions)))
    for key, text in score_batches(engine, positions, workers, done):
        journal.append({"key": key, "scores": text})
        done[key] = text
        advance(len(positions[int(key) : int(key) + ENGINE_BATCH]))
    for key, text in done.items():
        scores[int(key) : int(key) + ENGINE_BATCH] = np.frombuffer(b64decode(text), "<i2")
    return scores


def score_batches(
    engine: EngineSpec, positions: npt.NDArray[Any], workers: Workers, done: Container[str]
) -> Iterator[tuple[str, str]]:
    """The key and the scores of each batch that is not done, as `label_batch` returns them."""
    local = workers.cluster is None
    tasks = (
        Task(
            str(first),
            _Batch(engine, positions[first : first + ENGINE_BATCH].tobytes(), workers.ahead, local),
        )
        for first in range(0, len(positions), ENGINE_BATCH)
        if str(first) not in done
    )
    results = run_tasks(label_batch, tasks, workers=workers.count, cluster=workers.cluster)
    with closing(results):
        for result in results:
            yield result.key, result.value_or_raise()


def label_batch(batch: _Batch) -> str:
    """The engine's scores, White's view: numbers of 16 bits in base 64. Raises EngineError, ProgramError."""
    boards = [board_of(record) for record in np.frombuffer(batch.positions, RECORD)]
    with running_engines(batch.keep_engines) as engines:
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
