#!/usr/bin/env python3
"""Compare the perft counts of an engine with those in files.

    python scripts/perft.py FILE... [--depth 5] [--max-nodes N] [--core compiled | --engine 'cmd=stockfish']

Files are in two formats, which may be mixed: EPD with the counts behind it (`FEN ;D1 20 ;D2 400`), and blocks of lines
(`epd FEN`, then `perft 1 20`, `perft 2 400`), standard chess and Chess960. Exit code: 0 when all counts are right, 1
when some are wrong or there are none, 2 when a file or the engine cannot be used.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess

from toolkit.console import make_table, run_program, say, show_progress, standard_output
from toolkit.engines.spec import ENGINE_SYNTAX, own_engine, parse_engine
from toolkit.errors import ProgramError
from toolkit.files import read_text
from toolkit.perft import PerftEngine
from uci_engine.core import CORES


@dataclass
class Case:
    """A position with its counts by depth, and where it stands (`file:line`)."""

    where: str
    epd: str
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Note a depth and its count, e.g. `D3 8902` or `3 8902`. Raises ValueError."""
        depth, count = text.split()
        plies, sequences = int(depth.removeprefix("D")), int(count)
        if plies < 1 or sequences < 0:
            raise ValueError(f"{text!r} is no depth with its count")
        self.counts[plies] = sequences


def read_cases(path: Path) -> Iterator[Case]:
    """The positions of a file in either format. Raises ProgramError for a line in neither, and OSError."""
    case: Case | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(" ")
        if not line.strip() or word == "id" or word.startswith("#"):
            continue
        try:
            if word == "perft":
                if case is None:
                    raise ValueError("a count before any position")
                case.add(rest)
                continue
            if case is not None:
                yield case
            epd, *counts = (rest,) if word == "epd" else line.split(";")
            case = Case(where, epd.strip())
            chess.Board(None).set_epd(" ".join(epd.split()[:4]))
            for text in counts:
                case.add(text)
        except ValueError as error:
            raise ProgramError(f"{where}: {error}") from error
    if case is not None:
        yield case


def check(engine: PerftEngine, case: Case) -> list[int]:
    """Count one position to each of its depths, show what is wrong, and return the right and the wrong in number."""
    try:
        board = engine.board(case.epd)
    except ValueError as error:
        raise ProgramError(f"{case.where}: {error}") from None
    right = wrong = 0
    for depth, expected in sorted(case.counts.items()):
        found = sum(engine.divide(board, depth).values())
        right += found == expected
        wrong += found != expected
        if found != expected:
            say(f"{case.where}: depth {depth} gives {found}, not {expected}: {case.epd}")
    return [right, wrong]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with ;D1 20 ;D2 400, or blocks")
    parser.add_argument("--depth", type=int, default=99, help="leave out counts of greater depth")
    parser.add_argument("--max-nodes", type=int, default=10**18, metavar="N", help="leave out counts greater than this")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--core", choices=CORES, default="auto", help="count with our own engine (the default)")
    who.add_argument("--engine", metavar="SPEC", help=f"or with an engine that knows `go perft`: {ENGINE_SYNTAX}")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Count, and return the exit code. Raises ProgramError and OSError for what cannot be used."""
    words = parse(arguments)
    cases = {path: list(read_cases(path)) for path in words.files}
    for case in (case for some in cases.values() for case in some):
        case.counts = {
            depth: count for depth, count in case.counts.items() if depth <= words.depth and count <= words.max_nodes
        }
    spec = parse_engine(words.engine) if words.engine else own_engine(words.core)
    rows, all_right = [], True
    with PerftEngine(spec) as engine, show_progress("perft", sum(map(len, cases.values()))) as advance:
        for path, some in cases.items():
            began = time.perf_counter()
            right = wrong = 0
            for case in some:
                found = check(engine, case)
                right, wrong = right + found[0], wrong + found[1]
                advance()
            all_right = all_right and right > 0 and not wrong
            seconds = time.perf_counter() - began
            rows.append((path.name, *map(str, (len(some), right, wrong)), f"{seconds:.1f}"))
    head = ("file", "positions", "counts right", "wrong", "seconds")
    standard_output().print(make_table(f"Counted by {spec.name}", head, rows))
    return 0 if all_right else 1


if __name__ == "__main__":
    run_program(main)
