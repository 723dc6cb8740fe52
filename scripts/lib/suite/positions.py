"""Positions of test suites: what an engine should play there, and how an answer is judged. Called by suite.

Read are the EPD operations `bm` (best moves), `am` (moves to avoid), `dm` (mate in so many moves), `id`, and points
for moves in `c0`, as the Strategic Test Suite has them ("f5=10, Bf2=3"). What must stay true: every operation that a
position has must be met; a position without any is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import chess

from lib.errors import ProgramError

POINT = re.compile(r"\S+=\d+")
NUMBER_AT_END = re.compile(r"[\s._#-]*\d+$")


@dataclass(frozen=True, slots=True)
class Question:
    """A position and what is asked in it. Moves are in UCI's notation, points by move."""

    name: str
    fen: str
    best: frozenset[str]
    avoid: frozenset[str]
    mate_moves: int | None
    points: tuple[tuple[str, int], ...] = ()

    @property
    def group(self) -> str:
        """The name without the number at its end: one suite may hold several themes."""
        return NUMBER_AT_END.sub("", self.name)

    @property
    def most_points(self) -> int:
        """What the best move earns; 0 where no points are given."""
        return max((value for _, value in self.points), default=0)

    def is_met(self, move: str | None, mate: int | None) -> bool:
        """Whether this move is right, when the engine announces this mate (in moves; None for none)."""
        if move is None:
            return False
        if self.mate_moves is not None and not (mate is not None and 0 < mate <= self.mate_moves):
            return False
        return (not self.best or move in self.best) and move not in self.avoid

    def points_of(self, move: str | None) -> int:
        """What this move earns."""
        return dict(self.points).get(move or "", 0)


def read_questions(path: Path) -> list[Question]:
    """All positions of an EPD file; lines without text and those that begin with # are left out.

    Raises ProgramError and OSError.
    """
    questions = []
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ProgramError(f"{path.name} is no text: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                questions.append(_read(line.strip(), f"{path.stem}.{number}"))
            except ValueError as error:
                raise ProgramError(f"{path.name}:{number}: {error}") from error
    if not questions:
        raise ProgramError(f"{path.name} holds no positions")
    return questions


def _read(line: str, default_name: str) -> Question:
    board = chess.Board()
    operations = board.set_epd(line)
    if not board.is_valid():
        raise ValueError(f"no legal position: {board.fen()}")
    best, avoid, mate = (operations.get(name) for name in ("bm", "am", "dm"))
    if best is None and avoid is None and mate is None:
        raise ValueError("none of bm, am and dm says what is right")
    if not (mate is None or (isinstance(mate, int) and mate > 0)):
        raise ValueError(f"dm {mate!r} is no number of moves")
    return Question(
        name=str(operations.get("id") or default_name),
        fen=board.fen(),
        best=_moves(best),
        avoid=_moves(avoid),
        mate_moves=mate,
        points=_points(board, operations.get("c0")),
    )


def _moves(value: object) -> frozenset[str]:
    moves = value if isinstance(value, list) else []
    return frozenset(move.uci() for move in moves if isinstance(move, chess.Move))


def _points(board: chess.Board, comment: object) -> tuple[tuple[str, int], ...]:
    """The points by move; a comment that is no list of them gives none. Raises ValueError for an illegal move."""
    if not isinstance(comment, str):
        return ()
    parts = [part.strip() for part in comment.split(",")]
    if not all(POINT.fullmatch(part) for part in parts):
        return ()
    points: dict[str, int] = {}
    for part in parts:
        san, _, value = part.rpartition("=")
        # In d8=Q=5 the last sign is the one that counts.
        points[board.parse_san(san).uci()] = int(value)
    return tuple(sorted(points.items()))
