"""Endings of the tablebases, played out: every win is won inside the fifty-move rule, every draw is held."""

from __future__ import annotations

import random

import chess
import chess.syzygy
import pytest

from tests.support.syzygy_samples import WORKSHOP_PATH, random_board
from tests.support.uci_process import UciProcess

ENDINGS = 100
MAX_PLIES = 300
MAX_PIECES = 4
WIN, DRAW = 2, 0


def position(tables: chess.syzygy.Tablebase, value: int, choice: random.Random) -> chess.Board:
    """A random position in which the side to move has this result, and not a bare king against a bare king."""
    names = sorted(name for name in tables.wdl if len(name) - 1 <= MAX_PIECES)
    while True:
        board = random_board(choice.choice(names), choice)
        board.ep_square = None
        playable = any(board.legal_moves) and not board.is_insufficient_material()
        if playable and tables.probe_wdl(board) == value:
            return board


def reply(tables: chess.syzygy.Tablebase, board: chess.Board, choice: random.Random) -> chess.Move:
    """The move that loses last, for which a capture or pawn move that still loses counts as short. Or a sound one."""
    values, delays = {}, {}
    is_lost = tables.probe_wdl(board) < 0
    for move in board.legal_moves:
        board.push(move)
        values[move] = tables.probe_wdl(board)
        if is_lost:
            delays[move] = 1 if board.halfmove_clock == 0 else 1 + abs(tables.probe_dtz(board))
        board.pop()
    best = [move for move in values if (delays[move] == max(delays.values()) if is_lost else values[move] <= 0)]
    return choice.choice(best)


@pytest.mark.slow
@pytest.mark.parametrize("go", ["depth 4", "movetime 5", "wtime 50 btime 50 winc 5 binc 5"])
@pytest.mark.parametrize("value", [WIN, DRAW])
def test_every_win_is_won_and_every_draw_held(workshop: chess.syzygy.Tablebase, value: int, go: str) -> None:
    """The opponent defends a lost ending as long as it can, and in a draw makes any move that does not lose."""
    choice = random.Random(1)
    with UciProcess() as engine:
        engine.send(f"setoption name SyzygyPath value {WORKSHOP_PATH}")
        for _ in range(ENDINGS):
            board = position(workshop, value, choice)
            own, fen = board.turn, board.fen()
            # Only the opponent would claim a draw.
            while not board.is_game_over(claim_draw=board.turn != own) and len(board.move_stack) < MAX_PLIES:
                if board.turn == own:
                    moves = " ".join(move.uci() for move in board.move_stack)
                    engine.send(f"position fen {fen} moves {moves}")
                    board.push_uci(engine.search(f"go {go}", board).best)
                else:
                    board.push(reply(workshop, board, choice))
            outcome = board.outcome(claim_draw=board.turn != own)
            assert outcome is not None, fen
            assert outcome.winner in ((own,) if value == WIN else (own, None)), fen
