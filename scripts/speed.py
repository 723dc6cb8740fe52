#!/usr/bin/env python3
"""Compare the speed of engines in one interleaved run: nodes and depth in CPU time, start-up, stop latency.

    python scripts/speed.py --engine 'cmd=secateur' --engine 'cmd=stockfish' --each option.Hash=16 [--rounds 3]

Every round measures each engine once on every position, and the order of the engines rotates, so that load on the
machine affects all alike. Only one engine works at a time. Rates and depths are counted in the processor time that the
engine used, so that a busy machine does not change them; start-up and stop latency are times that passed, for those are
felt. Linux only, because elsewhere a process has no clock that others can read. Exit code: 0, or 2 when an engine
cannot be used.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from statistics import fmean, median, quantiles

import chess
from rich.table import Table

from toolkit.console import Advance, above_zero, at_least_one, make_table, run_program, show_progress, standard_output
from toolkit.engines.client import Engine, EngineError, read_info
from toolkit.engines.spec import ENGINE_SYNTAX, parse_engines
from toolkit.errors import ProgramError

# Eight middlegames of different kinds: open and closed, with and without queens in play, quiet and sharp.
MIDDLEGAMES = (
    "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9",
    "r2q1rk1/1b1nbppp/pp1ppn2/8/2PNP3/1PN1BB2/P3QPPP/2RR2K1 b - - 3 14",
    "r3r1k1/pp1q1ppp/2p2n2/3p4/3P1B2/2N1P2P/PPQ2PP1/R4RK1 w - - 1 17",
    "2r2rk1/1bqnbppp/p2ppn2/1p6/3NPP2/1BN1BQ2/PPP3PP/3R1RK1 w - - 4 14",
    "r2q1rk1/pb1nbppp/1p2pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 10",
    "1k1r3r/pp1q1p2/2n1pn1p/2bp2p1/8/P1NBPN2/1PQB1PPP/R4RK1 w - - 0 16",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4rrk1/2p1b1p1/p1p3q1/4p3/2P2n1p/1P1NR2P/PB3PP1/3R1QK1 b - - 2 24",
)
# An engine that has to wait for the processor may take so many times its share.
PATIENCE_FACTOR = 20.0
PATIENCE_SECONDS = 10.0
# The shortest pause between two looks at the engine's clock.
SHORTEST_PAUSE_SECONDS = 0.0005
# A search is stopped after a random time in between: engines look up at fixed intervals.
STOP_AFTER_SECONDS = (0.005, 0.05)


def cpu_seconds(engine: Engine) -> float:
    """The processor time that the engine has used so far, without that of processes that it started."""
    # The number of a process's clock, as the Linux kernel and clock_getcpuclockid(3) make it.
    return time.clock_gettime(~engine.process_id << 3 | 2)


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was stopped when its processor time was used up; `depth` is the last one that it completed."""

    nodes: int
    cpu_seconds: float
    depth: int

    @property
    def rate(self) -> float:
        """Nodes per CPU second."""
        return self.nodes / self.cpu_seconds


def search(engine: Engine, board: chess.Board, seconds: float) -> Search:
    """Let the engine search this position, as a new game, for so much processor time. Raises EngineError."""
    engine.new_game()
    engine.set_position(board)
    threads = next((int(value) for name, value in engine.spec.options if name.lower() == "threads"), 1)
    before = cpu_seconds(engine)
    began = engine.send("go infinite")
    deadline = began + PATIENCE_FACTOR * seconds + PATIENCE_SECONDS
    while (left := seconds - (cpu_seconds(engine) - before)) > 0:
        if time.perf_counter() > deadline or engine.exit_code is not None:
            raise EngineError(f"{engine.name} does not use its processor time")
        # It cannot use more time than passes on each thread; so this never sleeps past the end.
        time.sleep(max(SHORTEST_PAUSE_SECONDS, left / threads))
    stopped = engine.send("stop")
    lines = engine.read_until("bestmove", PATIENCE_SECONDS)
    used = cpu_seconds(engine) - before
    nodes = depth = 0
    for line in lines:
        info = read_info(line.text)
        if info is None:
            continue
        nodes = max(nodes, info.nodes or 0)
        if info.pv and info.is_exact and line.arrived <= stopped:
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


