"""The figures of a speed comparison: samples summed up as medians with their spread, and shown. Called by speed.

What must stay true: nothing is measured here, and a figure without samples is None, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean, median, quantiles
from typing import Any

from rich.table import Table

from lib.console import make_table
from lib.speed.run import Search


@dataclass
class Samples:
    """What was measured of one engine. Searches and perfts are by round, a failed one is None; times in seconds."""

    searches: list[list[Search | None]] = field(default_factory=list)
    perfts: list[float | None] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Figure:
    """A median, and the least and the greatest of its samples."""

    median: float
    least: float
    greatest: float

    def show(self, digits: int, factor: float = 1.0) -> str:
        """As `median (least to greatest)`."""
        middle, low, high = (f"{factor * value:.{digits}f}" for value in (self.median, self.least, self.greatest))
        return f"{middle} ({low} to {high})"


def figure(values: Sequence[float]) -> Figure | None:
    """The figure of some samples; None if there are none."""
    return Figure(median(values), min(values), max(values)) if values else None


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which so many percent of at least one sample lie, between neighbours in proportion."""
    return quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]


def rates(samples: Samples) -> list[float]:
    """Nodes per CPU second of every round, all positions together."""
    rounds = [[search for search in searches if search] for searches in samples.searches]
    return [sum(s.nodes for s in done) / sum(s.cpu_seconds for s in done) for done in rounds if done]


def depths(samples: Samples) -> list[float]:
    """The mean depth of every round."""
    rounds = [[search.depth for search in searches if search] for searches in samples.searches]
    return [fmean(done) for done in rounds if done]


def rate_ratios(ours: Samples, theirs: Samples) -> list[float]:
    """How many nodes one engine searches for each of the other's in equal CPU time, by pairs of searches."""
    pairs = zip(chain.from_iterable(ours.searches), chain.from_iterable(theirs.searches), strict=True)
    return [a.nodes_per_cpu_second / b.nodes_per_cpu_second for a, b in pairs if a and b]


def perft_ratios(ours: Samples, theirs: Samples) -> list[float]:
    """One engine's CPU time for perft as a multiple of the other's, by rounds."""
    return [a / b for a, b in zip(ours.perfts, theirs.perfts, strict=True) if a and b]


def summarise(samples: Samples, first: Samples) -> dict[str, Any]:
    """All figures of one engine, with its ratios to the first; a figure that is missing is None."""
    return {
        "nodes_per_cpu_second": figure(rates(samples)),
        "nodes_ratio": figure(rate_ratios(samples, first)),
        "depth": figure(depths(samples)),
        "perft_cpu_seconds": figure([value for value in samples.perfts if value is not None]),
        "perft_ratio": figure(perft_ratios(samples, first)),
        "start_seconds": figure(samples.starts),
        "stop_seconds_p50": percentile(samples.stops, 50) if samples.stops else None,
        "stop_seconds_p99": percentile(samples.stops, 99) if samples.stops else None,
        "stop_seconds_max": max(samples.stops, default=None),
        "failures": samples.failures,
    }


def speed_table(title: str, names: Sequence[str], summaries: Sequence[dict[str, Any]], perft_depth: int) -> Table:
    """One column for each engine: median (least to greatest)."""
    wanted: list[tuple[str, str, int, float]] = [
        ("thousand nodes per CPU second", "nodes_per_cpu_second", 0, 1e-3),
        ("  as a multiple of the first", "nodes_ratio", 2, 1.0),
        ("depth reached", "depth", 1, 1.0),
        (f"perft {perft_depth}, CPU seconds", "perft_cpu_seconds", 3, 1.0),
        ("  as a multiple of the first", "perft_ratio", 2, 1.0),
        ("start to readyok, ms", "start_seconds", 0, 1e3),
    ]
    rows = []
    for label, key, digits, factor in wanted:
        figures = (summary[key] for summary in summaries)
        rows.append([label, *("-" if value is None else value.show(digits, factor) for value in figures)])
    for label, key in (("50", "p50"), ("99", "p99")):
        values = (summary[f"stop_seconds_{key}"] for summary in summaries)
        cells = ("-" if value is None else f"{1e3 * value:.1f}" for value in values)
        rows.append([f"stop to bestmove, {label} % within ms", *cells])
    rows.append(["failures", *(str(len(summary["failures"])) for summary in summaries)])
    return make_table(title, ["", *names], rows)
