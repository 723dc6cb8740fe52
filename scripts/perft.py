#!/usr/bin/env python3
"""Compare the perft counts of the engine with those in files.

    python scripts/perft.py FILE... [--depth 5]

A line of a file is EPD with the counts behind it (`FEN ;D1 20 ;D2 400`), of standard chess or Chess960. Exit code: 0
when all counts are right, 1 when some are wrong or there are none, 2 when a file cannot be used.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import chess

from evaluation.weights import default_weights
from toolkit.console import run_program, say, show_progress
from toolkit.errors import ProgramError
from toolkit.files import read_text
from uci_engine.board.game import read_fen
from uci_engine.core import load

# Where the position stands (`file:line`), the position, and its counts by depth.
Case = tuple[str, chess.Board, dict[int, int]]


def read_cases(path: Path, max_depth: int) -> Iterator[Case]:
    """The positions of a file, with the counts up to a depth. Raises ProgramError for another line, and OSError."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        epd, *texts = line.split(";")
        try:
            # Positions of standard chess obey the rules of Chess960, too.
            board, _ = read_fen(epd, chess960=True)
            counts = {int(depth.removeprefix("D")): int(count) for depth, count in map(str.split, texts)}
        except ValueError as error:
            raise ProgramError(f"{path.name}:{number}: {error}") from error
        yield f"{path.name}:{number}", board, {depth: count for depth, count in counts.items() if depth <= max_depth}


def main(arguments: list[str] | None = None) -> int:
    """Count, and return the exit code. Raises ProgramError and OSError for what cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with ;D1 20 ;D2 400")
    parser.add_argument("--depth", type=int, default=99, help="leave out counts of greater depth")
    words = parser.parse_args(arguments)
    cases = [case for path in words.files for case in read_cases(path, words.depth)]
    position = load().position_class(default_weights().piece_square)
    right = wrong = 0
    with show_progress("perft", len(cases)) as advance:
        for where, board, counts in cases:
            position.set_board(board)
            for depth, expected in sorted(counts.items()):
                found = position.count(depth)
                right, wrong = right + (found == expected), wrong + (found != expected)
                if found != expected:
                    say(f"{where}: depth {depth} gives {found}, not {expected}: {board.fen()}")
            advance()
    say(f"{len(cases)} positions: {right} counts right, {wrong} wrong")
    return 0 if right and not wrong else 1


if __name__ == "__main__":
    run_program(main)