@dataclass
class Samples:
    """What was measured of one engine: searches by round, all positions in the same order; times in seconds."""

    searches: list[list[Search]] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)


def figures(samples: Samples, first: Samples) -> dict[str, list[float]]:
    """The figures of one engine by name, each with its samples.

    Rates and depths are of rounds, ratios are of pairs of searches of one position in one round.
    """
    pairs = zip(chain.from_iterable(samples.searches), chain.from_iterable(first.searches), strict=True)
    rounds = samples.searches
    rates = [sum(s.nodes for s in done) / sum(s.cpu_seconds for s in done) / 1000 for done in rounds]
    return {
        "thousand nodes per CPU second": rates,
        "nodes, as a multiple of the first": [ours.rate / theirs.rate for ours, theirs in pairs],
        "depth": [fmean(search.depth for search in done) for done in rounds],
        "start to readyok, seconds": samples.starts,
        "stop to bestmove, seconds": samples.stops,
    }


def show(values: Sequence[float]) -> str:
    """The median, and the least and the greatest, with five digits."""
    return f"{median(values):.5g} ({min(values):.5g} to {max(values):.5g})"


def speed_table(title: str, found: dict[str, dict[str, list[float]]]) -> Table:
    """One column for each engine."""
    names = next(iter(found.values()))
    rows = [[name, *(show(each[name]) for each in found.values())] for name in names]
    stops = [each["stop to bestmove, seconds"] for each in found.values()]
    slow = (f"{quantiles(some, n=100, method='inclusive')[98]:.4f}" if len(some) > 1 else "-" for some in stops)
    rows.append(["stop to bestmove, 99 % within seconds", *slow])
    return make_table(title, ["median (least to greatest)", *found], rows)


def measure(words: argparse.Namespace, engines: dict[str, Engine], advance: Advance) -> dict[str, Samples]:
    """Measure everything, round by round, the engines taking turns. Raises EngineError."""
    choice = random.Random(1)
    boards = [chess.Board(fen) for fen in MIDDLEGAMES]
    samples = {name: Samples() for name in engines}
    names = list(engines)
    for round_number in range(words.rounds):
        for each in samples.values():
            each.searches.append([])
        for number, board in enumerate(boards):
            first = (round_number + number) % len(names)
            for name in names[first:] + names[:first]:
                samples[name].searches[-1].append(search(engines[name], board, words.cpu))
                advance(1, name)
        for name, engine in engines.items():
            with Engine(engine.spec) as started:
                samples[name].starts.append(started.start_seconds)
            for _ in range(words.stops):
                samples[name].stops.append(stop_seconds(engine, choice.choice(boards), choice))
            advance(1, name)
    return samples


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--engine", action="append", required=True, metavar="SPEC", help=ENGINE_SYNTAX)
    parser.add_argument("--each", default="", metavar="SPEC", help="what holds for all, e.g. option.Hash=16")
    parser.add_argument("--rounds", type=at_least_one, default=3, metavar="N", help="how often all is measured (3)")
    parser.add_argument("--cpu", type=above_zero, default=1.0, metavar="SECONDS", help="CPU time of each search (1)")
    parser.add_argument("--stops", type=at_least_one, default=60, metavar="N", help="searches stopped a round (60)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line names; returns the exit code. Raises ProgramError and OSError."""
    words = parse(arguments)
    if not sys.platform.startswith("linux"):
        raise ProgramError("only Linux lets one process read the processor time of another")
    specs = parse_engines(words.engine, words.each)
    with ExitStack() as stack:
        engines = {spec.name: stack.enter_context(Engine(spec)) for spec in specs}
        steps = words.rounds * len(engines) * (len(MIDDLEGAMES) + 1)
        with show_progress("speed", steps) as advance:
            samples = measure(words, engines, advance)
    first = next(iter(samples.values()))
    found = {name: figures(each, first) for name, each in samples.items()}
    title = f"{words.rounds} rounds, {words.cpu:g} CPU seconds for each search"
    standard_output().print(speed_table(title, found))
    return 0


if __name__ == "__main__":
    run_program(main)
