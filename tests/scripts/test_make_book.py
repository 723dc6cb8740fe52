"""The book maker: theory compiled to a book, tables of openings to names; our repertoire, and the built-in book."""

from __future__ import annotations

import gzip
from pathlib import Path

import chess
import chess.polyglot
import pytest

import make_book
from make_book import OPENINGS, Theory, book_bytes, polyglot_move, read_line, read_tables, theory_of
from toolkit.errors import ProgramError
from uci_engine.book.book import BUILT_IN, Book

TABLE = """eco\tname\tmoves
C20\tKing's Pawn Game\t1. e4 e5
C44\tScotch Game\t1. e4 e5 2. Nf3 Nc6 3. d4 exd4 4. Nxd4
C44\tScotch Game\t1. e4 e5 2. d4 exd4 3. Nf3 Nc6 4. Nxd4
C30\tKing's Gambit\t1. e4 e5 2. f4?! exf4
A00\tFool's Mate\t1. f3~ e5 2. g4~ Qh4#
"""


def weights_at(book: Path, moves: str = "") -> dict[str, int]:
    """The book's moves and weights after these."""
    board = read_line("", moves).board
    return {board.san(move): weight for move, weight in Book.load(str(book)).moves(board)}


def run(*words: str | Path) -> int:
    return make_book.main([str(word) for word in words])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "lines.tsv"
    path.write_text(TABLE, "utf-8")
    return path


def test_transpositions_are_merged_and_avoided_moves_left_out_in_any_order_of_the_lines(table: Path) -> None:
    out = table.with_name("out.bin")
    assert run("book", table, "-o", out, "--depth", "2") == 0
    assert weights_at(out) == {"e4": 1000}
    assert set(weights_at(out, "e4 e5")) == {"Nf3", "d4"}
    assert weights_at(out, "e4 e5 f4") == {"exf4": 1000}
    assert weights_at(out, "f3 e5 g4") == {"Qh4#": 1000}
    assert weights_at(out, "e4 e5 Nf3 Nc6 d4 exd4") == weights_at(out, "e4 e5 d4 exd4 Nf3 Nc6") == {"Nxd4": 1000}
    first = out.read_bytes()
    header, *rows = TABLE.splitlines()
    table.write_text("\n".join([header, *reversed(rows)]), "utf-8")
    run("book", table, "-o", out, "--depth", "2")
    assert out.read_bytes() == first


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1 e1c1 a1b1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8g8 e8c8 h8h1"),
        ("8/P6k/8/8/8/8/7K/1b6 w - - 0 1", "a7a8q a7a8n a7a8r a7a8b h2g2"),
    ],
)
def test_moves_survive_the_format(fen: str, moves: str) -> None:
    board = chess.Board(fen)
    weights = {polyglot_move(board, chess.Move.from_uci(word)): 1.0 for word in moves.split()}
    book = Book(book_bytes({chess.polyglot.zobrist_hash(board): weights}))
    assert {move.uci() for move, _ in book.moves(board)} == set(moves.split())


def test_names_are_written_with_their_keys(table: Path) -> None:
    out = table.with_name("names.gz")
    assert run("names", table, "-o", out) == 0
    rows = gzip.decompress(out.read_bytes()).decode().splitlines()
    key = chess.polyglot.zobrist_hash(read_line("", "1. e4 e5 2. f4 exf4").board)
    assert f"{key:016x}\tC30\tKing's Gambit" in rows
    assert len(rows) == 4


@pytest.mark.parametrize("text", ["eco\tname\nA00\tx\n", "eco\tname\tpgn\nA00\tx\t1. e4 e5 2. Ke3\n"])
def test_what_is_no_table_of_lines_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.tsv"
    path.write_text(text)
    with pytest.raises(ProgramError, match="row 2"):
        read_tables([path])


@pytest.mark.parametrize(
    ("text", "avoided"),
    [("1. e4 e5 2. f4~ exf4 3. Nf3 g5", {2}), ("1.e4 e5 2.f4? d5??", {2, 3}), ("1. e4! e5!? f4?! Bc5!!", {2})],
)
def test_marks_say_which_moves_are_avoided(text: str, avoided: set[int]) -> None:
    line = read_line("", text)
    assert line.avoided == avoided
    assert line.board.move_stack[2] == chess.Move.from_uci("f2f4")


def test_a_line_that_begins_another_lends_its_moves_no_weight() -> None:
    theory = theory_of([read_line("", moves) for moves in ("e4 e5", "e4 e5 Nf3", "e4 c5")])
    assert [choice.lines for choices in theory.values() for choice in choices.values()] == [2, 1, 1, 1]


# The repertoire -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theory() -> Theory:
    return theory_of(read_tables([OPENINGS]))


@pytest.mark.parametrize("white", [True, False])
def test_our_own_moves_never_lead_to_where_all_that_is_known_is_avoided(theory: Theory, white: bool) -> None:
    reached = waiting = {chess.STARTING_BOARD_FEN + " w KQkq -"}
    while waiting:
        after = set()
        for here in waiting & theory.keys():
            ours = (here.split()[1] == "w") == white
            played = [choice for choice in theory[here].values() if not (ours and choice.avoided)]
            assert played, here
            after |= {choice.after for choice in played}
        waiting = after - reached
        reached = reached | waiting


def test_the_built_in_book_is_the_repertoire(theory: Theory) -> None:
    """Same positions, same moves, sorted; a weight for each move that is played, none for those avoided."""
    played = {
        (chess.polyglot.zobrist_hash(chess.Board(f"{here} 0 1")), move)
        for here, choices in theory.items()
        for move, choice in choices.items()
        if not choice.avoided
    }
    with chess.polyglot.MemoryMappedReader(BUILT_IN) as reader:
        entries = list(reader)
    assert [entry.key for entry in entries] == sorted(entry.key for entry in entries)
    assert all(1 <= entry.weight <= 1000 for entry in entries)
    assert {(entry.key, entry.raw_move) for entry in entries} == played
    # No move stands there twice.
    assert len(entries) == len(played)
