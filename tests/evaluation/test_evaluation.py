"""The evaluation: symmetric, bounded, explained to the last centipawn, the same in both forms, and sane about chess."""

from __future__ import annotations

import random

import chess
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation import set_up
from evaluation.catalogue import CATALOGUE
from evaluation.weights import MATERIAL, Weights
from tests.support import kernel, run_python
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
