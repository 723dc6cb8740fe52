"""When a game is ended before its end: resignation, agreed draws, a limit of moves."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import chess

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
    max_moves: full moves after which the game is drawn.
    """

    resign_moves: int = 0
    resign_cp: int = 0
    resign_both: bool = False
    draw_from: int = 0
    draw_moves: int = 0
    draw_cp: int = 0
    max_moves: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a command line that make Rules."""
    ends = parser.add_argument_group("ends of games")
    ends.add_argument("--resign", default="", metavar="'moves=4 score=600 both=no'", help="score in centipawns")
    ends.add_argument("--draw", default="", metavar="'from=40 moves=8 score=10'", help="score in centipawns")
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
        max_moves=words.longest,
    )


class Adjudicator:
    """The rules applied to one game."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
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
