"""The network: what it adds, on every core and in any order, and that no sum overflows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import chess
import pytest

import evaluation
from evaluation import set_up
from evaluation.network.file import (
    HIDDEN_BIAS_LIMIT,
    HIDDEN_LIMIT,
    INPUTS,
    MAX_NETWORK_CP,
    MAX_OUTPUT_BIAS,
    MAX_TERMS_CP,
    OUTPUT_BUCKETS,
    OUTPUT_LIMIT,
    UNITS,
    Network,
)
from tests.support.kernel import MIDDLEGAME, is_compiled, new_position, start_board
from tests.support.networks import network_score, output_of, pack, pack_small, random_network, sums_of
from uci_engine.board import moves as move_numbers

NETWORK = random_network(1)


def extreme_network(sign: int) -> Network:
    """Every number as far from 0 as a file can have it."""
    low = sign < 0
    return Network(
        pack_small([-HIDDEN_LIMIT if low else HIDDEN_LIMIT - 1] * (INPUTS * UNITS)),
        pack([-HIDDEN_BIAS_LIMIT if low else HIDDEN_BIAS_LIMIT - 1] * UNITS),
        pack([-OUTPUT_LIMIT if low else OUTPUT_LIMIT - 1] * (OUTPUT_BUCKETS * 2 * UNITS)),
        (sign * MAX_OUTPUT_BIAS,) * OUTPUT_BUCKETS,
    )


def on_board(network: Network, board: chess.Board) -> Any:
    """The output for a position by itself."""
    evaluator, base_board = set_up(board, network=network)
    return evaluator.network.score(base_board)  # type: ignore[union-attr]


def walk(seed: int, steps: int, chess960: bool) -> Iterator[tuple[str, int]]:
    """FEN and network, now and then, of a position that makes and takes back random moves and null moves.

    Some positions are skipped, so that the slots hold others than those of the ply before.
    """
    chance = random.Random(seed)
    board = start_board(seed, chess960)
    position = new_position(board)
    network: Any = set_up(board, network=NETWORK)[0].network
    for _ in range(steps):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if board.move_stack and (not legal or chance.random() < 0.4):
            move = board.pop()
            position.unmake(move_numbers.encode(board, move)) if move else position.unmake_null()
        elif not board.is_check() and chance.random() < 0.1:
            position.make_null()
            board.push(chess.Move.null())
        else:
            move = chance.choice(legal)
            position.make(move_numbers.encode(board, move))
            board.push(move)
        if chance.random() < 0.7:
            yield board.fen(), network.score(position)


@pytest.mark.parametrize("chess960", [False, True])
def test_it_is_what_the_definition_says_along_games(chess960: bool) -> None:
    games = 40 if is_compiled() else 3
    for seed in range(games):
        for fen, found in list(walk(seed, 120, chess960))[::20]:
            assert found == network_score(NETWORK, chess.Board(fen, chess960=chess960)), fen


@pytest.mark.parametrize(
    "fen",
    ["8/8/4k3/8/8/2BNK3/8/8 w - - 0 1", "8/pppk4/8/8/8/8/8/3K4 b - - 0 1", "8/2kr4/8/8/8/2RK4/8/8 w - - 0 1"],
)
def test_endings_that_the_terms_know_have_none(fen: str) -> None:
    assert on_board(NETWORK, chess.Board(fen)) == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_no_network_overflows(sign: int) -> None:
    extreme = extreme_network(sign)
    for board in (chess.Board(), chess.Board(MIDDLEGAME)):
        sums = [total for colour in chess.COLORS for total in sums_of(extreme, board, colour)]
        assert all(-(2**15) <= total < 2**15 for total in sums)
        assert -(2**31) <= output_of(extreme, board) < 2**31
        assert on_board(extreme, board) == network_score(extreme, board)
    # The largest sums, with the largest weights of either sign behind them.
    all_active = extreme_network(1)
    for output in (extreme.output, all_active.output):
        both = Network(all_active.hidden, all_active.hidden_bias, output, extreme.output_bias)
        assert on_board(both, chess.Board()) == network_score(both, chess.Board())
        assert abs(output_of(both, chess.Board())) < 2**31


@pytest.mark.parametrize(
    ("fen", "is_decisive"),
    [(MIDDLEGAME, False), ("QQQQQQQQ/8/8/4K3/8/8/p6p/6k1 w - - 0 1", True), (f"4k3/{'q7/' * 5}P7/4K3 w - - 0 1", True)],
)
def test_it_is_cut_off_and_a_decisive_score_has_none(fen: str, is_decisive: bool) -> None:
    found = [evaluation.evaluate(chess.Board(fen), network=of) for of in (None, extreme_network(1))]
    assert (abs(found[0]) > MAX_TERMS_CP) == is_decisive
    assert found[1] - found[0] == (0 if is_decisive else MAX_NETWORK_CP)


def test_the_bound_of_the_terms_is_inclusive() -> None:
    evaluator, base_board = set_up(chess.Board(MIDDLEGAME), network=extreme_network(1))
    for sign in (1, -1):
        assert evaluator.network_score(base_board, sign * MAX_TERMS_CP) == MAX_NETWORK_CP
        assert evaluator.network_score(base_board, sign * (MAX_TERMS_CP + 1)) == 0
