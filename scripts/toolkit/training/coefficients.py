"""How often each weight counts in the sum of a position, for tuners: the coefficients of many, as a sparse matrix.

A row is a position, a column a weight of `evaluation.catalogue`, in its order; the entry says how often the weight
counts, White minus Black. Beside it stands what tapers and scales the sum.

The sum of terms is linear in the weights: coefficients times weights, in the middlegame as in the endgame. Invariant:
the coefficients are read from the result of `Evaluator.sum_of_terms`, so they cannot differ from those of the engine.

With the weights 1, 32, 1024, ... the sum holds one coefficient in each five bits. `layout` says where each coefficient
is: how many bits it needs follows from the bound of its term in the catalogue. A sum has 64 bits, so a row of
evaluators is prepared, each with the weights for its part, and every position is shown to each of them. That takes a
fraction of a microsecond for each evaluator.

The large tables, of pieces by square and of pairs of pawns, are not read in this way: `_matrix_of_pieces` counts the
pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import combinations, product
from typing import Any, Final, NamedTuple

import chess
import numpy as np
import numpy.typing as npt
from scipy import sparse

from evaluation.base.constants import KING_PLACE
from evaluation.catalogue import ACCUMULATED, BY_KINGS, CATALOGUE, ENEMY_KING, OWN_KING, Term
from evaluation.weights import default_weights
from toolkit.console import Advance
from toolkit.training.positions import MAX_PAWNS, of_chunks, pieces_of, set_up_each
from uci_engine.core import load

# The terms whose coefficients are counted from the pieces: those that the board adds up, and the pairs of pawns.
PAIRS: Final = ("pawn_pair", "pawn_against_pawn", "pawn_by_own_king", "pawn_by_enemy_king")
COUNTED: Final = (*(term.name for term in CATALOGUE if term.group == ACCUMULATED), *PAIRS)
# A side has at most so many pieces of one type, apart from its king.
MAX_PIECES: Final = 15
# Of a signed 64-bit sum. All sums of a word's coefficients stay within them.
WORD_BITS: Final = 62
OFFSETS: Final = dict(
    zip((term.name for term in CATALOGUE), np.cumsum([0, *(term.size for term in CATALOGUE)]).tolist(), strict=False)
)
COLUMNS: Final = sum(term.size for term in CATALOGUE)
Numbers = npt.NDArray[np.int32]
# Rows, columns and the sign of the side.
Counts = tuple[Numbers, Numbers, int]
# Positions that are taken apart at a time: their dense coefficients fit the processor's caches.
BATCH: Final = 2048


@dataclass(frozen=True, slots=True)
class Digit:
    """Where one coefficient stands: in the bits `shift` to `shift + bits - 1` of the sum of evaluator `word`.

    Every sum has its `Layout.bias` added first, which moves each coefficient up by 2 ** (bits - 1).
    """

    term: str
    index: int
    word: int
    shift: int
    bits: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The digits of all weights outside the board, in the catalogue's order, and what to add to each sum."""

    digits: tuple[Digit, ...]
    biases: tuple[int, ...]


class Reading(NamedTuple):
    """What the evaluation sees of one position: the sums, White minus Black; the others are those of `Coefficients`."""

    words: tuple[int, ...]
    share: int
    scales: tuple[int, int]
    kpk_result: int
    ending: int


@cache
def layout() -> Layout:
    """Where each coefficient stands."""
    digits: list[Digit] = []
    biases = [0]
    shift = 0
    for term in CATALOGUE:
        if term.name in COUNTED:
            continue
        bits = (2 * _max_coefficient(term)).bit_length()
        for index in range(term.size):
            if shift + bits > WORD_BITS:
                biases.append(0)
                shift = 0
            digits.append(Digit(term.name, index, len(biases) - 1, shift, bits))
            biases[-1] += 1 << shift + bits - 1
            shift += bits
    return Layout(tuple(digits), tuple(biases))


