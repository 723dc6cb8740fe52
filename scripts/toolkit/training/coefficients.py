"""The coefficients of many positions as a sparse matrix.

A row is a position, a column a weight of `evaluation.catalogue`, in its order; the entry says how often the weight
counts, White minus Black (`coefficient_reader`). Beside it stands what tapers and scales the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy import sparse

import evaluation
from evaluation.base.accumulated import KING_BUCKET
from evaluation.catalogue import BY_KINGS, CATALOGUE, ENEMY_KING, OWN_KING
from toolkit.console import Advance
from toolkit.files import digest_of_files
from toolkit.pool import Task, run_tasks
from toolkit.training.coefficient_reader import CoefficientReader, layout
from toolkit.training.positions import RECORD, cannot_be_evaluated, pieces_of, placed, refuse, white_to_move
from uci_engine.core import load

OFFSETS: Final = dict(
    zip((term.name for term in CATALOGUE), np.cumsum([0, *(term.size for term in CATALOGUE)]).tolist(), strict=False)
)
COLUMNS: Final = sum(term.size for term in CATALOGUE)
MAX_PAWNS: Final = 8

Numbers = npt.NDArray[np.int32]
# Rows, columns and the sign of the side.
Counts = tuple[Numbers, Numbers, int]

# Positions of a task.
CHUNK: Final = 32768
# Positions that are taken apart at a time: their dense coefficients fit the processor's caches.
BATCH: Final = 2048


@dataclass(frozen=True)
class Coefficients:
    """What the evaluation sees of some positions, apart from the weights. All have a row or an element each.

    matrix: int8, a column for each weight. phase: 24 to 0. scales: the endgame scale factor in 64ths if Black, and if
    White, is ahead in the endgame. kpk_result: not 0 for king and pawn against king, whose score is not the sum alone.
    ending: which row of `constants.ENDGAME_SCALES` the position belongs to.
    """

    matrix: Any
    phase: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.uint8]
    kpk_result: npt.NDArray[np.uint8]
    ending: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.phase)

    def rows(self, chosen: npt.NDArray[Any]) -> Coefficients:
        """Those with these numbers, in this order."""
        return Coefficients(*(getattr(self, each.name)[chosen] for each in fields(self)))


def find_coefficients(
    records: npt.NDArray[Any], workers: int = 1, advance: Advance = lambda steps=1, text=None: None
) -> Coefficients:
    """Those of an array of RECORD, found by so many processes. `advance`: told of positions that are done.

    Raises ProgramError for a position that cannot be evaluated.
    """
    if workers < 2 or len(records) <= CHUNK:
        found = []
        for first in range(0, max(len(records), 1), BATCH):
            found.append(_find_batch(records[first : first + BATCH]))
            advance(len(found[-1]))
        return join(found)
    firsts = range(0, len(records), CHUNK)
    tasks = [Task(str(first), records[first : first + CHUNK].tobytes()) for first in firsts]
    parts: dict[str, Coefficients] = {}
    with closing(run_tasks(_find_packed, tasks, workers=workers)) as results:
        for key, part in results:
            parts[key] = part
            advance(len(part))
    return join([parts[str(first)] for first in firsts])


def _find_packed(packed: bytes) -> Coefficients:
    """What the workers do."""
    return find_coefficients(np.frombuffer(packed, RECORD))


def join(parts: list[Coefficients]) -> Coefficients:
    """One after another."""
    matrix = sparse.vstack([part.matrix for part in parts], format="csr")
    columns = ([getattr(part, each.name) for part in parts] for each in fields(Coefficients)[1:])
    return Coefficients(matrix, *(np.concatenate(column) for column in columns))


@cache
def source_digest() -> str:
    """A digest of all that decides the coefficients: the sources of the evaluation and of this, without the weights."""
    folder = Path(evaluation.__file__).parent
    names = ("coefficient_reader", "coefficients", "positions")
    own = [Path(__file__).with_name(f"{name}.py") for name in names]
    return digest_of_files(sorted([*folder.rglob("*.py"), *own]))


@cache
def _reader() -> CoefficientReader:
    load()
    return CoefficientReader()


def _find_batch(records: npt.NDArray[Any]) -> Coefficients:
    pieces = pieces_of(records)
    refuse(records, cannot_be_evaluated(pieces) | _too_many_pawns(pieces))
    readings = list(map(_reader().read, placed(pieces), white_to_move(records).tolist()))
    words = np.array([reading.words for reading in readings], np.int64).reshape(-1, len(layout().biases))
    matrix = (matrix_of_pieces(pieces) + _matrix_of_words(words)).astype(np.int8)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return Coefficients(
        matrix,
        np.array([reading.phase for reading in readings], np.uint8),
        np.array([reading.scales for reading in readings], np.uint8).reshape(-1, 2),
        np.array([reading.kpk_result for reading in readings], np.uint8),
        np.array([reading.ending for reading in readings], np.uint8),
    )


def _matrix_of_words(words: npt.NDArray[np.int64]) -> Any:
    """The coefficients outside the board, out of the sums of the prepared evaluators."""
    digits = layout().digits
    biased = words + np.array(layout().biases, np.int64)
    shifts = np.array([digit.shift for digit in digits], np.int64)
    bits = np.array([digit.bits for digit in digits], np.int64)
    counts = biased[:, [digit.word for digit in digits]] >> shifts & (1 << bits) - 1
    counts -= 1 << bits - 1
    rows, found = np.nonzero(counts)
    columns = np.array([OFFSETS[digit.term] + digit.index for digit in digits])
    values = counts[rows, found].astype(np.int8)
    return sparse.coo_matrix((values, (rows, columns[found])), shape=(len(words), COLUMNS)).tocsr()


def _too_many_pawns(pieces: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    counts = [(pieces == 2 * chess.PAWN + colour).sum(1) for colour in (0, 1)]
    return np.asarray(np.maximum(*counts) > MAX_PAWNS)


def matrix_of_pieces(pieces: npt.NDArray[np.uint8]) -> Any:
    """A sparse matrix of int8, a row for each position and a column for each weight.

    `pieces[position, square]` is 2 * piece type + colour or 0. Each position has one king a side.
    """
    rows, columns, signs = [], [], []
    for found_rows, found_columns, sign in _counts(pieces):
        rows.append(found_rows)
        columns.append(found_columns)
        signs.append(np.full(len(found_rows), sign, np.int8))
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_matrix((np.concatenate(signs), places), shape=(len(pieces), COLUMNS)).tocsr()


def _counts(pieces: npt.NDArray[np.uint8]) -> Iterator[Counts]:
    # As each side sees the board: Black's has the ranks turned round.
    views = (pieces.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64), pieces)
    kings = [np.argmax(view == 2 * chess.KING + colour, axis=1).astype(np.int32) for colour, view in enumerate(views)]
    for colour, sign in ((0, -1), (1, 1)):
        own, enemy = kings[colour], kings[1 - colour]
        for rows, columns in _piece_squares(views[colour], colour, own, enemy):
            yield rows, columns, sign
        pawns, enemies = (_pawns(views[us], us) for us in (colour, 1 - colour))
        for rows, columns in _pawn_pairs(pawns, enemies, own, enemy):
            yield rows, columns, sign


def _piece_squares(view: npt.NDArray[np.uint8], colour: int, own: Numbers, enemy: Numbers) -> Iterator[Any]:
    buckets = np.array(KING_BUCKET, np.int32)
    for piece_type in chess.PIECE_TYPES:
        rows, squares = (found.astype(np.int32) for found in np.nonzero(view == 2 * piece_type + colour))
        name = f"{chess.piece_name(piece_type)}_squares"
        yield rows, OFFSETS[name] + squares
        if piece_type != chess.KING:
            yield rows, np.full(len(rows), OFFSETS["material"] + piece_type - 1, np.int32)
        if piece_type in BY_KINGS:
            yield rows, OFFSETS[name + OWN_KING] + 64 * buckets[own[rows]] + squares
            yield rows, OFFSETS[name + ENEMY_KING] + 64 * buckets[enemy[rows]] + squares


def _pawns(view: npt.NDArray[np.uint8], colour: int) -> Numbers:
    """The squares of the pawns of a colour, up to eight in each row, in rising order; then -1."""
    squares = np.where(view == 2 * chess.PAWN + colour, np.arange(64, dtype=np.int32), 64)
    squares = np.sort(squares, axis=1)[:, :MAX_PAWNS]
    return np.where(squares < 64, squares, -1).astype(np.int32)


def _pawn_pairs(pawns: Numbers, enemies: Numbers, own: Numbers, enemy: Numbers) -> Iterator[Any]:
    for i, j in combinations(range(MAX_PAWNS), 2):
        rows = np.nonzero(pawns[:, j] >= 0)[0].astype(np.int32)
        yield rows, OFFSETS["pawn_pair"] + 64 * pawns[rows, i] + pawns[rows, j]
    for i, j in product(range(MAX_PAWNS), repeat=2):
        rows = np.nonzero((pawns[:, i] >= 0) & (pawns[:, i] < enemies[:, j]))[0].astype(np.int32)
        yield rows, OFFSETS["pawn_against_pawn"] + 64 * pawns[rows, i] + (enemies[rows, j] ^ 56)
    for i in range(MAX_PAWNS):
        rows = np.nonzero(pawns[:, i] >= 0)[0].astype(np.int32)
        yield rows, OFFSETS["pawn_by_own_king"] + 64 * own[rows] + pawns[rows, i]
        yield rows, OFFSETS["pawn_by_enemy_king"] + 64 * (enemy[rows] ^ 56) + pawns[rows, i]
