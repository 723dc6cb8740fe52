"""The coefficients of many positions as a sparse matrix, kept on disk once they are found.

A row is a position, a column a weight of `evaluation.catalogue`, in its order; the entry says how often the weight
counts, White minus Black (`coefficient_reader`). Beside it stands what tapers and scales the sum.

The cache holds a file for each chunk of positions, named by a digest of the positions and of the evaluation's sources.
So a changed term finds nothing there, a file that has grown finds its old chunks, and new labels change nothing.
Nothing is ever removed from the folder; it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import chess
import numpy as np
import numpy.typing as npt
from scipy import sparse

import evaluation
from lib.errors import ProgramError
from lib.files import digest_of_files, replaced
from lib.pool import Task, run_tasks
from lib.training.coefficient_reader import CoefficientReader, layout
from lib.training.piece_counts import COLUMNS, MAX_PAWNS, OFFSETS, matrix_of_pieces
from lib.training.positions import RECORD, cannot_be_evaluated, pieces_of, placed, refuse, white_to_move
from uci_engine.core import load

CHUNK: Final = 32768
# Positions that are taken apart at a time: their dense coefficients fit the processor's caches.
BATCH: Final = 2048


@dataclass(frozen=True)
class Coefficients:
    """What the evaluation sees of some positions, apart from the weights. All have a row or an element each.

    matrix: int8, a column for each weight. phase: 24 to 0. scales: the endgame scale factor in 64ths if Black, and if
    White, is ahead in the endgame. kpk_result: not 0 for king and pawn against king, whose score is not the sum alone.
    """

    matrix: Any
    phase: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.uint8]
    kpk_result: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.phase)


def find_coefficients(records: npt.NDArray[Any]) -> Coefficients:
    """Those of an array of RECORD, found now. Raises ProgramError for a position that cannot be evaluated."""
    batches = [_find_batch(records[first : first + BATCH]) for first in range(0, len(records), BATCH)]
    return join(batches) if batches else _find_batch(records)


def join(parts: list[Coefficients]) -> Coefficients:
    """One after another."""
    return Coefficients(
        sparse.vstack([part.matrix for part in parts], format="csr"),
        np.concatenate([part.phase for part in parts]),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.kpk_result for part in parts]),
    )


class CoefficientCache:
    """A folder with the coefficients of positions that have been seen before."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when it is not there. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def missing(self, records: npt.NDArray[Any]) -> Iterator[Task]:
        """The chunks that are not there, as tasks for `find_missing`."""
        named = set()
        for chunk in _chunks(records):
            path = self._path(chunk)
            if path not in named and not path.exists():
                named.add(path)
                yield Task(path.name, (str(path), chunk.tobytes()))

    def find_missing(self, records: npt.NDArray[Any], workers: int) -> Iterator[int]:
        """Find what is not there, by several workers in processes of their own; yields how many positions are done.

        Raises ProgramError, OSError.
        """
        sizes = {self._path(chunk).name: len(chunk) for chunk in _chunks(records)}
        tasks = list(self.missing(records))
        yield len(records) - sum(sizes[task.key] for task in tasks)
        if min(workers, len(tasks)) < 2:
            for task in tasks:
                store_chunk(task.payload)
                yield sizes[task.key]
            return
        with closing(run_tasks(store_chunk, tasks, workers=workers)) as results:
            for result in results:
                result.value_or_raise()
                yield sizes[result.key]

    def read(self, records: npt.NDArray[Any]) -> Coefficients:
        """Those of positions whose chunks are all there. Raises ProgramError for a damaged file, OSError."""
        parts = [_load(self._path(chunk), len(chunk)) for chunk in _chunks(records)]
        return join(parts) if parts else find_coefficients(records)

    def _path(self, chunk: npt.NDArray[Any]) -> Path:
        digest = hashlib.sha256(source_digest().encode())
        for name in ("occupied", "pieces", "turn_ep"):
            digest.update(np.ascontiguousarray(chunk[name]).tobytes())
        return self._folder / f"{digest.hexdigest()[:40]}.npz"


def store_chunk(work: tuple[str, bytes]) -> None:
    """What the workers do: find the coefficients of packed positions, and write them to a file."""
    name, packed = work
    found = find_coefficients(np.frombuffer(packed, RECORD))
    with replaced(Path(name)) as file:
        np.savez(
            file,
            data=found.matrix.data,
            indices=found.matrix.indices.astype(np.uint16 if COLUMNS < 1 << 16 else np.uint32),
            indptr=found.matrix.indptr.astype(np.uint32),
            phase=found.phase,
            scales=found.scales,
            kpk_result=found.kpk_result,
        )


@cache
def source_digest() -> str:
    """A digest of all that decides the coefficients: the sources of the evaluation and of this, without the weights."""
    folder = Path(evaluation.__file__).parent
    names = ("coefficient_reader", "coefficients", "piece_counts", "positions")
    own = [Path(__file__).with_name(f"{name}.py") for name in names]
    return digest_of_files(sorted([*folder.rglob("*.py"), *own]))


def _chunks(records: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    bounds = [*range(0, len(records), CHUNK), len(records)]
    return (records[first:last] for first, last in pairwise(bounds))


def _load(path: Path, count: int) -> Coefficients:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            # SciPy checks that these make a matrix of that shape.
            parts = (file["data"], file["indices"].astype(np.int32), file["indptr"].astype(np.int32))
            matrix = sparse.csr_matrix(parts, shape=(count, COLUMNS))
            return Coefficients(matrix, file["phase"], file["scales"], file["kpk_result"])
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise ProgramError(f"{path} is damaged, delete it: {error}") from None


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
