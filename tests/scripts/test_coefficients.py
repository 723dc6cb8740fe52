"""Coefficients: times the weights, tapered and scaled, they are the score, on every core."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import assume, given

import evaluation
from evaluation.catalogue import ACCUMULATED, CATALOGUE
from evaluation.constants import FULL_PHASE
from evaluation.explanation import KPK_RESULTS
from evaluation.scoring import set_up
from evaluation.weights import MATERIAL, Weights, default_weights
from tests.evaluation.test_evaluation import BOARDS, EXTREME, random_game, random_pieces, summed
from tests.support.kernel import ALL_CORES, core_or_skip, on_core
from toolkit.training.coefficient_reader import COUNTED_GROUPS, WORD_BITS, CoefficientReader, layout
from toolkit.training.coefficients import OFFSETS, Coefficients, find_coefficients, matrix_of_pieces
from toolkit.training.model import exact_scores, weights_as_array
from toolkit.training.positions import RECORD, pack, pieces_of


def placed(board: chess.Board) -> list[tuple[int, int]]:
    return [(2 * piece.piece_type + piece.color, square) for square, piece in board.piece_map().items()]


def can_be_packed(board: chess.Board) -> bool:
    return chess.popcount(board.occupied) <= 32 and all(len(board.pieces(chess.PAWN, us)) <= 8 for us in chess.COLORS)


def random_weights(seed: int) -> Weights:
    chance = random.Random(seed)
    phases = [
        {term.name: [chance.randint(-100, 100) for _ in range(term.size)] for term in CATALOGUE} for _ in range(2)
    ]
    for phase in phases:
        phase["material"] = list(MATERIAL)
    return Weights(*phases)


def records_of(boards: Sequence[chess.Board]) -> Any:
    return np.frombuffer(b"".join(pack(board, 0, 1, 0) for board in boards), RECORD)


def sums_of(found: Coefficients, weights: Weights) -> Any:
    """For each position the sums of coefficients times weights, middlegame and endgame, White minus Black."""
    return found.matrix.astype(np.int64) @ weights_as_array(weights)


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


@given(board=BOARDS)
def test_coefficients_times_weights_are_the_sum_of_the_explanation(board: chess.Board) -> None:
    assume(can_be_packed(board))
    ((middlegame, endgame),) = sums_of(find_coefficients(records_of([board])), default_weights()).tolist()
    assert (middlegame, endgame) == tuple(summed(evaluation.explain(board, network=None)))


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
    assume(can_be_packed(board))
    counts = matrix_of_pieces(pieces_of(records_of([board]))).toarray()[0].tolist()
    found = sum(
        counts[OFFSETS[term.name] + index] * packed
        for term in CATALOGUE
        if term.group == ACCUMULATED
        for index, packed in enumerate(weights.packed(term.name))
    )
    assert found == base_board.score
