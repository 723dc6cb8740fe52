"""The catalogue, the functions, the sum and the explanation: they have the same terms under the same names."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation import set_up
from evaluation.catalogue import ACCUMULATED, CATALOGUE, FAMILIES, OTHER_TITLES
from evaluation.trace import unpack
from evaluation.weights import Weights
from tests.evaluation.definitions import COUNTED, DEFINITIONS, POSITIONS
from tests.evaluation.test_evaluation import BOARDS, positions, weights_with

TERMS = Path(evaluation.__file__).parent / "terms"
WITH_FUNCTIONS = [term for term in CATALOGUE if term.group != ACCUMULATED]
NAMES = [term.name for term in CATALOGUE]
TERM = dict(zip(NAMES, CATALOGUE, strict=True))
SEVERAL = [*map(chess.Board, POSITIONS), *positions(70)]


def alone(name: str, seed: int) -> Weights:
    """The weights of one term alone, which are random."""
    chance = random.Random(seed)
    middlegame, endgame = ({name: [chance.randint(-1000, 1000) for _ in range(TERM[name].size)]} for _ in range(2))
    return weights_with(middlegame, endgame)


def test_names_are_distinct_and_groups_are_modules() -> None:
    assert len(set(NAMES)) == len(NAMES)
    modules = {path.stem for path in TERMS.glob("*.py")} - {"__init__"}
    assert {term.group for term in WITH_FUNCTIONS} == modules


def test_every_title_has_one_family() -> None:
    titles = [title for family in FAMILIES.values() for title in family]
    assert len(set(titles)) == len(titles)
    assert set(titles) == {term.title for term in CATALOGUE} | set(OTHER_TITLES.values())


def weighed(weights: Weights, name: str, indices: Iterable[int]) -> tuple[int, int]:
    """The sum of some weights of a term in middlegame and endgame."""
    pairs = [(weights.middlegame[name][index], weights.endgame[name][index]) for index in indices]
    return sum(middlegame for middlegame, _ in pairs), sum(endgame for _, endgame in pairs)


def scores(name: str, board: chess.Board, weights: Weights) -> tuple[tuple[int, int], tuple[int, int]]:
    """A term's score for White and for Black, from its function."""
    term = TERM[name]
    evaluator, base_board = set_up(board, weights)
    # The attacks that some terms read.
    evaluator.sum_of_terms(base_board)
    white, black = (unpack(term.function(evaluator.context, base_board, us)) for us in (1, 0))
    return white, black


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_term_counts_what_its_definition_says(name: str) -> None:
    weights = alone(name, NAMES.index(name))
    counted = 0
    for board in SEVERAL:
        for score, view in zip(scores(name, board, weights), (board, board.mirror()), strict=True):
            assert score == weighed(weights, name, DEFINITIONS[name](view)), view.fen()
            counted += score != (0, 0)
    assert counted >= 3


@pytest.mark.parametrize(("name", "fen", "text"), COUNTED)
def test_a_term_counts_what_was_counted_by_hand(name: str, fen: str, text: str) -> None:
    weights = alone(name, NAMES.index(name))
    for score, indices in zip(scores(name, chess.Board(fen), weights), text.split("|"), strict=True):
        assert score == weighed(weights, name, map(int, indices.split()))


def test_every_term_with_a_function_is_counted_a_second_time() -> None:
    assert {*DEFINITIONS, *(name for name, _, _ in COUNTED)} == {term.name for term in WITH_FUNCTIONS}


@given(board=BOARDS, name=st.sampled_from(NAMES[1:]))
def test_no_weight_is_counted_more_often_than_its_bound_allows(board: chess.Board, name: str) -> None:
    """What the bound on the sum takes for granted: a side's pieces of the owner, `max_count` times each."""
    term = TERM[name]
    weights = weights_with({name: [1] * term.size})
    (value,) = [value for value in evaluation.explain(board, weights, None) if value.name == name]
    for colour, phases in ((chess.WHITE, value.white), (chess.BLACK, value.black)):
        assert phases is not None
        count, _ = phases
        owners = 1
        if term.owner != "side":
            owners = len(board.pieces(chess.PIECE_NAMES.index(term.owner), colour))
        assert 0 <= count <= term.max_count * owners
