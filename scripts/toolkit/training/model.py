"""The evaluation as a function of its weights, over many positions: scores, loss and gradient.

A score is tapered and scaled as in `Evaluator.taper`, without rounding; `exact_scores` rounds as it does. The endgame
scale depends on which side is ahead in the endgame, so on the weights. Where that changes, the endgame is level, so the
score has no step.

Weights are an array with two columns, middlegame and endgame, and a row for each weight of the catalogue, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from evaluation.base.accumulated import FULL_PHASE, FULL_SHARE, middlegame_share
from evaluation.catalogue import CATALOGUE
from evaluation.constants import FULL_SCALE, STATIC_LIMIT
from evaluation.weights import MAX_CENTIPAWNS, PHASES, Weights
from toolkit.training.coefficients import COLUMNS, OFFSETS, Coefficients
from toolkit.training.examples import Examples, Floats

# Rows that one thread works on at a time. Invariant: the sums do not depend on the number of threads.
SLICE: Final = 4096
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

# By the game phase: see `middlegame_share`.
SHARES: Final = np.array([middlegame_share(phase) for phase in range(FULL_PHASE + 1)])

# The tables of which each piece of one type has exactly one number, and where the mean of a table belongs.
CENTRED: Final = {
    **{f"{name}_mobility": f"{name}_squares" for name in ("knight", "bishop", "rook", "queen")},
    **dict.fromkeys(("bishop_pawns", "bishop_enemy_pawns"), "bishop_squares"),
    **dict.fromkeys(("pawn_by_own_king", "pawn_by_enemy_king"), "pawn_squares"),
}


@dataclass(frozen=True)
class Slice:
    """Some rows, ready to multiply. shares: of the middlegame, and of the endgame if Black, and if White, is ahead."""

    matrix: Any
    transposed: Any
    shares: npt.NDArray[np.float32]
    expected: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Sums:
    """Over some rows: how many, the logistic loss, and its gradient by the weights."""

    count: int
    loss: float
    gradient: Floats


def shares(coefficients: Coefficients) -> npt.NDArray[np.float32]:
    """The taper of each row: what one centipawn of middlegame, and of endgame for either side, adds to the score."""
    middlegame = SHARES[coefficients.phase]
    endgame = (FULL_SHARE - middlegame)[:, None] * coefficients.scales.astype(np.int64)
    return np.column_stack([middlegame / FULL_SHARE, endgame / (FULL_SHARE * FULL_SCALE)]).astype(np.float32)


def slices(examples: Examples) -> list[Slice]:
    """The rows in order, SLICE at a time."""
    matrix = examples.coefficients.matrix.astype(np.float32)
    taper = shares(examples.coefficients)
    expected = examples.expected.astype(np.float32)
    found = []
    for first in range(0, len(examples), SLICE):
        rows = slice(first, first + SLICE)
        part = matrix[rows]
        found.append(Slice(part, part.T, taper[rows], expected[rows]))
    return found


def sums_of_slice(part: Slice, weights: npt.NDArray[np.float32], scale: float) -> Sums:
    """Loss and gradient of some rows. `scale`: centipawns, as in toolkit.training.examples."""
    middlegame, endgame = part.matrix @ weights[:, 0], part.matrix @ weights[:, 1]
    endgame_share = np.where(endgame > 0, part.shares[:, 2], part.shares[:, 1])
    logits = (part.shares[:, 0] * middlegame + endgame_share * endgame).astype(np.float64) / scale
    loss = np.sum(np.logaddexp(0, logits) - part.expected * logits)
    slope = ((expit(logits) - part.expected) / scale).astype(np.float32)
    gradient = np.empty(weights.shape)
    gradient[:, 0] = part.transposed @ (slope * part.shares[:, 0])
    gradient[:, 1] = part.transposed @ (slope * endgame_share)
    return Sums(len(part.expected), float(loss), gradient)


def add_up(parts: Iterable[Slice], weights: Floats, scale: float, run: Map = map) -> Sums:
    """Loss and gradient over several slices. `run`: the `map` of a pool of threads."""
    narrow = weights.astype(np.float32)
    count, loss, gradient = 0, 0.0, np.zeros_like(weights)
    for sums in run(lambda part: sums_of_slice(part, narrow, scale), parts):
        count += sums.count
        loss += sums.loss
        gradient += sums.gradient
    return Sums(count, loss, gradient)


def exact_scores(coefficients: Coefficients, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """White's view in centipawns, rounded as `Evaluator.taper` does; `kpk_result` is not applied."""
    # Sums of products of whole numbers below 2 ** 53, so floats are exact, and SciPy multiplies them faster.
    middlegame, endgame = (
        (coefficients.matrix @ weights[:, phase].astype(np.float64)).astype(np.int64) for phase in (0, 1)
    )
    share = SHARES[coefficients.phase]
    scale = coefficients.scales[np.arange(len(coefficients)), (endgame > 0).astype(np.intp)].astype(np.int64)
    value = middlegame * share * FULL_SCALE + endgame * (FULL_SHARE - share) * scale
    return np.asarray(np.sign(value) * np.minimum(np.abs(value) >> 14, STATIC_LIMIT - 1))


def weights_as_array(weights: Weights) -> npt.NDArray[np.int64]:
    """The numbers of a Weights."""
    columns = [
        [number for term in CATALOGUE for number in phase[term.name]] for phase in (weights.middlegame, weights.endgame)
    ]
    return np.array(columns, np.int64).T


def weights_from_array(numbers: Floats) -> Weights:
    """The nearest weights in whole centipawns. Raises WeightsError."""
    whole = rounded(numbers)
    phases = [
        {term.name: whole[OFFSETS[term.name] : OFFSETS[term.name] + term.size, phase].tolist() for term in CATALOGUE}
        for phase in range(len(PHASES))
    ]
    return Weights(phases[0], phases[1])


def rounded(numbers: Floats) -> npt.NDArray[np.int64]:
    """Whole centipawns, halves to the even one, within the bound of a weights file."""
    return np.clip(np.rint(numbers), -MAX_CENTIPAWNS, MAX_CENTIPAWNS).astype(np.int64)


def centred(
    weights: npt.NDArray[np.int64], matrix: Any, free: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.int64]:
    """The same evaluation, in weights that are easier to read. `matrix`: coefficients of positions, which weigh.

    Each piece has one number of the tables CENTRED. Their means go to the squares of the piece, so that a usual
    mobility counts about 0. `free`: the columns that may change, all by default.
    """
    weights = weights.copy()
    for name, squares in CENTRED.items():
        columns, board = (np.flatnonzero(columns_of([each])) for each in (name, squares))
        if squares == "pawn_squares":
            board = board[8:56]
        counts = np.asarray(abs(matrix[:, columns]).sum(axis=0)).ravel().astype(np.int64)
        if counts.any() and (free is None or free[[*columns, *board]].all()):
            means = np.rint(counts @ weights[columns] / counts.sum()).astype(np.int64)
            weights[columns] -= means
            weights[board] += means
    return weights


def columns_of(names: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Which columns belong to these terms."""
    chosen = np.zeros(COLUMNS, np.bool_)
    sizes = {term.name: term.size for term in CATALOGUE}
    for name in names:
        chosen[OFFSETS[name] : OFFSETS[name] + sizes[name]] = True
    return chosen


def only_material(weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The weights with 0 for all but material."""
    return weights * columns_of(["material"])[:, None]
