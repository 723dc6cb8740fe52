"""The policy: probabilities of legal moves, the same for both colours; features that say what the board says."""

from __future__ import annotations

import random
from itertools import pairwise

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import board_after, is_compiled, one_thread, random_game, searcher, start_board
from uci_engine.board.game import RECENT_MOVES
from uci_engine.policy.features import DEPTHS, Features, features_of
from uci_engine.policy.policy import (
    CASTLING,
    NETWORK,
    NETWORK_SHARE,
    PLANES,
    RATINGS,
    candidates,
    default_policy,
    human_moves,
    planes,
    searched_scores,
    shares_of,
    squares_of,
)

SLOW = settings(max_examples=40 if is_compiled() else 5, deadline=None)
RATING = st.integers(RATINGS[0], RATINGS[-1])


def some_board(number: int, plies: int) -> chess.Board:
    """A position with legal moves, of standard chess or Chess960."""
    boards = [board.copy() for board in random_game(number, start_board(number, number % 4 == 3), plies)]
    return next(board for board in reversed(boards) if any(board.legal_moves))


def some_scores(board: chess.Board) -> list[list[int]]:
    drawn = random.Random(board.fen())
    return [[drawn.randint(-500, 500) for _ in candidates(board)] for _ in DEPTHS]


def people(board: chess.Board, rating: float) -> dict[chess.Move, float]:
    """What a searcher that knows nothing says."""
    one_thread().clear()
    searcher().begin(0)
    return human_moves(searcher(), board, rating)


def features(board: chess.Board, move: str) -> Features:
    moves = candidates(board)
    return features_of(board, moves, some_scores(board))[moves.index(board.parse_san(move))]


def mirrored(board: chess.Board) -> chess.Board:
    """The same game with the colours changed."""
    mirror = board.root().mirror()
    for move in board.move_stack:
        mirror.push(turned(move))
    return mirror


def turned(move: chess.Move) -> chess.Move:
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)


@given(RATING, RATING)
def test_a_rating_is_shared_by_its_neighbours(first: int, second: int) -> None:
    low, high = sorted((first, second))
    for rating in (low, high):
        shares = shares_of(rating)
        assert sum(shares) == pytest.approx(1)
        assert sum(share * node for share, node in zip(shares, RATINGS, strict=True)) == pytest.approx(rating)
        assert sum(share > 0 for share in shares) <= 2
    assert shares_of(RATINGS[0] - 500) == shares_of(RATINGS[0])
    assert shares_of(RATINGS[-1] + 500) == shares_of(RATINGS[-1])


@SLOW
@given(st.integers(0, 10_000), st.integers(0, 60), RATING)
def test_the_probabilities_are_of_the_legal_moves_and_of_no_colour(number: int, plies: int, rating: int) -> None:
    board = some_board(number, plies)
    before, found = board.copy(), some_scores(board)
    moves = candidates(board)
    shares = default_policy().probabilities(board, moves, found, rating)
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0
    # Nothing is left behind on the board.
    assert board == before
    assert board.move_stack == before.move_stack
    mirror, turned_moves = mirrored(board), [turned(move) for move in moves]
    assert default_policy().probabilities(mirror, turned_moves, found, rating) == pytest.approx(shares, abs=1e-9)


@SLOW
@given(st.integers(0, 10_000), st.integers(0, 60))
def test_the_network_reads_what_the_board_says(number: int, plies: int) -> None:
    board = some_board(number, plies)
    # As Black would see it with the colours changed.
    assert planes(mirrored(board)) == planes(board)
    seen = planes(board) if board.turn else planes(mirrored(board))
    white = board if board.turn else mirrored(board)
    assert len(seen) == PLANES
    assert sum(map(chess.popcount, seen[:12])) == chess.popcount(board.occupied)
    for square in chess.SQUARES:
        for side, (once, twice) in ((chess.WHITE, seen[12:14]), (chess.BLACK, seen[14:16])):
            attackers = chess.popcount(white.attackers_mask(side, square))
            assert (bool(once >> square & 1), bool(twice >> square & 1)) == (attackers > 0, attackers > 1)
    assert seen[CASTLING] == white.clean_castling_rights()
    assert sum(map(bool, seen[CASTLING + 1 :])) == 2 * min(len(board.move_stack), RECENT_MOVES)
    # No two moves are one to the network, but castling in Chess960 and a king's move may be.
    moves = [move for move in candidates(board) if not board.is_castling(move)]
    assert len(set(squares_of(board, moves))) == len(moves)


