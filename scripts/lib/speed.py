"""What `speed.py` measures of one engine, and the figures that come of it: medians with their spread.

Rates and depths are counted in the processor time that the engine used, so that a busy machine does not change them;
start-up and stop latency are times that passed, for those are felt. A figure without samples is None, never 0.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

import chess
from rich.table import Table

from lib.console import make_table
from lib.engines.answer import read_info
from lib.engines.engine import Engine, EngineError
from lib.engines.spec import EngineSpec
from lib.errors import ProgramError
from lib.perft import EngineCounter

# Fields of /proc/PID/stat behind the name in brackets, counted from 0 (see proc(5)).
SESSION, USER_TICKS, SYSTEM_TICKS, CHILDREN_USER_TICKS, CHILDREN_SYSTEM_TICKS = 3, 11, 12, 13, 14


def require_cpu_time() -> None:
    """Raise ProgramError where `session_cpu_seconds` cannot work."""
    if not sys.platform.startswith("linux") or not Path("/proc/self/stat").is_file():
        raise ProgramError(
            "the processor time of another process is read from /proc, which only Linux has; "
            "run this on Linux (a container or WSL will do)"
        )


def session_cpu_seconds(session: int) -> float:
    """The processor seconds of all processes of a session, by its leader's process id; 0.0 if there is none.

    A program started with `start_new_session=True` leads a session of its own, which holds all that it starts.
    Precise to about a microsecond for living processes, to a clock tick (10 ms) for those that have ended.
    """
    ticks_each_second = os.sysconf("SC_CLK_TCK")
    seconds = 0.0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text("latin-1")
        except OSError:
            continue  # it has just ended
        fields = text.rpartition(")")[2].split()
        if int(fields[SESSION]) != session:
            continue
        own = _precise_seconds(int(folder.name))
        if own is None:
            own = (int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])) / ticks_each_second
        ended = (int(fields[CHILDREN_USER_TICKS]) + int(fields[CHILDREN_SYSTEM_TICKS])) / ticks_each_second
        seconds += own + ended
    return seconds


def _precise_seconds(process: int) -> float | None:
    """What the process's own clock says, which counts in nanoseconds; None if it has none (any more)."""
    try:
        # The number of a process's clock, as the Linux kernel and clock_getcpuclockid(3) make it.
        return time.clock_gettime(~process << 3 | 2)
    except OSError:
        return None


# An engine that has to wait for the processor may take so many times its share.
PATIENCE_FACTOR = 20.0
PATIENCE_SECONDS = 10.0
# The shortest pause between two looks at the engine's clock.
SHORTEST_PAUSE_SECONDS = 0.0005
# A search is stopped after a random time in between: engines look up at fixed intervals.
STOP_AFTER_SECONDS = (0.005, 0.05)


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was stopped when its processor time was used up; `depth` is the last one that it completed."""

    nodes: int
    cpu_seconds: float
    depth: int

    @property
    def nodes_per_cpu_second(self) -> float:
        """The rate."""
        return self.nodes / self.cpu_seconds


def start_seconds(spec: EngineSpec) -> float:
    """From the start of the process to its `readyok`, with the options set. Raises EngineError."""
    with Engine(spec) as engine:
        return engine.start_seconds


def search(engine: Engine, board: chess.Board, cpu_seconds: float, threads: int = 1) -> Search:
    """Let the engine search this position, as a new game, for so much processor time. Raises EngineError."""
    engine.new_game()
    engine.set_position(board)
    session = engine.session
    before = session_cpu_seconds(session)
    began = engine.send("go infinite")
    deadline = began + PATIENCE_FACTOR * cpu_seconds + PATIENCE_SECONDS
    while (left := cpu_seconds - (session_cpu_seconds(session) - before)) > 0:
        if time.perf_counter() > deadline or engine.exit_code is not None:
            raise EngineError(f"{engine.name} does not use its processor time")
        # It cannot use more time than passes on each thread; so this never sleeps past the end.
        time.sleep(max(SHORTEST_PAUSE_SECONDS, left / threads))
    stopped = engine.send("stop")
    lines = engine.read_until("bestmove", PATIENCE_SECONDS)
    used = session_cpu_seconds(session) - before
    nodes = depth = 0
    for line in lines:
        info = read_info(line.text)
        if info is None:
            continue
        nodes = max(nodes, info.nodes or 0)
        if info.move and info.is_exact and line.arrived <= stopped:
            depth = max(depth, info.depth or 0)
    if not nodes:
        raise EngineError(f"{engine.name} does not tell how many nodes it has searched")
    return Search(nodes, used, depth)


def stop_seconds(engine: Engine, board: chess.Board, choice: random.Random) -> float:
    """The time from `stop`, at a random moment of a search, to `bestmove`. Raises EngineError."""
    engine.set_position(board)
    engine.send("go infinite")
    time.sleep(choice.uniform(*STOP_AFTER_SECONDS))
    stopped = engine.send("stop")
    return engine.read_until("bestmove", PATIENCE_SECONDS)[-1].arrived - stopped


def perft_cpu_seconds(spec: EngineSpec, depth: int) -> float:
    """The processor time of `go perft` from the start position. Raises EngineError, NoPerftError."""
    counter = EngineCounter(spec)
    try:
        session = counter.engine.session
        before = session_cpu_seconds(session)
        counter.count(chess.Board(chess960=True), depth)
        return session_cpu_seconds(session) - before
    finally:
        counter.close()


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
