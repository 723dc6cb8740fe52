#!/usr/bin/env python3
"""Compare our Syzygy prober with python-chess's, on random positions of every table in some folders.

    python scripts/compare_syzygy.py FOLDER... [--dtz] [--positions 1000000] [--core compiled] [--seed 1]

Compares results (WDL), or with `--dtz` the distances to the next capture or pawn move. Positions are legal and without
castling rights; where both sides have pawns, often with en passant. A position counts only if python-chess finds all
tables that it needs. Prints the number of positions, each difference, and the time of both probers on a sample with the
files in memory. The exit code is 1 if any differ, and 2 if there is nothing to compare.
"""

from __future__ import annotations

from lib.program import run_program

# isort: split

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import chess
import chess.syzygy

from lib.console import at_least_one, complain
from lib.endings import random_board
from lib.errors import ProgramError
from uci_engine.core import CORES, load
from uci_engine.search.thread_pool import new_searcher
from uci_engine.tablebases.tablebases import Tablebases

SAMPLE = 1000
REPEATS = 10


def seconds_each(
    boards: list[chess.Board], prepare: Callable[[chess.Board], Any], probe: Callable[[Any], object]
) -> float:
    """The mean time of a probe of what `prepare` makes of a board, over several probes of each."""
    total = 0.0
    for board in boards:
        prepared = prepare(board)
        probe(prepared)
        before = time.perf_counter()
        for _ in range(REPEATS):
            probe(prepared)
        total += time.perf_counter() - before
    return total / (REPEATS * len(boards))


def in_words(value: int | None, distances: bool) -> str:
    """A result, or the kind of a distance."""
    if value is None or not distances:
        return str(value)
    if value == 0:
        return "draw"
    if abs(value) > 100:
        return "cursed win" if value > 0 else "blessed loss"
    return "win" if value > 0 else "loss"


def compare(folders: list[str], positions: int, core_name: str, seed: int, distances: bool) -> int:
    """Print the comparison of results or distances; returns the number of differences."""
    oracle = chess.syzygy.Tablebase(max_fds=None)
    for folder in folders:
        oracle.add_directory(folder)
    core = load(core_name)
    searcher = new_searcher(core, core.table_class(1))
    tables = Tablebases(core, searcher.prober)
    print(*tables.set_syzygy_path(";".join(folders)), sep="\n")
    names = sorted(tables.wdl)
    if not names:
        raise ProgramError(f"no Syzygy tables in {', '.join(folders)}")
    position, choice = searcher.position, random.Random(seed)
    probe_theirs = oracle.get_dtz if distances else oracle.get_wdl
    probe_ours = tables.probe_dtz if distances else tables.probe_wdl
    sample: list[chess.Board] = []
    results: Counter[str] = Counter()
    en_passant = different = 0
    for number in range(positions):
        board = random_board(names[number % len(names)], choice)
        expected = probe_theirs(board)
        results[in_words(expected, distances)] += 1
        if expected is None:
            continue
        position.set_board(board)
        found = probe_ours(position)
        if len(sample) < SAMPLE:
            sample.append(board)
        en_passant += board.has_legal_en_passant()
        if found != expected:
            different += 1
            print(f"{board.fen()}: python-chess {expected}, ours {found}")
    print(f"{len(names)} tables, {positions} positions, {en_passant} with en passant, {different} different")
    print(f"results {dict(sorted(results.items()))}")

    def set_up(board: chess.Board) -> Any:
        position.set_board(board)
        return position

    prober = searcher.prober
    theirs = 1e6 * seconds_each(sample, chess.Board.copy, probe_theirs)
    ours = 1e6 * seconds_each(sample, set_up, prober.probe_dtz if distances else prober.probe_wdl)
    print(f"python-chess {theirs:.1f} us, ours {ours:.2f} us called from Python: {theirs / ours:.0f} times faster")
    return different


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--dtz", action="store_true")
    parser.add_argument("--positions", type=at_least_one, default=1_000_000)
    parser.add_argument("--core", choices=CORES, default="auto")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    try:
        different = compare(words.folders, words.positions, words.core, words.seed, words.dtz)
    except (ProgramError, OSError, ImportError) as error:
        complain(error)
        return 2
    return 1 if different else 0


if __name__ == "__main__":
    run_program(main)
