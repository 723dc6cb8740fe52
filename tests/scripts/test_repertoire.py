"""The repertoire: its text, its lines, and the book that was made of it."""

from __future__ import annotations

import chess
import chess.polyglot
import pytest

from toolkit.books.repertoire import Line, read_line, read_table, replay
from toolkit.books.theory import theory_of
from uci_engine.book.book import BUILT_IN, Book


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
