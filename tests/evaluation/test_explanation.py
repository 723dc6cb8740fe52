"""The explanation: it adds up to the score of the search to the centipawn, on every core, and is readable."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice, pairwise

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation.base.constants import STATIC_LIMIT
from evaluation.catalogue import CATALOGUE, FAMILIES, KNOWN_ENDING, LIMIT, NETWORK_TERM
from evaluation.network.file import Network
from evaluation.trace import PARTS
from tests.evaluation.test_evaluation import (
    BOARDS,
    EXTREME,
    PAWN_ENDINGS,
    positions,
    random_weights,
    weights_with,
)
from tests.support.kernel import ALL_CORES, core_or_skip, on_core, searcher
from tests.support.networks import output_of, random_network, with_network
from uci_engine.explanation import REASONS, Explanation

TYPICAL = "r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/P1PBPN2/5PPP/R1BQ1RK1 b - - 0 10"
WEIGHTS = random_weights(3)
NETWORK = random_network(5)
# The families without those of the network and of the limit.
OF_TERMS = [family for family in FAMILIES if family not in ("Network", "Limit")]
# Material and the move count, and nothing else.
PLAIN = weights_with({"tempo": [20]})


@cache
def sums_and_scores(count: int) -> list[tuple[int, int, int, str]]:
    """For each position: the sum of its terms, the score of the search from White's view, all numbers."""
    found = []
    search = searcher()
    for board in positions(count):
        explanation = Explanation.of(board, network=None)
        search.position.set_board(board)
        score = search.evaluate()
        total = sum(family.difference_cp for family in explanation.families)
        white_score = score if board.turn else -score
        found.append((total, white_score, explanation.white_score, json.dumps(explanation.data())))
    return found


@pytest.mark.parametrize("core", ALL_CORES)
def test_the_terms_add_up_to_the_score_of_the_search_on_every_core(core: str) -> None:
    count = 300
    found = on_core(core_or_skip(core), __name__, "sums_and_scores", count)
    assert len(found) == count
    assert not [row[:3] for row in found if len(set(row[:3])) > 1]
    # The plain Python of this process's core says the same.
    assert [row[3] for row in found] == [row[3] for row in sums_and_scores(count)]


@given(board=BOARDS, has_random_weights=st.booleans())
def test_every_term_is_within_a_centipawn_of_its_exact_value(board: chess.Board, has_random_weights: bool) -> None:
    explanation = Explanation.of(board, WEIGHTS if has_random_weights else None, network=None)
    share = explanation.phase * 32 // 3
    for term in explanation.terms[: len(CATALOGUE)]:
        for phases, shown, error in (
            (term.difference, term.difference_cp, 1),
            (term.white, term.white_cp, 1),
            (term.black, term.black_cp, 2),
        ):
            assert phases is not None
            mg, eg = phases
            exact = mg * share * 64 + eg * (256 - share) * explanation.scale
            assert abs(PARTS * shown - exact) < error * PARTS
            assert shown == 0 or exact != 0 or term.white_cp * term.black_cp != 0
    # The tapering of the sum, in exact arithmetic: shares in 256ths, scale in 64ths, rounded towards zero.
    mg, eg = map(sum, zip(*(term.difference or (0, 0) for term in explanation), strict=True))
    exact = mg * share * 64 + eg * (256 - share) * explanation.scale
    known = sum(term.difference_cp for term in explanation if term.name in (KNOWN_ENDING, LIMIT))
    assert explanation.white_score - known == int(exact / 2**14)
    assert bool(explanation.known_ending) >= any(term.name == KNOWN_ENDING for term in explanation)


@given(board=BOARDS)
def test_the_families_hold_every_term_once(board: chess.Board) -> None:
    explanation = Explanation.of(board, WEIGHTS, network=None)
    families = explanation.families
    names = [family.name for family in families]
    assert names in (OF_TERMS, [*OF_TERMS, "Limit"])
    assert {term for family in families for term in family.terms} == set(explanation)
    assert sum(len(family.terms) for family in families) == len(explanation.terms)
    for family in families:
        assert {title.name for title in family.titles} <= set(FAMILIES[family.name])
        for parts in (family.terms, family.titles):
            for name in ("white_cp", "black_cp", "difference_cp"):
                assert getattr(family, name) == sum(getattr(part, name) for part in parts)
    data = json.loads(json.dumps(explanation.data()))
    assert [family["name"] for family in data["families"]] == names
    shown = {term["name"]: term for family in data["families"] for term in family["terms"]}
    phases = {name: (term["middlegame_cp"], term["endgame_cp"]) for name, term in shown.items()}
    assert phases == {term.name: term.difference or (None, None) for term in explanation}
    placed = {chess.parse_square(each["square"]): chess.Piece.from_symbol(each["piece"]) for each in data["pieces"]}
    assert placed == board.piece_map()


