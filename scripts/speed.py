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
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import chess

from toolkit.console import above_zero, at_least_one, make_table, run_program, show_progress, standard_output
from toolkit.engines.client import Engine, EngineError, read_info
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engines
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


def cpu_seconds(engine: Engine) -> float:
    """The processor time that the engine has used so far, without that of processes that it started."""
    # The number of a process's clock, as the Linux kernel and clock_getcpuclockid(3) make it.
    return time.clock_gettime(~engine.process_id << 3 | 2)


@dataclass(frozen=True, slots=True)
class Sample:
    """A start of an engine, and a search that was stopped when its processor time was used up.

    depth: the last one that the search completed. start_seconds: from the start of the process to its first `readyok`.
    stop_seconds: from `stop` to `bestmove`.
    """

    nodes: int
    cpu_seconds: float
    depth: int
    start_seconds: float = 0.0
    stop_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Nodes per CPU second."""
        return self.nodes / self.cpu_seconds


def measure(spec: EngineSpec, board: chess.Board, seconds: float) -> Sample:
    """Start an engine and let it search a position for so much processor time. Raises EngineError."""
    threads = next((int(value) for name, value in spec.options if name.lower() == "threads"), 1)
    started = time.perf_counter()
    with Engine(spec) as engine:
        start_seconds = time.perf_counter() - started
        engine.set_position(board)
        before = cpu_seconds(engine)
        deadline = engine.send("go infinite") + PATIENCE_FACTOR * seconds + PATIENCE_SECONDS
        while (left := seconds - (cpu_seconds(engine) - before)) > 0:
            if time.perf_counter() > deadline or engine.exit_code is not None:
                raise EngineError(f"{engine.name} does not use its processor time")
            # It cannot use more time than passes on each thread; so this never sleeps past the end.
            time.sleep(max(SHORTEST_PAUSE_SECONDS, left / threads))
        stopped = engine.send("stop")
        lines = engine.read_until("bestmove", PATIENCE_SECONDS)
        used = cpu_seconds(engine) - before
    infos = [(line.arrived, info) for line in lines if (info := read_info(line.text)) is not None]
    nodes = max((info.nodes or 0 for _, info in infos), default=0)
    if not nodes:
        raise EngineError(f"{spec.name} does not tell how many nodes it has searched")
    complete = (info.depth or 0 for arrived, info in infos if info.pv and info.is_exact and arrived <= stopped)
    return Sample(nodes, used, max(complete, default=0), start_seconds, lines[-1].arrived - stopped)


def figures(samples: Sequence[Sample], first: Sequence[Sample]) -> dict[str, list[float]]:
    """The figures of one engine by name, each with its samples; ratios are of pairs of one position in one round."""
    return {
        "thousand nodes per CPU second": [sample.rate / 1000 for sample in samples],
        "nodes, as a multiple of the first": [
            ours.rate / theirs.rate for ours, theirs in zip(samples, first, strict=True)
        ],
        "depth": [sample.depth for sample in samples],
        "start to readyok, seconds": [sample.start_seconds for sample in samples],
        "stop to bestmove, seconds": [sample.stop_seconds for sample in samples],
    }


def show(values: Sequence[float]) -> str:
    """The median, and the least and the greatest, with five digits."""
    return f"{median(values):.5g} ({min(values):.5g} to {max(values):.5g})"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--engine", action="append", required=True, metavar="SPEC", help=ENGINE_SYNTAX)
    parser.add_argument("--each", default="", metavar="SPEC", help="what holds for all, e.g. option.Hash=16")
    parser.add_argument("--rounds", type=at_least_one, default=3, metavar="N", help="how often all is measured (3)")
    parser.add_argument("--cpu", type=above_zero, default=1.0, metavar="SECONDS", help="CPU time of each search (1)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line names; returns the exit code. Raises ProgramError and OSError."""
    words = parse(arguments)
    if not sys.platform.startswith("linux"):
        raise ProgramError("only Linux lets one process read the processor time of another")
    specs = parse_engines(words.engine, words.each)
    samples: dict[str, list[Sample]] = {spec.name: [] for spec in specs}
    with show_progress("speed", words.rounds * len(specs) * len(MIDDLEGAMES)) as advance:
        for round_number in range(words.rounds):
            for number, fen in enumerate(MIDDLEGAMES):
                first = (round_number + number) % len(specs)
                for spec in specs[first:] + specs[:first]:
                    samples[spec.name].append(measure(spec, chess.Board(fen), words.cpu))
                    advance(1, spec.name)
    found = [figures(each, samples[specs[0].name]) for each in samples.values()]
    rows = [[name, *(show(each[name]) for each in found)] for name in found[0]]
    title = f"{words.rounds} rounds, {words.cpu:g} CPU seconds for each search"
    standard_output().print(make_table(title, ["median (least to greatest)", *samples], rows))
    return 0


if __name__ == "__main__":
    run_program(main)
