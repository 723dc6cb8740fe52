"""Games as lichess-bot plays them, with one gigabyte of memory: its configuration, clocks and pondering.

lichess-bot holds the engine through python-chess. `play` makes the same calls in the same order, and keeps the board
and the clock, as the server does.
"""

from __future__ import annotations

import random
import shlex
import sys
import time

import chess
import chess.engine
from chess.engine import ConfigMapping, Limit, Opponent, SimpleEngine

from tests.support import ENVIRONMENT, PATIENCE_SECONDS

ONE_GIGABYTE_IN_KIB = 1 << 20
# What lichess-bot's own sample asks for, on a machine that has not got it.
STOCK: ConfigMapping = {"Move Overhead": 100, "Threads": 2, "Hash": 512}
# lichess-bot gives ten seconds for a first move, because lichess does not run the clock then.
FIRST_MOVE = Limit(time=0.1, clock_id="first move")
SECONDS, INCREMENT = 5.0, 0.02


def play(engine: SimpleEngine, board: chess.Board) -> str:
    """A game to its end, as lichess-bot with `ponder`; the opponent moves at once and at random. Returns the result."""
    choice = random.Random(7).choice
    clock = SECONDS
    while not board.is_game_over(claim_draw=True):
        is_first = len(board.move_stack) < 2
        limit = Limit(
            white_clock=clock, black_clock=SECONDS, white_inc=INCREMENT, black_inc=INCREMENT, clock_id="real time"
        )
        started = time.perf_counter()
        result = engine.play(
            board,
            FIRST_MOVE if is_first else limit,
            info=chess.engine.INFO_ALL,
            ponder=not is_first,
            draw_offered=False,
        )
        if not is_first:
            clock -= time.perf_counter() - started
            assert clock > 0, "the bot has lost on time"
            clock += INCREMENT
        assert "score" in result.info
        assert result.move is not None
        assert result.move in board.legal_moves
        board.push(result.move)
        if not board.is_game_over():
            board.push(choice(list(board.legal_moves)))
    engine.send_game_result(board)
    return board.result(claim_draw=True)


def test_a_game() -> None:
    command = [sys.executable, "-m", "uci_engine"]
    if sys.platform == "linux":
        command = ["sh", "-c", f"ulimit -v {ONE_GIGABYTE_IN_KIB}; exec {shlex.join(command)}"]
    with SimpleEngine.popen_uci(command, timeout=PATIENCE_SECONDS, env=ENVIRONMENT) as engine:
        engine.configure(STOCK)
        engine.ping()
        engine.send_opponent_information(opponent=Opponent("Maia", "BOT", 1500, True), engine_rating=2000)
        board = chess.Board()
        assert play(engine, board) == "1-0"
        assert board.is_checkmate()
        engine.quit()
        assert engine.protocol.returncode.result() == 0
