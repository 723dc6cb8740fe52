"""What fitted weights are worth: losses on held-back games beside other weights, and their calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table
from scipy.special import expit

from lib.console import make_table
from lib.errors import ProgramError
from lib.training.examples import Examples, Floats, fit_scale, log_loss, rms_error
from lib.training.model import exact_scores

# Of the calibration: expected results are grouped in tenths, and the outer tenths in two.
BIN_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class Rival:
    """Weights to compare, in whole centipawns, and the scale at which their scores promise best on the train games."""

    name: str
    weights: npt.NDArray[np.int64]
    scale: float

    @classmethod
    def fitted(cls, name: str, weights: npt.NDArray[np.int64], train: Examples) -> Rival:
        """With its best scale."""
        scores = exact_scores(train.coefficients, weights).astype(np.float64)
        return cls(name, weights, fit_scale(scores, train.expected))

    def logits(self, examples: Examples) -> Floats:
        """The scores, White's view, in units of the scale."""
        return np.asarray(exact_scores(examples.coefficients, self.weights) / self.scale)


@dataclass(frozen=True)
class Measured:
    """Of one rival on one set: logistic loss, and root mean square error of the expected result."""

    loss: float
    error: float


def measure(rivals: Sequence[Rival], sets: Mapping[str, Examples]) -> dict[str, dict[str, Measured]]:
    """For each rival each set."""
    found: dict[str, dict[str, Measured]] = {}
    for rival in rivals:
        found[rival.name] = {}
        for name, examples in sets.items():
            logits = rival.logits(examples)
            found[rival.name][name] = Measured(
                log_loss(logits, examples.expected), rms_error(logits, examples.expected)
            )
    return found


def loss_table(rivals: Sequence[Rival], measured: Mapping[str, Mapping[str, Measured]]) -> Table:
    """A row for each rival: loss and error on each set."""
    sets = list(next(iter(measured.values())))
    head = ["weights", "scale", *(f"{name}: {what}" for name in sets for what in ("loss", "error"))]
    rows = [
        [rival.name, f"{rival.scale:.1f}"]
        + [f"{number:.5f}" for name in sets for number in (found[name].loss, found[name].error)]
        for rival in rivals
        if (found := measured[rival.name])
    ]
    return make_table("Logistic loss, and error of the expected result", head, rows)


@dataclass(frozen=True)
class Bin:
    """Positions whose expected result lies in one interval: how many, its mean, the mean result, and its error."""

    positions: int
    promised: float
    scored: float
    error: float


def calibrate(rival: Rival, examples: Examples) -> list[Bin]:
    """What the scores of the weights promise, against the results of the games.

    The errors (95 %) take each game for one observation, because its positions share a result.
    """
    promised = expit(rival.logits(examples))
    results = examples.results
    number = np.clip(np.searchsorted(BIN_EDGES, promised, side="right") - 1, 0, len(BIN_EDGES) - 2)
    found = []
    for index in range(len(BIN_EDGES) - 1):
        chosen = number == index
        if not chosen.any():
            continue
        games = len(np.unique(examples.games[chosen]))
        error = 1.96 * float(results[chosen].std()) / np.sqrt(games)
        found.append(Bin(int(chosen.sum()), float(promised[chosen].mean()), float(results[chosen].mean()), error))
    return found


def calibration_table(bins: Sequence[Bin]) -> Table:
    """A row for each bin."""
    rows = [[str(each.positions), f"{each.promised:.3f}", f"{each.scored:.3f} ± {each.error:.3f}"] for each in bins]
    return make_table("Calibration on the test games", ["positions", "promised", "scored"], rows)


def draw_calibration(bins: Mapping[str, Sequence[Bin]], path: Path) -> None:
    """Promised against scored, for each name. Raises ProgramError and OSError."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ProgramError("--picture needs matplotlib") from None
    figure = Figure(figsize=(7, 7), dpi=130, layout="constrained")
    plot = figure.subplots()
    plot.plot([0, 1], [0, 1], "--", color="#555555", linewidth=1, label="perfect")
    for (name, found), colour in zip(bins.items(), ("#1f4e9c", "#d95f02", "#1b9e77"), strict=False):
        plot.errorbar(
            [each.promised for each in found],
            [each.scored for each in found],
            yerr=[each.error for each in found],
            fmt="o-",
            capsize=3,
            color=colour,
            label=name,
        )
    plot.set_title("Expected result of the static evaluation against results (test games)")
    plot.set_xlabel("promised")
    plot.set_ylabel("scored, with 95 % intervals")
    plot.grid(True, color="#dddddd", linewidth=0.6)
    plot.set_axisbelow(True)
    plot.legend(frameon=False)
    figure.savefig(path, format="png")


def as_json(measured: Mapping[str, Mapping[str, Measured]], rivals: Sequence[Rival]) -> dict[str, Any]:
    """The figures for --json."""
    return {
        rival.name: {
            "scale": rival.scale,
            **{name: {"loss": each.loss, "error": each.error} for name, each in measured[rival.name].items()},
        }
        for rival in rivals
    }
