"""The catalogue, the functions, the sum and the explanation: they have the same terms under the same names."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation.catalogue import ACCUMULATED, CATALOGUE, FAMILIES, OTHER_TITLES, Term
from evaluation.constants import KING_DANGER_UNITS
from evaluation.scoring import set_up
from evaluation.weights import MATERIAL, Weights, default_weights, unpack
from tests.evaluation.definitions import DEFINITIONS
from tests.evaluation.test_evaluation import BOARDS, EXTREME, added_up, random_game, random_pieces

TERMS = Path(evaluation.__file__).parent / "terms"
WITH_FUNCTIONS = [term for term in CATALOGUE if term.group != ACCUMULATED]
NAMES = [term.name for term in CATALOGUE]
SUMS = ("mobility_total", "pawn_king_total", "total")
TYPICAL = [
    "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 10",
    "6k1/1R3ppp/p3p3/3pP3/3P1P2/4P1KP/r5P1/8 b - - 0 30",
    "2r3k1/R4ppp/1p2p3/2n5/8/2B2P2/r5PP/1R4K1 w - - 0 27",
    "r1b2rk1/1pRq1ppp/p2p1n2/3Np3/4P1P1/1B3P2/PPPQ3P/2K4R w - - 2 17",
    "8/5pk1/1P2p1p1/3pP3/3P1P2/6KP/1r4P1/1R6 w - - 0 40",
]
SEVERAL = [
    *map(chess.Board, TYPICAL),
    *(random_game(seed, 7 * seed % 150) for seed in range(15)),
    *(random_pieces(seed) for seed in range(30)),
    *(random_pieces(seed, 4) for seed in range(20)),
    *map(chess.Board, EXTREME),
]


def functions(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def arguments(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.args]


def alone(name: str, seed: int) -> Weights:
    """All weights 0 but for material, which is fixed, and one term's, which are random."""
    chance = random.Random(seed)
    values = {term.name: [0] * term.size for term in CATALOGUE}
    values["material"] = list(MATERIAL)
    phases = []
    for _ in range(2):
        numbers = [chance.randint(-900, 900) for _ in values[name]]
        phases.append({**values, name: numbers if name != "material" else MATERIAL})
    return Weights(*phases)


def test_names_are_distinct_and_groups_are_modules() -> None:
    assert len(set(NAMES)) == len(NAMES)
    modules = {path.stem for path in TERMS.glob("*.py")} - {"__init__", "kpk"}
    assert {term.group for term in WITH_FUNCTIONS} == modules


def test_every_title_has_one_family() -> None:
    titles = [title for family in FAMILIES.values() for title in family]
    assert len(set(titles)) == len(titles)
    assert set(titles) == {term.title for term in CATALOGUE} | set(OTHER_TITLES.values())


def test_every_function_of_a_term_has_its_row_and_every_row_its_function() -> None:
    found = {
        (path.stem, name)
        for path in TERMS.glob("*.py")
        for name, function in functions(path).items()
        if arguments(function) == ["context", "board", "us"] and not name.startswith("_") and name not in SUMS
    }
    assert found == {(term.group, term.name) for term in WITH_FUNCTIONS}


@pytest.mark.parametrize("term", WITH_FUNCTIONS, ids=lambda term: term.name)
def test_every_term_says_what_it_counts_and_stands_in_one_sum(term: Term) -> None:
    assert callable(term.function)
    in_module = functions(TERMS / f"{term.group}.py")
    assert ast.get_docstring(in_module[term.name])
    sums = [
        function.name
        for function in in_module.values()
        if function.name in SUMS
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == term.name
    ]
    assert len(sums) == 1


