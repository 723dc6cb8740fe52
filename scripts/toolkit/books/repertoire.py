"""The repertoire: opening lines as text, played on a board.

`openings.tsv` beside this file is our own repertoire. Any table with the columns `eco`, `name` and `moves` (or `pgn`)
can be read.

The moves are in SAN, with or without move numbers. `|` follows the move that reaches the named position. Without it,
that is the last move. A move marked `~` (or `?!`, or `?`) is answered but never played: a gambit, or a line that does
not suit the engine.

Invariant: a line that `replay` yields is legal from the start position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import chess

from toolkit.errors import ProgramError
from toolkit.files import read_text

OPENINGS = Path(__file__).with_name("openings.tsv")

MAX_LINE_PLIES = 80

NAME_MARK = "|"
AVOIDED_MARK = "~"
_MOVE_NUMBER = re.compile(r"^\d+\.+")
_ECO = re.compile(r"[A-E]\d\d")
_SUFFIX = re.compile(r"[!?~]+$")


@dataclass(frozen=True, slots=True)
class Line:
    """One opening line.

    `moves` are in SAN, without marks. The first `named_plies` of them lead to the position with the name. `avoided`
    holds the indices of moves that we answer and do not play.
    """

    eco: str
    name: str
    moves: tuple[str, ...]
    named_plies: int
    avoided: frozenset[int] = frozenset()


def read_line(eco: str, name: str, text: str) -> Line:
    """A line from the three columns of a table. Raises ProgramError. `replay` checks the moves."""
    moves: list[str] = []
    avoided: set[int] = set()
    named_plies = 0
    for word in text.split():
        if word == NAME_MARK:
            named_plies = len(moves)
            continue
        move = _MOVE_NUMBER.sub("", word)
        if not move:
            continue
        mark = _SUFFIX.search(move)
        if mark:
            move = move[: mark.start()]
            if mark[0] in (AVOIDED_MARK, "?!", "?", "??"):
                avoided.add(len(moves))
        moves.append(move)
    if _ECO.fullmatch(eco) is None:
        raise ProgramError(f"{eco!a} is not an ECO code")
    if not name or not name.isprintable():
        raise ProgramError("a line has no name")
    if not 0 < len(moves) <= MAX_LINE_PLIES:
        raise ProgramError(f"{name!a} has {len(moves)} moves, not 1 to {MAX_LINE_PLIES}")
    return Line(eco, name, tuple(moves), named_plies or len(moves), frozenset(avoided))


def read_table(path: Path = OPENINGS) -> list[Line]:
    """All lines of a table with a header, columns parted by tabs. Raises ProgramError, and OSError."""
    header, *rows = read_text(path).split("\n")
    columns = header.rstrip("\r").split("\t")
    try:
        eco, name = columns.index("eco"), columns.index("name")
        moves = columns.index("moves" if "moves" in columns else "pgn")
    except ValueError:
        raise ProgramError(f"{path} has no header with eco, name and moves") from None
    lines = []
    for number, row in enumerate(rows, start=2):
        if not row.strip() or row.startswith("#"):
            continue
        cells = row.rstrip("\r").split("\t")
        if len(cells) != len(columns):
            raise ProgramError(f"{path}, row {number}: {len(cells)} columns, not {len(columns)}")
        try:
            lines.append(read_line(cells[eco], cells[name], cells[moves]))
        except ProgramError as error:
            raise ProgramError(f"{path}, row {number}: {error}") from None
    return lines


def replay(lines: Iterable[Line], as_far_as_named: bool = False) -> Iterator[tuple[Line, chess.Board]]:
    """Each line with a board on which it has been played, sorted by moves.

    The board is the same one each time and must not be changed. Raises ProgramError for a move that is not legal.
    """
    board = chess.Board()
    played: list[str] = []
    for line in sorted(lines, key=lambda line: line.moves):
        wanted = line.moves[: line.named_plies] if as_far_as_named else line.moves
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(played, wanted, strict=False)))
        while len(played) > common:
            board.pop()
            played.pop()
        for move in wanted[common:]:
            try:
                board.push_san(move)
            except ValueError:
                number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
                raise ProgramError(f"{line.eco} {line.name}: {number} {move!a} is not legal") from None
            played.append(move)
        yield line, board