@pytest.mark.parametrize("board", positions(60), ids=range(60))
def test_a_piece_is_worth_what_the_score_loses_without_it(board: chess.Board) -> None:
    explanation = Explanation.of(board, WEIGHTS, network=None)
    assert {value.square: value.piece for value in explanation.pieces} == board.piece_map()
    for value in explanation.pieces:
        if value.piece.piece_type == chess.KING:
            assert value.value_cp is None
            continue
        without = board.copy(stack=False)
        without.remove_piece_at(value.square)
        loss = evaluation.evaluate(board, WEIGHTS, network=None) - evaluation.evaluate(without, WEIGHTS, network=None)
        assert value.value_cp == (loss if value.piece.color == board.turn else -loss)


def test_a_score_at_its_limit_says_what_is_cut_off() -> None:
    great = {f"{name}_squares": [1000] * 64 for name in ("knight", "bishop", "rook", "queen")}
    great["pawn_squares"] = [-900] * 64
    weights = weights_with(great)
    board = chess.Board("QQQQQQQQ/QRR4k/8/8/8/pppppppp/6BB/K4NN1 w - - 0 1")
    explanation = Explanation.of(board, weights, network=None)
    assert explanation.white_score == STATIC_LIMIT - 1 == evaluation.evaluate(board, weights, network=None)
    last = explanation.families[-1]
    assert (last.name, [term.name for term in last.terms]) == ("Limit", [LIMIT])
    assert last.difference_cp < 0
    assert "limit of the score" in str(explanation).lower()
    board.turn = chess.BLACK
    assert evaluation.evaluate(board, weights, network=None) == 1 - STATIC_LIMIT


# For people -------------------------------------------------------------------------------------------------------


def row_of(line: str) -> tuple[str, list[int]]:
    """The name and the three numbers of a line of the table, in centipawns."""
    *words, white, black, difference = line.split()
    return " ".join(words), [round(100 * float(number)) for number in (white, black, difference)]


@pytest.mark.parametrize("fen", [TYPICAL, chess.STARTING_FEN, *PAWN_ENDINGS, *EXTREME])
def test_the_text_has_the_families_and_titles_that_are_not_0_and_the_score(fen: str) -> None:
    explanation = Explanation.of(chess.Board(fen), WEIGHTS, network=None)
    text = str(explanation)
    assert text.isascii()
    lines = text.splitlines()
    assert not any(line != line.rstrip() or len(line) > 100 for line in lines)
    end = lines.index(lines[1], 2)
    shown = []
    for family in explanation.families:
        titles = [title for title in family.titles if title.white_cp or title.black_cp]
        # A family of one title has no lines below it.
        shown += [family, *(titles if len(family.titles) > 1 else [])] if titles else []
    rows = [(row.name, [row.white_cp, row.black_cp, row.white_cp - row.black_cp]) for row in shown]
    assert [row_of(line) for line in lines[2:end]] == rows
    total = [sum(getattr(term, name) for term in explanation) for name in ("white_cp", "black_cp")]
    assert row_of(lines[end + 1])[1] == [*total, explanation.white_score]
    assert (f"Known ending: {explanation.known_ending}" in lines) == bool(explanation.known_ending)
    white_score = explanation.white_score / 100
    assert f"Score {white_score:+.2f} (White's view)" in lines
    side, score = ("White", white_score) if explanation.white_to_move else ("Black", -white_score)
    assert f"Score {score:+.2f} (the side to move's view: {side})" in lines


