"""scripts/perft.py: files read, and counts compared."""

from __future__ import annotations

import sys
from pathlib import Path

import chess
import pytest

from perft import PerftEngine, main, read_cases
from tests.support import FAKE_ENGINE, ROOT
from toolkit.engines.client import EngineError
from toolkit.engines.spec import parse_engine
from toolkit.errors import ProgramError

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
FISCHER = "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"
ENGINE = f"cmd='{sys.executable} -m uci_engine' name=ours dir={ROOT}"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.epd"
    path.write_text(f"# a remark\n{chess.STARTING_FEN} ;D1 20 ;D2 400 ;D3 0\n\n4k3/8/8/8/8/8/8/4K2R w K - ;D1 15\n")
    return path


def test_a_file_is_read_up_to_a_depth(suite: Path) -> None:
    assert [case.counts for case in read_cases(suite, 2)] == [{1: 20, 2: 400}, {1: 15}]


@pytest.mark.parametrize(
    "text", ["perft 1 20\n", "nonsense ;D1 20\n", f"{chess.STARTING_FEN} ;D1 twenty\n", f"{chess.STARTING_FEN} ;D1\n"]
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(text)
    with pytest.raises(ProgramError, match=r"^bad\.epd:1: "):
        list(read_cases(path, 99))


def test_the_program_counts(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(suite), "--depth", "2"]) == 0
    shown = capsys.readouterr().out
    (row,) = (line for line in shown.splitlines() if " │ " in line)
    assert [cell.strip() for cell in row.split("│")[2:5]] == ["2", "3", "0"]


def test_the_program_tells_of_wrong_counts(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(suite), "--depth", "3", "--core", "python-chess"]) == 1
    shown = capsys.readouterr().out
    assert "suite.epd:2: depth 3 gives 8902, not 0" in shown
    assert "Counted by the python-chess core" in shown


def test_a_suite_without_counts_is_no_success(suite: Path) -> None:
    assert main([str(suite), "--depth", "0"]) == 1


def count(board: chess.Board, depth: int) -> int:
    """By python-chess."""
    total = 0
    for move in list(board.legal_moves):
        board.push(move)
        total += count(board, depth - 1) if depth > 1 else 1
        board.pop()
    return total


def test_an_engine_counts_as_python_chess_does() -> None:
    with PerftEngine(parse_engine(ENGINE)) as engine:
        for fen in (CASTLING, FISCHER):
            board = engine.board(fen)
            assert engine.count(board, 2) == count(board, 2)
        # As for an engine that does not know Chess960.
        engine.is_chess960 = False
        assert {move.uci() for move in engine.board(CASTLING).legal_moves} > {"e1g1", "e1c1"}
        with pytest.raises(ValueError, match="only Chess960"):
            engine.board(FISCHER)


def test_an_engine_that_cannot_count_is_refused() -> None:
    with pytest.raises(EngineError, match="does not answer `go perft`"):
        PerftEngine(parse_engine(f"cmd='{sys.executable} {FAKE_ENGINE}'"))
