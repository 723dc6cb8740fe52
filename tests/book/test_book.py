"""The opening book: what is chosen, when it is asked, and a game."""

from __future__ import annotations

import random
import struct
from collections import Counter
from contextlib import closing
from pathlib import Path

import chess
import chess.polyglot
import pytest

from tests.support.engines import go
from tests.support.kernel import board_after
from uci_engine.book.book import MAX_POSITION_ENTRIES, WITHOUT_ACCENTS, Book, built_in_book, name_of, named_positions
from uci_engine.engine import UciEngine
from uci_engine.time_management import Limits

CLOCK = Limits(wtime_ms=60_000, btime_ms=60_000)
ENTRY = struct.Struct(">QHHI")


def entry(board: chess.Board, source: int, target: int, weight: int, promotion: int = 0) -> bytes:
    key = chess.polyglot.zobrist_hash(board)
    return ENTRY.pack(key, promotion << 12 | source << 6 | target, weight, 0)


def start_entries(**weights: int) -> bytes:
    """Entries of the start position: e2e4=3, d2d4=1, ..."""
    moves = {chess.Move.from_uci(word): weight for word, weight in weights.items()}
    return b"".join(entry(chess.Board(), m.from_square, m.to_square, weight) for m, weight in moves.items())


# Moves -------------------------------------------------------------------------------------------------------------


def test_the_built_in_book_opens_and_knows_the_start() -> None:
    book = built_in_book()
    moves = dict(book.moves(chess.Board()))
    assert {"e2e4", "d2d4", "c2c4", "g1f3"} <= {move.uci() for move in moves}
    assert len(book) > 5000


def test_only_legal_moves_come_out() -> None:
    board = chess.Board()
    illegal = [(chess.E2, chess.E5, 0), (chess.E7, chess.E5, 0), (chess.A1, chess.A1, 0), (chess.E2, chess.E4, 4)]
    # Five to seven stand for no piece.
    illegal += [(chess.E2, chess.E4, number) for number in (5, 6, 7)]
    data = b"".join(entry(board, a, b, 900, promotion) for a, b, promotion in illegal)
    book = Book(data + start_entries(g1f3=1))
    assert book.moves(board) == [(chess.Move.from_uci("g1f3"), 1)]


def test_variety() -> None:
    book = Book(start_entries(e2e4=60, d2d4=30, c2c4=10, a2a3=0))
    board = chess.Board()

    def shares(variety: int) -> dict[str, float]:
        generator = random.Random(7)
        counts: Counter[str] = Counter()
        for _ in range(3000):
            chosen = book.choose(board, variety, generator)
            assert chosen is not None
            counts[chosen[0].uci()] += 1
        return {move: count / 3000 for move, count in counts.items()}

    assert shares(0) == {"e2e4": 1.0}
    assert shares(100) == pytest.approx({"e2e4": 0.6, "d2d4": 0.3, "c2c4": 0.1}, abs=0.04)
    # At 50 the weights count squared: 36 : 9 : 1.
    assert shares(50) == pytest.approx({"e2e4": 36 / 46, "d2d4": 9 / 46, "c2c4": 1 / 46}, abs=0.04)
    assert shares(1) == {"e2e4": 1.0}


def test_no_move_that_repeats_a_position_of_the_game() -> None:
    board = board_after(chess.STARTING_FEN, "g1f3 g8f6 f3g1")
    home, other = (entry(board, chess.F6, chess.G8, 9), entry(board, chess.D7, chess.D5, 1))
    book = Book(home + other)
    assert book.moves(board) == [(chess.Move.from_uci("d7d5"), 1)]
    # Without the game behind it, the same move repeats nothing.
    assert len(book.moves(chess.Board(board.fen()))) == 2


def test_a_book_with_more_entries_than_a_position_can_need_is_refused() -> None:
    entries = start_entries(e2e4=1) * MAX_POSITION_ENTRIES
    assert len(Book(entries).moves(chess.Board())) == 1
    with pytest.raises(ValueError, match="entries"):
        Book(entries + start_entries(e2e4=1))


# When it is asked --------------------------------------------------------------------------------------------------


def advise(
    book: Book, board: chess.Board, limits: Limits = CLOCK, depth: int = 40
) -> tuple[tuple[chess.Move, ...], str] | None:
    """As with the default options, but always with the book's best move."""
    return book.advise(board, limits, depth, variety=0)


