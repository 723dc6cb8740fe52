"""Engines asked the questions of a test suite, one after another on the same positions. Called by suite, in workers.

What must stay true: an engine starts each position as a new game; one that dies, hangs or answers with an illegal move
has failed that question, is named for it, and is started anew for the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import chess

from lib.engines.engine import Engine, EngineError, Line, read_info
from lib.engines.spec import EngineSpec, go_words
from lib.suite.positions import Question

# What an engine may take beyond its time before it counts as hanging.
GRACE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions with their numbers in the suite, and the engines that are asked all of them."""

    questions: tuple[tuple[int, Question], ...]
    engines: tuple[EngineSpec, ...]
    patience_seconds: float


def ask_batch(batch: Batch) -> list[dict[str, Any]]:
    """The answers of all engines to all questions, ready for JSON. Raises EngineError when an engine cannot start."""
    running: list[Engine | None] = [None] * len(batch.engines)
    answers = []
    try:
        for number, question in batch.questions:
            # Each engine goes first in its turn, so that none gains by its place.
            for place in range(len(batch.engines)):
                index = (number + place) % len(batch.engines)
                engine = running[index] or Engine(batch.engines[index])
                running[index] = engine
                try:
                    answer = ask(engine, question, batch.engines[index], batch.patience_seconds)
                except EngineError as error:
                    answer = {"failure": str(error)}
                    engine.close()
                    running[index] = None
                answers.append({"position": number, "engine": index, **answer})
    finally:
        for pipe in running:
            if pipe is not None:
                pipe.close()
    return answers


def ask(engine: Engine, question: Question, spec: EngineSpec, patience_seconds: float) -> dict[str, Any]:
    """One engine's answer to one question. Raises EngineError."""
    board = chess.Board(question.fen)
    engine.new_game()
    engine.set_position(board)
    began = time.perf_counter()
    engine.send(f"go {go_words(spec.control.fixed_limit())}")
    allowed = spec.control.movetime_seconds
    lines = engine.read_until("bestmove", patience_seconds if allowed is None else allowed + GRACE_SECONDS)
    answer = judge(question, lines, began)
    if answer["move"] is None or chess.Move.from_uci(answer["move"]) not in board.legal_moves:
        raise EngineError(f"{spec.name} answers {lines[-1].text!r}, which is no legal move")
    return answer


def judge(question: Question, lines: list[Line], began: float) -> dict[str, Any]:
    """What the lines up to `bestmove` amount to; `began` is when `go` was sent.

    An answer is right if the final move fits. The time to solution is when the engine's best move became a fitting
    one and stayed so: that of the first line of the unbroken row of fitting ones at the end.
    """
    move = _best_move(lines[-1].text)
    since: float | None = None
    depth = reached = nodes = mate = None
    for line in lines[:-1]:
        info = read_info(line.text)
        if info is None:
            continue
        nodes = info.nodes if info.nodes is not None else nodes
        if info.move is None:
            continue
        mate, reached = info.mate, info.depth
        if not question.is_met(info.move, mate):
            since = None
        elif since is None:
            since, depth = line.arrived, info.depth
    solved = question.is_met(move, mate)
    if solved and since is None:
        # It did not say so before: a move from a book, or one chosen at the last moment.
        since, depth = lines[-1].arrived, reached
    return {
        "move": move,
        "solved": solved,
        "points": question.points_of(move),
        "solution_seconds": round(since - began, 4) if solved and since is not None else None,
        "solution_depth": depth if solved else None,
        "seconds": round(lines[-1].arrived - began, 4),
        "nodes": nodes,
        "depth": reached,
        "mate": mate,
    }


def _best_move(text: str) -> str | None:
    word = text.split()[1] if len(text.split()) > 1 else ""
    try:
        return chess.Move.from_uci(word).uci()
    except chess.InvalidMoveError:
        return None
