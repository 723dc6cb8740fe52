"""The learned correction in the explanation: apart from the features, with what each piece adds to it."""

from __future__ import annotations

import json

import chess
import pytest

import evaluation
from evaluation.correction.contributions import contributions
from evaluation.explain import Explanation
from evaluation.parts import CORRECTION, CORRECTION_FAMILY
from evaluation.report import as_data, format_explanation, reasons
from tests.evaluation.test_explanation import positions
from tests.support.networks import correction_of, output_of, random_network

TYPICAL = "r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/P1PBPN2/5PPP/R1BQ1RK1 b - - 0 10"
NETWORK = random_network(3)


def explained(board: chess.Board) -> Explanation:
    return evaluation.explain(board, None, NETWORK)


def white(cp: int, board: chess.Board) -> int:
    return cp if board.turn else -cp


@pytest.mark.parametrize("board", positions(40), ids=range(40))
def test_features_and_correction_add_up(board: chess.Board) -> None:
    explanation = explained(board)
    features = evaluation.explain(board)
    assert explanation.score == evaluation.evaluate(board, None, NETWORK)
    assert explanation.features_score == features.features_score == features.white_score
    assert explanation.correction == white(correction_of(NETWORK, board), board)
    assert sum(family.difference_cp for family in explanation.families) == explanation.white_score
    added = [part.difference_cp for part in explanation.parts if part.name == CORRECTION]
    assert added == ([explanation.correction] if explanation.correction else [])
    assert explanation.terms == features.terms
    assert features.correction is None
    assert features.contributions == ()


@pytest.mark.parametrize("board", [board for board in positions(60) if len(board.piece_map()) > 5][:8])
def test_a_contribution_is_what_the_output_loses_without_the_inputs_of_a_piece(board: chess.Board) -> None:
    found = contributions(board, NETWORK)
    assert {each.square: each.piece for each in found} == board.piece_map()
    bucket = (len(found) - 1) // 4
    for each in found:
        without = board.copy(stack=False)
        without.remove_piece_at(each.square)
        # A view needs its king, and the weights of the output change with the number of pieces.
        if each.piece.piece_type != chess.KING and (len(found) - 2) // 4 == bucket:
            change = output_of(NETWORK, board) - output_of(NETWORK, without)
            assert each.white_cp == white(abs(change) // 2**14 * (1 if change > 0 else -1), board)


def test_the_mirror_image_has_the_opposite_contributions() -> None:
    board = chess.Board(TYPICAL)
    found = {each.square: each.white_cp for each in contributions(board, NETWORK)}
    mirrored = {each.square ^ 56: -each.white_cp for each in contributions(board.mirror(), NETWORK)}
    assert found == mirrored


def test_the_text_shows_both_and_the_pieces() -> None:
    board = chess.Board(TYPICAL)
    explanation = explained(board)
    assert explanation.correction is not None
    text = format_explanation(explanation)
    features, correction = explanation.features_score / 100, explanation.correction / 100
    assert f"Features {features:+.2f}, learned correction {correction:+.2f} (White's view)" in text
    assert f" {CORRECTION_FAMILY}" in text
    assert "What each piece adds to the learned correction (White's view)" in text
    queen = next(each for each in explanation.contributions if each.square == chess.D8)
    assert f"{queen.white_cp / 100:+.2f}" in text
    without = format_explanation(evaluation.explain(board))
    assert "correction" not in without


def test_the_words_name_the_pieces_that_add_most() -> None:
    explanation = explained(chess.Board(TYPICAL))
    assert explanation.correction is not None
    (words,) = (reason for reason in reasons(explanation) if reason.startswith("The network"))
    side = "White" if explanation.correction > 0 else "Black"
    sign = 1 if explanation.correction > 0 else -1
    first, second = sorted(explanation.contributions, key=lambda each: -sign * each.white_cp)[:2]
    names = [
        f"the {chess.piece_name(each.piece.piece_type)} on {chess.square_name(each.square)}" for each in (first, second)
    ]
    size = f"{abs(explanation.correction) / 100:.2f}"
    assert words == (
        f"The network sees {size} more for {side} than the features: mostly {names[0]} and {names[1]} "
        f"({explanation.correction / 100:+.2f})"
    )


def test_the_data_has_all_of_it() -> None:
    explanation = explained(chess.Board(TYPICAL))
    data = json.loads(json.dumps(as_data(explanation)))
    assert data["features_cp"] + data["correction_cp"] == data["white_score_cp"]
    assert [(each["square"], each["white_cp"]) for each in data["correction_pieces"]] == [
        (chess.square_name(each.square), each.white_cp) for each in explanation.contributions
    ]
    plain = as_data(evaluation.explain(chess.Board(TYPICAL)))
    assert (plain["correction_cp"], plain["correction_pieces"]) == (None, [])