def test_the_advice_is_a_move_and_its_reply_and_says_what_it_leads_to() -> None:
    board, after = (board_after(chess.STARTING_FEN, moves) for moves in ("g1f3 d7d5", "g1f3 d7d5 c2c4"))
    entries = [
        entry(board, chess.C2, chess.C4, 3),
        entry(board, chess.G2, chess.G3, 1),
        entry(after, chess.D5, chess.C4, 2),
    ]
    book = Book(b"".join(sorted(entries)))
    line = board.parse_uci("c2c4"), after.parse_uci("d5c4")
    assert advise(book, board) == (line, "book: c2c4, weight 3 (75%), A09 Reti Opening")
    # The next position has no name, and the book no reply.
    assert advise(book, after) == (line[1:], "book: d5c4, weight 2 (100%), A09 Reti Opening: Reti Accepted")


@pytest.mark.parametrize(
    ("limits", "is_game"),
    [
        (Limits(), False),
        (Limits(infinite=True), False),
        (Limits(mate=3), False),
        (Limits(searchmoves=(chess.Move.from_uci("e2e4"),), movetime_ms=100), False),
        (CLOCK, True),
        (Limits(movetime_ms=5), True),
        (Limits(depth=9), True),
        (Limits(nodes=5), True),
        (Limits(wtime_ms=0, ponder=True), True),
    ],
)
def test_a_game_gets_a_book_move_and_who_wants_a_search_gets_one(limits: Limits, is_game: bool) -> None:
    assert (advise(built_in_book(), chess.Board(), limits) is not None) == is_game


def test_book_depth() -> None:
    book = built_in_book()
    assert advise(book, chess.Board(), depth=0) is None
    assert advise(book, chess.Board(), depth=1) is not None
    assert advise(book, board_after(chess.STARTING_FEN, "e2e4"), depth=1) is None


def test_a_book_is_read_when_it_is_named_or_wanted_and_a_refused_one_says_so_then(tmp_path: Path) -> None:
    path = tmp_path / "some.bin"
    with closing(UciEngine()) as engine:
        assert engine.options.set("BookFile", str(path)) == []  # nobody wants a book yet
        (message,) = engine.options.set("OwnBook", "true")
        assert str(message).startswith("error: BookFile: 'some.bin' cannot be read")
        assert engine.options.set("OwnBook", "true") == engine.options.set("BookDepth", "30") == []
        for count in (1, 2):
            path.write_bytes(start_entries(e2e4=1) * count)
            assert engine.options.set("BookFile", str(path)) == []
            path.unlink()
            assert go(engine, nodes=1).sentences[0].startswith("book: e2e4, ")
            assert len(engine.options.set("BookFile", str(path))) == 1
            assert go(engine, nodes=1).sentences == []
        assert engine.options.set("BookFile", "") == []
        assert len(go(engine, nodes=1).sentences) == 1
        assert engine.options.set("OwnBook", "false") == []
        assert go(engine, nodes=1).sentences == []


# The names of openings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "name"),
    [
        ("e4 c5", "B20 Sicilian Defense"),
        ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90 Sicilian Defense: Najdorf Variation"),
        ("e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4", "C67 Ruy Lopez: Berlin Defense"),
        ("d4 Nf6 c4 g6 Nc3 d5", "D80 Gr\u00fcnfeld Defense"),
        ("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Bc5", "C78 Ruy Lopez: Morphy Defense, M\u00f8ller"),
        ("e4 c5 h3 h6", "None"),
    ],
)
def test_names_of_well_known_positions(moves: str, name: str) -> None:
    board = chess.Board()
    for move in moves.split():
        board.push_san(move)
    assert str(name_of(board)).startswith(name)


def test_all_names_can_be_written_in_ascii() -> None:
    assert all(str(name).translate(WITHOUT_ACCENTS).isascii() for name in named_positions().values())


# A game -----------------------------------------------------------------------------------------------------------


def test_a_game_from_the_book_into_the_search() -> None:
    board = chess.Board()
    told: list[list[str]] = []
    with closing(UciEngine()) as engine:
        for name, value in (("OwnBook", "true"), ("BookVariety", "0")):
            engine.options.set(name, value)
        while not told or told[-1]:
            ear = go(engine, board, wtime_ms=1000, btime_ms=1000, winc_ms=10, binc_ms=10)
            told.append(ear.sentences)
            assert bool(ear.last.nodes) != bool(ear.sentences)
            assert all(said.startswith(f"book: {ear.move}, weight ") for said in ear.sentences)
            board.push(ear.move)
    assert [len(said) for said in told[:-1]] == [1] * (len(told) - 1)
    assert len(told) > 7
