"""The policy: how likely people of a rating are to play each legal move of a position.

P(move | position, rating) is a softmax over the legal moves of the sum of weight · feature. The weights are in
weights.toml, each at RATINGS, and linear between these. Two of the features are what a small network gives the move:
its logarithm, and the share itself, which is less sure of the likeliest moves. The others are in `features`.
`scripts/fit_policy.py` fits both to rated games of people, so a rating is one of lichess's scale for rapid games. In
positions that occur often, how often people played each move is counted, and stands beside it: see `openings`.

The network, see `convolution`, reads what stands on the board, what is attacked and where the last moves went, as the
side to move sees it, and the rating.

Invariant: the result depends only on the position, its RECENT_MOVES, the rating, and the searcher's table and
histories.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from uci_engine.board import moves as encoding
from uci_engine.board.game import RECENT_MOVES
from uci_engine.policy.features import DEPTHS, Features, features_of
from uci_engine.policy.openings import games_of, with_games

if TYPE_CHECKING:
    from uci_engine.policy.convolution import ConvolutionWeights
    from uci_engine.search.search import Searcher

RATINGS = (800, 1200, 1600, 2000, 2400)
NETWORK, NETWORK_SHARE = "network", "network, as a share"
# What the network reads of a board, each a set of squares: see `planes`. Then the shares of RATINGS, and the board.
CASTLING = 16
PLANES = CASTLING + 1 + 2 * RECENT_MOVES
READ = PLANES + len(RATINGS) + 1


def shares_of(rating: float) -> list[float]:
    """How much of each of RATINGS is in a rating: its neighbours share it. One out of range is the nearest."""
    step = RATINGS[1] - RATINGS[0]
    return [max(0.0, 1 - abs(min(max(rating, RATINGS[0]), RATINGS[-1]) - node) / step) for node in RATINGS]


def softmax(logits: Sequence[float]) -> list[float]:
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def dot(first: Sequence[float], second: Sequence[float]) -> float:
    return math.fsum(map(mul, first, second))


def candidates(board: chess.Board) -> list[chess.Move]:
    """The legal moves that are weighed: all but promotions to less than a queen."""
    return [move for move in board.legal_moves if move.promotion in (None, chess.QUEEN)]


def planes(board: chess.Board) -> list[chess.Bitboard]:
    """What the network reads of a position, as the side to move sees it.

    Own pieces by type and the enemy's; what own pieces attack once and twice, and the enemy's; castling rights; from
    and to of the RECENT_MOVES, the last one first.
    """
    sides = (board.turn, not board.turn)
    found = [board.pieces_mask(kind, side) for side in sides for kind in chess.PIECE_TYPES]
    for side in sides:
        once = twice = chess.BB_EMPTY
        for square in chess.scan_forward(board.occupied_co[side]):
            attacks = board.attacks_mask(square)
            once, twice = once | attacks, twice | once & attacks
        found += [once, twice]
    found.append(board.clean_castling_rights())
    for move in reversed(board.move_stack[-RECENT_MOVES:]):
        found += [chess.BB_SQUARES[move.from_square], chess.BB_SQUARES[move.to_square]] if move else [0, 0]
    found += [chess.BB_EMPTY] * (PLANES - len(found))
    return found if board.turn else [chess.flip_vertical(squares) for squares in found]


def squares_of(board: chess.Board, moves: Iterable[chess.Move]) -> list[tuple[chess.Square, chess.Square]]:
    """Where moves come from and where they go, as the side to move sees it. A king castles to the file c or g."""
    flip = 0 if board.turn else 56
    found = []
    for move in moves:
        end = move.to_square
        if board.is_castling(move):
            end = chess.square(6 if end > move.from_square else 2, chess.square_rank(end))
        found.append((move.from_square ^ flip, end ^ flip))
    return found


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
            if not searcher.search_root_move(root, depth):
                return rows and rows + rows[-1:] * (len(DEPTHS) - len(rows))
            row.append(searcher.score)
        rows.append(row)
    return rows


def network_scores(
    numbers: ConvolutionWeights,
    read: Sequence[chess.Bitboard],
    squares: Iterable[tuple[chess.Square, chess.Square]],
    rating: float,
) -> list[float]:
    """What the network gives each move, not yet normed. `read`: by `planes`. `squares`: by `squares_of`."""
    from uci_engine.policy.convolution import ONE, Convolution

    network = Convolution(numbers)
    for plane, squares_read in enumerate(read):
        network.set_plane(plane, squares_read, ONE)
    for plane, value in enumerate([*shares_of(rating), 1.0], start=len(read)):
        network.set_plane(plane, chess.BB_ALL, round(value * ONE))
    network.run()
    return [network.score(start, end) / ONE**2 for start, end in squares]


def network_logarithms(
    numbers: ConvolutionWeights, board: chess.Board, moves: Sequence[chess.Move], rating: float
) -> list[float]:
    """The logarithm of what the network gives each move, all normed together.

    Where nobody may castle, a position and its mirror image are the same to people: the score is the mean of both.
    """
    read, squares = planes(board), squares_of(board, moves)
    scores = network_scores(numbers, read, squares, rating)
    if not read[CASTLING]:
        image = [chess.flip_horizontal(each) for each in read]
        others = network_scores(numbers, image, [(start ^ 7, end ^ 7) for start, end in squares], rating)
        scores = [(score + other) / 2 for score, other in zip(scores, others, strict=True)]
    normed = max(scores) + math.log(math.fsum(math.exp(score - max(scores)) for score in scores))
    return [score - normed for score in scores]


def all_features(
    numbers: ConvolutionWeights,
    board: chess.Board,
    moves: Sequence[chess.Move],
    found: Sequence[Sequence[int]],
    rating: float,
) -> list[Features]:
    """The features of some legal moves, those of the network with them. `found`: see `features_of`."""
    features, logarithms = features_of(board, moves, found), network_logarithms(numbers, board, moves, rating)
    return [
        {NETWORK: logarithm, NETWORK_SHARE: math.exp(logarithm), **each}
        for each, logarithm in zip(features, logarithms, strict=True)
    ]


@dataclass(frozen=True)
class Policy:
    """`weights`: of each feature, at RATINGS."""

    weights: Mapping[str, Sequence[float]]
    network: ConvolutionWeights

    def probabilities(
        self, board: chess.Board, moves: Sequence[chess.Move], found: Sequence[Sequence[int]], rating: float
    ) -> list[float]:
        """The probability of each of the legal moves for people of a rating. `found`: see `features_of`."""
        shares = shares_of(rating)
        weights = {name: dot(shares, row) for name, row in self.weights.items()}
        features = all_features(self.network, board, moves, found, rating)
        return softmax([sum(weights.get(name, 0.0) * value for name, value in each.items()) for each in features])


@cache
def default_policy() -> Policy:
    """The policy of the package. The numbers of a weight are one text, which tomllib reads faster than a list."""
    from uci_engine.policy.convolution import ConvolutionWeights

    folder = Path(__file__).parent
    data = tomllib.loads((folder / "weights.toml").read_text("utf-8"))
    network = ConvolutionWeights((folder / "people.network").read_bytes())
    weights = {name: [float(word) for word in text.split()] for name, text in data["weights"].items()}
    return Policy(weights, network)


def human_moves(searcher: Searcher, board: chess.Board, rating: float) -> dict[chess.Move, float]:
    """How likely people of a rating are to play each legal move, the likeliest first; their sum is 1.

    Promotions to less than a queen are left out. The searcher has begun, without a limit. After a stop before it knows
    anything, all moves are as likely.
    """
    moves = candidates(board)
    if len(moves) < 2:
        return dict.fromkeys(moves, 1.0)
    found = searched_scores(searcher, board, moves)
    if not found:
        return dict.fromkeys(moves, 1 / len(moves))
    shares = default_policy().probabilities(board, moves, found, rating)
    shares = with_games(shares, games_of(board, moves, shares_of(rating)))
    return dict(sorted(zip(moves, shares, strict=True), key=lambda each: -each[1]))
