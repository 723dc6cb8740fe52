"""The policy: how likely people of a rating are to play each legal move of a position.

P(move | position, rating) is a softmax over the legal moves of the sum of weight · feature. The weights are in
weights.toml, each at RATINGS, and linear between these. One of the features, "network", is the logarithm of what a
small network gives the move; the others are in `features`. `scripts/fit_policy.py` fits both to rated games of people,
so a rating is one of lichess's scale for rapid games.

The network has one hidden layer of ReLU units, over what stands on the board and where the last moves went, as the side
to move sees it. Each move has an output weight for each unit, the sum of three: of where the piece comes from, where it
goes, and what it takes. The rating enters by RATINGS, among which it is shared linearly: as inputs, and as units.

Invariant: the result depends only on the position, its last two moves, the rating, and the searcher's table and
histories.
"""

from __future__ import annotations

import array
import math
import struct
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from uci_engine.board import moves as encoding
from uci_engine.board.pieces import captured_type
from uci_engine.policy.features import DEPTHS, features_of
from uci_engine.score import INFINITE

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher

RATINGS = (800, 1200, 1600, 2000, 2400)
NETWORK = "network"
# What the network reads: own pieces and the enemy's by type and square; from and to of the last move, and to of the one
# before; the RATINGS.
LAST_MOVES = 2 * 6 * 64
RATING_INPUTS = LAST_MOVES + 3 * 64
INPUTS = RATING_INPUTS + len(RATINGS)
# Its output weights: by the piece with the square it leaves, with that it goes to, and by the type of what it takes.
GOES = 6 * 64
TAKES = 2 * GOES
OUTPUTS = TAKES + 6
# The head of its file: what 1 in the input weights stands for, and in the output weights.
HEAD = struct.Struct("<ff")

Row = Sequence[float]


def shares_of(rating: float) -> list[float]:
    """How much of each of RATINGS is in a rating: its neighbours share it. One out of range is the nearest."""
    step = RATINGS[1] - RATINGS[0]
    return [max(0.0, 1 - abs(min(max(rating, RATINGS[0]), RATINGS[-1]) - node) / step) for node in RATINGS]


def softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def dot(first: Row, second: Row) -> float:
    return math.fsum(map(mul, first, second))


def candidates(board: chess.Board) -> list[chess.Move]:
    """The legal moves that are weighed: all but promotions to less than a queen."""
    return [move for move in board.legal_moves if move.promotion in (None, chess.QUEEN)]


def active_inputs(board: chess.Board) -> list[int]:
    """What the network reads of a position, but for the rating: indices of INPUTS."""
    flip = 0 if board.turn else 56
    active = [
        64 * (6 * (piece.color != board.turn) + piece.piece_type - 1) + (square ^ flip)
        for square, piece in board.piece_map().items()
    ]
    for back, move in enumerate(reversed(board.move_stack[-2:])):
        squares = (move.from_square, move.to_square) if back == 0 else (move.to_square,)
        active += [LAST_MOVES + 64 * (2 * back + part) + (square ^ flip) for part, square in enumerate(squares)]
    return active


def output_rows(board: chess.Board, move: chess.Move) -> tuple[int, int, int]:
    """The rows of the three output weights of a move."""
    flip = 0 if board.turn else 56
    piece = 64 * ((board.piece_type_at(move.from_square) or 1) - 1)
    start, end = piece + (move.from_square ^ flip), GOES + piece + (move.to_square ^ flip)
    return start, end, TAKES + captured_type(board, move)


def search_move(searcher: Searcher, root: int, depth: int) -> int | None:
    """The score of one root move, by a search of it alone in a full window; None after a stop."""
    searcher.set_root([root])
    searcher.begin_line(depth, 0, -INFINITE, 1)
    while searcher.search_window(depth):
        pass
    return searcher.score if searcher.finished else None


