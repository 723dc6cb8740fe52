"""The network in the explanation: apart from the features, with what each piece adds to it."""

from __future__ import annotations

import chess
import pytest

import evaluation
from evaluation.catalogue import NETWORK_TERM
from evaluation.scoring import set_up
from tests.evaluation.test_explanation import positions
from tests.support.networks import output_of, random_network, with_network
from uci_engine.explanation import Explanation

TYPICAL = "r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/P1PBPN2/5PPP/R1BQ1RK1 b - - 0 10"
NETWORK = random_network(5)


def explained(board: chess.Board) -> Explanation:
    return Explanation.of(board, None, NETWORK)


def contributions(board: chess.Board) -> dict[chess.Square, int]:
    """What each piece adds to the network's output, from White's view."""
    evaluator, base_board = set_up(board, None, NETWORK)
    assert evaluator.network is not None
    return {square: white(evaluator.network.contribution(base_board, square), board) for square in board.piece_map()}


def white(cp: int, board: chess.Board) -> int:
    return cp if board.turn else -cp


@pytest.mark.parametrize("board", positions(40), ids=range(40))
def test_features_and_network_add_up(board: chess.Board) -> None:
    explanation = explained(board)
    features = Explanation.of(board, network=None)
    assert explanation.white_score == white(evaluation.evaluate(board, None, NETWORK), board)
    assert explanation.features_score == features.features_score == features.white_score
    added_cp = with_network(NETWORK, board) - evaluation.evaluate(board, network=None)
    assert explanation.network_score == white(added_cp, board)
    assert sum(family.difference_cp for family in explanation.families) == explanation.white_score
    added = [term.difference_cp for term in explanation if term.name == NETWORK_TERM]
    assert added == ([explanation.network_score] if explanation.network_score else [])
    assert [term for term in explanation if term.name != NETWORK_TERM] == list(features)
    assert features.network_score is None
    assert not [value for value in features.pieces if value.network_cp is not None]


@pytest.mark.parametrize("board", [board for board in positions(60) if len(board.piece_map()) > 5][:8])
def test_a_contribution_is_what_the_output_loses_without_the_inputs_of_a_piece(board: chess.Board) -> None:
    found = contributions(board)
    assert set(found) == set(board.piece_map())
    bucket = (len(found) - 1) // 4
    for square, white_cp in found.items():
        without = board.copy(stack=False)
        without.remove_piece_at(square)
        # A view needs its king, and the weights of the output change with the number of pieces.
        if board.piece_type_at(square) != chess.KING and (len(found) - 2) // 4 == bucket:
            change = output_of(NETWORK, board) - output_of(NETWORK, without)
            assert abs(2**14 * white_cp - white(change, board)) < 2**14


def test_the_text_shows_both_and_the_pieces() -> None:
    board = chess.Board(TYPICAL)
    explanation = explained(board)
    assert explanation.network_score is not None
    text = str(explanation)
    features, network_score = explanation.features_score / 100, explanation.network_score / 100
    assert f"Features {features:+.2f}, network {network_score:+.2f} (White's view)" in text
    assert "\n Network " in text
    assert "What each piece adds to the network (White's view)" in text
    queen = next(value for value in explanation.pieces if value.square == chess.D8)
    assert queen.network_cp is not None
    assert f"{queen.network_cp / 100:+.2f}" in text
    without = str(Explanation.of(board, network=None))
    assert "network_score" not in without


def test_the_reasons_say_for_whom_the_network_sees_more() -> None:
    for board in (chess.Board(TYPICAL), chess.Board(TYPICAL).mirror()):
        explanation = explained(board)
        (words,) = [reason for reason in explanation.reasons if reason.startswith("The network")]
        score = explanation.network_score or 0
        side = "White" if score > 0 else "Black"
        assert words.startswith(f"The network sees {abs(score) / 100:.2f} more for {side} than the features")
