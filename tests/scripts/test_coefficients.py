"""Coefficients: times the weights, tapered and scaled, they are the score, on every core."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given

import evaluation
from evaluation.catalogue import ACCUMULATED, CATALOGUE
from evaluation.constants import FULL_PHASE, FULL_SCALE, STATIC_LIMIT
from evaluation.explanation import KPK_RESULTS
from evaluation.scoring import check, set_up
from evaluation.weights import MATERIAL, Weights, default_weights
from lib.training.coefficient_reader import (
    COUNTED_GROUPS,
    WORD_BITS,
    CoefficientReader,
    coefficients,
    counted,
    layout,
)
from tests.evaluation.test_evaluation import BOARDS, EXTREME, random_game, random_pieces, summed
from tests.support.kernel import ALL_CORES, core_or_skip, on_core


def placed(board: chess.Board) -> list[tuple[int, int]]:
    return [(2 * piece.piece_type + piece.color, square) for square, piece in board.piece_map().items()]


def random_weights(seed: int) -> Weights:
    chance = random.Random(seed)
    phases = [
        {term.name: [chance.randint(-100, 100) for _ in range(term.size)] for term in CATALOGUE} for _ in range(2)
    ]
    for phase in phases:
        phase["material"] = list(MATERIAL)
    return Weights(*phases)


def white_score(board: chess.Board, reader: CoefficientReader, weights: Weights) -> int | None:
    """Coefficients times weights, tapered and scaled in whole numbers; None for king and pawn against king."""
    found = coefficients(board)
    reading = reader.read(placed(board), board.turn)
    if KPK_RESULTS[reading.kpk_result]:
        return None
    middlegame, endgame = (
        sum(c * w for name, counts in found.items() for c, w in zip(counts, phase[name], strict=True))
        for phase in (weights.middlegame, weights.endgame)
    )
    share = reading.phase * 32 // 3
    value = middlegame * share * FULL_SCALE + endgame * (256 - share) * reading.scales[endgame > 0]
    magnitude = min(abs(value) >> 14, STATIC_LIMIT - 1)
    return magnitude if value > 0 else -magnitude


def check_scores(seed: int, count: int) -> int:
    """Coefficients times weights against the evaluator, for so many games and placements; returns how many agreed."""
    reader = CoefficientReader()
    boards = [random_game(seed + number, 7 * number % 200) for number in range(count)]
    boards += [random_pieces(seed + number) for number in range(count)] + [chess.Board(fen) for fen in EXTREME]
    agreed = 0
    for weights in (default_weights(), random_weights(seed)):
        for board in boards:
            expected = white_score(board, reader, weights)
            if expected is not None:
                assert evaluation.evaluate(board, weights, None) == (expected if board.turn else -expected), board.fen()
                agreed += 1
    return agreed


@pytest.mark.parametrize("core", ALL_CORES)
def test_coefficients_times_weights_are_the_score(core: str) -> None:
    assert on_core(core_or_skip(core), __name__, "check_scores", 10, 60) > 230


@given(board=BOARDS)
def test_coefficients_times_weights_are_the_sum_of_the_explanation(board: chess.Board) -> None:
    found = coefficients(board)
    weights = default_weights()
    assert {name: len(counts) for name, counts in found.items()} == {term.name: term.size for term in CATALOGUE}
    total = summed(evaluation.explain(board, network=None))
    for phase, expected in zip((weights.middlegame, weights.endgame), total, strict=True):
        assert sum(c * w for name in found for c, w in zip(found[name], phase[name], strict=True)) == expected


def test_every_weight_has_its_place_and_no_two_share_a_bit() -> None:
    digits = layout().digits
    terms = [term for term in CATALOGUE if term.group not in COUNTED_GROUPS]
    assert [(digit.term, digit.index) for digit in digits] == [
        (term.name, index) for term in terms for index in range(term.size)
    ]
    used = [0] * len(layout().biases)
    for digit in digits:
        bits = (1 << digit.bits) - 1 << digit.shift
        assert not used[digit.word] & bits
        used[digit.word] |= bits
    assert max(used).bit_length() <= WORD_BITS


@given(board=BOARDS)
def test_no_sum_leaves_its_bits(board: chess.Board) -> None:
    """A coefficient beyond the bound of its digit would change its neighbour: the lowest digits show it."""
    words = CoefficientReader().read(placed(board), board.turn).words
    for word, bias in zip(words, layout().biases, strict=True):
        assert 0 <= word + bias < 1 << WORD_BITS


@given(board=BOARDS)
def test_a_reading_has_the_phase_and_the_scale_of_the_explanation(board: chess.Board) -> None:
    reading = CoefficientReader().read(placed(board), board.turn)
    explanation = evaluation.explain(board, network=None)
    assert reading.phase == explanation.phase <= FULL_PHASE
    assert reading.scales[summed(explanation)[1] > 0] == explanation.scale
    assert KPK_RESULTS[reading.kpk_result] == explanation.known_ending


@given(board=BOARDS)
def test_the_terms_of_the_board_are_what_it_adds_up(board: chess.Board) -> None:
    weights = random_weights(3)
    evaluator, base_board = set_up(board, weights)
    evaluator.sum_of_terms(base_board, False)
    packed = {term.name: weights.packed(term.name) for term in CATALOGUE if term.group == ACCUMULATED}
    found = sum(count * packed[name][index] for name, index, count in counted(placed(board)) if name in packed)
    assert found == base_board.score


def test_a_board_that_cannot_be_evaluated_is_refused() -> None:
    board = chess.Board(None)
    with pytest.raises(ValueError, match="one king"):
        coefficients(board)
    with pytest.raises(ValueError, match="one king"):
        check(board)
