"""Bots on small machines: what a stock configuration asks for is accepted, and cut to what there is."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import closing

import chess
import pytest
from chess.engine import ConfigMapping, Limit, SimpleEngine

from tests.support import ROOT
from tests.support.uci_process import PATIENCE_SECONDS

# The first thing that lichess-bot does is to set the options of its configuration.
STOCK_CONFIGURATION: ConfigMapping = {
    "Hash": 512,
    "Threads": 2,
    "Move Overhead": 100,
    "SyzygyPath": "./syzygy/",
    "UCI_ShowWDL": True,
}

# The program, on a machine with as much memory as the first argument says, in MiB.
WITH_MEMORY = """\
import sys
from uci_engine import memory
mebibytes = int(sys.argv.pop(1))
memory.physical_memory_bytes = lambda: mebibytes << 20
from uci_engine.__main__ import main
sys.exit(main())
"""


def start(command: list[str]) -> SimpleEngine:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return SimpleEngine.popen_uci(command, timeout=PATIENCE_SECONDS, env=environment)


def play_a_few_moves(client: SimpleEngine) -> None:
    client.configure(STOCK_CONFIGURATION)
    board = chess.Board()
    for _ in range(6):
        result = client.play(board, Limit(white_clock=2, black_clock=2, white_inc=0.01, black_inc=0.01))
        assert result.move is not None
        assert result.move in board.legal_moves
        board.push(result.move)


@pytest.mark.parametrize("mebibytes", [256, 512, 1024])
def test_the_stock_configuration_plays(mebibytes: int) -> None:
    with closing(start([sys.executable, "-c", WITH_MEMORY, str(mebibytes)])) as client:
        assert client.options["Hash"].max == 33554432
        play_a_few_moves(client)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_the_stock_configuration_plays_in_a_gigabyte_of_address_space() -> None:
    command = f"ulimit -v 1048576; exec {shlex.quote(sys.executable)} -m uci_engine"
    with closing(start(["sh", "-c", command])) as client:
        play_a_few_moves(client)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_table_may_grow_where_there_is_no_room_for_two() -> None:
    command = f"ulimit -v 4000000; exec {shlex.quote(sys.executable)} -m uci_engine"
    sent = "setoption name Hash value 1900\nsetoption name Hash value 1950\ngo depth 1\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(["sh", "-c", command], input=sent, env=environment, capture_output=True, text=True)
    assert "error" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("bestmove ")
