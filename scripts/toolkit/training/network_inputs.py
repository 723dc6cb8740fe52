"""What the network sees of many positions, as arrays: active inputs, static scores of the features, results.

A position has two views: the side to move's, then the other side's. An input here is a piece on a square. The region of
the own king, which has weights of its own, follows from the inputs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt

from evaluation.network import shape
from evaluation.network.shape import MAX_FEATURES_CP, MIN_PIECES, PIECE_SQUARES, PIECES_PER_BUCKET
from evaluation.scoring import set_up
from evaluation.weights import Weights
from toolkit.files import digest_of_files
from toolkit.training.coefficient_reader import place
from toolkit.training.positions import cannot_be_evaluated, pieces_of, placed, places_in_rows, refuse, white_to_move
from uci_engine.core import load

# Stands where there is no piece.
NO_PIECE: Final = PIECE_SQUARES
MAX_PIECES: Final = 32
# Positions that are taken apart at a time.
BATCH: Final = 8192

Inputs = npt.NDArray[np.uint16]


@cache
def input_table() -> Inputs:
    """[view of a colour, its king on the files a to d, piece * 64 + square]: the input."""
    table = np.full((2, 2, 14 * 64), NO_PIECE, np.uint16)
    for view in range(2):
        for mirrored in range(2):
            for piece in range(2, 14):
                is_enemy = piece & 1 != view
                for square in range(64):
                    seen = square ^ (0 if view else 56) ^ (7 if mirrored else 0)
                    table[view, mirrored, 64 * piece + square] = 64 * (6 * is_enemy + (piece >> 1) - 1) + seen
    return table


def inputs_of(records: npt.NDArray[Any]) -> Inputs:
    """The active inputs of positions: [position, view, 32], ended by NO_PIECE. ProgramError: see `static_scores`."""
    found = np.full((len(records), 2, MAX_PIECES), NO_PIECE, np.uint16)
    for first in range(0, len(records), BATCH):
        _fill_inputs(records[first : first + BATCH], found[first : first + BATCH])
    return found


def _fill_inputs(records: npt.NDArray[Any], found: Inputs) -> None:
    pieces = pieces_of(records)
    refuse(records, cannot_be_evaluated(pieces))
    rows, squares = np.nonzero(pieces)
    numbers = pieces[rows, squares].astype(np.intp) * 64 + squares
    counts = np.count_nonzero(pieces, axis=1)
    places = places_in_rows(counts)
    turns = white_to_move(records).astype(np.intp)
    for index in range(2):
        view = turns ^ index
        king = (pieces == (12 + view)[:, None].astype(np.uint8)).argmax(axis=1)
        mirrored = (king & 7 < 4).astype(np.intp)
        found[rows, index, places] = input_table()[view[rows], mirrored[rows], numbers]


@cache
def source_digest_of_inputs() -> str:
    """A digest of the sources that decide the inputs."""
    own = Path(__file__)
    return digest_of_files([own, own.with_name("positions.py"), Path(shape.__file__)])


def bucket_of(inputs: Inputs) -> npt.NDArray[np.intp]:
    """Whose weights of the output count, by the number of pieces."""
    pieces = np.count_nonzero(inputs[:, 0] != NO_PIECE, axis=1)
    return np.asarray((pieces - 1) // PIECES_PER_BUCKET, np.intp)


def has_output(inputs: Inputs, features_cp: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether a position gets an output at all (see `evaluation.network`)."""
    own = np.count_nonzero(inputs[:, 0] < PIECE_SQUARES // 2, axis=1)
    pieces = np.count_nonzero(inputs[:, 0] != NO_PIECE, axis=1)
    is_open = np.abs(features_cp) <= MAX_FEATURES_CP
    return np.asarray((own > 1) & (pieces - own > 1) & (pieces >= MIN_PIECES) & is_open)


def static_scores(records: npt.NDArray[Any], weights: Weights) -> npt.NDArray[np.int16]:
    """The scores of the features in centipawns, the side to move's view.

    Raises ProgramError for a position that cannot be evaluated.
    """
    load()
    evaluator, board = set_up(chess.Board(), weights)
    scores = np.empty(len(records), np.int16)
    for first in range(0, len(records), BATCH):
        part = records[first : first + BATCH]
        pieces = pieces_of(part)
        refuse(part, cannot_be_evaluated(pieces))
        found = []
        for squares, turn in zip(placed(pieces), white_to_move(part).tolist(), strict=True):
            place(board, squares, turn)
            found.append(evaluator.evaluate(board))
        scores[first : first + BATCH] = found
    return scores