def test_all_weights_are_of_features_that_occur() -> None:
    seen = {NETWORK, NETWORK_SHARE}
    for number in range(400):
        board = some_board(number, number % 60)
        moves = candidates(board)
        found = [[score if index else 31_990 for index, score in enumerate(row)] for row in some_scores(board)]
        found[0][-1] = -31_990
        for each in features_of(board, moves, found):
            seen |= each.keys()
    weights = default_policy().weights
    unseen = {name for name in weights.keys() - seen if "mate" not in name}
    assert not unseen
    assert all(len(row) == len(RATINGS) for row in weights.values())


FORK = "r1bqkb1r/pppp1ppp/2n2n2/4p1N1/2B1P3/8/PPPP1PPP/RNBQK2R b KQkq - 5 4"


@pytest.mark.parametrize(
    ("fen", "played", "move", "named", "absent"),
    [
        (chess.STARTING_FEN, "", "Nf3", {"knight", "develops", "forward"}, {"check", "backward", "goes into risk"}),
        (chess.STARTING_FEN, "e2e4 d7d5", "exd5", {"takes a pawn", "takes what moved last"}, {"promotes"}),
        (chess.STARTING_FEN, "g1f3 g8f6", "Ng1", {"goes back", "backward", "piece that moved last"}, {"develops"}),
        (chess.STARTING_FEN, "e2e4 e7e5 d1h5 b8c6", "Qxf7+", {"check", "takes a pawn", "takes less"}, {"safe check"}),
        (chess.STARTING_FEN, "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "O-O", {"castles short", "king"}, {"gives up castling"}),
        (chess.STARTING_FEN, "e2e4 e7e5", "Ke2", {"gives up castling", "king"}, {"castles short"}),
        (FORK, "", "d5", {"attacks", "pawn, two squares", "pawn of the middle file"}, {"takes a pawn"}),
        ("8/4P3/8/8/8/2k5/8/4K3 w - - 0 1", "", "e8=Q", {"promotes", "passed pawn, by rank"}, {"check"}),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "", "e5", {"leaves a risk", "is at risk"}, {"goes into risk"}),
        ("4k3/8/8/8/8/1p6/8/R3K3 w - - 0 1", "", "Ra2", {"goes into risk", "where a pawn attacks"}, {"attacks"}),
        ("4k3/8/8/r7/8/8/R7/4K3 w - - 0 1", "", "Kd1", {"lets a risk stand"}, {"makes a risk"}),
    ],
)
def test_what_people_see_in_a_move(fen: str, played: str, move: str, named: set[str], absent: set[str]) -> None:
    found = features(board_after(fen, played), move)
    assert named <= found.keys()
    assert not absent & found.keys()


def test_the_search_marks_the_best_moves_and_what_others_lose() -> None:
    board = chess.Board()
    moves = candidates(board)
    row = [100 - 10 * index for index in range(len(moves))]
    found = features_of(board, moves, [row] * len(DEPTHS))
    for depth in DEPTHS:
        losses = [each.get(f"loss, depth {depth}", 0.0) for each in found]
        assert losses[0] == 0.0
        assert all(first < second for first, second in pairwise(losses))
        assert [index for index, each in enumerate(found) if each.get(f"best, depth {depth}")] == [0]


@SLOW
@given(st.integers(0, 10_000), st.integers(0, 60), RATING)
def test_people_play_legal_moves_and_the_answer_is_the_same_again(number: int, plies: int, rating: int) -> None:
    board = some_board(number, plies)
    shares = people(board, rating)
    assert list(shares) == sorted(shares, key=lambda move: -shares[move])
    assert set(shares) == set(candidates(board))
    assert sum(shares.values()) == pytest.approx(1)
    assert people(board, rating) == shares


def test_strong_players_take_a_queen_and_see_a_mate_more_often_than_weak_ones() -> None:
    hanging = chess.Board("r1b1kbnr/pppp1ppp/2n5/4p3/4P1q1/5N1P/PPPP1PP1/RNBQKB1R w KQkq - 0 4")
    mate = chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    for board, best in ((hanging, "hxg4"), (mate, "Ra8#")):
        weak, strong = (people(board, rating)[board.parse_san(best)] for rating in (800, 2200))
        assert 0.3 < weak < strong


def test_a_stop_leaves_what_is_known() -> None:
    board = chess.Board()
    moves = candidates(board)
    one_thread().clear()
    searcher().begin(0)
    searcher().stop()
    assert searched_scores(searcher(), board, moves) == []
    assert set(human_moves(searcher(), board, 1500).values()) == {1 / 20}
    searcher().begin(0)
    # The limit of nodes ends it in the second depth.
    searcher().node_limit = 200
    first, *others = searched_scores(searcher(), board, moves)
    assert others == [first] * (len(DEPTHS) - 1)
