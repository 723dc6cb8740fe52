"""The network: what it adds, on every core and in any order, and that no sum overflows."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import chess
import pytest

from evaluation.network.file import Network, default_network
from evaluation.network.shape import MAX_FEATURES_CP, MAX_NETWORK_CP
from evaluation.scoring import set_up
from evaluation.weights import default_weights
from tests.support.kernel import ALL_CORES, core_or_skip, is_compiled, new_position, on_core, random_game, start_board
from tests.support.networks import extreme_network, network_score, output_of, random_network, sums_of
from uci_engine.board import moves as move_numbers
from uci_engine.core import load

MIDDLEGAME = "r1bq1rk1/pp2ppbp/2np1np1/8/2BNP3/2N1BP2/PPPQ2PP/R3K2R b KQ - 3 9"


@cache
def network() -> Network:
    return random_network(1)


def new_network_weights(of: Network | None = None) -> Any:
    modules = load().modules
    weights = modules["evaluation.network.inference"].NetworkWeights(of or network())
    return modules["evaluation.network.inference"].Inference(weights)


def on_board(network: Any, board: chess.Board) -> int:
    """The network_score of a position by itself."""
    return int(network.of(set_up(board)[1]))


def walk(seed: int, plies: int, chess960: bool) -> list[list[Any]]:
    """A random game with a position of the core of this process: FEN and network, forwards and backwards.

    Some positions are skipped, so that the slots hold others than those of the ply before. Null moves are made, too.
    """
    chance = random.Random(seed)
    board = start_board(seed, chess960)
    position = new_position(board)
    network = new_network_weights()
    found = []

    def note() -> None:
        if chance.random() < 0.7:
            found.append([board.fen(), network.of(position)])

    made: list[int] = []
    for after in random_game(seed, board.copy(), plies):
        if after.move_stack:
            move = after.move_stack[-1]
            made.append(move_numbers.encode(board, move))
            position.make(made[-1])
            board.push(move)
        note()
        if not board.is_check() and chance.random() < 0.1:
            position.make_null()
            board.push(chess.Move.null())
            note()
            board.pop()
            position.unmake_null()
    while made:
        position.unmake(made.pop())
        board.pop()
        note()
    return found


@pytest.mark.parametrize("chess960", [False, True])
def test_it_is_what_the_definition_says_along_games(chess960: bool) -> None:
    games = 40 if is_compiled() else 3
    for seed in range(games):
        for fen, found in walk(seed, 60, chess960)[:: 8 if is_compiled() else 16]:
            assert found == network_score(network(), chess.Board(fen, chess960=chess960)), fen


@pytest.mark.parametrize("core", ALL_CORES)
def test_every_core_gives_the_same_along_games(core: str) -> None:
    for seed, chess960 in ((0, False), (3, True)):
        assert on_core(core_or_skip(core), __name__, "walk", seed, 30, chess960) == walk(seed, 30, chess960)


def test_the_order_of_positions_does_not_matter() -> None:
    boards = [board.copy() for seed in range(4) for board in random_game(seed, start_board(seed, False), 40)]
    random.Random(5).shuffle(boards)
    one = new_network_weights()
    _, base_board = set_up(chess.Board())
    for board in boards[: 100 if is_compiled() else 20]:
        base_board.set_pieces(board)
        assert one.of(base_board) == on_board(new_network_weights(), board)


def test_swapped_sides_have_the_same_output() -> None:
    for board in random_game(8, chess.Board(), 60):
        assert on_board(new_network_weights(), board.mirror()) == on_board(new_network_weights(), board)


def test_the_view_is_mirrored_by_the_own_king() -> None:
    board = chess.Board("4k3/pp4pp/8/3n4/8/8/PPP3PP/4KB2 w - - 0 1")
    mirrored = board.transform(chess.flip_horizontal)
    assert on_board(new_network_weights(), board) == on_board(new_network_weights(), mirrored) != 0
    mirrored.set_piece_at(chess.A4, chess.Piece.from_symbol("P"))
    assert on_board(new_network_weights(), board) != on_board(new_network_weights(), mirrored)


@pytest.mark.parametrize(
    "fen",
    ["8/8/4k3/8/8/2BNK3/8/8 w - - 0 1", "8/pppk4/8/8/8/8/8/3K4 b - - 0 1", "8/2kr4/8/8/8/2RK4/8/8 w - - 0 1"],
)
def test_endings_that_the_features_know_have_none(fen: str) -> None:
    assert on_board(new_network_weights(), chess.Board(fen)) == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_no_network_overflows(sign: int) -> None:
    extreme = extreme_network(sign)
    for board in (chess.Board(), chess.Board(MIDDLEGAME)):
        sums = [total for colour in chess.COLORS for total in sums_of(extreme, board, colour)]
        assert all(-(2**15) <= total < 2**15 for total in sums)
        assert -(2**31) <= output_of(extreme, board) < 2**31
        assert on_board(new_network_weights(extreme), board) == network_score(extreme, board)
    # The largest sums, with the largest weights of either sign behind them.
    all_active = extreme_network(1)
    for output in (extreme.output, all_active.output):
        both = Network(all_active.hidden, all_active.hidden_bias, output, extreme.output_bias)
        assert on_board(new_network_weights(both), chess.Board()) == network_score(both, chess.Board())
        assert abs(output_of(both, chess.Board())) < 2**31


@pytest.mark.parametrize(
    ("fen", "is_decisive"),
    [(MIDDLEGAME, False), ("QQQQQQQQ/8/8/4K3/8/8/p6p/6k1 w - - 0 1", True), (f"4k3/{'q7/' * 5}P7/4K3 w - - 0 1", True)],
)
def test_it_is_cut_off_and_a_decisive_score_has_none(fen: str, is_decisive: bool) -> None:
    found = []
    for of in (None, extreme_network(1)):
        weights = None if of is None else load().modules["evaluation.network.inference"].NetworkWeights(of)
        evaluator, base_board = set_up(chess.Board(fen))
        evaluator = type(evaluator)(default_weights(), weights)
        found.append(evaluator.evaluate(base_board))
    assert (abs(found[0]) > MAX_FEATURES_CP) == is_decisive
    assert found[1] - found[0] == (0 if is_decisive else MAX_NETWORK_CP)


def test_the_bound_of_the_features_is_inclusive() -> None:
    evaluator, base_board = set_up(chess.Board(MIDDLEGAME))
    weights = load().modules["evaluation.network.inference"].NetworkWeights(extreme_network(1))
    evaluator = type(evaluator)(default_weights(), weights)
    for sign in (1, -1):
        assert evaluator.network_score(base_board, sign * MAX_FEATURES_CP) == MAX_NETWORK_CP
        assert evaluator.network_score(base_board, sign * (MAX_FEATURES_CP + 1)) == 0


# From random games. The features say between 385 and 400 centipawns for one side.
NEAR_THE_BOUND = (
    "2k2qnB/1p1r2r1/2p2p2/p5p1/PPN5/3PP2P/2P1R3/R1bK1B2 w - - 9 33",
    "rn5r/3pn2p/2b1ppPb/4kP2/1pP5/3P4/p3PQR1/RN3K2 b - - 0 28",
    "5b2/3rkp2/n2R3n/p3p1Rr/q1p1P3/2P2B1Q/2bK1P2/B7 b - - 1 44",
    "rnb2r2/p2p1q1k/3Pp2p/1B2b3/2p2pK1/B3P3/PP3PPP/R1Q3NR w - - 1 24",
    "n6k/5p1B/1n3prp/pPp5/p3p2P/P4NP1/bK5R/R2N4 w - - 1 43",
    "r4b1r/3knqp1/1pp1pp2/p3p3/N1P2P1P/PPR1KRN1/3B2P1/3Q4 w - - 12 40",
    "1n1qk1n1/rp4B1/4P2b/Nbpp3p/2P2P2/PQ3p2/3P3P/Rb4KR w - - 3 26",
    "r3k2r/5ppp/p2pP3/nbp2P2/2P3PN/2n1B2P/4PK1R/7B b - - 4 39",
    "2b5/r2r1p2/5k1p/pPp2p2/1P3P1P/3P4/2KR2P1/5R2 b - - 0 42",
    "1r1q2nr/5k2/1p3p1p/p1pp1N2/1Q2bP2/2Pp3P/PK4PR/4RB2 b - - 1 26",
    "rn1k3r/q4Qpp/b1pb4/p2p3n/3p4/pPP1BN2/P3PPPP/3RKB1R w K - 2 16",
    "1r3b1r/1bk1p2p/5ppn/1p2P1n1/p2P1BPP/P1p2B2/2P1KP2/R1N4R b - - 1 31",
    "5b2/q6r/npN3kn/2pP4/2PBp1P1/rP6/2R1P1BR/3K2Q1 b - - 2 39",
    "r2k1b1r/n5pp/pq2pp1n/2pp4/P2PQ1PP/B3P2R/2P1N1P1/2R1KBN1 w - - 0 27",
    "1rb2k2/1p1p1p2/3b2p1/4rnpB/PP2P3/B2P3P/P3K3/R4R2 w - - 6 29",
    "6r1/3np2p/nN1B1kp1/R2r1q2/p2P1P2/2P1P3/Q7/6K1 w - - 4 40",
)


def test_the_network_jumps_at_the_bound_of_the_features() -> None:
    """One centipawn more of the features switches the network off at once, which moves the score by these jumps.

    They are to fall to nearly 0 when it fades out towards the bound. A new network changes them, too.
    """
    evaluator, base_board = set_up(chess.Board(), default_weights(), default_network())
    features, _ = set_up(chess.Board())
    jumps = []
    for fen in NEAR_THE_BOUND:
        base_board.set_pieces(chess.Board(fen))
        sign = 1 if features.evaluate(base_board) > 0 else -1
        inside = evaluator.network_score(base_board, sign * MAX_FEATURES_CP)
        outside = evaluator.network_score(base_board, sign * (MAX_FEATURES_CP + 1))
        jumps.append(abs(inside - outside))
    assert (sum(jumps) / len(jumps), max(jumps)) == (45.0625, 147)
