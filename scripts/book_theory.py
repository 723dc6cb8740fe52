"""A repertoire as a graph of positions, and its moves weighed and doubted by the engine's search.

Called by `make_book`. What must stay true: the same lines, games and depth give the same weights, in whatever order the
lines come.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import chess
import chess.polyglot
from book_file import Weights, polyglot_move
from book_games import Record, Records

from uci_engine.clock import Clock
from uci_engine.core import load
from uci_engine.deepening import Deepening, Request, new_searcher
from uci_engine.repertoire import Line, RepertoireError, replay
from uci_engine.score import DRAW, MATE

# The best move of a position has this weight.
BEST_WEIGHT = 1000

JUDGE_HASH_MIB = 4
# Among moves of equal merit, one with four times as many lines behind it is played twice as often.
LINES_POWER = 0.5
# A move whose score is lower by so much is played e times less often.
LOSS_SCALE_CP = 25.0
# Games count as if there had been so many more, all drawn.
PRIOR_GAMES = 20


@dataclass(slots=True)
class Choice:
    """A move of the repertoire in one position: how many lines play it, and the position after it."""

    san: str
    lines: int
    after: str
    avoided: bool


@dataclass(slots=True)
class Theory:
    """All positions of the repertoire, transpositions merged: FEN without clocks to moves; and where each line ends.

    A line that is the beginning of another only names a position: it has no end, and lends its moves no weight.
    """

    choices: dict[str, dict[int, Choice]] = field(default_factory=dict)
    ends: list[tuple[Line, str]] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Theory:
        """Play the lines out. Raises RepertoireError at an illegal move."""
        theory = cls()
        ordered = sorted(lines, key=lambda line: line.moves)
        beginnings = {
            line.moves for line, following in pairwise(ordered) if following.moves[: len(line.moves)] == line.moves
        }
        for line, board in replay(ordered):
            if line.moves in beginnings:
                continue
            position = chess.Board()
            for i, move in enumerate(board.move_stack):
                here = position.epd()
                number = polyglot_move(position, move)
                position.push(move)
                after = position.epd()
                choice = theory.choices.setdefault(here, {}).setdefault(
                    number, Choice(line.moves[i], 0, after, i in line.avoided)
                )
                choice.lines += 1
                if choice.avoided != (i in line.avoided):
                    raise RepertoireError(f"{line}: {choice.san} is avoided in some lines and not in others")
            theory.ends.append((line, position.epd()))
        return theory


class Judge:
    """The engine's opinion: a search of fixed depth for each position, each as if it were the first."""

    def __init__(self, depth: int) -> None:
        self._searcher = new_searcher(load(), JUDGE_HASH_MIB)
        self._depth = depth
        self._known: dict[str, tuple[int, str]] = {}

    def score_cp(self, epd: str) -> int:
        """The score for the side to move."""
        return self._look(epd)[0]

    def loss_cp(self, here: str, after: str) -> int:
        """What the move from `here` to `after` loses against the move that the engine would play.

        Both are scored after the move, because a search sees the side to move in a better light.
        """
        preferred = self._look(here)[1]
        return max(0, self.score_cp(after) - self.score_cp(preferred))

    def _look(self, epd: str) -> tuple[int, str]:
        """Score, and the position after the best move, or the same when there is no move."""
        if epd not in self._known:
            self._known[epd] = self._search(epd)
        return self._known[epd]

    def _search(self, epd: str) -> tuple[int, str]:
        board = chess.Board(epd + " 0 1")
        if not any(board.legal_moves):  # the line ends with mate or stalemate
            return -MATE if board.is_check() else DRAW, epd
        self._searcher.table.clear()
        self._searcher.forget()
        request = Request(board, depth=self._depth)
        deepening = Deepening(self._searcher, request, Clock(time.perf_counter()), lambda info: None)
        deepening.run()
        score = deepening.score
        board.push(deepening.best)
        return score, board.epd()


def find_faults(theory: Theory, judge: Judge, largest_loss_cp: int, worst_end_cp: int) -> list[str]:
    """Moves of ours that lose too much, and lines that end too badly, by the engine's search.

    Who plays a move marked as avoided is not "us" in that line.
    """
    faults = []
    for here, choices in theory.choices.items():
        for choice in choices.values():
            loss = 0 if choice.avoided else judge.loss_cp(here, choice.after)
            if loss > largest_loss_cp:
                faults.append(f"{choice.san} loses {loss} cp in {here}")
    for line, end in theory.ends:
        white_score = judge.score_cp(end) * (1 if end.split()[1] == "w" else -1)
        for white, score in ((True, white_score), (False, -white_score)):
            if score < worst_end_cp and not any((i % 2 == 0) == white for i in line.avoided):
                side = "White" if white else "Black"
                faults.append(f"{side} has {score} cp at the end of {line.eco} {line.name}: {line.moves_text()}")
    return faults


def weights_of_theory(theory: Theory, judge: Judge, records: Records) -> Weights:
    """Weights from the engine's search, from the number of lines behind a move, and from results, if there are any."""
    weights: Weights = {}
    for here, choices in theory.choices.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        key = chess.polyglot.zobrist_hash(chess.Board(here + " 0 1"))
        values = {move: -judge.score_cp(choice.after) for move, choice in ours.items()}
        best = max(values.values())
        merits = {}
        for move, choice in ours.items():
            record = records.get(key, {}).get(move, Record())
            # Twice the average score: 1 without games.
            success = ((record.half_points + PRIOR_GAMES) / (record.games + PRIOR_GAMES)) ** 2
            liking = math.exp((values[move] - best) / LOSS_SCALE_CP)
            merits[move] = choice.lines**LINES_POWER * liking * success
        top = max(merits.values())
        weights[key] = {move: max(BEST_WEIGHT * merit / top, 1.0) for move, merit in merits.items()}
    return weights
