"""The evaluation as a function of its weights, over many positions: scores, loss and gradient, and their fit.

A score is tapered and scaled as in `Evaluator.taper`, without rounding; `exact_scores` rounds as it does. The endgame
scale depends on which side is ahead in the endgame, so on the weights. Where that changes, the endgame is level, so the
score has no step.

Weights are an array with two columns, middlegame and endgame, and a row for each weight of the catalogue, in its order.

All weights are fitted at once, by SciPy's L-BFGS. What is made small is the logistic loss of the positions and a prior:
a weight is about as far from where it began as its deviation. Positions soon outweigh it where there are many, and it
decides where there are none. The weights with the least loss on the validation games are kept.

With 1.46 million positions and 21 500 weights deviations of 30 cp for small terms and of 4, 8, 16 cp for large tables
ended at losses of 0.48118, 0.48068, 0.48033 on held-back games, and 100 with 16 at 0.47988.

The endgame scale factors are no weights of a sum: they multiply its endgame half. The two are fitted in turn: the
weights with the factors of `evaluation.base.constants`, then the factors with those weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from evaluation.base.constants import DRAWN_SCALE, ENDGAME_SCALES, FULL_SCALE, FULL_SHARE, STATIC_LIMIT
from evaluation.catalogue import BOARD, CATALOGUE, Term
from evaluation.weights import MAX_CENTIPAWNS, PHASES, Weights
from toolkit.training.coefficients import COLUMNS, OFFSETS, Coefficients
from toolkit.training.positions import MAX_PAWNS, Examples, Floats, pieces_of

# Rows that one thread works on at a time. Invariant: the sums do not depend on the number of threads.
SLICE: Final = 4096
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

# The tables of which each piece of one type has exactly one number, and where the mean of a table belongs.
CENTRED: Final = {
    **{f"{name}_mobility": f"{name}_squares" for name in ("knight", "bishop", "rook", "queen")},
    **dict.fromkeys(("bishop_pawns", "bishop_enemy_pawns"), "bishop_squares"),
    **dict.fromkeys(("pawn_by_own_king", "pawn_by_enemy_king"), "pawn_squares"),
}

# A longer list continues on the next line.
MAX_NUMBERS_PER_LINE: Final = 64
# How a file begins.
HEADER: Final = """\
# The weights of the evaluation, in centipawns. Ranks and squares are as the own side sees the board.
# By victim: pawn, knight, bishop, rook, queen.
"""
# Of each weight from where it began, in centipawns: of terms with few weights, and with at least LARGE.
DEVIATION_CP: Final = 300.0
DEVIATION_OF_LARGE_CP: Final = 16.0
LARGE: Final = 512
# Almost no position shows what mop-up is worth: scores beyond --max-score are left out.
MOP_UP: Final = "mop_up"
DEVIATION_OF_MOP_UP_CP: Final = 0.01
# The variance of a result that is as often promised as not, to a half: no more than a guess of the loss's curvature.
USUAL_VARIANCE: Final = 0.2
# Of L-BFGS: how many steps it remembers.
MEMORY: Final = 20
# What is expected before any position was seen: a whole row is about as far from FULL_SCALE as this, a factor from its
# row. It adds to the sum of the losses, as the prior of the weights does.
ROW_DEVIATION: Final = 32.0
DEVIATION: Final = 16.0
MAX_SCALE: Final = 160.0
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample(Examples):
    """Examples with their coefficients."""

    coefficients: Coefficients


@dataclass(frozen=True)
class Slice:
    """Some rows, ready to multiply. shares: of the middlegame, and of the endgame if Black, and if White, is ahead."""

    matrix: Any
    transposed: Any
    shares: npt.NDArray[np.float32]
    expected: npt.NDArray[np.float32]


def shares(coefficients: Coefficients) -> npt.NDArray[np.float32]:
    """The taper of each row: what one centipawn of middlegame, and of endgame for either side, adds to the score."""
    middlegame = coefficients.share.astype(np.int64)
    endgame = (FULL_SHARE - middlegame)[:, None] * coefficients.scales.astype(np.int64)
    return np.column_stack([middlegame / FULL_SHARE, endgame / (FULL_SHARE * FULL_SCALE)]).astype(np.float32)


def slices(examples: Sample) -> list[Slice]:
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


def loss_of_slice(part: Slice, weights: npt.NDArray[np.float32], scale: float) -> tuple[float, Floats]:
    """The sum of the logistic losses of some rows, and its gradient by the weights.

    scale: centipawns, as in toolkit.training.positions.
    """
    middlegame, endgame = part.matrix @ weights[:, 0], part.matrix @ weights[:, 1]
    endgame_share = np.where(endgame > 0, part.shares[:, 2], part.shares[:, 1])
    logits = (part.shares[:, 0] * middlegame + endgame_share * endgame).astype(np.float64) / scale
    loss = np.sum(np.logaddexp(0, logits) - part.expected * logits)
    slope = ((expit(logits) - part.expected) / scale).astype(np.float32)
    gradient = np.empty(weights.shape)
    gradient[:, 0] = part.transposed @ (slope * part.shares[:, 0])
    gradient[:, 1] = part.transposed @ (slope * endgame_share)
    return float(loss), gradient


def loss_and_gradient(parts: Iterable[Slice], weights: Floats, scale: float, run: Map = map) -> tuple[float, Floats]:
    """As `loss_of_slice`, over several slices. `run`: the `map` of a pool of threads."""
    narrow = weights.astype(np.float32)
    total, gradient = 0.0, np.zeros_like(weights)
    for loss, slopes in run(lambda part: loss_of_slice(part, narrow, scale), parts):
        total += loss
        gradient += slopes
    return total, gradient


def exact_scores(coefficients: Coefficients, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """White's view in centipawns, rounded as `Evaluator.taper` does; `kpk_result` is not applied."""
    # Sums of products of whole numbers below 2 ** 53, so floats are exact, and SciPy multiplies them faster.
    middlegame, endgame = (
        (coefficients.matrix @ weights[:, phase].astype(np.float64)).astype(np.int64) for phase in (0, 1)
    )
    share = coefficients.share.astype(np.int64)
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


