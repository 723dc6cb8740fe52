#!/usr/bin/env python3
"""Compare the speed of engines in one interleaved run: nodes and depth in CPU time, perft, start-up, stop latency.

    speed.py --engine 'cmd=secateur' --engine 'cmd=stockfish' --each option.Hash=16 [--rounds 3] [--json speed.json]

Every round measures each engine once on every position, and the order of the engines rotates, so that load on the
machine affects all alike. Only one engine works at a time. There is no resuming, because the
figures of one run belong together. Linux only, because the processor time of other processes is read from /proc. Exit
code: 0, 1 when an engine failed somewhere, 2 when one cannot be used.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import os
import platform
import random
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chess

from lib.console import Advance, complain, new_file, say, show_progress, standard_output, write_json
from lib.engines.engine import Engine, EngineError
from lib.engines.spec import ENGINE_SYNTAX, EngineSpec, parse_engines
from lib.errors import ProgramError
from lib.perft import NoPerftError
from lib.speed import (
    Samples,
    perft_cpu_seconds,
    require_cpu_time,
    search,
    speed_table,
    start_seconds,
    stop_seconds,
    summarise,
)
from lib.trial import try_engines

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


class Lane:
    """One engine in the comparison: its description, its process (while it lives) and its samples."""

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.samples = Samples()
        # Not all engines know `go perft`; one that did not is not asked again.
        self.counts = True
        given = [value for name, value in spec.options if name.lower() == "threads"]
        if not all(value.isdecimal() for value in given):
            raise ProgramError(f"{spec.name}: Threads cannot be {given[0]!r}")
        self.threads = int(given[0]) if given else 1
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """The running engine. Raises EngineError."""
        if self._engine is None:
            self._engine = Engine(self.spec)
        return self._engine

    def fail(self, error: EngineError) -> None:
        """Note what went wrong, and start anew next time."""
        self.samples.failures.append(str(error))
        self.close()

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def measure_search(lane: Lane, board: chess.Board, cpu_seconds: float) -> None:
    """Add one search to the last round."""
    try:
        lane.samples.searches[-1].append(search(lane.engine(), board, cpu_seconds, lane.threads))
    except EngineError as error:
        lane.samples.searches[-1].append(None)
        lane.fail(error)


def measure_rest(lane: Lane, boards: list[chess.Board], perft_depth: int, stops: int, choice: random.Random) -> None:
    """Start-up, perft and stops of one round."""
    samples = lane.samples
    try:
        samples.starts.append(start_seconds(lane.spec))
        for _ in range(stops):
            samples.stops.append(stop_seconds(lane.engine(), choice.choice(boards), choice))
    except EngineError as error:
        lane.fail(error)
    seconds = None
    if lane.counts:
        try:
            seconds = perft_cpu_seconds(lane.spec, perft_depth)
        except NoPerftError:
            lane.counts = False
        except EngineError as error:
            lane.fail(error)
    samples.perfts.append(seconds)


def measure(asked: argparse.Namespace, lanes: list[Lane], boards: list[chess.Board], advance: Advance) -> None:
    """Measure everything, round by round, the engines taking turns."""
    choice = random.Random(asked.seed)
    for round_number in range(asked.rounds):
        for lane in lanes:
            lane.samples.searches.append([])
        for number, board in enumerate(boards):
            first = (round_number + number) % len(lanes)
            for lane in lanes[first:] + lanes[:first]:
                measure_search(lane, board, asked.cpu)
                advance(1, lane.spec.name)
        stops = (round_number + 1) * asked.stops // asked.rounds - round_number * asked.stops // asked.rounds
        for lane in lanes:
            measure_rest(lane, boards, asked.perft, stops, choice)
            advance(1, lane.spec.name)


def read_boards(path: Path | None) -> list[chess.Board]:
    """The positions to search. Raises OSError, ValueError."""
    if path is None:
        return [chess.Board(fen) for fen in MIDDLEGAMES]
    boards = []
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            board = chess.Board()
            # What follows differs: EPD has operations there, FEN two counters.
            board.set_epd(" ".join(line.split()[:4]))
            boards.append(board)
    if not boards:
        raise ValueError(f"{path} holds no positions")
    return boards


def describe_machine() -> dict[str, Any]:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare the speed of engines in one interleaved run.")
    parser.add_argument("--engine", action="append", required=True, metavar="SPEC", help=ENGINE_SYNTAX)
    parser.add_argument("--each", default="", metavar="SPEC", help="what holds for all, e.g. option.Hash=16")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often all is measured (3)")
    parser.add_argument("--cpu", type=float, default=1.0, metavar="SECONDS", help="processor time of each search (1)")
    parser.add_argument("--perft", type=int, default=5, metavar="DEPTH", help="from the start position (5)")
    parser.add_argument("--stops", type=int, default=200, metavar="N", help="searches stopped, over all rounds (200)")
    parser.add_argument("--positions", type=Path, metavar="FILE", help="EPD or FEN, instead of eight middlegames")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which searches are stopped (1)")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write all samples there")
    asked = parser.parse_args(words)
    if asked.rounds < 1 or asked.cpu <= 0 or asked.perft < 1 or asked.stops < 0:
        parser.error("--rounds and --perft must be at least 1, --cpu above 0, --stops not below 0")
    return asked


def report(asked: argparse.Namespace, lanes: list[Lane]) -> None:
    """Show the table and write the JSON."""
    summaries = [summarise(lane.samples, lanes[0].samples) for lane in lanes]
    names = [lane.spec.name for lane in lanes]
    title = f"{asked.rounds} rounds, {asked.cpu:g} CPU seconds for each search: median (least to greatest)"
    output = standard_output()
    output.print(speed_table(title, names, summaries, asked.perft))
    for lane in lanes:
        for failure in lane.samples.failures:
            say(f"failed: {failure}")
    if asked.json:
        engines = [
            {
                **lane.spec.as_json(),
                "summary": {key: asdict(v) if hasattr(v, "median") else v for key, v in summary.items()},
                "samples": asdict(lane.samples),
            }
            for lane, summary in zip(lanes, summaries, strict=True)
        ]
        settings = {key: getattr(asked, key) for key in ("rounds", "cpu", "perft", "stops", "seed")}
        write_json(asked.json, {"tool": "speed", "machine": describe_machine(), **settings, "engines": engines})


def main(words: list[str] | None = None) -> int:
    """Measure what the command line names; returns the exit code."""
    asked = parse(words)
    try:
        require_cpu_time()
        boards = read_boards(asked.positions)
        lanes = [Lane(spec) for spec in parse_engines(asked.engine, asked.each)]
        try_engines(lane.spec for lane in lanes)
        with ExitStack() as stack:
            for lane in lanes:
                stack.callback(lane.close)
                lane.engine()
            steps = asked.rounds * len(lanes) * (len(boards) + 1)
            with show_progress("speed", steps) as advance:
                measure(asked, lanes, boards, advance)
    except (OSError, ValueError, ProgramError) as error:
        complain(error)
        return 2
    report(asked, lanes)
    return 1 if any(lane.samples.failures for lane in lanes) else 0


if __name__ == "__main__":
    run_program(main)
