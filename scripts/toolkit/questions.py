"""The questions of test suites: read from EPD, asked of engines, and the answers judged.

Read are the EPD operations `bm` (best moves), `am` (moves to avoid), `dm` (mate in so many moves), `id`, and points
for moves in `c0`, as the Strategic Test Suite has them ("f5=10, Bf2=3"). Every operation that a position has must be
met, and a position without any is refused. An engine starts each position as a new game; one that dies, hangs or
answers with an illegal move has failed that question and is started anew for the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from toolkit.engines.client import Engine, EngineError, Line, legal_move, read_info, running_engines
from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from toolkit.files import read_text

# In d8=Q=5 the last sign is the one that counts.
POINT = re.compile(r"(\S+)=(\d+)")
# What an engine may take beyond its time before it counts as hanging.
GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Question:
    """A position and what is asked in it. Moves are in UCI's notation, points by move."""

    name: str
    fen: str
    best: frozenset[str]
    avoid: frozenset[str]
    mate_moves: int | None
    points: Mapping[str, int]

    @property
    def max_points(self) -> int:
        """What the best move earns; 0 where no points are given."""
        return max(self.points.values(), default=0)

    def is_met(self, move: str | None, mate: int | None) -> bool:
        """Whether this move is right, when the engine announces this mate (in moves; None for none)."""
        if move is None:
            return False
        if self.mate_moves is not None and not (mate is not None and 0 < mate <= self.mate_moves):
            return False
        return (not self.best or move in self.best) and move not in self.avoid


def read_questions(path: Path) -> list[Question]:
    """All positions of an EPD file; lines without text and those that begin with # are left out.

    Raises ProgramError and OSError.
    """
    questions = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
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


def _points(board: chess.Board, comment: object) -> dict[str, int]:
    """The points by move; a comment that is no list of them gives none. Raises ValueError for an illegal move."""
    found = [POINT.fullmatch(part.strip()) for part in str(comment).split(",")]
    return {board.parse_san(each[1]).uci(): int(each[2]) for each in found if each} if all(found) else {}


@dataclass(frozen=True, slots=True)
class Batch:
    """A question, and the engines that are asked it."""

    question: Question
    engines: tuple[EngineSpec, ...]
    patience_seconds: float


def ask_batch(batch: Batch) -> list[dict[str, Any]]:
    """The answer of each engine, ready for JSON. Raises EngineError when an engine cannot start."""
    answers: list[dict[str, Any]] = []
    with running_engines() as engines:
        for spec in batch.engines:
            engine = engines.engine(spec)
            try:
                answers.append(ask(engine, batch.question, batch.patience_seconds))
            except EngineError as error:
                answers.append({"failure": str(error)})
                engines.dismiss(spec)
    return answers


def ask(engine: Engine, question: Question, patience_seconds: float) -> dict[str, Any]:
    """One engine's answer to one question. Raises EngineError."""
    control = engine.spec.control
    engine.new_game()
    began = engine.search(chess.Board(question.fen), control.fixed_limit())
    allowed = control.movetime_seconds
    lines = engine.read_until("bestmove", patience_seconds if allowed is None else allowed + GRACE_SECONDS)
    answer = judge(question, lines, began)
    if answer["move"] is None:
        raise EngineError(f"{engine.name} answers {lines[-1].text!r}, which is no legal move")
    return answer


def judge(question: Question, lines: list[Line], began: float) -> dict[str, Any]:
    """What the lines up to `bestmove` amount to; `began` is when `go` was sent.

    An answer is right if the final move fits. The time to solution is when the engine's best move became a fitting
    one and stayed so: that of the first line of the unbroken row of fitting ones at the end, or that of `bestmove`
    where there is none, as with a move from a book.
    """
    legal = legal_move(chess.Board(question.fen), lines[-1].text)
    move = None if legal is None else legal.uci()
    end = since = lines[-1].arrived
    mate = None
    for line in lines[:-1]:
        info = read_info(line.text)
        if info is not None and info.pv:
            mate = info.mate
            since = min(since, line.arrived) if question.is_met(info.pv[0], mate) else end
    solved = question.is_met(move, mate)
    return {
        "move": move,
        "solved": solved,
        "points": question.points.get(move or "", 0),
        "solution_seconds": round(since - began, 4) if solved else None,
        "seconds": round(end - began, 4),
    }
