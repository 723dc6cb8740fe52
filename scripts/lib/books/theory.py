"""A repertoire as a graph of positions, with moves weighted by the engine's search.

Invariant: the same lines, games, depth and search give the same weights, in whatever order the lines come. Another
version of the search gives other weights, never other moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import chess
import chess.polyglot

from lib.books.file import Weights, polyglot_move
from lib.books.games import Record, Records
from lib.books.repertoire import Line, RepertoireError, replay
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.score import DRAW, MATE
from uci_engine.search.thread_pool import new_searcher, new_worker

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

    def positions(self) -> set[str]:
        """All of them, those where lines end as well."""
        return {*self.choices, *(end for _, end in self.ends)}

    def ours(self) -> set[str]:
        """Positions in which we may be to move: none of our moves on some way to them is marked as avoided."""
        return {here for white in (True, False) for here in self._reached(white) if _white_moves(here) == white}

    def _reached(self, white: bool) -> set[str]:
        """The positions that White (or Black) comes to when the other side plays anything that is known."""
        start = chess.Board().epd()
        reached = {start}
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for choice in self.choices.get(here, {}).values():
                if choice.after not in reached and not (choice.avoided and _white_moves(here) == white):
                    reached.add(choice.after)
                    waiting.append(choice.after)
        return reached


def _white_moves(epd: str) -> bool:
    return epd.split()[1] == "w"


class Judge:
    """The engine's opinion: a search of fixed depth for each position, each as if it were the first."""

    def __init__(self, depth: int) -> None:
        self._searcher = new_searcher(load(), load().table_class(JUDGE_HASH_MIB))
        self._depth = depth
        self._known: dict[str, tuple[int, chess.Move | None]] = {}

    def score_cp(self, epd: str) -> int:
        """The score for the side to move."""
        return self._look(epd)[0]

    def preferred(self, epd: str) -> chess.Move | None:
        """The move that the engine would play; None in mate and stalemate."""
        return self._look(epd)[1]

    def loss_cp(self, here: str, after: str) -> int:
        """What the move from `here` to `after` loses against the move that the engine would play.

        Both are scored after the move, because a search sees the side to move in a better light.
        """
        preferred = self.preferred(here)
        if preferred is None:
            return 0
        board = _board(here)
        board.push(preferred)
        return max(0, self.score_cp(after) - self.score_cp(board.epd()))

    def _look(self, epd: str) -> tuple[int, chess.Move | None]:
        if epd not in self._known:
            self._known[epd] = self._search(epd)
        return self._known[epd]

    def _search(self, epd: str) -> tuple[int, chess.Move | None]:
        board = _board(epd)
        if not any(board.legal_moves):  # the line ends with mate or stalemate
            return (-MATE if board.is_check() else DRAW), None
        self._searcher.table.clear()
        self._searcher.clear()
        worker = new_worker(load(), self._searcher)
        worker.reset(0)
        self._searcher.position.set_board(board)
        self._searcher.set_root(worker.sorted_root_moves([moves.encode(board, move) for move in board.legal_moves], {}))
        self._searcher.table.new_search()
        worker.run(1, self._depth)
        return worker.score, moves.decode(worker.pv()[0], board.chess960)


def _board(epd: str) -> chess.Board:
    return chess.Board(epd + " 0 1")


def weights_of_theory(theory: Theory, judge: Judge, records: Records) -> Weights:
    """Weights from the engine's search, from the number of lines behind a move, and from results, if there are any."""
    weights: Weights = {}
    for here, choices in theory.choices.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        key = chess.polyglot.zobrist_hash(_board(here))
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
