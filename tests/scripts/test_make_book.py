"""The book maker: theory compiled to a book, tables of openings to names; our repertoire, and the built-in book."""

from __future__ import annotations

import gzip
from pathlib import Path

import chess
import chess.polyglot
import pytest

import make_book
from make_book import Line, book_bytes, polyglot_move, read_line, read_table, replay, theory_of
from uci_engine.book.book import BUILT_IN, Book

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


# The repertoire -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return read_table()


@pytest.fixture(scope="module")
def played(lines: list[Line]) -> dict[str, dict[str, tuple[chess.Board, bool]]]:
    """Every position of the repertoire: the moves played there, with the board before, and whether it is avoided."""
    positions: dict[str, dict[str, tuple[chess.Board, bool]]] = {}
    for line, board in replay(lines):
        position = chess.Board()
        for i, move in enumerate(board.move_stack):
            here = positions.setdefault(position.epd(), {})
            avoided = i in line.avoided
            if move.uci() in here:
                assert here[move.uci()][1] == avoided, f"{move} is marked in one line only: {line}"
            else:
                here[move.uci()] = (position.copy(stack=False), avoided)
            position.push(move)
    return positions


# The text ----------------------------------------------------------------------------------------------------------


def test_a_line_is_read() -> None:
    line = read_line("C37", "King's Gambit", "1. e4 e5 2. f4~ | exf4 3. Nf3 g5")
    assert line == Line("C37", "King's Gambit", ("e4", "e5", "f4", "exf4", "Nf3", "g5"), 3, frozenset({2}))
    assert read_line("C37", "x", "1.e4 e5 2.f4?").avoided == read_line("C37", "x", "1.e4 e5 f4?!").avoided == {2}
    assert read_line("C37", "x", "1... e4! e5!? 2. f4!!").avoided == frozenset()


# Our lines ---------------------------------------------------------------------------------------------------------


def test_the_lines_are_in_order(lines: list[Line]) -> None:
    assert lines == sorted(lines, key=lambda line: (line.eco, line.name, line.moves))


def test_every_move_is_written_as_it_should_be(lines: list[Line]) -> None:
    for line, board in replay(lines):
        position = chess.Board()
        for text, move in zip(line.moves, board.move_stack, strict=True):
            assert position.san(move) == text
            position.push(move)


def test_a_position_has_one_name(lines: list[Line]) -> None:
    names: dict[str, tuple[str, str]] = {}
    for line, board in replay(lines, as_far_as_named=True):
        assert names.setdefault(board.epd(), (line.eco, line.name)) == (line.eco, line.name)


@pytest.mark.parametrize(
    "moves", ["e4 e5 f4", "d4 e5", "e4 e5 Nf3 f5", "d4 d5 c4 e5", "d4 Nf6 c4 e5", "g4", "d4 d5 e4"]
)
def test_gambits_are_answered_and_not_played(
    played: dict[str, dict[str, tuple[chess.Board, bool]]], moves: str
) -> None:
    board = chess.Board()
    for move in moves.split()[:-1]:
        board.push_san(move)
    gambit = board.parse_san(moves.split()[-1])
    assert played[board.epd()][gambit.uci()][1]
    book = Book()
    assert gambit not in [move for move, _ in book.moves(board)]
    board.push(gambit)
    assert book.moves(board)


@pytest.mark.parametrize("white", [True, False])
def test_our_own_moves_never_lead_to_where_all_that_is_known_is_avoided(lines: list[Line], white: bool) -> None:
    theory = theory_of(lines)
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


# The built-in book -------------------------------------------------------------------------------------------------


def test_the_built_in_book_is_the_repertoire(played: dict[str, dict[str, tuple[chess.Board, bool]]]) -> None:
    """Same positions, same moves, all legal, sorted; a weight for each move that is played, none for those avoided."""
    by_key: dict[int, set[str]] = {}
    for moves in played.values():
        ours = {word for word, (_, avoided) in moves.items() if not avoided}
        if ours:
            board = next(iter(moves.values()))[0]
            by_key[chess.polyglot.zobrist_hash(board)] = ours
    boards = {chess.polyglot.zobrist_hash(board): board for moves in played.values() for board, _ in moves.values()}
    in_book: dict[int, set[str]] = {}
    with chess.polyglot.MemoryMappedReader(BUILT_IN) as reader:
        keys = [entry.key for entry in reader]
        entries = list(reader)
        assert keys == sorted(keys)
        for key in sorted(set(keys)):
            for entry in reader.find_all(boards[key]):
                assert 1 <= entry.weight <= 1000
                in_book.setdefault(key, set()).add(entry.move.uci())
    assert in_book == by_key
    # Nothing was filtered out as illegal, and no move stands there twice.
    assert len(entries) == sum(map(len, in_book.values()))
