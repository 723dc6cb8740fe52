"""scripts/perft.py: files read in both formats, counts compared, and the first difference found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chess
import pytest

from lib.engines.engine import EngineError
from lib.engines.spec import parse_engine
from lib.errors import ProgramError
from lib.perft import Case, EngineCounter, PythonChessCounter, as_chess960, read_cases
from perft import count_case, first_difference
from tests.support import ROOT

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
ENGINE = f"cmd='{sys.executable} -m uci_engine' name=ours dir={ROOT}"


def run_script(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/perft.py", *map(str, words)]
    environment = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def suites(tmp_path: Path) -> tuple[Path, Path]:
    line = tmp_path / "line.epd"
    line.write_text(f"{chess.STARTING_FEN} ;D1 20 ;D2 400 ;D3 0\n")
    block = tmp_path / "block.perft"
    block.write_text(
        "# a remark\nid one\nepd 4k3/8/8/8/8/8/8/4K2R w K -\nperft 1 15\nperft 2 66\n\n"
        "id two\nepd 7k/8/8/8/8/8/8/K7 b - -\nperft 1 3\n"
    )
    return line, block


def test_both_formats_are_read(suites: tuple[Path, Path]) -> None:
    assert [case.counts for path in suites for case in read_cases(path)] == [
        {1: 20, 2: 400, 3: 0},
        {1: 15, 2: 66},
        {1: 3},
    ]


@pytest.mark.parametrize(
    "text", ["perft 1 20\n", "nonsense ;D1 20\n", f"{chess.STARTING_FEN} ;D1 twenty\n", f"{chess.STARTING_FEN} ;D1\n"]
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(text)
    with pytest.raises(ProgramError, match=r"^bad\.epd:1: "):
        list(read_cases(path))


def test_the_program_counts_and_writes(suites: tuple[Path, Path], tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    result = run_script(*suites, "--depth", 2, "--json", found, "--concurrency", 2)
    assert result.returncode == 0, result.stderr
    data = json.loads(found.read_text())
    assert data["all_right"] is True
    assert [[count["found"] for count in position["counts"]] for position in data["positions"]] == [
        [20, 400],
        [15, 66],
        [3],
    ]
    assert [line.split("│")[2:5] for line in result.stdout.splitlines() if ".epd" in line or ".perft" in line] == [
        ["         1 ", "            2 ", "     0 "],
        ["         2 ", "            3 ", "     0 "],
    ]


def test_the_program_tells_of_wrong_counts_and_continues_a_journal(suites: tuple[Path, Path], tmp_path: Path) -> None:
    line, _ = suites
    line.write_text(line.read_text().replace("D2 400", "D2 401"))
    words = (line, "--depth", 2, "--core", "python-chess", "--journal", tmp_path / "journal")
    first = run_script(*words)
    assert first.returncode == 1
    assert "line.epd:1: depth 2 gives 400, not 401" in first.stdout
    assert "the number in the file is wrong" in first.stdout
    assert "Counted by the python-chess core" in first.stdout
    assert run_script(*words).returncode == 2
    assert run_script(*words, "--resume").stdout == first.stdout


def test_a_suite_without_counts_is_no_success(suites: tuple[Path, Path]) -> None:
    assert run_script(suites[0], "--depth", 0).returncode == 1


def test_a_missing_file_is_an_error() -> None:
    result = run_script("/no/such/file.epd")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")


class Forgetful(PythonChessCounter):
    """Leaves castling out, wherever it is possible."""

    name = "forgetful"

    def count(self, board: chess.Board, depth: int) -> int:
        if depth == 0:
            return 1
        return sum(self.divide(board, depth).values())

    def divide(self, board: chess.Board, depth: int) -> dict[str, int]:
        result = {}
        for move in list(board.legal_moves):
            if not board.is_castling(move):
                board.push(move)
                result[move.uci()] = self.count(board, depth - 1)
                board.pop()
        return result


def test_the_first_difference_is_found() -> None:
    # The bishop has to make way first, so that castling is missing from the second own move on.
    board = Case("x:1", "4k3/8/8/8/8/8/8/4KB1R w K -").board()
    assert PythonChessCounter().count(board, 2) == Forgetful().count(board, 2)
    sentence = first_difference(Forgetful(), board, 3)
    assert sentence.startswith("after f1")
    assert "e1h1 is legal and not counted" in sentence
    assert board.fen().startswith("4k3/8/8/8/8/8/8/4KB1R w K ")


def test_a_position_tells_what_was_found_and_where_it_differs() -> None:
    case = Case("x:1", CASTLING, {1: 26, 2: 568})
    assert count_case(PythonChessCounter(), case)["difference"] is None
    finding = count_case(Forgetful(), case)
    assert [count["found"] for count in finding["counts"]] != [26, 568]
    assert "e1a1 is legal and not counted" in finding["difference"]


def test_an_engine_counts_as_python_chess_does() -> None:
    counter = EngineCounter(parse_engine(ENGINE))
    try:
        for fen in (CASTLING, "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"):
            board = chess.Board(fen, chess960=True)
            assert counter.divide(board, 2) == PythonChessCounter().divide(board, 2)
    finally:
        counter.close()


def test_castling_is_translated_for_engines_without_chess960() -> None:
    board = chess.Board(CASTLING, chess960=True)
    assert [as_chess960(board, move) for move in ("e1g1", "e1c1", "e1e2", "a1a8")] == ["e1h1", "e1a1", "e1e2", "a1a8"]
    assert as_chess960(board, "e1e3") == "e1e3"


def test_an_engine_that_cannot_count_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "searches.py"
    program.write_text(
        "for line in iter(input, 'quit'):\n"
        "    print({'uci': 'uciok', 'isready': 'readyok'}.get(line, 'bestmove e2e4'), flush=True)\n"
    )
    with pytest.raises(EngineError, match="does not answer `go perft`"):
        EngineCounter(parse_engine(f"cmd='{sys.executable} {program}'"))