@pytest.mark.parametrize("network", [None, NETWORK])
def test_the_network_is_shown_and_every_piece_above_its_number(network: Network | None) -> None:
    explanation = Explanation.of(chess.Board(TYPICAL), None, network)
    lines = str(explanation).splitlines()
    features, output = explanation.features_score / 100, (explanation.network_score or 0) / 100
    assert (f"Features {features:+.2f}, network {output:+.2f} (White's view)" in lines) == (network is not None)
    assert ("etwork" in str(explanation)) == (network is not None)
    tops = [number for number, line in enumerate(lines) if line.startswith(" 8 |")]
    assert len(tops) == (1 if network is None else 2)
    for value in explanation.pieces:
        column = 1 + chess.square_file(value.square)
        numbers = [None if value.value_cp is None else f"{value.value_cp / 100:.2f}"]
        numbers += [f"{value.network_cp / 100:+.2f}"] if value.network_cp is not None else []
        for top, number in zip(tops, numbers, strict=True):
            row = top + 3 * (7 - chess.square_rank(value.square))
            assert lines[row].split("|")[column].strip() == value.piece.symbol()
            assert lines[row + 1].split("|")[column].strip() == (number or "")


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "White is a rook up (+5.00)"),
        ("rnbqkb1r/pppppppp/8/8/8/8/1PPPPPP1/RNBQKBNR w - - 0 1", "White has a knight for two pawns (+"),
        ("rnb1kbn1/pppppppp/8/8/8/8/PPPPPP2/R1B1K2R w - - 0 1", "Black has a bishop, two knights and two pawns for"),
        ("rnb1kbn1/pppppppp/8/8/8/8/PPPPPP2/R1B1K3 w - - 0 1", "Black is a bishop, two knights and two pawns up (-"),
        ("RRRRRRRR/RRRRRRR1/8/8/8/8/8/k6K w - - 0 1", "White is 15 rooks up (+75.00)"),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", "Known ending: king and pawn against king, White wins (+4.00)"),
        (chess.STARTING_FEN, "White is to move (+0."),
    ],
)
def test_reasons_are_sentences(fen: str, reason: str) -> None:
    assert any(text.startswith(reason) for text in Explanation.of(chess.Board(fen), PLAIN, network=None).reasons)


@given(board=BOARDS)
def test_the_reasons_are_the_largest_differences(board: chess.Board) -> None:
    explanation = Explanation.of(board, network=None)
    found = [float(text.rpartition("(")[2].rstrip(")")) for text in explanation.reasons]
    titles = [part.difference_cp for family in explanation.families for part in family.titles if part.difference_cp]
    assert len(found) == min(REASONS, len(titles))
    assert all(abs(a) >= abs(b) for a, b in pairwise(found))
    largest = sorted(map(abs, titles), reverse=True)[:REASONS]
    assert [abs(round(100 * number)) for number in found] == largest


# With the network ------------------------------------------------------------------------------------------------


def explained(board: chess.Board) -> Explanation:
    return Explanation.of(board, None, NETWORK)


def white(cp: int, board: chess.Board) -> int:
    return cp if board.turn else -cp


@pytest.mark.parametrize("board", positions(40), ids=range(40))
def test_terms_and_network_add_up(board: chess.Board) -> None:
    explanation, alone = explained(board), Explanation.of(board, network=None)
    assert explanation.white_score == white(evaluation.evaluate(board, None, NETWORK), board)
    assert explanation.white_score == white(with_network(NETWORK, board), board)
    assert explanation.network_score == explanation.white_score - alone.white_score
    assert sum(family.difference_cp for family in explanation.families) == explanation.white_score
    assert [term for term in explanation if term.name != NETWORK_TERM] == list(alone)
    assert {alone.network_score, *(value.network_cp for value in alone.pieces)} == {None}


def test_a_contribution_is_what_the_output_loses_without_the_inputs_of_a_piece() -> None:
    with_score = ((board, pieces) for board in positions(60) if (pieces := explained(board)).network_score)
    for board, explanation in islice(with_score, 8):
        for value in explanation.pieces:
            assert value.network_cp is not None
            # A view needs its king, and the weights of the output change with the number of pieces.
            if value.piece.piece_type != chess.KING and (len(explanation.pieces) - 1) % 4:
                without = board.copy(stack=False)
                without.remove_piece_at(value.square)
                change = output_of(NETWORK, board) - output_of(NETWORK, without)
                assert abs(2**14 * value.network_cp - white(change, board)) < 2**14


def test_the_reasons_say_for_whom_the_network_sees_more() -> None:
    for board in (chess.Board(TYPICAL), chess.Board(TYPICAL).mirror()):
        explanation = explained(board)
        (words,) = [reason for reason in explanation.reasons if reason.startswith("The network")]
        score = explanation.network_score or 0
        side = "White" if score > 0 else "Black"
        assert words.startswith(f"The network sees {abs(score) / 100:.2f} more for {side} than the features")
