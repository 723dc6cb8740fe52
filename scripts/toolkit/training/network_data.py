"""Files of positions as examples for the network: each with what is expected of it and how much it counts.

A file has settings of its own, because files differ in who scored them, and how well. The scores of the features are
kept on disk, named by a digest of all that decides them.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy.special import expit

import evaluation
from evaluation.base.record import BLACK
from evaluation.files import replaced
from evaluation.network.file import Network
from evaluation.network.shape import MAX_FEATURES_CP, MIN_PIECES
from evaluation.scoring import set_up
from evaluation.weights import Weights
from toolkit.console import Advance, show_progress
from toolkit.errors import ProgramError
from toolkit.files import digest_of_files
from toolkit.pool import Task, run_tasks
from toolkit.training.examples import STOCKFISH_SCALE_CP, Choice, chosen_positions
from toolkit.training.network_model import Batch
from toolkit.training.positions import (
    RECORD,
    are_first,
    cannot_be_evaluated,
    games_of_files,
    has_scores,
    keys,
    pieces_of,
    refuse,
    white_to_move,
    words_of,
)
from uci_engine.core import load

# Positions that are checked at a time.
BATCH: Final = 8192
BLACK_PIECES: Final = BLACK * 0x1111_1111_1111_1111

Scores = npt.NDArray[np.int16]
# One phase of the weights.
Phase = dict[str, tuple[int, ...]]

# Positions of a task.
CHUNK: Final = 262144
SOURCE_SYNTAX: Final = "'FILE [mix=0..1] [scale=CP] [weight=NUMBER]'"


def static_scores(records: npt.NDArray[Any], weights: Weights) -> Scores:
    """The scores of the features. Raises ProgramError for a position that cannot be evaluated."""
    load()
    evaluator, board = set_up(chess.Board(), weights)
    return np.fromiter((evaluator.evaluate(board) for _ in _placed(records, board)), np.int16, len(records))


def network_scores(network: Network, records: npt.NDArray[Any], features_cp: npt.NDArray[Any]) -> Scores:
    """What the engine adds to the scores of the features, `features_cp`. Raises as `static_scores` does."""
    load()
    evaluator, board = set_up(chess.Board(), network=network)
    added = (
        evaluator.network_score(board, score)
        for score, _ in zip(features_cp.tolist(), _placed(records, board), strict=True)
    )
    return np.fromiter(added, np.int16, len(records))


def _placed(records: npt.NDArray[Any], board: Any) -> Iterator[None]:
    """Set up the positions on a BaseBoard, one after another."""
    for first in range(0, len(records), BATCH):
        part = records[first : first + BATCH]
        refuse(part, cannot_be_evaluated(pieces_of(part)))
        for (occupied, low, high, _), turn in zip(words_of(part).tolist(), white_to_move(part).tolist(), strict=True):
            board.set_packed(occupied, low, high, turn)
            yield


def has_output(records: npt.NDArray[Any], features_cp: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether the network adds anything to a position (see `evaluation.network`)."""
    words = words_of(records)
    pieces = np.bitwise_count(words[:, 0]).astype(np.int64)
    black = np.bitwise_count(words[:, 1:3] & np.uint64(BLACK_PIECES)).sum(axis=1, dtype=np.int64)
    is_open = np.abs(features_cp) <= MAX_FEATURES_CP
    return np.asarray((black > 1) & (pieces - black > 1) & (pieces >= MIN_PIECES) & is_open)


@dataclass(frozen=True)
class Source:
    """A file of positions.

    mix: the share of the score, against that of the result. score_scale_cp: at which a score promises a result (see
    `toolkit.training.examples`). weight: how much each position counts.
    """

    path: Path
    mix: float = 1.0
    score_scale_cp: float = STOCKFISH_SCALE_CP
    weight: float = 1.0


def parse_source(text: str) -> Source:
    """A Source from words like SOURCE_SYNTAX. Raises ProgramError."""
    try:
        path, *words = shlex.split(text)
        source = Source(Path(path))
        for word in words:
            key, _, value = word.partition("=")
            name = {"mix": "mix", "scale": "score_scale_cp", "weight": "weight"}[key]
            source = replace(source, **{name: float(value)})  # type: ignore[arg-type]
    except (ValueError, KeyError):
        raise ProgramError(f"{text!r} is no source: {SOURCE_SYNTAX}") from None
    if not (0 <= source.mix <= 1 and 0 < source.score_scale_cp < np.inf and 0 < source.weight < np.inf):
        raise ProgramError(f"{text!r}: mix is from 0 to 1, scale and weight are above 0")
    return source


@dataclass(frozen=True)
class Examples:
    """Positions that the network scores, each once. `games`: a number for each game. `sources`: facts of each file."""

    batch: Batch
    games: npt.NDArray[np.int64]
    sources: tuple[dict[str, Any], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.batch)


