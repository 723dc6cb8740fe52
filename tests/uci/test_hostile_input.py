"""Input that no chess program should send: bytes, lines, numbers. The engine survives and plays on."""

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


class TestFraming:
    @pytest.mark.parametrize(
        "data",
        [
            b"uci\n",
            b"uci\r\n",
            b"uci\r",
            b"\xef\xbb\xbfuci\n",
            b"uci\0\n",
            b"\0uci\n",
            b"  uci  \n",
            b"\tuci\v\n",
        ],
    )
    def test_uci_however_it_is_sent(self, engine: UciProcess, data: bytes) -> None:
        engine.send_bytes(data)
        engine.wait_for("uciok")

    @pytest.mark.parametrize("data", [b"\n", b"   \t  \n", b"\r\r\r\r", b"\f\v\n", b"\0\0\n", b"\xef\xbb\xbf\n"])
    def test_a_line_without_a_word(self, survivor: UciProcess, data: bytes) -> None:
        survivor.send_bytes(data)
        assert survivor.sync() == []

    @pytest.mark.parametrize(
        "data",
        [
            b"setoption name BookPath value C:\\Sch\xe4ch\n",
            b"\xe4\n",
            b"\xff\xfe\xfd\n",
            b"\xc3\n",
            b"\xed\xa0\x80\n",
            "position fen \u265c\u265e\u265d\u265b\u265a w - - 0 1\n".encode(),
            "\u0661\u0662\u0663\n".encode(),
            b"UCI\n",
            b"Isready\n",
            b"GO depth 1\n",
            b"xboard\nprotover 2\n",
            b"\x1b[A\x1b[B\n",
            b"\x04\n",
            b"info depth 1\nbestmove e2e4\n",
        ],
    )
    def test_lines_in_no_known_language(self, survivor: UciProcess, data: bytes) -> None:
        survivor.send_bytes(data)
        lines = survivor.sync()
        assert lines
        assert all(line.startswith("info string ") for line in lines)
        assert_well(survivor)

    def test_only_cr_and_lf_end_a_line(self, survivor: UciProcess) -> None:
        survivor.send_bytes("isready\u2028isready\u0085isready\fisready\visready\n".encode())
        assert survivor.wait_for("readyok") == ["readyok"]
        assert survivor.sync() == []

    def test_ten_megabytes_in_a_line(self, survivor: UciProcess) -> None:
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

    def test_a_line_that_is_too_long_to_keep(self, survivor: UciProcess) -> None:
        survivor.send_bytes(b"isready " * (MAX_LINE_BYTES // 8 + 1) + b"\n")
        (answer,) = survivor.sync()
        assert answer.startswith("info string error: ")
        assert_well(survivor)

    def test_random_bytes(self, survivor: UciProcess) -> None:
        # What can be read as a command among these is none that matters: words of one letter at most.
        noise = random.Random(4).randbytes(300_000).translate(None, delete=b"d")
        survivor.send_bytes(noise + b"\n")
        assert all(line.startswith("info string ") for line in survivor.sync())
        assert_well(survivor)


class TestNumbers:
    @pytest.mark.parametrize(
        "limits",
        [
            "depth",
            "depth 99999999999999999999 nodes 50",
            "depth " + "9" * 5000 + " movetime 10",
            "nodes -1",
            "movetime x",
            "wtime -50 btime 1000",
            "wtime 0 btime 0",
            "movestogo 0 wtime 300 btime 300",
            "mate x",
            "searchmoves",
            "wtime \u0661\u0662 btime 100",
            "depth depth 1",
        ],
    )
    def test_go_ends_by_itself(self, survivor: UciProcess, limits: str) -> None:
        survivor.search(f"go {limits}", START)

    @pytest.mark.parametrize("limits", ["mate 999", "depth 99999999999999999999", "nodes 999999999999999999"])
    def test_go_with_a_limit_out_of_reach_can_be_stopped(self, survivor: UciProcess, limits: str) -> None:
        survivor.send(f"go {limits}", "isready", "stop")
        survivor.answer(START)

    @pytest.mark.parametrize(
        "words",
        [
            "",
            "name",
            "name Hash value x",
            "name Hash value -99999999999999999999",
            "name SyzygyPath value /dev/zero",
            "name " + "x" * 100_000,
            "name Hash value " + "9x" * 50_000,
            'name "Hash" value "16"',
        ],
    )
    def test_setoption_is_answered_with_a_remark(self, survivor: UciProcess, words: str) -> None:
        survivor.send(f"setoption {words}")
        lines = survivor.sync()
        survivor.send("setoption name MultiPV value 1", "setoption name Move Overhead value 30")
        assert lines
        assert all(line.startswith("info string ") and len(line) < 300 for line in lines)
        assert_well(survivor)


class TestPositions:
    @pytest.mark.parametrize(
        "fen",
        [
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
            "QQQQQQBk/Q6B/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1",
            "KQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQk w - - 0 1",
            "999999999/8/8/8/8/8/8/8 w - - 0 1",
            "/" * 1000,
            "k" * 100_000,
        ],
    )
    def test_refused(self, survivor: UciProcess, fen: str) -> None:
        survivor.send(f"position fen {fen}")
        lines = survivor.sync()
        assert any(line.startswith("info string error: ") for line in lines)
        assert all(len(line) < 300 for line in lines)
        assert survivor.search("go depth 1").best == "(none)"
        assert_well(survivor)

    @pytest.mark.parametrize(
        "fen",
        [
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
    def test_put_right_or_refused_but_never_harmful(self, survivor: UciProcess, fen: str) -> None:
        survivor.send(f"position fen {fen}")
        survivor.sync()
        search = survivor.search("go depth 2")
        if search.best != "(none)":
            assert chess.Move.from_uci(search.best) in chess.Board(fen.split()[0] + f" {fen.split()[1]}").legal_moves
        assert_well(survivor)

    def test_a_game_of_a_hundred_thousand_plies(self, survivor: UciProcess) -> None:
        survivor.send("position startpos moves" + " g1f3 g8f6 f3g1 f6g8" * 25_000)
        assert any(line.startswith("info string error: ") for line in survivor.sync())
        assert_well(survivor)
