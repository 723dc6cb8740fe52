"""Positions and games from outside: what is refused, repaired, played anew; any text ends in one of these."""

import chess
import chess.polyglot
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.evaluation.test_evaluation import random_pieces
from tests.support.kernel import board_after
from uci_engine.board.game import (
    MAX_FULLMOVE_NUMBER,
    MAX_HALFMOVE_CLOCK,
    Game,
    PositionError,
    normalise_fen,
    parse_searchmoves,
    play,
    read_fen,
)

# What may be wrong with a text or a position. Castling rights, en passant and clocks have tables of their own below.
TEXTS = (
    "",
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "r1bqkb1r/ppp2ppp/2np4/3P2N1/2BQ4/7P/PPP3P1/RNB4q w KQkq - 0 12",
    "4k3/8/8/8/8/8/8/K3K3 w - - 0 1",
    "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/N2NNNNN/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "4k3/8/8/8/8/Q7/PPPPPPPP/QK6 w - - 0 1",
    "4k3/8/8/8/8/8/8/p3K3 w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KKQQkkqq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w XYZ - 0 1",
    "4k3/8/8/8/8/8/8/4K3 w - z9 0 1",
    "8/8/8/8/8/8/8/8/4K2k w - - 0 1",
    "rnbqkbnr/pppXpppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "\u265a7/8/8/8/8/8/8/7\u2654 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ~KBNR w KQkq - 0 1",
    "4k3/8/8/8/4r3/5n2/8/b3K2q w - - 0 1",
    "2QQQ3/Q5Q1/Q6Q/3Q4/Q4Q2/Q1Q4Q/4Q3/1k2K1Q1 w - - 0 1",
)
# What may be repaired, and checks that no move can have given.
TOLERATED = chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK
REPAIRED = chess.STATUS_BAD_CASTLING_RIGHTS | chess.STATUS_INVALID_EP_SQUARE


def is_sound(board: chess.Board, tolerated: int = TOLERATED) -> bool:
    """Whether the compiled core can hold the pieces: one king each, and no more than a game can have."""
    for color in chess.COLORS:
        pieces = [len(board.pieces(piece_type, color)) for piece_type in chess.PIECE_TYPES]
        surplus = sum(max(0, count - usual) for count, usual in zip(pieces[1:5], (2, 2, 2, 1), strict=True))
        if pieces[0] + surplus > 8:
            return False
    return board.status() & ~tolerated == chess.STATUS_VALID


def check(text: str, chess960: bool) -> None:
    """A text is a sound board, or it is refused, and then python-chess cannot make one of it either."""
    try:
        board, sentences = read_fen(text, chess960)
    except PositionError as error:
        sentences = [str(error)]
        try:
            refused = chess.Board(normalise_fen(text))
        except ValueError:
            refused = chess.Board.empty()
        assert not is_sound(refused, TOLERATED | REPAIRED)
    else:
        assert is_sound(board)
        assert (board.chess960, board.promoted, board.move_stack) == (chess960, 0, [])
        assert board.board_fen() == normalise_fen(text).split()[0]
        assert 0 <= board.halfmove_clock <= MAX_HALFMOVE_CLOCK
        assert 1 <= board.fullmove_number <= MAX_FULLMOVE_NUMBER
        assert board.ep_square is None or board.has_legal_en_passant()
        assert board.legal_moves.count() <= 218
        again, remarks = read_fen(board.fen(), chess960)
        assert again == board
        assert len(remarks) == bool(board.status())
    assert all(sentence.isascii() and len(sentence) < 1000 for sentence in sentences)


@pytest.mark.parametrize("chess960", [False, True])
@pytest.mark.parametrize("text", TEXTS)
def test_what_may_be_wrong(text: str, chess960: bool) -> None:
    check(text, chess960)


ANY_TEXT = st.lists(
    st.one_of(
        st.sampled_from(TEXTS),
        st.text("KQRBNPkqrbnp12345678/", max_size=71),
        st.text(" -wbKQkqAHah03e6", max_size=20),
        st.text(max_size=10),
    ),
    max_size=4,
).map(" ".join)
# One king each, any other pieces anywhere, and any castling and en-passant fields.
PLACEMENTS = st.builds(
    "{} {} {} {} 0 1".format,
    st.builds(random_pieces, st.integers(0, 10**9)).map(chess.Board.board_fen),
    st.sampled_from("wb"),
    st.sampled_from(["-", "KQkq", "Kq", "AHah", "BGbg", "Kk", "C"]),
    st.sampled_from(["-", *chess.SQUARE_NAMES]),
)


@pytest.mark.parametrize("texts", [ANY_TEXT, PLACEMENTS], ids=["text", "placement"])
@given(st.data(), st.booleans())
def test_anything(texts: st.SearchStrategy[str], data: st.DataObject, chess960: bool) -> None:
    check(data.draw(texts), chess960)


