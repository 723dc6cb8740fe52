"""What the engine's own evaluation says of many positions: the features alone, and what a network adds.

Scores are in centipawns from the side to move's view.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt

from evaluation.network import shape
from evaluation.network.file import Network
from evaluation.network.shape import MAX_FEATURES_CP, MIN_PIECES
from evaluation.scoring import set_up
from evaluation.weights import Weights
from toolkit.files import digest_of_files
from toolkit.training.positions import cannot_be_evaluated, pieces_of, refuse, white_to_move, words_of
from uci_engine.core import load

# Positions that are checked at a time.
BATCH: Final = 8192
BLACK_PIECES: Final = 0x8888_8888_8888_8888

Scores = npt.NDArray[np.int16]


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


def source_digest() -> str:
    """A digest of the sources that decide which positions the network is trained on."""
    own = Path(__file__)
    return digest_of_files([own, own.with_name("positions.py"), Path(shape.__file__)])
