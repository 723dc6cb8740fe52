"""When a game is ended before its end: resignation, agreed draws, tablebases, a limit of moves.

A tablebase decides only where its result is the result by the rules, fifty-move rule included.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import chess
import chess.syzygy

from toolkit.console import at_least_zero, read_numbers
from toolkit.errors import ProgramError

# A mate, in centipawns: beyond every limit that makes sense.
MATE_CP = 100_000


@dataclass(frozen=True)
class Rules:
    """What ends a game early; a count of moves of zero switches a rule off.

    resign: after `resign_moves` moves in a row at which the mover saw itself at `-resign_cp` or worse; with
    `resign_both` the opponent has to agree in the moves between.
    draw: from full move `draw_from` on, when for `draw_moves` moves of each side both scores stayed within `draw_cp`,
    without a capture or a pawn's move.
    tables: folders with Syzygy tables. max_moves: full moves after which the game is drawn.
    """

    resign_moves: int = 0
    resign_cp: int = 0
    resign_both: bool = False
    draw_from: int = 0
    draw_moves: int = 0
    draw_cp: int = 0
    tables: tuple[str, ...] = ()
    max_moves: int = 0


def add_arguments(parser: argparse.ArgumentParser, *, tables: bool = True) -> None:
    """The options of a command line that make Rules. `tables`: whether they may be among them."""
    ends = parser.add_argument_group("ends of games")
    ends.add_argument("--resign", default="", metavar="'moves=4 score=600 both=no'", help="score in centipawns")
    ends.add_argument("--draw", default="", metavar="'from=40 moves=8 score=10'", help="score in centipawns")
    if tables:
        ends.add_argument("--tablebase", action="append", default=[], metavar="FOLDER", help="tables that decide")
    what = "games of more full moves are drawn"
    ends.add_argument("--longest", type=at_least_zero, default=0, metavar="MOVES", help=what)


def rules_of(words: argparse.Namespace) -> Rules:
    """The Rules that a command line asks for. Raises ProgramError."""
    resign = read_numbers(words.resign.split(), {"moves": 3, "score": math.nan if words.resign else 0, "both": 0})
    draw = read_numbers(words.draw.split(), {"from": 34, "moves": 8, "score": math.nan if words.draw else 0})
    if min(*resign.values(), *draw.values()) < 0:
        raise ProgramError("numbers of --resign and --draw are not negative")
    return Rules(
        resign_moves=int(resign["moves"]) if words.resign else 0,
        resign_cp=int(resign["score"]),
        resign_both=bool(resign["both"]),
        draw_from=int(draw["from"]),
        draw_moves=int(draw["moves"]) if words.draw else 0,
        draw_cp=int(draw["score"]),
        tables=tuple(getattr(words, "tablebase", ())),
        max_moves=words.longest,
    )


class Adjudicator:
    """The rules applied to one game."""

    def __init__(self, rules: Rules, tables: chess.syzygy.Tablebase | None = None) -> None:
        """tables: those of `rules.tables`, opened."""
        self._rules = rules
        self._tables = tables
        # What each move's side saw for itself; NaN, which no limit holds for, where it said nothing.
        self._scores: list[float] = []

    def verdict(self, board: chess.Board, score_cp: int | None) -> tuple[str, str] | None:
        """Result and reason, if the game ends here; asked after each move.

        board: after the move; score_cp: what its mover said, from its own side (MATE_CP and beyond for mates), None
        for nothing.
        """
        self._scores.append(math.nan if score_cp is None else score_cp)
        rules = self._rules
        if rules.resign_moves and self._is_resigned():
            return ("1-0", "Black resigns by adjudication") if board.turn else ("0-1", "White resigns by adjudication")
        if rules.draw_moves and board.fullmove_number >= rules.draw_from and self._is_level(board.halfmove_clock):
            return "1/2-1/2", "draw by adjudication: level scores"
        if self._tables is not None and (result := result_by_tables(self._tables, board)) is not None:
            return result, "by adjudication: tablebase"
        if rules.max_moves and board.fullmove_number > rules.max_moves:
            return "1/2-1/2", f"draw by adjudication: {rules.max_moves} moves"
        return None

    def _is_resigned(self) -> bool:
        moves, limit = self._rules.resign_moves, self._rules.resign_cp
        lost = [score <= -limit for score in self._scores[-1::-2][:moves]]
        won = [score >= limit for score in self._scores[-2::-2][:moves]]
        return lost == [True] * moves and (not self._rules.resign_both or won == [True] * moves)

    def _is_level(self, quiet_plies: int) -> bool:
        plies = 2 * self._rules.draw_moves
        level = [abs(score) <= self._rules.draw_cp for score in self._scores[-plies:]]
        return level == [True] * plies and quiet_plies >= plies


@contextmanager
def open_tables(rules: Rules) -> Iterator[chess.syzygy.Tablebase | None]:
    """The tables that the rules name; None if they name none. Raises ProgramError where none are, OSError."""
    if not rules.tables:
        yield None
        return
    with chess.syzygy.Tablebase() as tables:
        for folder in rules.tables:
            if not tables.add_directory(folder, load_dtz=False):
                raise ProgramError(f"no Syzygy tables in {folder}")
        yield tables


def result_by_tables(tables: chess.syzygy.Tablebase, board: chess.Board) -> str | None:
    """The result of a position just after a capture or a pawn's move, if the tables know it.

    With any other count a win of the tables may be too long for the fifty-move rule.
    """
    value = None if board.halfmove_clock else tables.get_wdl(board)
    if value is None:
        return None
    if abs(value) < 2:
        return "1/2-1/2"
    return "1-0" if (value > 0) == board.turn else "0-1"
