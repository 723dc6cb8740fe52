#!/usr/bin/env python3
"""Compare the perft counts of an engine with those in files.

    python scripts/perft.py FILE... [--depth 5] [--core compiled | --engine 'cmd=stockfish']

A line of a file is EPD with the counts behind it (`FEN ;D1 20 ;D2 400`), of standard chess or Chess960. An engine must
answer `go perft N` as Stockfish does, with `Nodes searched: N` in the end. Exit code: 0 when all counts are
right, 1 when some are wrong or there are none, 2 when a file or the engine cannot be used.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess

from toolkit.console import make_table, run_program, say, show_progress, standard_output
from toolkit.engines.client import Engine, EngineError
from toolkit.engines.spec import ENGINE_SYNTAX, EngineSpec, own_engine, parse_engine
from toolkit.errors import ProgramError
from toolkit.files import read_text
from uci_engine.core import CORES

TOTAL = re.compile(r"(?:total\s+)?nodes(?:\s+searched)?\s*[:=]?\s*(\d+)", re.IGNORECASE)
# A count of depth 6 takes Stockfish a minute on a slow machine.
COUNT_SECONDS = 3600.0
# An engine that takes `perft` for an unknown word would search for ever.
RECOGNISE_SECONDS = 5.0


class PerftEngine(Engine):
    """An engine that counts, by the rules of Chess960 where it knows them. Standard positions obey those too."""

    def __init__(self, spec: EngineSpec) -> None:
        """Start it. Raises EngineError."""
        super().__init__(spec, [("UCI_Chess960", "true")])
        self.is_chess960 = "UCI_Chess960" in self.options
        try:
            found = self.count(self.board(chess.STARTING_FEN), 2, RECOGNISE_SECONDS)
        except EngineError as error:
            self.close()
            raise EngineError(f"{spec.name} does not answer `go perft` ({error})") from error
        if found != 400:
            self.close()
            raise EngineError(f"{spec.name} does not answer `go perft` with the right count")

    def board(self, epd: str) -> chess.Board:
        """A position, by the rules that the engine knows. Raises ValueError, also for castling that it does not know.

        epd: up to four fields; what follows is left out. Castling may be X-FEN or Shredder-FEN.
        """
        board = chess.Board(None, chess960=True)
        board.set_epd(" ".join(epd.split()[:4]))
        if self.is_chess960:
            return board
        standard = chess.Board(board.fen())
        if standard.clean_castling_rights() != board.clean_castling_rights():
            raise ValueError(f"only Chess960 castles as in {epd}, which {self.name} does not know")
        return standard

    def count(self, board: chess.Board, depth: int, seconds: float = COUNT_SECONDS) -> int:
        """The engine's total. Raises EngineError."""
        self.set_position(board)
        deadline = self.send(f"go perft {depth}") + seconds
        while True:
            text = self.read(deadline - time.perf_counter()).text
            if total := TOTAL.fullmatch(text):
                return int(total[1])
            if text.startswith("bestmove"):
                raise EngineError(f"{self.name} searches instead of counting")


@dataclass
class Case:
    """A position with its counts by depth, and where it stands (`file:line`)."""

    where: str
    epd: str
    counts: dict[int, int]


def read_cases(path: Path, max_depth: int) -> Iterator[Case]:
    """The positions of a file, with the counts up to a depth. Raises ProgramError for another line, and OSError."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        where = f"{path.name}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        epd, *texts = line.split(";")
        try:
            chess.Board(None).set_epd(" ".join(epd.split()[:4]))
            counts = (text.split() for text in texts)
            by_depth = {int(depth.removeprefix("D")): int(count) for depth, count in counts}
        except ValueError as error:
            raise ProgramError(f"{where}: {error}") from error
        yield Case(where, epd.strip(), {plies: count for plies, count in by_depth.items() if plies <= max_depth})


def check(engine: PerftEngine, case: Case) -> list[int]:
    """Count one position to each of its depths, show what is wrong, and return the right and the wrong in number."""
    try:
        board = engine.board(case.epd)
    except ValueError as error:
        raise ProgramError(f"{case.where}: {error}") from None
    right = wrong = 0
    for depth, expected in sorted(case.counts.items()):
        found = engine.count(board, depth)
        right += found == expected
        wrong += found != expected
        if found != expected:
            say(f"{case.where}: depth {depth} gives {found}, not {expected}: {case.epd}")
    return [right, wrong]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="EPD with ;D1 20 ;D2 400")
    parser.add_argument("--depth", type=int, default=99, help="leave out counts of greater depth")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--core", choices=CORES, default="auto", help="count with our own engine (the default)")
    who.add_argument("--engine", metavar="SPEC", help=f"or with an engine that knows `go perft`: {ENGINE_SYNTAX}")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Count, and return the exit code. Raises ProgramError and OSError for what cannot be used."""
    words = parse(arguments)
    cases = {path: list(read_cases(path, words.depth)) for path in words.files}
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