def test_no_other_module_knows_a_term() -> None:
    """So a new term needs no line in any of them. That the side to move has the tempo is said in its own words.

    The catalogue has its row and the context the field of its weights.
    """
    root = TERMS.parents[1]
    files = [*root.glob("evaluation/**/*.py"), *root.glob("uci_engine/game_analysis/*.py")]
    groups = {term.name: term.group for term in WITH_FUNCTIONS if term.name != "tempo"}
    files += [root / "uci_engine" / "static_evaluation.py"]
    for path in (path for path in files if path.name not in ("catalogue.py", "context.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [getattr(node, field, None) for field in ("id", "attr", "value")]
            known = [name for name in names if isinstance(name, str) and groups.get(name, path.stem) != path.stem]
            assert not known, f"{path}: {known}"


def calls(function: ast.FunctionDef) -> list[ast.expr]:
    """What a function calls, in the order of the text."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [call.func for call in sorted(found, key=lambda call: (call.lineno, call.col_offset))]


def called_terms(methods: dict[str, ast.FunctionDef], method: str) -> Iterator[str]:
    """The terms that a method of `Evaluator` calls through its other methods and the sums of the modules."""
    for function in calls(methods[method]):
        match function:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in methods:
                yield from called_terms(methods, name)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in SUMS:
                called = calls(functions(TERMS / f"{module}.py")[name])
                yield from (call.id for call in called if isinstance(call, ast.Name) and call.id in NAMES)


def test_the_catalogue_has_the_order_in_which_the_sum_calls_the_terms() -> None:
    (evaluator,) = [
        node
        for node in ast.parse((TERMS.parent / "evaluator.py").read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    methods = {node.name: node for node in evaluator.body if isinstance(node, ast.FunctionDef)}
    assert list(called_terms(methods, "sum_of_terms")) == [term.name for term in WITH_FUNCTIONS]


@pytest.mark.parametrize("name", NAMES)
def test_each_term_alone_is_the_sum_and_its_row_of_the_explanation(name: str) -> None:
    weights = alone(name, NAMES.index(name))
    for board in SEVERAL:
        evaluator, base_board = set_up(board, weights)
        total = unpack(evaluator.sum_of_terms(base_board, True))
        terms = [term for term in evaluation.explain(board, weights, None) if term.difference is not None]
        assert [term.name for term in terms] == NAMES
        assert total == added_up(term for term in terms if term.name in ("material", name))
        assert not [term for term in terms if term.name not in ("material", name) and term.difference != (0, 0)]


def defined(name: str, board: chess.Board, weights: Weights) -> tuple[int, int]:
    """A term's score in middlegame and endgame for White, from its definition."""
    indices = list(DEFINITIONS[name](board))
    middlegame, endgame = weights.middlegame[name], weights.endgame[name]
    return sum(middlegame[index] for index in indices), sum(endgame[index] for index in indices)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_term_counts_what_its_definition_says(name: str) -> None:
    weights = alone(name, NAMES.index(name))
    (term,) = [term for term in CATALOGUE if term.name == name]
    counted = 0
    for board in SEVERAL:
        evaluator, base_board = set_up(board, weights)
        # The attacks that some terms read.
        evaluator.sum_of_terms(base_board, False)
        for us, view in ((1, board), (0, board.mirror())):
            score = unpack(term.function(evaluator.context, base_board, us))
            assert score == defined(name, view, weights), (board.fen(), us)
            counted += score != (0, 0)
    assert counted >= 3


@given(board=BOARDS, name=st.sampled_from(NAMES))
def test_no_weight_is_counted_more_often_than_its_bound_allows(board: chess.Board, name: str) -> None:
    """What the bound on the sum takes for granted: a side's pieces of the owner, `max_count` times each."""
    (term,) = [term for term in CATALOGUE if term.name == name]
    if name == "material":
        return
    weights = {other.name: [0] * other.size for other in CATALOGUE}
    weights["material"] = list(MATERIAL)
    weights[name] = [1] * term.size
    (value,) = [value for value in evaluation.explain(board, Weights(weights, weights), None) if value.name == name]
    for colour, phases in ((chess.WHITE, value.white), (chess.BLACK, value.black)):
        assert phases is not None
        count, _ = phases
        owners = 1
        if term.owner != "side":
            owners = len(board.pieces(chess.PIECE_NAMES.index(term.owner), colour))
        assert 0 <= count <= term.max_count * owners


def test_the_units_of_the_attack_on_the_king_are_data() -> None:
    """They are attributes, so that a tuner can change them; a sum of three for shelter or storm fits a byte."""
    evaluator, base_board = set_up(chess.Board(TYPICAL[3]), alone("king_attack", 1))
    for name, units in KING_DANGER_UNITS.items():
        assert getattr(evaluator.context, name) == (list(units) if len(units) > 1 else units[0])
    for name in ("no_shelter_units", "near_storm_units"):
        assert all(0 <= units <= 85 for units in KING_DANGER_UNITS[name])
    before = evaluator.sum_of_terms(base_board, False)
    evaluator.context.attacker_units = [0, 0, 80, 80, 80, 80]
    assert evaluator.sum_of_terms(base_board, False) != before


def test_the_context_holds_the_weights_of_their_terms() -> None:
    evaluator, _ = set_up(chess.Board())
    for term in WITH_FUNCTIONS:
        held = getattr(evaluator.context, term.name)
        packed = default_weights().packed(term.name)
        assert held == (packed if term.size > 1 else packed[0])
        assert import_module(f"evaluation.terms.{term.group}")