# Tidying


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("", ""),
        (" \t ", ""),
        ("~", ""),
        ("8/8/8/8/8/8/8/K1k5", "8/8/8/8/8/8/8/K1k5 w - - 0 1"),
        ("8/8/8/8/8/8/8/K1k5 b - - 7", "8/8/8/8/8/8/8/K1k5 b - - 7 1"),
        ('  "8/8/8/8/8/8/8/K1k5  w  -  -  0  1"\n', "8/8/8/8/8/8/8/K1k5 w - - 0 1"),
        ("8/8/8/8/8/8/8/K1k5 w \u2013 \u2014 0 1", "8/8/8/8/8/8/8/K1k5 w - - 0 1"),
        ("\u201c8/8/8/8/8/8/8/K1k5\u00a0W - - 0 1\u201d", "8/8/8/8/8/8/8/K1k5 w - - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b qkQK - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R b QKqk - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w K--q - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1"),
        ("8/8/8/8/8/8/8/K1k5 w - E3", "8/8/8/8/8/8/8/K1k5 w - e3 0 1"),
        ('8/8/8/8/8/8/8/K1k5 w - - bm Kb1; id "x";', "8/8/8/8/8/8/8/K1k5 w - - 0 1"),
        ("8/8/8/8/8/8/8/K1k5 w - - 3 9 and so on", "8/8/8/8/8/8/8/K1k5 w - - 3 9"),
        ("no position", "no position - - 0 1"),
    ],
)
def test_normalise_fen(text: str, normalised: str) -> None:
    assert normalise_fen(text) == normalised
    assert normalise_fen(normalised) == normalised


def test_changes_are_told_and_usual_forms_are_not() -> None:
    kings = "4k3/8/8/8/8/8/8/4K3"
    stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    for usual in (f"{kings} w - - 0 1", f"{kings} w - -", f"  {kings}  b -  - 3 80 ", stalemate):
        assert read_fen(usual, False)[1] == []
    for odd in (f"{kings} W - - 0 1", kings, f"{kings} w - - 0 1 x", f'"{kings} w - - 0 1"'):
        assert len(read_fen(odd, False)[1]) == 1


# Castling rights, en passant, clocks, checks

RANKS = st.sampled_from(["r3k2r", "r3k1n1", "r4k1r", "1r2k1r1", "rr2k1rr", "krr5", "4k3"])
LETTERS = st.sampled_from(["KQkq", "HAha", "Kh", "GBgb", "GB", "KQ", "k"])


@given(RANKS, RANKS, LETTERS, st.booleans())
def test_the_castling_rights_left_are_those_that_can_be_used(
    black: str, white: str, letters: str, chess960: bool
) -> None:
    text = f"{black}/8/8/8/8/8/8/{white.upper()} w {letters} - 0 1"
    expected = chess.Board(text, chess960=chess960)
    assume(not expected.was_into_check())
    board, notes = read_fen(text, chess960)
    assert board.castling_rights == expected.clean_castling_rights()
    assert len(notes) == (chess.popcount(board.castling_rights) != len(letters))


@given(
    # The third gives a check from before the double step, so there was none. The last pins along the rank.
    st.sampled_from(["8/8/3pP3/8", "8/3p4/3pP3/8", "8/8/3pP2b/8", "3p4/8/3pP3/8", "8/8/4P3/8", "8/8/r2pP2K/8"]),
    st.sampled_from(["4K3", "3K4", "8"]),
    st.sampled_from("wb"),
    st.sampled_from(["d6", "a1"]),
)
def test_en_passant_is_kept_where_it_is_legal(middle: str, king: str, turn: str, square: str) -> None:
    expected = chess.Board(f"4k3/{middle}/8/8/{king} {turn} - {square} 0 1")
    assume(is_sound(expected, TOLERATED | REPAIRED))
    board, _ = read_fen(expected.fen(en_passant="fen"), False)
    is_possible = not expected.status() & (TOLERATED | chess.STATUS_INVALID_EP_SQUARE)
    assert (board.ep_square is not None) == (is_possible and expected.has_legal_en_passant())


@pytest.mark.parametrize(
    ("clocks", "expected", "notes"),
    [
        ("0 1", (0, 1), 0),
        ("100 80", (100, 80), 0),
        ("151 80", (MAX_HALFMOVE_CLOCK, 80), 0),
        ("-1 -1", (0, 1), 1),
        ("0 0", (0, 1), 0),
        ("1" + "0" * 20 + " 99999999999", (MAX_HALFMOVE_CLOCK, MAX_FULLMOVE_NUMBER), 0),
        ("x 5", (0, 1), 1),
        ("5 \u0663", (5, 1), 1),
        ("1_0 2", (0, 1), 1),
    ],
)
def test_clocks(clocks: str, expected: tuple[int, int], notes: int) -> None:
    board, said = read_fen(f"4k3/8/8/8/8/8/8/4K3 w - - {clocks}", False)
    assert (board.halfmove_clock, board.fullmove_number) == expected
    assert len(said) == notes


