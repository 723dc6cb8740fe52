"""Positions with their counts of move sequences, read from files in two formats. Called by perft.

An EPD with the counts behind it (`FEN ;D1 20 ;D2 400`), and blocks of lines (`epd FEN`, then `perft 1 20`,
`perft 2 400`); both may stand in one file. Castling may be X-FEN or Shredder-FEN. What must stay true: a line that is
neither is an error, never skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess

from lib.errors import ProgramError


@dataclass
class Case:
    """A position with its counts by depth, and where it stands (`file:line`)."""

    where: str
    epd: str
    counts: dict[int, int] = field(default_factory=dict)

    def board(self) -> chess.Board:
        """The position, by the rules of Chess960."""
        board = chess.Board(chess960=True)
        board.set_epd(" ".join(self.epd.split()[:4]))
        return board


def read_cases(path: Path) -> Iterator[Case]:
    """The positions of a file in either format. Raises ProgramError or OSError."""
    case: Case | None = None
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ProgramError(f"{path.name} is no text: {error}") from error
    for number, line in enumerate(lines, 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(" ")
        if not line.strip() or word == "id" or word.startswith("#"):
            continue
        try:
            if word == "perft":
                if case is None:
                    raise ProgramError(f"{where}: a count before any position")
                _note_count(case, rest)
                continue
            if case is not None:
                yield case
            epd, *counts = (rest,) if word == "epd" else line.split(";")
            case = Case(where, epd.strip())
            case.board()
            for text in counts:
                _note_count(case, text)
        except ValueError as error:
            raise ProgramError(f"{where}: {error}") from error
    if case is not None:
        yield case


def _note_count(case: Case, text: str) -> None:
    """Note a depth and its count, e.g. `D3 8902` or `3 8902`. Raises ValueError."""
    depth, count = text.split()
    plies, sequences = int(depth.removeprefix("D")), int(count)
    if plies < 1 or sequences < 0:
        raise ValueError(f"{text!r} is no depth with its count")
    case.counts[plies] = sequences
