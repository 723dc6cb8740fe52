"""Coefficients: times the weights, tapered and scaled, they are the score, on every core."""

from __future__ import annotations

import chess
import pytest
from hypothesis import given

import evaluation
from evaluation.catalogue import CATALOGUE
from evaluation.trace import KPK_RESULTS
from evaluation.weights import default_weights
from tests.evaluation.test_evaluation import BOARDS, EXTREME, random_game, random_pieces, random_weights
from tests.support.kernel import ALL_CORES, core_or_skip, on_core
from tests.support.records import records_of
from toolkit.training.coefficients import COUNTED, WORD_BITS, CoefficientReader, find_coefficients, layout
from toolkit.training.model import exact_scores, weights_as_array


def can_be_packed(board: chess.Board) -> bool:
    return chess.popcount(board.occupied) <= 32 and all(len(board.pieces(chess.PAWN, us)) <= 8 for us in chess.COLORS)


def check_scores(seed: int, count: int) -> int:
    """Coefficients times weights against the evaluator, for so many games and placements; returns how many agreed."""
    boards = [random_game(seed + number, 7 * number % 200) for number in range(count)]
    boards += [random_pieces(seed + number) for number in range(count)] + [chess.Board(fen) for fen in EXTREME]
    boards = [board for board in boards if can_be_packed(board)]
    found = find_coefficients(records_of(boards))
    agreed = 0
    for weights in (default_weights(), random_weights(seed)):
        scores = exact_scores(found, weights_as_array(weights)).tolist()
        for board, score, kpk_result in zip(boards, scores, found.kpk_result.tolist(), strict=True):
            if not KPK_RESULTS[kpk_result]:
                assert evaluation.evaluate(board, weights, None) == (score if board.turn else -score), board.fen()
                agreed += 1
    return agreed


@pytest.mark.parametrize("core", ALL_CORES)
def test_coefficients_times_weights_are_the_score(core: str) -> None:
    assert on_core(core_or_skip(core), __name__, "check_scores", 10, 60) > 230


def test_every_weight_has_its_place_and_no_two_share_a_bit() -> None:
    digits = layout().digits
    terms = [term for term in CATALOGUE if term.name not in COUNTED]
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
    words = CoefficientReader().read(records_of([board]))[0].words
    for word, bias in zip(words, layout().biases, strict=True):
        assert 0 <= word + bias < 1 << WORD_BITS
