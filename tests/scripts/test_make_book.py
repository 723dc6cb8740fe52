"""The book maker: theory compiled to a book, tables of openings to names."""

from __future__ import annotations

import gzip
from pathlib import Path

import chess
import chess.polyglot
import pytest

import make_book
from toolkit.books.theory import book_bytes, polyglot_move
from uci_engine.book.book import Book

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
    return {board.san(move): weight for move, weight in Book(str(book)).moves(board)}


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
    assert run("book", table, "-o", out, "--depth", "2") == 0
    assert weights_at(out) == {"e4": 1000}
    assert set(weights_at(out, "e4 e5")) == {"Nf3", "d4"}
    assert weights_at(out, "e4 e5 f4") == {"exf4": 1000}
    assert weights_at(out, "e4 e5 Nf3 Nc6 d4 exd4") == weights_at(out, "e4 e5 d4 exd4 Nf3 Nc6") == {"Nxd4": 1000}


def test_the_same_input_gives_the_same_bytes_in_any_order(table: Path, out: Path) -> None:
    run("book", table, "-o", out, "--depth", "3")
    first = out.read_bytes()
    header, *rows = TABLE.splitlines()
    table.write_text("\n".join([header, *reversed(rows)]), "utf-8")
    run("book", table, "-o", out, "--depth", "3")
    assert out.read_bytes() == first


def test_a_line_may_end_with_mate(table: Path, out: Path) -> None:
    table.write_text("eco\tname\tmoves\nA00\tFool's Mate\t1. f3 e5 2. g4~ Qh4#\n", "utf-8")
    assert run("book", table, "-o", out, "--depth", "2") == 0
    assert weights_at(out, "f3 e5 g4") == {"Qh4#": 1000}


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


def test_names_are_written_with_their_keys(table: Path, out: Path) -> None:
    assert run("names", table, "-o", out) == 0
    rows = gzip.decompress(out.read_bytes()).decode().splitlines()
    board = chess.Board()
    for move in ("e4", "e5", "f4"):
        board.push_san(move)
    assert f"{chess.polyglot.zobrist_hash(board):016x}\tC30\tKing's Gambit" in rows
    assert len(rows) == 4
