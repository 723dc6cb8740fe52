"""The policy: probabilities of legal moves, the same for both colours; features that say what the board says."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise

import chess
import chess.polyglot
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import (
    MIDDLEGAME,
    board_after,
    is_compiled,
    one_thread,
    prepare,
    random_game,
    search,
    searcher,
    start_board,
)
from uci_engine.board.game import RECENT_MOVES
from uci_engine.policy import convolution
from uci_engine.policy.convolution import CHANNELS, LAYERS, MAX_CHANNEL, MAX_VECTOR, ONE, VECTOR
from uci_engine.policy.features import DEPTHS, Features, features_of
from uci_engine.policy.openings import POLICY_GAMES, counted_positions, games_of, with_games
from uci_engine.policy.policy import (
    CASTLING,
    NETWORK,
    NETWORK_SHARE,
    PLANES,
    RATINGS,
    candidates,
    default_policy,
    human_moves,
    network_logarithms,
    planes,
    searched_scores,
    shares_of,
    squares_of,
)
from uci_engine.search.strength import (
    MAX_ELO,
    MAX_PACE,
    MAX_SKILL_LEVEL,
    MIN_ELO,
    OPENING_PLIES,
    Strength,
    elo_of_skill_level,
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


def key_of(board: chess.Board) -> str:
    return f"{chess.polyglot.zobrist_hash(board):016x}"


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


@SLOW
@given(st.integers(0, 10_000), st.integers(0, 60), RATING)
def test_the_network_knows_no_left_and_right_where_nobody_may_castle(number: int, plies: int, rating: int) -> None:
    board = some_board(number, plies).copy(stack=False)
    board.castling_rights = chess.BB_EMPTY
    moves = candidates(board)
    image = board.transform(chess.flip_horizontal)
    others = [chess.Move(move.from_square ^ 7, move.to_square ^ 7, move.promotion) for move in moves]
    numbers = default_policy().network
    found = network_logarithms(numbers, board, moves, rating)
    assert network_logarithms(numbers, image, others, rating) == pytest.approx(found)
    assert sum(map(math.exp, found)) == pytest.approx(1)


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
    moves = candidates(board)
    assert set(shares) == set(moves)
    assert sum(shares.values()) == pytest.approx(1)
    assert people(board, rating) == shares
    if board.chess960 or key_of(board) not in counted_positions():
        one_thread().clear()
        searcher().begin(0)
        alone = default_policy().probabilities(board, moves, searched_scores(searcher(), board, moves), rating)
        assert [shares[move] for move in moves] == pytest.approx(alone)


def test_the_counted_opening_moves_are_legal() -> None:
    boards, seen = [chess.Board()], set()
    while boards:
        board = boards.pop()
        if (key := key_of(board)) in seen or key not in counted_positions():
            continue
        seen.add(key)
        rows = [cell.split(" ") for cell in counted_positions()[key].split("\t")]
        assert {move for move, *_ in rows} <= {move.uci() for move in board.legal_moves}
        for move, *games in rows:
            assert len(games) == len(RATINGS)
            boards.append(board.copy(stack=False))
            boards[-1].push_uci(move)
    # To the others rare moves lead.
    assert len(seen) > 0.99 * len(counted_positions())


@pytest.mark.parametrize("rating", [MIN_ELO, 1500, MAX_ELO])
def test_people_open_as_they_were_seen_to(rating: int) -> None:
    first, second, *_ = (move.uci() for move in people(chess.Board(), rating))
    assert (first, second) == ("e2e4", "d2d4")
    # A position, not a move order.
    one, other = (board_after(chess.STARTING_FEN, moves) for moves in ("e2e4 c7c5 g1f3 d7d6", "g1f3 d7d6 e2e4 c7c5"))
    games = games_of(one, candidates(one), shares_of(rating))
    assert games == games_of(other, candidates(other), shares_of(rating))
    assert max(games) > 0
    assert not any(games_of(chess.Board(chess960=True), candidates(chess.Board()), shares_of(rating)))
    assert with_games([0.25, 0.75], [POLICY_GAMES, 0]) == [0.625, 0.375]


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


# Limited strength: a level draws its move from the policy, by its seed ----------------------------------------------

ELOS = st.integers(MIN_ELO, MAX_ELO)
SEEDS = st.integers(0, 2**64 - 1)


def test_skill_levels_are_equal_steps_up_to_full_strength() -> None:
    elos = [elo_of_skill_level(level) for level in range(MAX_SKILL_LEVEL)]
    assert (elos[0], elos[-1]) == (MIN_ELO, MAX_ELO)
    steps = {after - before for before, after in pairwise(elos)}
    assert max(steps) - min(steps) <= 1


def test_moves_are_drawn_as_often_as_people_play_them() -> None:
    board = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    searcher().begin(0)
    shares = human_moves(searcher(), board, 1500)
    draws = 1000 if is_compiled() else 100
    drawn = Counter(Strength(1500, seed).choose(searcher(), board, list(shares)) for seed in range(draws))
    assert sum(drawn[move] for move in shares) == draws
    for move, share in shares.items():
        assert drawn[move] / draws == pytest.approx(share, abs=4 * (share / draws) ** 0.5 + 0.01)
    # Of the moves that are allowed alone.
    allowed = list(shares)[-2:]
    assert {Strength(1500, seed).choose(searcher(), board, allowed) for seed in range(20)} <= set(allowed)


@given(ELOS, SEEDS, SEEDS, st.integers(0, 500))
def test_the_pace_is_a_part_of_the_time_of_full_strength(elo: int, seed: int, key: int, ply: int) -> None:
    strength = Strength(elo, seed)
    pace = strength.pace(key, ply, has_choice=True)
    assert 0 < strength.pace(key, ply, has_choice=False) <= pace <= MAX_PACE
    assert strength.pace(key, 0, has_choice=True) <= pace <= strength.pace(key, OPENING_PLIES, has_choice=True)


# In a search ----------------------------------------------------------------------------------------------


@given(st.integers(0, 30), st.integers(1, 60), ELOS, SEEDS, st.integers(1, 6))
@settings(max_examples=40 if is_compiled() else 5, deadline=None)
def test_a_level_plays_one_legal_move_with_the_lines_asked_for(
    game: int, plies: int, elo: int, seed: int, multipv: int
) -> None:
    *_, board = random_game(game, start_board(game, False), plies)
    if not any(board.legal_moves):
        return
    outcome = search(board, multipv=multipv, strength=Strength(elo, seed))
    lines = [info for info in (*outcome.infos, outcome.last) if info.pv]
    assert max(info.multipv or 1 for info in lines) <= multipv
    assert outcome.last.pv[0] == outcome.best
    again = search(board, multipv=multipv, strength=Strength(elo, seed))
    assert again.best == outcome.best


def test_another_seed_draws_another_move() -> None:
    board = chess.Board(MIDDLEGAME)
    assert len({search(board, strength=Strength(1200, seed)).best for seed in range(8)}) > 2


def test_the_searches_of_a_level_count_no_nodes() -> None:
    for fen in (MIDDLEGAME, "7k/8/8/8/8/8/r7/7K w - - 0 1", "8/8/8/3k4/8/8/8/KR6 w - - 0 1"):
        assert search(chess.Board(fen), nodes=100, strength=Strength(1500, 1)).nodes <= 100


@pytest.mark.parametrize("nodes", [None, 1])
def test_a_level_that_is_stopped_at_once_still_has_a_move(nodes: int | None) -> None:
    manager, _ = prepare(chess.Board(), nodes=nodes, strength=Strength(MIN_ELO))
    manager.stop()
    manager.run()
    assert manager.best in chess.Board().legal_moves


# The network, against NumPy ---------------------------------------------------------------------------------------

Array = npt.NDArray[np.int64]


def vectors_by_numpy(planes: Array, shifts: Array, biases: Array, weights: Array) -> Array:
    """The vectors of all squares. `planes`: [rank, file, channel]."""

    def convolved(board: Array, layer: int) -> Array:
        size = CHANNELS * 9 * CHANNELS
        kernel = weights[layer * size : (layer + 1) * size].reshape(CHANNELS, 3, 3, CHANNELS)
        border = np.pad(board, ((1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(border, (3, 3), axis=(0, 1))
        sums: Array = np.einsum("xyckl,oklc->xyo", windows, kernel) >> shifts[layer]
        return sums + biases[layer * CHANNELS : (layer + 1) * CHANNELS]

    board = convolved(planes, 0).clip(0, MAX_CHANNEL)
    for layer in range(1, LAYERS, 2):
        inner = convolved(board, layer).clip(0, MAX_CHANNEL)
        board = (convolved(inner, layer + 1) + board).clip(0, MAX_CHANNEL)
    sums: Array = board.reshape(64, CHANNELS) @ weights[-2 * VECTOR * CHANNELS :].reshape(2 * VECTOR, CHANNELS).T
    vectors: Array = ((sums >> shifts[LAYERS]) + biases[-2 * VECTOR :]).clip(-MAX_VECTOR, MAX_VECTOR)
    return vectors


@pytest.mark.parametrize("seed", range(5 if is_compiled() else 1))
def test_the_scores_are_those_of_the_formula(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    shifts = drawn.integers(10, 13, convolution.SHIFTS)
    biases, weights = (drawn.integers(-250, 260, size) for size in (convolution.BIASES, convolution.WEIGHTS))
    data = shifts.astype("<i1").tobytes() + biases.astype("<i2").tobytes() + weights.astype("<i2").tobytes()
    network = convolution.Convolution(convolution.ConvolutionWeights(data))
    planes = np.zeros((64, CHANNELS), np.int64)
    for plane in range(CHANNELS):
        value, squares = int(drawn.integers(0, ONE + 1)), [int(each) for each in drawn.permutation(64)[:plane]]
        network.set_plane(plane, sum(1 << square for square in squares), value)
        planes[squares, plane] = value
    network.run()
    vectors = vectors_by_numpy(planes.reshape(8, 8, CHANNELS), shifts, biases, weights)
    assert len({int(each) for each in vectors.flat}) > 100
    expected = vectors[:, :VECTOR] @ vectors[:, VECTOR:].T
    assert [[network.score(start, end) for end in range(64)] for start in range(64)] == expected.tolist()


@pytest.mark.parametrize("size", [0, convolution.FILE_BYTES - 1, convolution.FILE_BYTES + 1])
def test_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="size"):
        convolution.ConvolutionWeights(bytes(size))