class Cache:
    """A folder of arrays. Nothing is ever removed from it; it may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when it is not there. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def get(self, name: str, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The array of this name, made now if it is not there. Raises ProgramError for a damaged file, OSError."""
        path = self._folder / f"{name}.npy"
        if not path.exists():
            with replaced(path) as file:
                np.save(file, make())
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise ProgramError(f"{path} is damaged, delete it: {error}") from None


def read_examples(
    sources: Sequence[Source], choice: Choice, weights: Weights, cache: Cache, workers: int = 1
) -> Examples:
    """The chosen positions of all files. workers: processes that score the features. Raises ProgramError, OSError."""
    read = zip(*(_read_file(source, choice, weights, cache, workers) for source in sources), strict=True)
    parts, found_keys = map(list, read)
    is_first = are_first(np.concatenate(found_keys))
    games = games_of_files([part.games for part in parts])[is_first]
    # One after another, so that no two copies of everything are in memory.
    for index, kept in enumerate(np.split(is_first, np.cumsum([len(part) for part in parts])[:-1])):
        parts[index] = replace(parts[index], batch=parts[index].batch.rows(kept))
    columns = ([getattr(part.batch, each.name) for part in parts] for each in fields(Batch))
    batch = Batch(*map(np.concatenate, columns))
    if not len(batch):
        raise ProgramError("no position of these files can be used")
    return Examples(batch, games, tuple(fact for part in parts for fact in part.sources))


def _read_file(
    source: Source, choice: Choice, weights: Weights, cache: Cache, workers: int
) -> tuple[Examples, npt.NDArray[np.uint64]]:
    provenance, records, games = chosen_positions(source.path, choice)
    source = source if has_scores(provenance) else replace(source, mix=0.0)
    batch = _batch(source, records, weights, cache, workers)
    usable = has_output(records, batch.static_cp)
    facts = {
        "file": source.path.name,
        "sha256": hashlib.sha256(records.tobytes()).hexdigest(),
        "positions": int(usable.sum()),
        "games": len(np.unique(games[usable])),
        "mix": source.mix,
        "scale_cp": source.score_scale_cp,
        "weight": source.weight,
        "provenance": provenance,
    }
    found_keys = keys(records[usable])
    first = are_first(found_keys)
    rows = np.flatnonzero(usable)[first]
    return Examples(batch.rows(rows), games[rows], (facts,)), found_keys[first]


def features_digest(weights: Weights) -> str:
    """A digest of all that decides the scores of the features, and which positions have an output."""
    own = Path(__file__)
    sources = digest_of_files(
        [own, own.with_name("positions.py"), *sorted(Path(evaluation.__file__).parent.rglob("*.py"))]
    )
    numbers = [sorted(phase.items()) for phase in (weights.middlegame, weights.endgame)]
    return hashlib.sha256(f"{sources} {numbers}".encode()).hexdigest()


def scores_of_features(
    records: npt.NDArray[Any], weights: Weights, workers: int, advance: Advance
) -> npt.NDArray[np.int16]:
    """`static_scores`, by so many processes."""
    phases = (dict(weights.middlegame), dict(weights.endgame))
    firsts = range(0, len(records), CHUNK)
    tasks = (Task(str(first), (records[first : first + CHUNK].tobytes(), phases)) for first in firsts)
    if workers < 2 or len(firsts) < 2:
        results = ((task.key, _score_packed(task.payload)) for task in tasks)
    else:
        results = run_tasks(_score_packed, tasks, workers=workers)
    scores = np.empty(len(records), np.int16)
    with closing(results):
        for key, part in results:
            scores[int(key) : int(key) + len(part)] = part
            advance(len(part))
    return scores


def _score_packed(payload: tuple[bytes, tuple[Phase, Phase]]) -> npt.NDArray[np.int16]:
    """What the workers do."""
    packed, phases = payload
    return static_scores(np.frombuffer(packed, RECORD), Weights(*phases))


def _batch(source: Source, records: npt.NDArray[Any], weights: Weights, cache: Cache, workers: int) -> Batch:
    digest = hashlib.sha256()
    for name in ("occupied", "pieces", "turn_ep"):
        digest.update(np.ascontiguousarray(records[name]).tobytes())
    with show_progress(f"scoring {source.path.name}", len(records)) as advance:
        static_cp = cache.get(
            f"static-{digest.hexdigest()[:32]}-{features_digest(weights)[:16]}",
            lambda: scores_of_features(records, weights, workers, advance),
        )
    turn = white_to_move(records)
    # In 32 bits throughout: there may be hundreds of millions.
    result = np.where(turn, records["result"], 2 - records["result"]) / np.float32(2)
    score_cp = np.where(turn, np.float32(1), np.float32(-1)) * records["score_cp"]
    expected = source.mix * expit(score_cp / np.float32(source.score_scale_cp)) + (1 - source.mix) * result
    return Batch(
        np.asarray(records),
        static_cp.astype(np.float32),
        expected.astype(np.float32, copy=False),
        np.full(len(records), source.weight, np.float32),
    )
