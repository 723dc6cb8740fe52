"""Input that no chess program should send: bytes, very long lines, positions. The engine survives and plays on.

Odd options and limits are in test_random_conversations.py.
"""

from __future__ import annotations

import random

import chess
import pytest

from tests.support.uci_process import UciProcess
from uci_engine.uci.protocol import MAX_LINE_BYTES

START = chess.Board()


def assert_well(engine: UciProcess) -> None:
    """After whatever came before, a position can be set up and searched."""
    engine.send("position startpos")
    engine.sync()
    engine.search("go depth 1", START)


@pytest.mark.parametrize("data", [b"uci\n", b"uci\r", b"\xef\xbb\xbfuci\n", b"\0uci\n"])
def test_uci_as_the_first_line_however_it_is_sent(engine: UciProcess, data: bytes) -> None:
    engine.send_bytes(data)
    engine.wait_for("uciok")


@pytest.mark.parametrize("data", [b"\n", b"   \t  \n", b"\r\r\r\r", b"\f\v\n", b"\0\0\n", b"\xef\xbb\xbf\n"])
def test_a_line_without_a_word(survivor: UciProcess, data: bytes) -> None:
    survivor.send_bytes(data)
    assert survivor.sync() == []


@pytest.mark.parametrize(
    "data",
    [
        b"setoption name BookPath value C:\\Sch\xe4ch\n",
        b"\xff\xfe\xfd\n",
        b"\xed\xa0\x80\n",
        "position fen \u265c\u265e\u265d\u265b\u265a w - - 0 1\n".encode(),
        "\u0661\u0662\u0663\n".encode(),
        b"UCI\n",
        b"xboard\nprotover 2\n",
        b"\x1b[A\x1b[B\n",
        b"info depth 1\nbestmove e2e4\n",
        # Without a letter that is a command.
        random.Random(4).randbytes(300_000).translate(None, delete=b"d") + b"\n",
    ],
)
def test_lines_in_no_known_language(survivor: UciProcess, data: bytes) -> None:
    survivor.send_bytes(data)
    lines = survivor.sync()
    assert lines
    assert all(line.startswith("info string ") for line in lines)
    assert_well(survivor)


def test_only_cr_and_lf_end_a_line(survivor: UciProcess) -> None:
    survivor.send_bytes("isready\u2028isready\u0085isready\fisready\visready\n".encode())
    assert survivor.wait_for("readyok") == ["readyok"]
    assert survivor.sync() == []


def test_ten_megabytes_in_a_line(survivor: UciProcess) -> None:
    for line in (
        b"x" * 10_000_000,
        b"x " * 5_000_000,
        b"position startpos moves" + b" e2e4" * 2_000_000,
        b"position startpos\ngo" + b" depth" * 1_600_000 + b" 1",
        b"go depth 1 searchmoves" + b" e2e5" * 2_000_000,
        b"go depth 1 searchmoves e2e4 " + b"x" * 10_000_000,
        b"go depth " + b"0" * 10_000_000 + b"x",
        b"setoption name " + b"value" * 2_000_000,
        b"setoption name Hash value " + b"9" * 10_000_000 + b"x",
    ):
        survivor.send_bytes(line)
        sent_at = survivor.send("", "isready")
        said = survivor.wait_for("readyok")
        # The duty is one second; it takes a third of one on a machine that has nothing else to do.
        assert survivor.arrived_at() - sent_at < 20.0
        # `isready` is answered during a search, too.
        if b"go " in line and not any(text.startswith("bestmove") for text in said):
            said += survivor.wait_for("bestmove")
        told = [text for text in said if text.startswith("info string ")]
        assert len(told) < 20
        assert all(len(text) < 300 for text in told)
    assert_well(survivor)


def test_a_line_that_is_too_long_to_keep(survivor: UciProcess) -> None:
    survivor.send_bytes(b"isready " * (MAX_LINE_BYTES // 8 + 1) + b"\n")
    (answer,) = survivor.sync()
    assert answer.startswith("info string error: ")
    assert_well(survivor)


def test_a_game_of_a_hundred_thousand_plies(survivor: UciProcess) -> None:
    survivor.send("position startpos moves" + " g1f3 g8f6 f3g1 f6g8" * 25_000)
    assert any(line.startswith("info string error: ") for line in survivor.sync())
    assert_well(survivor)


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
        "QQQQQQBk/Q6B/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1",
        "KQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQk w - - 0 1",
        "/" * 1000,
        "k" * 100_000,
        "2b1kbnQ/rpq1pp1p/2n3p1/8/8/2P5/PP3PPP/RN2KBNR b KQk - 0 9",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 1",
        "k7/8/8/r2pPK2/8/8/8/8 w - d6 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999",
        "4k3/8/8/8/8/8/4P3/4K3 w - - 100000000000000000000 1",
        "4k3/8/8/8/4r3/5n2/8/b3K2q w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq \u2013 0 1",
        "4k3/8/8/8/8/8/4R3/4K3 b - - 100 80",
    ],
)
def test_a_position_is_put_right_or_refused(survivor: UciProcess, fen: str) -> None:
    survivor.send(f"position fen {fen}")
    told = survivor.sync()
    assert all(len(line) < 300 for line in told)
    best = survivor.search("go depth 2").best
    assert (best == "(none)") == any(line.startswith("info string error: ") for line in told)
    if best != "(none)":
        assert chess.Move.from_uci(best) in chess.Board(" ".join(fen.split()[:2])).legal_moves
    assert_well(survivor)