def searched_scores(searcher: Searcher, board: chess.Board, moves: Iterable[chess.Move]) -> list[list[int]]:
    """For each of DEPTHS the score of each move. After a stop those of the last finished depth stand for all others.

    The searcher has begun, without a limit. No scores: it was stopped at the first depth.
    """
    searcher.position.set_board(board)
    searcher.table.new_search()
    roots = [encoding.encode(board, move) for move in moves]
    rows: list[list[int]] = []
    for depth in DEPTHS:
        row: list[int] = []
        for root in roots:
            score = search_move(searcher, root, depth)
            if score is None:
                return rows and rows + rows[-1:] * (len(DEPTHS) - len(rows))
            row.append(score)
        rows.append(row)
    return rows


@dataclass(frozen=True)
class PolicyNetwork:
    """`inputs` has a row of `units` numbers for each of INPUTS, `outputs` one of `units` and RATINGS for OUTPUTS."""

    units: int
    inputs: array.array[int]
    outputs: array.array[int]
    hidden_scale: float
    output_scale: float

    @classmethod
    def of(cls, numbers: bytes, hidden_scale: float, output_scale: float) -> PolicyNetwork:
        """Out of its whole numbers, little-endian, those of the inputs first."""
        whole = array.array("h", numbers)
        if sys.byteorder == "big":
            whole.byteswap()
        units = (len(whole) - OUTPUTS * len(RATINGS)) // (INPUTS + OUTPUTS)
        return cls(units, whole[: INPUTS * units], whole[INPUTS * units :], hidden_scale, output_scale)

    def logits(self, board: chess.Board, moves: Sequence[chess.Move], rating: float) -> list[float]:
        """The logarithm of what the network gives each move, all normed together."""
        hidden, width = self._hidden(board, rating), self.units + len(RATINGS)

        @cache
        def output(row: int) -> float:
            return dot(hidden, self.outputs[row * width : (row + 1) * width])

        sums = [sum(map(output, output_rows(board, move))) for move in moves]
        return [math.log(max(each, 1e-9)) for each in softmax(sums)]

    def _hidden(self, board: chess.Board, rating: float) -> list[float]:
        """The units, scaled for the outputs, with the shares of the rating behind them."""
        shares = shares_of(rating)
        rows = [self._input(index) for index in active_inputs(board)]
        rows += [[share * each for each in self._input(RATING_INPUTS + k)] for k, share in enumerate(shares) if share]
        scale = self.hidden_scale * self.output_scale
        units = [max(0.0, sum(column)) * scale for column in zip(*rows, strict=True)]
        return units + [share * self.output_scale for share in shares]

    def _input(self, index: int) -> Row:
        return self.inputs[index * self.units : (index + 1) * self.units]


@dataclass(frozen=True)
class Policy:
    """`weights`: of each feature, at RATINGS."""

    weights: Mapping[str, Sequence[float]]
    network: PolicyNetwork

    def probabilities(
        self, board: chess.Board, moves: Sequence[chess.Move], found: Sequence[Sequence[int]], rating: float
    ) -> list[float]:
        """The probability of each of the legal moves for people of a rating. `found`: see `features_of`."""
        shares = shares_of(rating)
        weights = {name: dot(shares, row) for name, row in self.weights.items()}
        part = weights[NETWORK]
        sums = [part * logit for logit in self.network.logits(board, moves, rating)]
        features = features_of(board, moves, found)
        return softmax(
            [
                start + sum(weights.get(name, 0.0) * value for name, value in each.items())
                for start, each in zip(sums, features, strict=True)
            ]
        )


@cache
def default_policy() -> Policy:
    """The policy of the package. The numbers of a weight are one text, which tomllib reads faster than a list."""
    folder = Path(__file__).parent
    data = tomllib.loads((folder / "weights.toml").read_text("utf-8"))
    network = (folder / "people.network").read_bytes()
    weights = {name: [float(word) for word in text.split()] for name, text in data["weights"].items()}
    return Policy(weights, PolicyNetwork.of(network[HEAD.size :], *HEAD.unpack_from(network)))
