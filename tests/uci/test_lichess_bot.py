"""Games as lichess-bot plays them, with one gigabyte of memory: its configuration, clocks and pondering.

lichess-bot holds the engine through python-chess. `Bot` makes the same calls in the same order, and `Lichess` keeps the
board and the clocks, as the server does.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest
from chess.engine import ConfigMapping, Limit, Opponent, PlayResult, SimpleEngine

from tests.support import ENVIRONMENT, PATIENCE_SECONDS, ROOT

ONE_GIGABYTE_IN_KIB = 1 << 20
# What lichess-bot's own sample asks for, on a machine that has not got it.
STOCK: ConfigMapping = {"Move Overhead": 100, "Threads": 2, "Hash": 512}
# lichess-bot gives ten seconds for a first move, because lichess does not run the clock then.
FIRST_MOVE_SECONDS = 0.1


def documented() -> ConfigMapping:
    """The options in the sample of GUIS.md."""
    text = (ROOT / "GUIS.md").read_text("utf-8")
    return {name: int(value) for name, value in re.findall(r"^    (\w[\w ]*): (\d+)$", text, re.MULTILINE)}


class Lichess:
    """The server: the board, the clocks, and an opponent that moves at once and at random."""

    def __init__(self, seconds: float, increment: float) -> None:
        self.board = chess.Board()
        self.clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
        self.increment = increment
        self._choice = random.Random(7).choice

    def move(self, result: PlayResult, seconds: float) -> None:
        """The bot's move, and how long it took."""
        assert result.move is not None
        assert result.move in self.board.legal_moves
        if len(self.board.move_stack) >= 2:
            clock = self.clocks[self.board.turn] - seconds
            assert clock > 0, "the bot has lost on time"
            self.clocks[self.board.turn] = clock + self.increment
        self.board.push(result.move)

    def opponent_moves(self) -> None:
        if not self.board.is_game_over():
            self.board.push(self._choice(list(self.board.legal_moves)))


class Bot:
    """lichess-bot, with `ponder`."""

    def __init__(self, engine: SimpleEngine, options: ConfigMapping) -> None:
        self.engine = engine
        engine.configure(options)
        engine.ping()
        engine.send_opponent_information(opponent=Opponent("Maia", "BOT", 1500, True), engine_rating=2000)

    def answer(self, game: Lichess) -> PlayResult:
        board = game.board
        if len(board.move_stack) < 2:
            limit, ponder = Limit(time=FIRST_MOVE_SECONDS, clock_id="first move"), False
        else:
            white, black = game.clocks[chess.WHITE], game.clocks[chess.BLACK]
            limit = Limit(
                white_clock=white,
                black_clock=black,
                white_inc=game.increment,
                black_inc=game.increment,
                clock_id="real time",
            )
            ponder = True
        result = self.engine.play(board, limit, info=chess.engine.INFO_ALL, ponder=ponder, draw_offered=False)
        assert "score" in result.info
        return result

    def play(self, game: Lichess) -> str:
        """Play the game to its end and return the result."""
        while not game.board.is_game_over(claim_draw=True):
            started = time.perf_counter()
            result = self.answer(game)
            game.move(result, time.perf_counter() - started)
            game.opponent_moves()
        self.engine.send_game_result(game.board)
        return game.board.result(claim_draw=True)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SimpleEngine]:
    """The program, with an address space of one gigabyte where the system can limit it."""
    command = [sys.executable, "-m", "uci_engine"]
    if sys.platform == "linux":
        command = ["sh", "-c", f"ulimit -v {ONE_GIGABYTE_IN_KIB}; exec {shlex.join(command)}"]
    arguments: dict[str, Any] = {"cwd": tmp_path, "env": ENVIRONMENT}
    if os.name == "posix":
        arguments["setpgrp"] = True
    client = SimpleEngine.popen_uci(command, timeout=PATIENCE_SECONDS, **arguments)
    try:
        yield client
        client.ping()
        client.quit()
        assert client.protocol.returncode.result() == 0
    finally:
        client.close()


@pytest.mark.parametrize("options", [STOCK, documented()], ids=["stock", "documented"])
def test_a_game(engine: SimpleEngine, options: ConfigMapping) -> None:
    assert {"Hash", "Threads", "Move Overhead"} <= set(options)
    game = Lichess(seconds=5, increment=0.02)
    assert Bot(engine, options).play(game) == "1-0"
    assert game.board.is_checkmate()
