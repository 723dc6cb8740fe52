"""The book maker: theory compiled, games counted whatever is in them, books merged, pruned and inspected."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.polyglot
import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_book
from lib.books.file import ENTRY, book_bytes, polyglot_move
from lib.books.games import count_games
from lib.books.repertoire import RepertoireError, read_line
from lib.books.theory import Theory
from tests.support import SCRIPTS
from tests.support.uci_process import PACKAGE_ROOT
from uci_engine.book.book import Book

SCRIPT = SCRIPTS / "make_book.py"

TABLE = """eco\tname\tmoves
C20\tKing's Pawn Game\t1. e4 e5
C44\tScotch Game\t1. e4 e5 2. Nf3 Nc6 3. d4 | exd4 4. Nxd4
C44\tScotch Game\t1. e4 e5 2. d4 exd4 3. Nf3 Nc6 | 4. Nxd4
C30\tKing's Gambit\t1. e4 e5 2. f4?! | exf4
"""


def weights_at(book: Path, moves: str = "") -> dict[str, int]:
    """The book's moves and weights after these."""
    board = chess.Board()
    for move in moves.split():
        board.push_san(move)
    opened = Book(str(book))
    found = {board.san(move): weight for move, weight in opened.moves(board)}
    return found


def run(*words: str | Path) -> int:
    return make_book.main([str(word) for word in words])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "lines.tsv"
    path.write_text(TABLE, "utf-8")
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.bin"


# Theory ------------------------------------------------------------------------------------------------------------


def test_compile_merges_transpositions_and_leaves_avoided_moves_out(table: Path, out: Path) -> None:
    assert run("compile", table, "-o", out, "--depth", "2") == 0
    assert weights_at(out) == {"e4": 1000}
    assert set(weights_at(out, "e4 e5")) == {"Nf3", "d4"}
    assert weights_at(out, "e4 e5 f4") == {"exf4": 1000}
    assert weights_at(out, "e4 e5 Nf3 Nc6 d4 exd4") == weights_at(out, "e4 e5 d4 exd4 Nf3 Nc6") == {"Nxd4": 1000}


def test_the_same_input_gives_the_same_bytes_in_any_order(table: Path, out: Path) -> None:
    run("compile", table, "-o", out, "--depth", "3")
    first = out.read_bytes()
    header, *rows = TABLE.splitlines()
    table.write_text("\n".join([header, *reversed(rows)]), "utf-8")
    run("compile", table, "-o", out, "--depth", "3")
    assert out.read_bytes() == first


def test_results_change_weights(table: Path, out: Path, tmp_path: Path) -> None:
    run("compile", table, "-o", out, "--depth", "2")
    before = weights_at(out, "e4 e5")
    games = tmp_path / "games.pgn"
    games.write_text('[Result "1-0"]\n\n1. e4 e5 2. d4 1-0\n\n' * 30 + '[Result "0-1"]\n\n1. e4 e5 2. Nf3 0-1\n\n' * 30)
    run("compile", table, "-o", out, "--depth", "2", "--results", games)
    after = weights_at(out, "e4 e5")
    assert after["d4"] / after["Nf3"] > 2 * before["d4"] / before["Nf3"]