def weights_text(weights: Weights) -> str:
    """The text of a weights file: `Weights.parse` makes an equal object of it."""
    parts = [HEADER]
    for term in CATALOGUE:
        # What the term counts: how the docstring of its function begins.
        comment = term.words or (term.function.__doc__ or "").partition("\n\n")[0]
        parts.append(f"\n# {comment}\n[{term.name}]\n")
        for phase, values in zip(PHASES, (weights.middlegame, weights.endgame), strict=True):
            parts.append(f"{phase} = {_to_file(term, values[term.name])}\n")
    return "".join(parts)


def _to_file(term: Term, numbers: Sequence[int]) -> str:
    """One phase of a weight as TOML: a number or a text. A board begins with the eighth rank."""
    if term.size == 1:
        return str(numbers[0])
    if term.name.endswith(BOARD):
        rows = [numbers[rank * 8 : rank * 8 + 8] for rank in range(7, -1, -1)]
        lines = [" ".join(f"{number:4d}" for number in row) for row in rows]
    else:
        rows = [numbers[i : i + MAX_NUMBERS_PER_LINE] for i in range(0, term.size, MAX_NUMBERS_PER_LINE)]
        lines = [" ".join(map(str, row)) for row in rows]
    return f"'{lines[0]}'" if len(lines) == 1 else "\n".join(["'''", *lines, "'''"])


@dataclass(frozen=True)
class Plan:
    """How a fit goes.

    scale: centipawns, see toolkit.training.positions. patience: so many iterations without a better validation loss end
    the fit.
    """

    scale: float
    iterations: int = 200
    patience: int = 15
    threads: int = 1


@dataclass
class Fit:
    """What has come of a fit. Losses are means a position; the history has those of training and of validation."""

    weights: Floats
    loss: float
    best: int
    history: list[tuple[float, float]]


