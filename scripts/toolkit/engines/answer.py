"""What an engine says of a search: its lines with their times, what an `info` line means, and the answer.

Nothing here talks to an engine.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import chess
import chess.engine


class Line(NamedTuple):
    """What the engine said, and when, by `time.perf_counter`."""

    arrived: float
    text: str


@dataclass(frozen=True, slots=True)
class Info:
    """What matters here of an `info` line about the best line of moves; None for what it does not say.

    depth in plies, mate in moves (negative: the engine is mated), is_exact: no bound; move in UCI's notation.
    """

    depth: int | None = None
    nodes: int | None = None
    move: str | None = None
    centipawns: int | None = None
    mate: int | None = None
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one `go`: the legal move (None for anything else), the `bestmove` line, and what came before it.

    seconds: from `go` to `bestmove`. score and depth: of the last exact
    score of the best line, or of the last bound if no score was exact. nodes: the last number that it reported.
    """

    move: chess.Move | None
    text: str
    seconds: float
    score: chess.engine.PovScore | None = None
    depth: int | None = None
    nodes: int | None = None


def read_info(text: str) -> Info | None:
    """What an `info` line says; None for other lines, for free text and for lines of lesser moves."""
    words = text.partition(" string ")[0].split()
    if words[:1] != ["info"]:
        return None
    # The value of a word is the word behind it; the line of moves ends what can have a name.
    before = words.index("pv") if "pv" in words else len(words)
    named = dict(itertools.pairwise(words[1:before]))
    if named.get("multipv", "1") != "1":
        return None
    return Info(
        depth=_whole(named.get("depth")),
        nodes=_whole(named.get("nodes")),
        move=words[before + 1] if before + 1 < len(words) else None,
        centipawns=_whole(named.get("cp")),
        mate=_whole(named.get("mate")),
        is_exact="lowerbound" not in words and "upperbound" not in words,
    )


def _whole(word: str | None) -> int | None:
    try:
        return None if word is None else int(word)
    except ValueError:
        return None


def read_answer(board: chess.Board, lines: list[Line], asked_at: float) -> Answer:
    """What the lines up to `bestmove` amount to."""
    words = lines[-1].text.split()
    move = legal_move(board, words[1]) if len(words) > 1 else None
    chosen: Info | None = None
    nodes: int | None = None
    for line in reversed(lines[:-1]):
        info = read_info(line.text)
        if info is None:
            continue
        nodes = info.nodes if nodes is None else nodes
        if info.centipawns is None and info.mate is None:
            continue
        chosen = chosen or info
        if info.is_exact:
            chosen = info
            break
    answer = Answer(move, lines[-1].text, lines[-1].arrived - asked_at, nodes=nodes)
    if chosen is None:
        return answer
    score = chess.engine.Cp(chosen.centipawns or 0) if chosen.mate is None else chess.engine.Mate(chosen.mate)
    return replace(answer, score=chess.engine.PovScore(score, board.turn), depth=chosen.depth)


def legal_move(board: chess.Board, word: str) -> chess.Move | None:
    """The move, if it is a legal one; a null move is none."""
    try:
        return board.parse_uci(word) or None
    except ValueError:
        return None
