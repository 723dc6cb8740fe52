"""Count move sequences from every position of some files and compare with the counts the files give.

    python scripts/perft_suite.py FILE... [--depth 5] [--core compiled] [--most-nodes N]

Two formats are understood, line by line: an EPD with counts behind it (`FEN ;D1 20 ;D2 400`), and blocks of
lines (`epd FEN`, then `perft 1 20`, `perft 2 400`). Castling may be X-FEN or Shredder-FEN; every position is
read by the rules of Chess960, which standard positions obey too. Exit code: 0 when all counts are right, 1
when some are wrong or there are none, 2 when a file cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chess

from evaluation.weights import default_weights
from uci_engine.core import CORES, load


@dataclass
class Case:
    """A position with its counts by depth, and where it stands."""

    where: str
    epd: str
    counts: dict[int, int] = field(default_factory=dict)


class SuiteError(Exception):
    """A file that is no suite of positions."""


def read_cases(path: Path) -> Iterator[Case]:
    """The positions of a file in either format. Raises SuiteError or OSError."""
    case: Case | None = None
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(" ")
        if not line.strip() or word == "id" or word.startswith("#"):
            continue
        try:
            if word == "perft":
                if case is None:
                    raise SuiteError(f"{where}: a count before any position")
                depth, count = rest.split()
                case.counts[int(depth)] = int(count)
                continue
            if case is not None:
                yield case
            if word == "epd":
                case = Case(where, rest.strip())
            else:
                epd, *counts = line.split(";")
                case = Case(where, epd.strip())
                for text in counts:
                    depth, count = text.split()
                    case.counts[int(depth.removeprefix("D"))] = int(count)
        except ValueError as error:
            raise SuiteError(f"{where}: {error}") from error
    if case is not None:
        yield case


def read_board(case: Case) -> chess.Board:
    """The board of a position. Raises SuiteError."""
    try:
        board = chess.Board(chess960=True)
        board.set_epd(" ".join(case.epd.split()[:4]))
    except ValueError as error:
        raise SuiteError(f"{case.where}: {error}") from error
    return board


def run(case: Case, position: Any, deepest: int | None, most_nodes: int | None) -> tuple[int, list[str]]:
    """Count one position to every depth asked for; returns the number of right counts, and the wrong ones."""
    position.set_board(read_board(case))
    right = 0
    wrong = []
    for depth, expected in sorted(case.counts.items()):
        if (deepest is not None and depth > deepest) or (most_nodes is not None and expected > most_nodes):
            continue
        count = position.count(depth)
        if count == expected:
            right += 1
        else:
            wrong.append(f"{case.where}: depth {depth} gives {count}, not {expected}: {case.epd}")
    return right, wrong


def main(words: list[str] | None = None) -> int:
    """Run the suites named on the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare move counts with the counts in files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--depth", type=int, help="skip counts of greater depth")
    parser.add_argument("--most-nodes", type=int, help="skip counts greater than this")
    parser.add_argument("--core", choices=CORES, default="auto")
    asked = parser.parse_args(words)
    core = load(asked.core)
    position = core.position_class(default_weights().piece_square())
    failed = False
    try:
        for path in asked.files:
            positions = counts = 0
            faults: list[str] = []
            for case in read_cases(path):
                right, wrong = run(case, position, asked.depth, asked.most_nodes)
                positions += right + len(wrong) > 0
                counts += right
                faults += wrong
                for sentence in wrong:
                    print(sentence, flush=True)
            totals = f"{positions} positions, {counts} counts right, {len(faults)} wrong"
            print(f"{path.name}: {totals} ({core.name} core)")
            failed = failed or bool(faults) or counts == 0
    except (OSError, UnicodeDecodeError, SuiteError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
