"""A repertoire as a graph of positions, with moves weighted by the engine's search, and the Polyglot book made of it.

Invariant: the same lines, depth and search give the same bytes, in whatever order the lines come. Another version of
the search gives other weights, never other moves.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import chess
import chess.polyglot

from toolkit.books.repertoire import Line, replay
from toolkit.errors import ProgramError
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.score import DRAW, MATE
from uci_engine.search.thread_pool import new_searcher, new_worker

# For each position's key: the moves, as Polyglot writes them, and their weights.
Weights = dict[int, dict[int, float]]

ENTRY = struct.Struct(">QHHI")
# The best move of a position has this weight.
BEST_WEIGHT = 1000

SEARCH_HASH_MIB = 4
# Among moves of equal merit, one with four times as many lines behind it is played twice as often.
LINES_POWER = 0.5
# A move whose score is lower by so much is played e times less often.
LOSS_SCALE_CP = 25.0


@dataclass(slots=True)
class Choice:
    """A move of the repertoire in one position: how many lines play it, and the position after it."""

    san: str
    lines: int
    after: str
    avoided: bool


# For each position, a FEN without clocks, the moves as Polyglot writes them. Transpositions are one position.
Theory = dict[str, dict[int, Choice]]


def theory_of(lines: Iterable[Line]) -> Theory:
    """Play the lines out. Raises ProgramError at an illegal move.

    A line that is the beginning of another only names a position: it lends its moves no weight.
    """
    theory: Theory = {}
    ordered = sorted(lines, key=lambda line: line.moves)
    beginnings = {
        line.moves for line, following in pairwise(ordered) if following.moves[: len(line.moves)] == line.moves
    }
    for line, board in replay(ordered):
        if line.moves in beginnings:
            continue
        position = chess.Board()
        for i, move in enumerate(board.move_stack):
            choices = theory.setdefault(position.epd(), {})
            number = polyglot_move(position, move)
            position.push(move)
            choice = choices.setdefault(number, Choice(line.moves[i], 0, position.epd(), i in line.avoided))
            choice.lines += 1
            if choice.avoided != (i in line.avoided):
                raise ProgramError(f"{line.name}: {choice.san} is avoided in some lines and not in others")
    return theory


def polyglot_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move in Polyglot's 16 bits; castling is written as the king taking the rook."""
    target = move.to_square
    if board.is_castling(move):
        target = chess.square(7 if board.is_kingside_castling(move) else 0, chess.square_rank(move.from_square))
    promotion = move.promotion - 1 if move.promotion else 0
    return promotion << 12 | move.from_square << 6 | target


class Scorer:
    """The engine's opinion: a search of fixed depth for each position, each as if it were the first."""

    def __init__(self, depth: int) -> None:
        self._searcher = new_searcher(load(), load().table_class(SEARCH_HASH_MIB))
        self._depth = depth
        self._known: dict[str, int] = {}

    def score_cp(self, epd: str) -> int:
        """The score for the side to move."""
        if epd not in self._known:
            self._known[epd] = self._search(chess.Board(f"{epd} 0 1"))
        return self._known[epd]

    def _search(self, board: chess.Board) -> int:
        if not any(board.legal_moves):  # the line ends with mate or stalemate
            return -MATE if board.is_check() else DRAW
        self._searcher.table.clear()
        self._searcher.clear()
        worker = new_worker(self._searcher)
        worker.reset(0)
        self._searcher.position.set_board(board)
        ranks = {moves.encode(board, move): 0 for move in board.legal_moves}
        self._searcher.set_root(worker.sorted_root_moves(ranks))
        self._searcher.table.new_search()
        worker.run(1, self._depth)
        score: int = worker.score
        return score


def weights_of_theory(theory: Theory, scorer: Scorer) -> Weights:
    """Weights from the engine's search and from the number of lines behind a move."""
    weights: Weights = {}
    for here, choices in theory.items():
        ours = {move: choice for move, choice in choices.items() if not choice.avoided}
        if not ours:
            continue
        values = {move: -scorer.score_cp(choice.after) for move, choice in ours.items()}
        best = max(values.values())
        merits = {
            move: choice.lines**LINES_POWER * math.exp((values[move] - best) / LOSS_SCALE_CP)
            for move, choice in ours.items()
        }
        top = max(merits.values())
        key = chess.polyglot.zobrist_hash(chess.Board(f"{here} 0 1"))
        weights[key] = {move: max(BEST_WEIGHT * merit / top, 1.0) for move, merit in merits.items()}
    return weights


def book_bytes(weights: Weights) -> bytes:
    """A Polyglot file: sorted by key, heavier moves first."""
    return b"".join(
        ENTRY.pack(key, move, weight, 0)
        for key, moves in sorted(weights.items())
        for move, weight in sorted(
            ((move, round(weight)) for move, weight in moves.items()), key=lambda item: (-item[1], item[0])
        )
    )
