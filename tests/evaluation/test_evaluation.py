"""The evaluation: symmetric, bounded, explained to the last centipawn, the same in both forms, and sane about chess."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation import set_up
from evaluation.base.constants import DRAWISH_SCALE, DRAWN_SCALE, ENDGAME_SCALES, FULL_SCALE
from evaluation.catalogue import CATALOGUE
from evaluation.terms.endgames import endgame_scale
from evaluation.trace import KPK_RESULTS
from evaluation.weights import MATERIAL, Weights
from tests.support import TABLES, kernel, run_python
from tests.support.kernel import searcher
from tests.support.syzygy_samples import Probing, random_boards
from uci_engine.core import KERNEL_MODULES

# At most 16 pieces a side and no pawn at either end is all that the evaluation asks for.
EXTREME = [
    "QQQQQQQQ/Q6k/8/8/8/8/8/RRBBNNK1 w - - 0 1",
    "QQQQQQQQ/QRR4k/8/8/8/pppppppp/6BB/K4NN1 b - - 0 1",
    "qqqqqqqq/q6K/8/8/8/8/8/rrbbnnk1 b - - 0 1",
    "4k3/PPPPPPPP/8/8/8/8/8/RNBQKBNR w - - 0 1",
    "4k3/PPPPPPPP/8/8/8/8/pppppppp/4K3 w - - 0 1",
    "NNNNNNNN/NN5k/8/8/8/8/8/RRBBQ1K1 b - - 0 1",
    "7k/8/8/8/8/8/8/K7 w - - 0 1",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
]
PAWN_ENDINGS = ["4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", "8/8/8/4p3/4k3/8/8/4K3 w - - 0 1"]


def random_game(seed: int, plies: int) -> chess.Board:
    """The position after a number of random moves."""
    *_, board = kernel.random_game(seed, chess.Board(), plies)
    return board


def random_pieces(seed: int, limit: int = 15) -> chess.Board:
    """Two kings and any other pieces anywhere, up to a limit a side, the rest of the rules ignored."""
    chance = random.Random(seed)
    board = chess.Board(None)
    squares = chance.sample(chess.SQUARES, 64)
    for colour in chess.COLORS:
        board.set_piece_at(squares.pop(), chess.Piece(chess.KING, colour))
        for _ in range(chance.randint(0, limit)):
            square = squares.pop()
            on_back_rank = chess.BB_SQUARES[square] & chess.BB_BACKRANKS
            piece_types = chess.PIECE_TYPES[1:5] if on_back_rank else chess.PIECE_TYPES[:5]
            board.set_piece_at(square, chess.Piece(chance.choice(piece_types), colour))
    board.turn = chance.random() < 0.5
    return board


def positions(count: int) -> list[chess.Board]:
    """Random games, random pieces, pawn endings, and the extreme ones: the same for the same count."""
    boards = [chess.Board(fen) for fen in (*EXTREME, *PAWN_ENDINGS)]
    for seed in range(count - len(boards)):
        boards.append(random_game(seed, 3 * seed % 200) if seed % 2 else random_pieces(seed, 1 + seed % 15))
    return boards


def random_weights(seed: int) -> Weights:
    """Weights from -40 to 40 for every term, so that no term is silent. Material is fixed."""
    chance = random.Random(seed)
    phases = [{term.name: [chance.randint(-40, 40) for _ in range(term.size)] for term in CATALOGUE} for _ in range(2)]
    return Weights(*({**phase, "material": MATERIAL} for phase in phases))


def weights_with(middlegame: dict[str, list[int]], endgame: dict[str, list[int]] | None = None) -> Weights:
    """Weights that are 0 but for these, and for material, which is fixed. `endgame`: None for the same as there."""
    zeros = {term.name: [0] * term.size for term in CATALOGUE} | {"material": list(MATERIAL)}
    return Weights(zeros | middlegame, zeros | (middlegame if endgame is None else endgame))


BOARDS = st.one_of(
    st.builds(random_game, st.integers(0, 10**9), st.integers(0, 150)),
    st.builds(random_pieces, st.integers(0, 10**9)),
    st.sampled_from(EXTREME).map(chess.Board),
)


@given(board=BOARDS)
def test_colours_turned_round_change_nothing(board: chess.Board) -> None:
    assert evaluation.evaluate(board.mirror(), network=None) == evaluation.evaluate(board, network=None)


@given(board=BOARDS)
def test_only_the_tempo_depends_on_whose_turn_it_is(board: chess.Board) -> None:
    rows = evaluation.explain(board, network=None).terms
    board.turn = not board.turn
    others = evaluation.explain(board, network=None).terms
    pairs = zip(rows[: len(CATALOGUE)], others, strict=False)
    assert [row.name for row, other in pairs if row.difference != other.difference] == ["tempo"]


def test_the_hash_tables_change_nothing_with_any_weights() -> None:
    weights = random_weights(1)
    evaluator, base_board = set_up(chess.Board(), weights)
    for board in positions(200) * 2:
        base_board.set_pieces(board)
        assert evaluator.sum_of_terms(base_board) == set_up(board, weights)[0].sum_of_terms(base_board)


def test_importing_the_package_loads_no_kernel_module() -> None:
    loaded = set(run_python("-c", "import sys, evaluation; print(*sys.modules)").stdout.split())
    assert "evaluation.weights" in loaded
    assert not set(KERNEL_MODULES) & loaded
    assert "evaluation.terms" not in loaded


# Endgames: the scale factors, and king and pawn against king by Syzygy's table -------------------------------------

KINDS = [
    ("pawns", "4k3/pp6/8/8/8/8/PPP5/4K3 w - - 0 1"),
    ("minors", "4k1n1/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1"),
    ("minors", "4kb2/pp6/8/8/8/8/PPP5/2B1K3 w - - 0 1"),
    ("opposite bishops", "4kb2/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1"),
    ("opposite bishops and others", "r3kb2/pp6/8/8/8/8/PPP5/R3KB2 w - - 0 1"),
    ("opposite bishops and others", "4kbn1/pp6/8/8/8/8/PPP5/4KBN1 w - - 0 1"),
    ("rooks", "r3k3/pp6/8/8/8/8/PPP5/R3K3 w - - 0 1"),
    ("rooks and minors", "r3k1n1/pp6/8/8/8/8/PPP5/R3KB2 w - - 0 1"),
    ("queens", "3qk3/pp6/8/8/8/8/PPP5/3QK3 w - - 0 1"),
    ("equal", "n1b1k1n1/pp6/8/8/8/8/PPP5/B1N1KB2 w - - 0 1"),
    ("equal", "r2qk3/pp6/8/8/8/8/PPP5/R2QK3 w - - 0 1"),
    ("unequal", "4k3/pp6/8/8/8/8/PPP5/R3K3 w - - 0 1"),
    ("unequal", "r3k3/pp6/8/8/8/8/PPP5/B3K1N1 w - - 0 1"),
]


def scale_of(board: chess.Board, strong: chess.Color) -> int:
    _, base_board = set_up(board)
    return endgame_scale(base_board, int(strong))


@pytest.mark.parametrize(("kind", "fen"), KINDS)
def test_the_scale_is_that_of_the_kind_of_ending_and_the_number_of_pawns(kind: str, fen: str) -> None:
    for board in (chess.Board(fen), chess.Board(fen).mirror()):
        for colour in chess.COLORS:
            assert scale_of(board, colour) == ENDGAME_SCALES[kind][len(board.pieces(chess.PAWN, colour)) - 1]


@pytest.mark.parametrize(
    ("fen", "scale"),
    [
        ("4k3/p7/8/8/8/8/8/4KN2 w - - 0 1", DRAWN_SCALE),
        ("4k3/p7/8/8/8/8/8/3NKN2 w - - 0 1", DRAWN_SCALE),
        ("4k1n1/p7/8/8/8/8/8/R3K3 w - - 0 1", DRAWISH_SCALE),
        ("4k3/p7/8/8/8/8/8/Q3K3 w - - 0 1", FULL_SCALE),
        # The bishop does not attack the corner: with the king in it, beside it, too far away.
        ("k7/8/8/P7/8/8/8/2B1K3 w - - 0 1", DRAWN_SCALE),
        ("8/1k6/P7/P7/8/8/3p4/2B1K3 w - - 0 1", DRAWN_SCALE),
        ("2k5/8/8/P7/8/8/8/2B1K3 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("7k/8/8/7P/8/8/8/4KB2 w - - 0 1", DRAWN_SCALE),
        # The bishop attacks the corner; a pawn on another file; a knight.
        ("k7/8/8/P7/8/8/8/4KB2 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("k7/8/8/PP6/8/8/8/2B1K3 w - - 0 1", ENDGAME_SCALES["unequal"][1]),
        ("k7/8/8/P7/8/8/8/2B1K1N1 w - - 0 1", ENDGAME_SCALES["unequal"][0]),
        ("7k/8/8/P6P/8/8/8/4KB2 w - - 0 1", ENDGAME_SCALES["unequal"][1]),
        # Edge pawns alone.
        ("1k6/8/8/P7/P7/8/8/4K3 w - - 0 1", DRAWN_SCALE),
    ],
)
def test_endings_that_are_hard_or_impossible_to_win(fen: str, scale: int) -> None:
    assert scale_of(chess.Board(fen), chess.WHITE) == scale
    assert scale_of(chess.Board(fen).mirror(), chess.BLACK) == scale


def test_king_and_pawn_against_king_is_what_syzygy_says() -> None:
    probing, position, evaluator = Probing(TABLES), searcher().position, searcher().evaluator
    won = 0
    for board in random_boards("KPvK", 4000):
        position.set_board(board)
        is_drawn, is_white = probing.value(board) == 0, bool(board.pawns & board.occupied_co[chess.WHITE])
        result = "drawn" if is_drawn else "White wins" if is_white else "Black wins"
        assert KPK_RESULTS[evaluator.kpk.result(position)] == f"king and pawn against king, {result}", board.fen()
        assert evaluator.is_known_draw(position) == is_drawn
        # For the side with the pawn.
        score = searcher().evaluate() if board.turn == is_white else -searcher().evaluate()
        assert score == 0 if is_drawn else score > 300, board.fen()
        won += not is_drawn
    assert 2000 < won < 3800
