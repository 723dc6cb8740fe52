"""What a trained network is worth, as tables and a picture, and the file that stands beside it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from evaluation.network import file as engine
from lib.console import make_table
from lib.errors import ProgramError
from lib.files import replaced
from lib.training.network_fit import mean_loss
from lib.training.network_inputs import has_output
from lib.training.network_model import Batch, Loss, Network, outputs
from lib.training.quantisation import whole_outputs
from lib.training.static_evaluations import ErrorOfEvaluation, error_of

FEATURES, WITH_NETWORK, QUANTISED = "features", "with the network", "in whole numbers"


@dataclass(frozen=True)
class Quantisation:
    """What rounding to whole numbers does to the outputs: root mean square and largest difference, centipawns."""

    error_cp: float
    largest_cp: float
    network_cp: float


def losses(batch: Batch, network: Network, whole: engine.Network, loss: Loss) -> dict[str, float]:
    """The mean loss a position of the features alone and of both networks."""
    rounded = whole_outputs(whole, batch.inputs, batch.buckets)
    each, _ = loss.of(batch.static_cp + rounded, batch.expected)
    return {
        FEATURES: mean_loss(None, batch, loss),
        WITH_NETWORK: mean_loss(network, batch, loss),
        QUANTISED: float(np.average(each, weights=batch.weight)),
    }


def quantisation(batch: Batch, network: Network, whole: engine.Network) -> Quantisation:
    """How far both networks differ."""
    exact = outputs(network, batch.inputs, batch.buckets)
    difference = whole_outputs(whole, batch.inputs, batch.buckets) - exact
    return Quantisation(
        float(np.sqrt(np.mean(difference**2))), float(np.abs(difference).max()), float(np.sqrt(np.mean(exact**2)))
    )


def deep_errors(batch: Batch, games: npt.NDArray[np.int64], whole: engine.Network) -> list[ErrorOfEvaluation]:
    """Features alone and with the network against a deep search."""
    added = whole_outputs(whole, batch.inputs, batch.buckets) * has_output(batch.inputs, batch.static_cp)
    with_network = batch.static_cp + added
    expected = batch.expected.astype(np.float64)
    return [
        error_of(FEATURES, batch.static_cp.astype(np.float64), expected, games),
        error_of(WITH_NETWORK, with_network.astype(np.float64), expected, games),
    ]


def loss_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """A row for each set."""
    names = (FEATURES, WITH_NETWORK, QUANTISED)
    rows = [[part, *(f"{each[name]:.6f}" for name in names)] for part, each in found.items()]
    return make_table("Loss", ["part", *names], rows)


def error_table(found: Mapping[str, Iterable[ErrorOfEvaluation]]) -> Table:
    """Two rows for each set."""
    rows = [
        [name, each.name, f"{each.scale:.0f}", f"{each.error:.4f} ± {each.interval:.4f}"]
        for name, errors in found.items()
        for each in errors
    ]
    head = ["file", "static evaluation", "scale", "error of the expected result"]
    return make_table("Against a deep search", head, rows)


def draw_losses(history: Sequence[tuple[float, float]], features: float, path: Path) -> None:
    """Loss over epochs. Raises ProgramError and OSError."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ProgramError("--picture needs matplotlib") from None
    figure = Figure(figsize=(8, 5), dpi=130, layout="constrained")
    plot = figure.subplots()
    epochs = range(1, len(history) + 1)
    plot.axhline(features, linestyle="--", color="#555555", linewidth=1, label="validation, features alone")
    plot.plot(epochs, [train for train, _ in history], "o-", color="#d95f02", label="training, on the way")
    plot.plot(epochs, [validation for _, validation in history], "o-", color="#1f4e9c", label="validation")
    plot.set_title("The network: loss by epoch")
    plot.set_xlabel("epoch")
    plot.set_ylabel("mean loss a position")
    plot.grid(True, color="#dddddd", linewidth=0.6)
    plot.set_axisbelow(True)
    plot.legend(frameon=False)
    figure.savefig(path, format="png")


def write_network(path: Path, whole: engine.Network, facts: Mapping[str, Any]) -> None:
    """The network, and beside it a file .toml that says how it was made. Raises OSError."""
    data = whole.pack()
    lines = ["# How the network beside this file was made, by scripts/train_network.py.", ""]
    for name, value in {"sha256": hashlib.sha256(data).hexdigest(), **facts}.items():
        # JSON's strings, numbers and arrays of them are TOML's, too. A key of other letters stands in quotes.
        key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    with replaced(path) as file:
        file.write(data)
    with replaced(path.with_suffix(".toml")) as file:
        file.write("\n".join([*lines, ""]).encode())
