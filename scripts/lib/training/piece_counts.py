"""The coefficients that are counted from the pieces, of many positions at once.

It is what `coefficient_reader.counted` yields for one position, in arrays. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy import sparse

from evaluation.catalogue import CATALOGUE
from evaluation.piece_squares import BY_KINGS, ENEMY_KING, KING_BUCKET, OWN_KING

OFFSETS: Final = dict(
    zip((term.name for term in CATALOGUE), np.cumsum([0, *(term.size for term in CATALOGUE)]).tolist(), strict=False)
)
COLUMNS: Final = sum(term.size for term in CATALOGUE)
MAX_PAWNS: Final = 8

Numbers = npt.NDArray[np.int32]
# Rows, columns and the sign of the side.
Counts = tuple[Numbers, Numbers, int]


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
