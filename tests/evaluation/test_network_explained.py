"""The network in the explanation: apart from the features, with what each piece adds to it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import chess
import pytest

import evaluation
from evaluation.catalogue import NETWORK_TERM, OTHER_TITLES
from evaluation.explanation import Explanation, PieceValue, TermValue
from evaluation.report import (
    LARGE_NETWORK_CP,
    REASONS,
    as_data,
    format_explanation,
    joined,
    pieces_seen,
    reasons,
)
from evaluation.scoring import set_up
from tests.evaluation.test_explanation import positions
from tests.support.networks import output_of, random_network, with_network

TYPICAL = "r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/P1PBPN2/5PPP/R1BQ1RK1 b - - 0 10"
NETWORK = random_network(5)
FOUR = ("space", "doubled pawns", "outposts", "threats")
NINETY = TermValue(NETWORK_TERM, OTHER_TITLES[NETWORK_TERM], 90, 0)


def explained(board: chess.Board) -> Explanation:
    return evaluation.explain(board, None, NETWORK)


def contributions(board: chess.Board) -> dict[chess.Square, int]:
    """What each piece adds to the network's output, from White's view."""
    evaluator, base_board = set_up(board, None, NETWORK)
    return {square: white(evaluator.network.contribution(base_board, square), board) for square in board.piece_map()}


def white(cp: int, board: chess.Board) -> int:
    return cp if board.turn else -cp


@pytest.mark.parametrize("board", positions(40), ids=range(40))
def test_features_and_network_add_up(board: chess.Board) -> None:
    explanation = explained(board)
    features = evaluation.explain(board, network=None)
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


def test_the_mirror_image_has_the_opposite_contributions() -> None:
    board = chess.Board(TYPICAL)
    mirrored = {square ^ 56: -white_cp for square, white_cp in contributions(board.mirror()).items()}
    assert contributions(board) == mirrored


def test_the_text_shows_both_and_the_pieces() -> None:
    board = chess.Board(TYPICAL)
    explanation = explained(board)
    assert explanation.network_score is not None
    text = format_explanation(explanation)
    features, network_score = explanation.features_score / 100, explanation.network_score / 100
    assert f"Features {features:+.2f}, network {network_score:+.2f} (White's view)" in text
    assert "\n Network " in text
    assert "What each piece adds to the network (White's view)" in text
    queen = next(value for value in explanation.pieces if value.square == chess.D8)
    assert queen.network_cp is not None
    assert f"{queen.network_cp / 100:+.2f}" in text
    without = format_explanation(evaluation.explain(board, network=None))
    assert "network_score" not in without


def sentence(explanation: Explanation) -> list[str]:
    """What the reasons say of the network."""
    return [reason for reason in reasons(explanation) if reason.startswith("The network")]


def test_the_words_name_the_pieces_that_add_most_for_their_type() -> None:
    pieces = {
        # The queens cancel out. A knight adds 5 for its side in the mean, and a king -12.5.
        "d1": ("Q", 60),
        "d8": ("q", -60),
        "f5": ("N", 40),
        "b1": ("N", -15),
        "b8": ("n", 10),
        "g8": ("n", -5),
        "g1": ("K", 0),
        "h8": ("k", 25),
        # No other side has one, so all that it adds counts.
        "a1": ("R", 26),
    }
    values = tuple(
        PieceValue(chess.parse_square(name), chess.Piece.from_symbol(symbol), None, cp)
        for name, (symbol, cp) in pieces.items()
    )
    explanation = replace(explained(chess.Board(TYPICAL)), pieces=values, network_score=90, terms=(NINETY,))
    words = "The network sees 0.90 more for White than the features: mostly the knight on f5 and the rook on a1"
    assert reasons(explanation) == (f"{words} (+0.90)",)
    white_knights = [each for each in values if each.piece == chess.Piece(chess.KNIGHT, chess.WHITE)]
    both = (replace(white_knights[0], network_cp=50), replace(white_knights[1], network_cp=20))
    words = "The network sees 0.90 more for White than the features: mostly the knights on f5 and b1"
    assert reasons(replace(explanation, pieces=both)) == (f"{words} (+0.90)",)
    other = replace(explanation, network_score=-90, terms=(replace(NINETY, white_cp=0, black_cp=90),))
    words = "The network sees 0.90 more for Black than the features: mostly the knight on b1"
    assert reasons(other) == (f"{words} (-0.90)",)


def test_the_mirror_image_has_the_same_words_of_the_other_side() -> None:
    board = chess.Board(TYPICAL)
    swap = {"White": "Black", "Black": "White", "+": "-", "-": "+"}
    words = re.split(r"\b(White|Black|[a-h][1-8])\b|([+-])", sentence(explained(board))[0])
    swapped = [
        swap.get(word, chess.square_name(chess.parse_square(word) ^ 56) if re.fullmatch("[a-h][1-8]", word) else word)
        for word in words
        if word
    ]
    assert sentence(explained(board.mirror())) == ["".join(swapped)]


@pytest.mark.parametrize("cp", [LARGE_NETWORK_CP - 1, LARGE_NETWORK_CP])
def test_a_large_output_is_a_reason_however_large_the_features_are(cp: int) -> None:
    explanation = explained(chess.Board(TYPICAL))
    features = [TermValue(f"feature {number}", title, 0, 500 + number) for number, title in enumerate(FOUR)]
    found = reasons(replace(explanation, network_score=cp, terms=(*features, replace(NINETY, white_cp=cp)), pieces=()))
    assert len(found) == REASONS
    expected = [f"The network sees 0.{cp} more for White than the features (+0.{cp})"]
    assert list(found[-1:]) == (expected if cp >= LARGE_NETWORK_CP else ["Doubled pawns: better for Black (-5.01)"])


def test_the_data_has_all_of_it() -> None:
    explanation = explained(chess.Board(TYPICAL))
    data = json.loads(json.dumps(as_data(explanation)))
    assert data["features_cp"] + data["network_cp"] == data["white_score_cp"]
    assert [(each["square"], each["white_cp"]) for each in data["network_pieces"]] == [
        (chess.square_name(value.square), value.network_cp) for value in explanation.pieces
    ]
    plain = as_data(evaluation.explain(chess.Board(TYPICAL), network=None))
    assert (plain["network_cp"], plain["network_pieces"]) == (None, [])


def test_the_pieces_seen_are_those_that_count_for_the_side() -> None:
    board = chess.Board("4k3/8/8/3n1N2/8/8/P7/R3K3 w - - 0 1")
    cps = {chess.F5: 50, chess.D5: -30, chess.A1: 30, chess.A2: 20}
    # A knight adds 40 for its side in the mean.
    values = tuple(PieceValue(square, piece, None, cps.get(square, 0)) for square, piece in board.piece_map().items())
    after = replace(explained(board), pieces=values)
    assert pieces_seen(after, 1) == "the rook on a1 and the pawn on a2"
    assert pieces_seen(after, -1) == ""
    flat = replace(after, pieces=tuple(replace(value, network_cp=0) for value in values))
    assert pieces_seen(flat, 1) == pieces_seen(after, 1, after) == ""
    # What stood elsewhere before counts in full.
    moved = replace(after, pieces=tuple(replace(value, square=value.square ^ 7) for value in values))
    assert pieces_seen(after, 1, moved) == pieces_seen(after, 1)
    # Only the pawn has changed.
    before = tuple(replace(value, network_cp=0) if value.square == chess.A2 else value for value in values)
    assert pieces_seen(after, 1, replace(after, pieces=before)) == "the pawn on a2"
    assert pieces_seen(replace(after, pieces=before), -1, after) == "the pawn on a2"


@pytest.mark.parametrize(
    ("words", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_joined(words: list[str], text: str) -> None:
    assert joined(words) == text
