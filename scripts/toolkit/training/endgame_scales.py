"""The endgame scale factors: fitted to positions, with the weights as they are.

A factor multiplies the endgame half of a score, so it is no weight of a sum. The two are fitted in turn: the weights by
tune_evaluation.py with the factors of `evaluation.constants`, then the factors with those weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import chess
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from evaluation.constants import DRAWN_SCALE, ENDGAME_SCALES, FULL_SCALE
from toolkit.training.coefficients import MAX_PAWNS
from toolkit.training.examples import Examples, Floats
from toolkit.training.model import shares
from toolkit.training.positions import pieces_of

KINDS: Final = tuple(ENDGAME_SCALES)
# What is expected before any position was seen: a whole row is about as far from FULL_SCALE as this, a factor from its
# row. It adds to the sum of the losses, as in toolkit.training.weights_fit.
ROW_DEVIATION: Final = 32.0
DEVIATION: Final = 16.0
MAX_SCALE: Final = 160.0

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """One factor: what it is, what fits best, and how many positions said so."""

    kind: str
    pawns: int
    fitted: float
    count: int


def fit_scales(examples: Examples, weights: Numbers, scale_cp: float) -> list[Cell]:
    """Every factor of the table that positions know about. `scale_cp`: of the scores, see toolkit.training.examples."""
    taper = shares(examples.coefficients).astype(np.float64)
    phase_share = taper[:, 0]
    middlegame, endgame = (examples.coefficients.matrix @ weights[:, phase].astype(np.float64) for phase in (0, 1))
    strong = (endgame > 0).astype(np.int64)
    pieces = pieces_of(examples.records)
    rows = np.arange(len(pieces))
    pawns = np.stack([(pieces == 2 * chess.PAWN + colour).sum(1) for colour in range(2)], axis=1)[rows, strong]
    kinds = examples.coefficients.ending
    now = examples.coefficients.scales[rows, strong]
    # Other rules of `endgame_scale` decide where the factor is not that of the table.
    table = np.array([ENDGAME_SCALES[kind] for kind in KINDS])
    counts = (now == table[kinds, np.clip(pawns, 1, MAX_PAWNS) - 1]) & (now > DRAWN_SCALE)
    counts &= (pawns > 0) & (phase_share < 1)
    base = phase_share * middlegame / scale_cp
    slope = (1 - phase_share) * endgame / (FULL_SCALE * scale_cp)
    cells = []
    for kind, name in enumerate(KINDS):
        of_kind = np.flatnonzero(counts & (kinds == kind))
        if not len(of_kind):
            continue
        row = _fit(base[of_kind], slope[of_kind], examples.expected[of_kind], float(FULL_SCALE), ROW_DEVIATION)
        for pawn_count in range(1, MAX_PAWNS + 1):
            chosen = of_kind[pawns[of_kind] == pawn_count]
            fitted = _fit(base[chosen], slope[chosen], examples.expected[chosen], row, DEVIATION)
            cells.append(Cell(name, pawn_count, fitted, len(chosen)))
    return cells


def as_constants(cells: list[Cell]) -> str:
    """The table for `evaluation.constants`."""
    table = {kind: list(scales) for kind, scales in ENDGAME_SCALES.items()}
    for cell in cells:
        table[cell.kind][cell.pawns - 1] = round(cell.fitted)
    return "\n".join(f'    "{kind}": ({", ".join(map(str, scales))}),' for kind, scales in table.items())


def _fit(base: Floats, slope: Floats, expected: Floats, centre: float, deviation: float) -> float:
    """The factor with the least loss and prior."""

    def cost(scale: float) -> float:
        logits: Any = base + scale * slope
        loss = float(np.sum(np.logaddexp(0, logits) - expected * logits))
        return loss + ((scale - centre) / deviation) ** 2 / 2

    found = minimize_scalar(cost, bounds=(0.0, MAX_SCALE), method="bounded", options={"xatol": 1e-3})
    return float(found.x)
