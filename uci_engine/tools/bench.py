"""The benchmark: fixed positions, each searched to a fixed depth. The node total changes when search or evaluation
change.

The program's subcommand `bench` and the UCI command `bench` run it. Every commit message ends with its total. The UCI
command `speedtest` searches the same positions for a time.
Invariant: with the default options the total depends only on the code, the files of the evaluation and the depth, not
on time, machine, core or earlier searches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import chess

from uci_engine.search.info import BestMove, Info
from uci_engine.time_management import Limits

if TYPE_CHECKING:
    from uci_engine.engine import UciEngine

OnLine = Callable[[str], None]
IsStopped = Callable[[], bool]

DEFAULT_DEPTH = 8
# How often it is asked whether to stop.
STOP_SECONDS = 0.05

# Openings, middlegames and endgames of many kinds, two mates, and zugzwang positions.
POSITIONS = (
    chess.STARTING_FEN,
    "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
    "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6",
    "rnbq1rk1/ppp1ppbp/3p1np1/8/2PPP3/2N2N2/PP3PPP/R1BQKB1R w KQ - 2 6",
    "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9",
    "r2q1rk1/1b1nbppp/pp1ppn2/8/2PNP3/1PN1BB2/P3QPPP/2RR2K1 b - - 3 14",
    "r3r1k1/pp1q1ppp/2p2n2/3p4/3P1B2/2N1P2P/PPQ2PP1/R4RK1 w - - 1 17",
    "2r2rk1/1bqnbppp/p2ppn2/1p6/3NPP2/1BN1BQ2/PPP3PP/3R1RK1 w - - 4 14",
    "r2q1rk1/pb1nbppp/1p2pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 10",
    "1k1r3r/pp1q1p2/2n1pn1p/2bp2p1/8/P1NBPN2/1PQB1PPP/R4RK1 w - - 0 16",
    "3r1rk1/p1q2pp1/1pn1pn1p/2p5/P1P5/1P1QPN2/1B3PPP/R4RK1 w - - 2 18",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "5rk1/1p3ppp/p2q4/3p4/1P1Q4/P3P3/5PPP/2R3K1 w - - 0 24",
    "r5k1/5pp1/1p2p2p/p2pP3/P2P1P2/1P1R3P/6P1/6K1 w - - 0 30",
    "8/5pk1/4p1p1/3pP2p/1p1P1P1P/1P2K1P1/8/8 w - - 0 40",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/1p1k4/1P1p2p1/P2Pp1P1/4P3/3K4/8 b - - 0 1",
    "4rrk1/2p1b1p1/p1p3q1/4p3/2P2n1p/1P1NR2P/PB3PP1/3R1QK1 b - - 2 24",
    "6k1/5p1p/4p1p1/2b1P3/2B2P2/1p4P1/1P1K3P/8 w - - 0 35",
    "8/1r3k2/3p4/2pP1p2/2P2P2/1P1K4/R7/8 w - - 0 50",
    "3q1rk1/5pbp/5Qp1/8/8/2B5/5PPP/6K1 w - - 0 1",
    "7k/5K2/6P1/8/8/8/8/8 w - - 0 1",
    "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    "8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
)


def bench(engine: UciEngine, depth: int | None, on_line: OnLine, is_stopped: IsStopped = lambda: False) -> None:
    """Search every position with the engine's options, and report the total of nodes, the time and the speed.

    `depth`: of each search, None for the default. `on_line` gets a line for each position, and the report.
    Raises the error of a search that has failed.
    """
    limits = Limits(depth=depth or DEFAULT_DEPTH)
    nodes, seconds, _ = _searched(engine, limits, on_line, is_stopped)
    if is_stopped():
        on_line("info string bench was stopped")
    else:
        on_line(f"\nnodes {nodes}\ntime {seconds:.3f} s\nnps {round(nodes / seconds)}")


def speedtest(engine: UciEngine, given: Sequence[int], on_line: OnLine, is_stopped: IsStopped = lambda: False) -> None:
    """Search every position for a time, and report as Stockfish's `speedtest` does.

    `given`: threads, MiB of the table, and seconds for all positions, as many of them as one likes.
    """
    threads, mib = engine.options.threads, engine.options.hash
    usual = (threads.usable, 128 * threads.usable, 150)
    wanted = [*given, *usual[len(given) :]]
    for message in threads.assign(wanted[0]) + mib.assign(wanted[1]):
        on_line(f"info string {message}")
    limits = Limits(movetime_ms=1000 * wanted[2] // len(POSITIONS))
    nodes, seconds, hashfull = _searched(engine, limits, on_line, is_stopped)
    rows = {
        "Version": engine.name,
        "User invocation": " ".join(["speedtest", *map(str, given)]),
        "Filled invocation": " ".join(["speedtest", *map(str, wanted)]),
        "Available processors": threads.usable,
        "Thread count": threads.value,
        "TT size [MiB]": mib.value,
        "Hash max, avg [per mille]": f"{max(hashfull, default=0)}, {sum(hashfull) // len(POSITIONS)}",
        "Total nodes searched": nodes,
        "Total search time [s]": f"{seconds:.3f}",
        "Nodes/second": round(nodes / seconds),
    }
    if is_stopped():
        on_line("info string speedtest was stopped")
    else:
        on_line("\n".join(["=" * 27, *(f"{name:27}: {value}" for name, value in rows.items())]))


def _searched(
    engine: UciEngine, limits: Limits, on_line: OnLine, is_stopped: IsStopped
) -> tuple[int, float, list[int]]:
    """Search every position with an empty table: the nodes, the seconds, and how full the table was after each."""
    started, nodes, hashfull = time.perf_counter(), 0, []
    for number, fen in enumerate(POSITIONS, start=1):
        engine.new_game()
        best, last = search(engine, chess.Board(fen), limits, is_stopped)
        if is_stopped():
            break
        nodes += last.nodes or 0
        hashfull.append(last.hashfull or 0)
        move = "(none)" if best.move is None else best.move.uci()
        on_line(f"{number:2d}/{len(POSITIONS)}  {move:5s} {last.score or 0:6d} {last.nodes or 0:9d}  {fen}")
    return nodes, max(time.perf_counter() - started, 1e-9), hashfull


def search(
    engine: UciEngine, board: chess.Board, limits: Limits, is_stopped: IsStopped = lambda: False
) -> tuple[BestMove, Info]:
    """The answer, and the last report of the best line. Raises the error of a search that has failed."""
    infos = [Info(score=0, nodes=0)]
    answers: list[BestMove] = []
    engine.go(board, limits, time.perf_counter(), infos.append, answers.append)
    while not engine.wait(STOP_SECONDS):
        if is_stopped():
            engine.stop()
    (best,) = answers
    if best.error is not None:
        raise best.error
    return best, [info for info in infos if info.nodes is not None and info.multipv in (None, 1)][-1]