def test_check_finds_blunders_and_bad_ends(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text(TABLE + "C40\tQueen lost\t1. e4 e5 2. Qh5 Nc6 3. Qxe5+ Nxe5\n", "utf-8")
    assert run("compile", table, "--check", "--depth", "4") == 1
    output = capsys.readouterr().out
    assert "Qxe5+ loses" in output
    assert "at the end of C40 Queen lost" in output
    assert "f4 loses" not in output


def checked(table: Path, rows: str, capsys: pytest.CaptureFixture[str], accepted: str = "") -> tuple[int, list[str]]:
    """The exit code of a check of these rows with these acceptances, and its remarks."""
    table.write_text(f"eco\tname\tmoves\n{rows}", "utf-8")
    acceptances = table.with_name("accepted.tsv")
    acceptances.write_text(f"max_cp\tmoves\treason\n{accepted}", "utf-8")
    code = run("compile", table, "--check", "--depth", "3", "--accepted", acceptances)
    return code, capsys.readouterr().out.splitlines()[:-1]


LOST_QUEEN = "C40\tQueen lost\t1. e4 e5 2. Qh5 Nc6 3. Qxe5+ Nxe5\n"


def test_what_is_accepted_is_not_told_up_to_its_cost(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "1. e4 e5 2. Qh5 Nc6 3. Qxe5+ Nxe5"
    rows = "".join(f"2000\t{line.rsplit(' ', words)[0]}\ta test\n" for words in (0, 1, 4))
    assert checked(table, LOST_QUEEN, capsys, rows) == (0, [])
    code, remarks = checked(
        table, LOST_QUEEN, capsys, rows.replace("2000\t1. e4 e5 2. Qh5 Nc6 3. Qxe5+\t", f"100\t{line[:-5]}\t")
    )
    assert code == 1
    assert len(remarks) == 1
    assert remarks[0].startswith("Qxe5+ loses")


def test_an_acceptance_of_nothing_is_told(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "C20\tKing's Pawn\t1. e4 e5\n"
    told = [1, ["accepted, but not in the repertoire: 1. d4"]]
    assert list(checked(table, rows, capsys, "50\t1. d4\ta test\n")) == told
    assert checked(table, rows, capsys, "50\t1. e4\tnot needed by this search\n") == (0, [])


@pytest.mark.parametrize("row", ["50\t1. e4", "-5\t1. e4\ta test", "50\t1. e4\t ", "50\t\ta test", "50\t1. e5\ta test"])
def test_a_bad_acceptance_is_one_sentence(table: Path, row: str, capsys: pytest.CaptureFixture[str]) -> None:
    table.with_name("accepted.tsv").write_text(f"max_cp\tmoves\treason\n{row}\n", "utf-8")
    assert run("compile", table, "--check", "--depth", "1", "--accepted", table.with_name("accepted.tsv")) == 1
    assert capsys.readouterr().err.startswith("make_book: ")


def test_check_finds_lines_that_end_before_a_recapture(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = "B07\tPirc\t1. e4 d6 2. d4 Nf6 3. Nc3 e5 | 4. dxe5 dxe5 5. Qxd8+"
    code, remarks = checked(table, f"{start}\n", capsys)
    assert code == 1
    (remark,) = [remark for remark in remarks if "ends before" in remark]
    assert remark.startswith("B07 Pirc ends before ")
    assert remark.endswith("xd8: 1. e4 d6 2. d4 Nf6 3. Nc3 e5 | 4. dxe5 dxe5 5. Qxd8+")
    # Played out, the line is blamed for nothing but, by a shallow search, for the castling that Black has lost.
    _, remarks = checked(table, f"{start} Kxd8\n", capsys)
    assert not any("ends before" in remark for remark in remarks)


def test_check_finds_where_our_own_moves_lead_to_avoided_ones(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, remarks = checked(table, "B12\tCaro-Kann\t1. e4 c6 2. d4 d5 3. e5 Bf5~\n", capsys)
    assert code == 1
    assert len(remarks) == 1
    assert remarks[0].endswith("where all that is known is avoided: Bf5")
    # Behind an avoided move of ours nothing is blamed on us.
    assert checked(table, "B12\tCaro-Kann\t1. e4 c6~ 2. d4 d5 3. e5 Bf5~\nC20\tOpen\t1. e4 e5\n", capsys) == (0, [])
    assert checked(table, LOST_QUEEN.replace("Qh5", "Qh5~") + "C40\tOpen\t1. e4 e5 2. Nf3\n", capsys) == (0, [])


def test_a_move_avoided_in_one_line_only_is_refused() -> None:
    lines = [read_line("C30", "a", "e4 e5 f4?! exf4"), read_line("C30", "b", "e4 e5 f4 Bc5")]
    with pytest.raises(RepertoireError, match="f4 is avoided in some"):
        Theory.of(lines)


def test_a_line_may_end_with_mate(table: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text("eco\tname\tmoves\nA00\tFool's Mate\t1. f3 e5 2. g4~ Qh4#\n", "utf-8")
    assert run("compile", table, "-o", out, "--depth", "2") == 0
    assert weights_at(out, "f3 e5 g4") == {"Qh4#": 1000}
    assert "remarks" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "eco\tname\tmoves\nA00\tx\t1. e4 Ke7\n", "eco\tname\tmoves\n"])
def test_a_bad_table_is_one_sentence(table: Path, out: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text(text, "utf-8")
    assert run("compile", table, "-o", out, "--depth", "1") == 1
    assert capsys.readouterr().err.startswith("make_book: ")
    assert not out.exists()


def test_names_are_compared_with_other_tables(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = "".join(row for row in TABLE.splitlines(keepends=True) if "2. d4" not in row)
    table.write_text(ours, "utf-8")
    other = tmp_path / "other.tsv"
    other.write_text(ours.replace("Scotch", "Sc\u00f6tch"), "utf-8")
    assert run("names", other, "--lines", table) == 0
    table.write_text(ours.replace("Scotch", "Moller"), "utf-8")
    other.write_text(ours.replace("Scotch", "M\u00f8ller"), "utf-8")
    assert run("names", other, "--lines", table) == 0
    table.write_text(ours, "utf-8")
    other.write_text(ours.replace("Scotch", "Irish").replace("C30", "C31"), "utf-8")
    assert run("names", other, "--lines", table) == 1
    assert "3 lines, 2 with another code, name" in capsys.readouterr().out


# The file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1 e1c1 a1b1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8g8 e8c8 h8h1"),
        ("8/P6k/8/8/8/8/7K/1b6 w - - 0 1", "a7a8q a7a8n a7a8r a7a8b h2g2"),
    ],
)
def test_moves_survive_the_format(tmp_path: Path, fen: str, moves: str) -> None:
    board = chess.Board(fen)
    weights = {polyglot_move(board, chess.Move.from_uci(word)): 1.0 for word in moves.split()}
    path = tmp_path / "one.bin"
    path.write_bytes(book_bytes({chess.polyglot.zobrist_hash(board): weights}))
    book = Book(str(path))
    assert {move.uci() for move, _ in book.moves(board)} == set(moves.split())


@given(
    st.dictionaries(
        st.integers(0, 2**64 - 1), st.dictionaries(st.integers(0, 2**15), st.floats(0, 1e12), min_size=1), max_size=20
    )
)
def test_any_weights_make_a_sorted_file(weights: dict[int, dict[int, float]]) -> None:
    data = book_bytes(weights)
    entries = list(ENTRY.iter_unpack(data))
    assert [key for key, *_ in entries] == sorted(key for key, *_ in entries)
    assert {(key, move) for key, move, _, _ in entries} == {
        (key, move) for key, moves in weights.items() for move, weight in moves.items() if weight > 0
    }
    assert all(1 <= weight <= 65535 for _, _, weight, _ in entries)


def test_a_book_that_cannot_be_written_leaves_nothing(table: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert run("compile", table, "-o", tmp_path, "--depth", "1") == 1
    assert run("compile", table, "-o", tmp_path / "none" / "out.bin", "--depth", "1") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("words", [["prune", "a", "-o", "b", "--keep", "-1"], ["compile", "--depth", "0"]])
def test_numbers_below_one_are_refused(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(*words)
    assert "is not 1 or more" in capsys.readouterr().err


# Games -------------------------------------------------------------------------------------------------------------

GOOD = '[Event "?"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 (2. f4 exf4) 2... Nc6 {a [%clk 1:00]} 1-0\n\n'
HOSTILE = {
    "a crash of the parser": '[Event "x"]\n\n1. e4 Nf3 ) e5 *\n\n',
    "an illegal move": '[Event "x"]\n[Result "0-1"]\n\n1. e4 e5 2. Ke3 0-1\n\n',
    "no result": '[Event "x"]\n\n1. a3 a6 *\n\n',
    "a null move": '[Event "x"]\n[Result "1-0"]\n\n1. e4 -- 2. d4 1-0\n\n',
    "another game": '[Event "x"]\n[Variant "Atomic"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n',
    "a bad position": '[Event "x"]\n[FEN "8/8/8 w"]\n[SetUp "1"]\n[Result "1-0"]\n\n1. e4 1-0\n\n',
    "a long line": '[Event "x"]\n[Result "1-0"]\n\n1. ' + "e4" * 300_000 + "\n\n",
    "noise": '[Event "x"]\n\n' + "\x00\x1b\ufffd $99999999999999999999 ;;;; }}} {{{ 1-0 [ ] \\\n\n",
    "no moves": '[Event "x"]\n[Result "1-0"]\n\n1-0\n\n',
}


def test_games_make_a_book(tmp_path: Path, out: Path) -> None:
    games = tmp_path / "games.pgn"
    draw = GOOD.replace("1-0", "1/2-1/2").replace("2. Nf3 (2. f4 exf4) 2... Nc6", "2. d4")
    games.write_text(GOOD * 3 + draw * 2 + GOOD.replace("e4 e5", "g4 e5").replace("1-0", "0-1"))
    assert run("pgn", games, "-o", out, "--min-games", "1") == 0
    assert weights_at(out) == {"e4": 8}
    assert weights_at(out, "e4 e5") == {"Nf3": 6, "d4": 2}
    # Black's moves count with Black's points.
    assert weights_at(out, "e4") == {"e5": 2}
    assert weights_at(out, "g4") == {"e5": 2}
    run("pgn", games, "-o", out, "--min-games", "3")
    assert weights_at(out, "e4 e5") == {"Nf3": 6}
    run("pgn", games, "-o", out, "--min-games", "1", "--min-score", "60", "--max-ply", "1")
    assert weights_at(out) == {"e4": 8}
    assert weights_at(out, "e4") == {}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_bad_game_is_left_out_and_the_next_one_counts(
    tmp_path: Path, out: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(GOOD + text + GOOD, "utf-8")
    assert run("pgn", games, "-o", out, "--min-games", "1") == 0
    assert weights_at(out)["e4"] == 4
    output = capsys.readouterr()
    assert "2 games used, 1 left out" in output.out
    assert output.err.startswith(f"left out: {games}, game 2: ")
    assert output.err.isascii()


@pytest.mark.parametrize("unfinished", ["{ and so on\n\nfor ever", "(" * 50_000, "(2. f4", "; [", "$1 !!"])
def test_what_is_not_finished_ends_with_its_game(tmp_path: Path, out: Path, unfinished: str) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(f'{GOOD}[Event "x"]\n[Result "1-0"]\n\n1. e4 c5 {unfinished}\n\n{GOOD}', "utf-8")
    assert run("pgn", games, "-o", out, "--min-games", "1") == 0
    assert weights_at(out)["e4"] == 6


@given(st.binary(max_size=300))
def test_any_bytes_are_games_or_none(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.pgn"
    path.write_bytes(data)
    count_games([path], 10)


def test_what_is_no_file_of_games(tmp_path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "none.pgn", Path("/dev/zero")):
        assert run("pgn", path, "-o", out) == 1
        assert capsys.readouterr().err == f"make_book: {path} is not a file of games\n"
    assert not out.exists()


# Books -------------------------------------------------------------------------------------------------------------


def made(path: Path, moves: dict[str, float]) -> Path:
    board = chess.Board()
    weights = {polyglot_move(board, board.parse_san(san)): weight for san, weight in moves.items()}
    path.write_bytes(book_bytes({chess.polyglot.zobrist_hash(board): weights}))
    return path


def test_merging_counts_every_book_the_same(tmp_path: Path, out: Path) -> None:
    small, large = made(tmp_path / "a", {"e4": 1, "d4": 1}), made(tmp_path / "b", {"e4": 30_000, "c4": 10_000})
    assert run("merge", small, large, "-o", out) == 0
    assert weights_at(out) == {"e4": 1250, "d4": 500, "c4": 250}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--min-weight", "20"], {"e4": 60, "d4": 30}),
        (["--min-share", "50"], {"e4": 60}),
        (["--keep", "2"], {"e4": 60, "d4": 30}),
        ([], {"e4": 60, "d4": 30, "c4": 10}),
    ],
)
def test_pruning(tmp_path: Path, out: Path, words: Sequence[str], left: dict[str, int]) -> None:
    book = made(tmp_path / "a", {"e4": 60, "d4": 30, "c4": 10})
    assert run("prune", book, "-o", out, *words) == 0
    assert weights_at(out) == left
    assert run("prune", book, "-o", out, "--min-weight", "99") == 1


def test_inspecting(table: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("compile", table, "-o", out, "--depth", "2")
    capsys.readouterr()
    assert run("inspect", out, "--moves", "1. e4 e5") == 0
    output = capsys.readouterr().out
    assert "11 positions, 12 moves, up to 2 in a position" in output
    assert "10 positions are reached from the start, the deepest after 7 plies" in output
    assert "C20 King's Pawn Game" in output
    assert "C40 King's Knight Opening" in output
    assert run("inspect", out, "--moves", "e4 Ke7") == 1
    assert run("inspect", out, "--fen", "nonsense") == 1
    assert run("inspect", table) == 1


def test_it_runs_as_a_program() -> None:
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(PACKAGE_ROOT)},
    )
    assert "compile" in result.stdout
    assert "inspect my.bin" in result.stdout