class CoefficientReader:
    """The prepared evaluators, one after another. Making one takes milliseconds, reading a position microseconds."""

    def __init__(self) -> None:
        # Imported here, because importing the package must load no kernel module (see `evaluation`).
        load()
        from evaluation.base.base_board import BaseBoard
        from evaluation.evaluator import Evaluator, middlegame_share
        from evaluation.terms.endgames import endgame_scale, ending

        self._board = BaseBoard([0] * len(default_weights().piece_square))
        self._middlegame_share, self._endgame_scale, self._ending = middlegame_share, endgame_scale, ending
        evaluators = [Evaluator(default_weights()) for _ in layout().biases]
        for word, evaluator in enumerate(evaluators):
            _set_powers(evaluator, word)
        self._kpk = evaluators[0].kpk
        self._sums = [evaluator.sum_of_terms for evaluator in evaluators]

    def read(self, records: npt.NDArray[Any]) -> list[Reading]:
        """What the evaluation sees of positions. Raises ProgramError for one that cannot be evaluated."""
        board, scale = self._board, self._endgame_scale
        return [
            Reading(
                tuple([sum_of_terms(board) for sum_of_terms in self._sums]),
                self._middlegame_share(board.phase),
                (scale(board, 0), scale(board, 1)),
                self._kpk.result(board),
                self._ending(board),
            )
            for _ in set_up_each(records, board)
        ]


def _max_coefficient(term: Term) -> int:
    """The bound of a coefficient of the term, for either side."""
    if term.owner == "side":
        return term.max_count
    return term.max_count * (1 if term.owner == "king" else MAX_PIECES)


def _set_powers(evaluator: Any, word: int) -> None:
    """Give an evaluator the weights of one word: powers of two for its digits, and 0 for all other weights."""
    values = {term.name: [0] * term.size for term in CATALOGUE}
    for digit in layout().digits:
        if digit.word == word:
            values[digit.term][digit.index] = 1 << digit.shift
    for term in CATALOGUE:
        if term.group != ACCUMULATED:
            numbers = values[term.name]
            setattr(evaluator.context, term.name, numbers if term.size > 1 else numbers[0])


@dataclass(frozen=True)
class Coefficients:
    """What the evaluation sees of some positions, apart from the weights. All have a row or an element each.

    matrix: int8, a column for each weight. share: of the middlegame, in 256ths. scales: the endgame scale factor in
    64ths if Black, and if White, is ahead in the endgame. kpk_result: not 0 for king and pawn against king, whose score
    is not the sum alone. ending: which row of `constants.ENDGAME_SCALES` the position belongs to.
    """

    matrix: Any
    share: npt.NDArray[np.uint16]
    scales: npt.NDArray[np.uint8]
    kpk_result: npt.NDArray[np.uint8]
    ending: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.share)

    def __getitem__(self, chosen: npt.NDArray[Any]) -> Coefficients:
        """Those with these numbers, in this order."""
        return Coefficients(*(getattr(self, each.name)[chosen] for each in fields(self)))


def find_coefficients(
    records: npt.NDArray[Any], workers: int = 1, advance: Advance = lambda steps=1, text=None: None
) -> Coefficients:
    """Those of an array of RECORD, found by so many processes. `advance`: told of positions that are done.

    Raises ProgramError for a position that cannot be evaluated.
    """
    return _join(of_chunks(_find_chunk, records, workers, advance))


def _find_chunk(records: npt.NDArray[Any]) -> Coefficients:
    """What the workers do."""
    return _join([_find_batch(records[first : first + BATCH]) for first in range(0, max(len(records), 1), BATCH)])


def _join(parts: list[Coefficients]) -> Coefficients:
    """One after another."""
    matrix = sparse.vstack([part.matrix for part in parts], format="csr")
    columns = ([getattr(part, each.name) for part in parts] for each in fields(Coefficients)[1:])
    return Coefficients(matrix, *(np.concatenate(column) for column in columns))


# The one of this process.
_reader = cache(CoefficientReader)


def _find_batch(records: npt.NDArray[Any]) -> Coefficients:
    readings = _reader().read(records)
    words = np.array([reading.words for reading in readings], np.int64).reshape(-1, len(layout().biases))
    matrix = (_matrix_of_pieces(pieces_of(records)) + _matrix_of_words(words)).astype(np.int8)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return Coefficients(
        matrix,
        np.array([reading.share for reading in readings], np.uint16),
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


def _matrix_of_pieces(pieces: npt.NDArray[np.uint8]) -> Any:
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
    places = np.array(KING_PLACE, np.int32)
    for piece_type in chess.PIECE_TYPES:
        rows, squares = (found.astype(np.int32) for found in np.nonzero(view == 2 * piece_type + colour))
        name = f"{chess.piece_name(piece_type)}_squares"
        yield rows, OFFSETS[name] + squares
        if piece_type != chess.KING:
            yield rows, np.full(len(rows), OFFSETS["material"] + piece_type - 1, np.int32)
        if piece_type in BY_KINGS:
            yield rows, OFFSETS[name + OWN_KING] + 64 * places[own[rows]] + squares
            yield rows, OFFSETS[name + ENEMY_KING] + 64 * places[enemy[rows]] + squares


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