def fit_weights(
    train: Sample,
    validation: Sample,
    start: Floats,
    free: npt.NDArray[np.bool_],
    plan: Plan,
    after_iteration: Callable[[Fit], None] = lambda fit: None,
) -> Fit:
    """Fit the columns that are free; the others stay as in `start`. The weights do not depend on `plan.threads`."""
    parts, held_back = slices(train), slices(validation)
    # For each weight, in both phases.
    deviations_cp = np.full((COLUMNS, 1), DEVIATION_CP)
    deviations_cp[columns_of(term.name for term in CATALOGUE if term.size >= LARGE)] = DEVIATION_OF_LARGE_CP
    deviations_cp[columns_of([MOP_UP])] = DEVIATION_OF_MOP_UP_CP
    precision = 1 / deviations_cp[free] ** 2
    # Weights that count often take small steps, rare ones large steps.
    unit = 1 / np.sqrt(_curvature(train, plan.scale)[free] + precision)

    def weights_of(units: Floats) -> Floats:
        weights = start.copy()
        weights[free] += unit * units.reshape(-1, 2)
        return weights

    with ThreadPoolExecutor(plan.threads) as pool:

        def cost(units: Floats) -> tuple[float, Floats]:
            loss, slopes = loss_and_gradient(parts, weights_of(units), plan.scale, pool.map)
            moved = unit * units.reshape(-1, 2)
            loss += float((precision * moved**2).sum()) / 2
            gradient = unit * (slopes[free] + precision * moved)
            return loss / len(train), gradient.ravel() / len(train)

        def validation_loss(weights: Floats) -> float:
            return loss_and_gradient(held_back, weights, plan.scale, pool.map)[0] / len(validation)

        fit = Fit(start, validation_loss(start), 0, [])

        def after(intermediate_result: Any) -> None:
            weights = weights_of(intermediate_result.x)
            loss = validation_loss(weights)
            fit.history.append((float(intermediate_result.fun), loss))
            if loss < fit.loss:
                fit.weights, fit.loss, fit.best = weights, loss, len(fit.history)
            after_iteration(fit)
            if len(fit.history) - fit.best >= plan.patience:
                raise StopIteration

        options = {"maxiter": plan.iterations, "maxcor": MEMORY, "ftol": 1e-9, "gtol": 1e-9}
        minimize(cost, np.zeros(unit.size), jac=True, method="L-BFGS-B", callback=after, options=options)
    return fit


def _curvature(examples: Sample, scale: float) -> Floats:
    """About the second derivative of the sum of the losses by each weight."""
    taper = shares(examples.coefficients).astype(np.float64)
    squares = examples.coefficients.matrix.astype(np.float64).power(2).T
    share = np.column_stack([taper[:, 0], taper[:, 1:].mean(axis=1)])
    return np.asarray(USUAL_VARIANCE * (squares @ share**2) / scale**2)


def fit_scales(sample: Sample, weights: Numbers, scale_cp: float) -> dict[str, list[int]]:
    """The table of `evaluation.base.constants`, with every factor fitted that positions know about.

    scale_cp: of the scores, see `toolkit.training.positions`.
    """
    taper = shares(sample.coefficients).astype(np.float64)
    phase_share = taper[:, 0]
    middlegame, endgame = (sample.coefficients.matrix @ weights[:, phase].astype(np.float64) for phase in (0, 1))
    strong = (endgame > 0).astype(np.int64)
    pieces = pieces_of(sample.records)
    rows = np.arange(len(pieces))
    pawns = np.stack([(pieces == 2 * chess.PAWN + colour).sum(1) for colour in range(2)], axis=1)[rows, strong]
    kinds = sample.coefficients.ending
    now = sample.coefficients.scales[rows, strong]
    # Other rules of `endgame_scale` decide where the factor is not that of the table.
    before = np.array(list(ENDGAME_SCALES.values()))
    counts = (now == before[kinds, np.clip(pawns, 1, MAX_PAWNS) - 1]) & (now > DRAWN_SCALE)
    counts &= (pawns > 0) & (phase_share < 1)
    base = phase_share * middlegame / scale_cp
    slope = (1 - phase_share) * endgame / (FULL_SCALE * scale_cp)
    table = {name: list(scales) for name, scales in ENDGAME_SCALES.items()}
    for kind, scales in enumerate(table.values()):
        chosen = np.flatnonzero(counts & (kinds == kind))
        if len(chosen):
            row = _fit(base[chosen], slope[chosen], sample.expected[chosen], float(FULL_SCALE), ROW_DEVIATION)
            for place in range(MAX_PAWNS):
                some = chosen[pawns[chosen] == place + 1]
                scales[place] = round(_fit(base[some], slope[some], sample.expected[some], row, DEVIATION))
    return table


def _fit(base: Floats, slope: Floats, expected: npt.NDArray[np.float32], centre: float, deviation: float) -> float:
    """The factor with the least loss and prior."""

    def cost(scale: float) -> float:
        logits: Any = base + scale * slope
        loss = float(np.sum(np.logaddexp(0, logits) - expected * logits))
        return loss + ((scale - centre) / deviation) ** 2 / 2

    found = minimize_scalar(cost, bounds=(0.0, MAX_SCALE), method="bounded", options={"xatol": 1e-3})
    return float(found.x)