# Moves


@pytest.mark.parametrize("letter", "nbrqNBRQ")
def test_a_promotion_may_be_written_in_capitals(letter: str) -> None:
    board, _ = read_fen("8/P7/8/8/8/8/7k/K7 w - - 0 1", False)
    assert parse_searchmoves(board, [f"a7a8{letter}"]) == ([chess.Move.from_uci(f"a7a8{letter.lower()}")], [])
    play(board, [f"a7a8{letter}"])
    assert board.piece_at(chess.A8) == chess.Piece.from_symbol(letter.upper())


@pytest.mark.parametrize("chess960", [False, True])
@pytest.mark.parametrize("text", ["e1g1", "e1h1"])
def test_castling_may_be_written_either_way(text: str, chess960: bool) -> None:
    board, _ = read_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", chess960)
    play(board, [text, "e8c8"])
    assert board.board_fen() == "2kr3r/8/8/8/8/8/8/R4RK1"


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        *((chess.STARTING_FEN, text) for text in ("0000", "E2E4", "e2e5", "e7e5", "a1a1", "e1g1", "e2e4q", "P@e4")),
        *((chess.STARTING_FEN, text) for text in ("", "e4", "e2-e4", "\uff452e4", "e2e4\n", "x" * 100_000)),
        *(("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", text) for text in ("a7a8", "A7a8q", "a7a8K", "a7a8p", "a7a8=q")),
        *(("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", text) for text in ("e1g1q", "e1h1n", "0000")),
        ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "0000"),
    ],
)
def test_what_is_no_legal_move_is_refused(fen: str, move: str) -> None:
    board, _ = read_fen(fen, False)
    before = board.fen()
    with pytest.raises(PositionError) as caught:
        play(board, [move])
    assert str(caught.value).isascii()
    assert len(str(caught.value)) < 200
    assert board.fen() == before


def test_the_first_bad_move_is_named() -> None:
    with pytest.raises(PositionError, match=r"3.*e4e6"):
        play(chess.Board(), ["e2e4", "e7e5", "e4e6", "zz"])


# The game that the GUI sends: what is played anew, and what an error leaves behind


@pytest.mark.parametrize(
    ("fen", "moves", "chess960", "is_continued"),
    [
        (None, ["e2e4", "e7e5"], False, True),
        (None, ["e2e4", "e7e5", "g1f3", "b8c6"], False, True),
        (None, ["e2e4"], False, False),
        (None, ["e2e4", "c7c5", "g1f3"], False, False),
        (None, [], False, False),
        (None, ["e2e4", "e7e5"], True, False),
        (chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"], False, False),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", ["e1e2"], False, False),
    ],
)
def test_of_a_longer_line_only_the_new_moves_are_played_and_any_other_is_set_up_anew(
    fen: str | None, moves: list[str], chess960: bool, is_continued: bool
) -> None:
    game = Game()
    game.set(None, ["e2e4", "e7e5"], False)
    old = game.board
    assert game.set(fen, moves, chess960) == []
    expected = board_after(fen or chess.STARTING_FEN, " ".join(moves), chess960)
    assert (game.board is old) == is_continued
    assert game.board is not None
    assert (game.board, game.board.move_stack) == (expected, expected.move_stack)


def test_notes_come_with_the_fen_that_is_read() -> None:
    game = Game()
    fen = "4k3/8/8/8/8/8/8/4K3 w KQ - 0 1"
    assert len(game.set(fen, [], False)) == 1
    assert game.set(fen, ["e1e2"], False) == []
    assert len(game.set(fen, ["e1d1"], False)) == 1


@pytest.mark.parametrize(
    ("fen", "moves"),
    [("nonsense", []), (None, ["e2e5"]), (None, ["e2e4", "e7e5", "0000"]), ("8/8/8/8/8/8/8/8 w - - 0 1", [])],
)
def test_after_an_error_there_is_no_position_until_a_good_one_comes(fen: str | None, moves: list[str]) -> None:
    game = Game()
    game.set(None, ["e2e4", "e7e5"], False)
    for _ in range(2):
        with pytest.raises(PositionError):
            game.set(fen, moves, False)
        assert game.board is None
    game.set(None, ["e2e4", "e7e5"], False)
    assert game.board is not None
    assert len(game.board.move_stack) == 2
