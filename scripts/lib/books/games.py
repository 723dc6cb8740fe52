"""How the moves of games did: PGN files read and counted, and the weights that follow.

Files may come from anywhere. Nothing is read without bounds, and a game that cannot be read is reported and left out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot

from lib.books.file import Weights, polyglot_move
from lib.console import note, say
from lib.games.pgn import game_texts

MAX_POSITIONS = 4_000_000
MAX_REPORTS = 20


@dataclass(slots=True)
class Record:
    """How a move did for the side that played it."""

    games: int = 0
    half_points: int = 0

    @property
    def score(self) -> float:
        return self.half_points / (2 * self.games)


Records = dict[int, dict[int, Record]]


class OpeningVisitor(chess.pgn.BaseVisitor["OpeningVisitor"]):
    """Takes the first moves and the result of one game; no variations, no comments."""

    def __init__(self, plies: int) -> None:
        # Key and move, in the book's terms, and whether White played it.
        self.moves: list[tuple[int, int, bool]] = []
        self.outcome = ""
        self.problem = ""
        self._plies = plies

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        if tagname == "Result":
            self.outcome = tagvalue
        elif tagname == "Variant" and tagvalue.lower() not in ("standard", "chess", "normal", "from position"):
            self.problem = f"variant {tagvalue[:40]!a}"

    def visit_result(self, result: str) -> None:
        self.outcome = result

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        return chess.pgn.SKIP if self.problem or len(self.moves) >= self._plies else None

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        if not move or board.chess960:
            self.problem = "a null move" if not move else "Chess960"
        else:
            self.moves.append((chess.polyglot.zobrist_hash(board), polyglot_move(board, move), board.turn))

    def handle_error(self, error: Exception) -> None:
        self.problem = self.problem or str(error).split("\n")[0][:100]

    def result(self) -> OpeningVisitor:
        return self


def count_games(paths: Iterable[Path], plies: int) -> Records:
    """How the moves of these games' first plies did. What cannot be used is told and left out."""
    records: Records = {}
    used = left_out = 0
    for path in paths:
        for number, text in enumerate(game_texts(path), start=1):
            problem = _count_game(text, plies, records)
            if not problem:
                used += 1
                continue
            left_out += 1
            if left_out <= MAX_REPORTS:
                note(f"left out: {path}, game {number}: {problem}")
    if left_out > MAX_REPORTS:
        note(f"left out: {left_out - MAX_REPORTS} games more")
    say(f"{used} games used, {left_out} left out, {len(records)} positions")
    return records


def _count_game(text: str, plies: int, records: Records) -> str:
    """Count one game; what is wrong with it, if anything, and then nothing of it is counted."""
    try:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=lambda: OpeningVisitor(plies))
    except Exception as error:  # a parser that was never meant for hostile text
        return f"{type(error).__name__}: {str(error)[:100]}"
    if game is None or not (game.moves or game.problem):
        return "no moves"
    if game.problem:
        return game.problem
    points = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}.get(game.outcome)
    if points is None:
        return "no result"
    for key, move, white in game.moves:
        if key not in records and len(records) >= MAX_POSITIONS:
            continue
        record = records.setdefault(key, {}).setdefault(move, Record())
        record.games += 1
        record.half_points += points if white else 2 - points
    return ""


def weights_of_games(records: Records, min_games: int, min_score: float) -> Weights:
    """Weights as Polyglot has them, two for a win and one for a draw, of moves played and scoring often enough."""
    weights: Weights = {}
    for key, moves in records.items():
        kept = {
            move: float(record.half_points)
            for move, record in moves.items()
            if record.games >= min_games and record.half_points and record.score >= min_score
        }
        if kept:
            weights[key] = kept
    return weights
