"""What boards and moves tell without a search."""

from __future__ import annotations

import chess
import pytest

from uci_engine.game_analysis.boards import board_after, is_obvious, is_sacrifice, phase_weight


@pytest.mark.parametrize(
    ("fen", "moves", "obvious"),
    [
        (chess.STARTING_FEN, "e2e4", False),
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5", True),
        ("4k3/2p5/3p4/8/8/3R4/8/4K3 w - - 0 1", "d3d6", False),
        ("4k3/2p5/3p4/8/8/3R4/3R4/4K3 w - - 0 1", "d3d6 c7d6", True),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", True),
        ("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", "e1e2", True),
    ],
)
def test_obvious_moves(fen: str, moves: str, obvious: bool) -> None:
    *before, move = map(chess.Move.from_uci, moves.split())
    assert is_obvious(board_after(chess.Board(fen), before), move) == obvious


QUIET_BISHOP = "r1bqkb1r/ppp2ppp/2np1n2/4p3/2B1P3/2N2N2/PPPP1PPP/R1BQ1RK1 w kq - 0 1"


@pytest.mark.parametrize(
    ("fen", "moves", "sacrifice"),
    [
        (QUIET_BISHOP, "c4f7 e8f7 d2d3 f8e7 c1e3 h8f8", True),
        (QUIET_BISHOP, "c4f7 e8f7", False),
        # The knight is not taken.
        ("r1b1k2r/pppp1ppp/8/4n3/8/5N2/PPPP1PPP/R1BQK2R w KQkq - 0 1", "f3e5 d7d6 e5f3 e8g8", False),
        # A fork costs a rook, whatever the queen does.
        ("2b2rk1/5ppp/8/8/3Q4/8/PPn2PPP/R5K1 w - - 0 1", "d4d1 c2a1 d1a1 f8e8 a1d1 e8e7", False),
        ("4k3/8/8/8/8/8/p5PP/4R1K1 w - - 0 1", "e1f1 a2a1q f1a1 e8e7 a1d1 e7e6", False),
    ],
)
def test_a_sacrifice_gives_what_the_line_does_not_bring_back(fen: str, moves: str, sacrifice: bool) -> None:
    assert is_sacrifice(chess.Board(fen), [chess.Move.from_uci(move) for move in moves.split()]) == sacrifice


def test_weights_of_phases() -> None:
    assert phase_weight(chess.Board()) == 24
    assert phase_weight(chess.Board("4k3/8/8/8/8/8/8/RNB1K3 w - - 0 1")) == 4
