"""Features compared, and reasons in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import chess
import pytest
from chess.engine import Cp, Mate
from hypothesis import given
from hypothesis import strategies as st

from tests.support.moves import moves
from uci_engine.game_analysis.boards import best_capture, board_after, numbered, winning_captures
from uci_engine.game_analysis.reasons import reason_for
from uci_engine.game_analysis.searches import Finder, nothing_found
from uci_engine.game_analysis.values import DRAWN, Found, Value, value_of
from uci_engine.game_analysis.words import material_words

FULL = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"


@pytest.mark.parametrize(
    ("worse", "words"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR", "a piece"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR", "a pawn"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPP2/RNBQKBNR", "two pawns"),
        ("rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1", "the exchange"),
        ("rnbqkb1r/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBN1", "the exchange and a pawn"),
        ("rnbqkb1r/ppppppp1/8/8/8/8/PPPPPPPP/RNBQKBN1", "the exchange for a pawn"),
        ("rnbqkbnr/ppppppp1/8/8/8/8/PPPPPPPP/R1BQKBNR", "a piece for a pawn"),
        ("rnbqk1nr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR", ""),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBN1", "a queen and a rook"),
        ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", ""),
        ("rnbqk1n1/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR", "material"),
    ],
)
def test_material_in_words(worse: str, words: str) -> None:
    board, other = chess.Board(f"{FULL} w - - 0 1"), chess.Board(f"{worse} w - - 0 1")
    assert material_words(board, other, chess.WHITE) == words


def value(board: chess.Board, cp: int) -> Value:
    return value_of(Cp(cp), board.occupied.bit_count())


def found(value: Value, line: tuple[chess.Move, ...]) -> Found:
    return Found(value, line=line)


def text_of(board: chess.Board, played: Found, better: Found, find: Finder = nothing_found) -> str:
    reason = reason_for(board, played, better, find)
    return "" if reason is None else reason.text


def test_a_lost_piece_is_the_reason() -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3")
    played, better = moves(board, "Nxe5", "Nxe5", "d3", "d6"), moves(board, "Nc3", "Nf6", "d3", "d6")
    text = text_of(board, found(value(board, -400), played), found(value(board, 20), better))
    assert text == "3.Nxe5 took on e5, which is guarded: 3...Nxe5; it costs a piece for a pawn"


def test_a_piece_that_was_not_taken_is_the_reason() -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/8/4p3/4n3/2N5/PPPP1PPP/R1BQKBNR w KQkq - 0 3")
    played, better = moves(board, "d3", "Nc5", "Be2", "d6"), moves(board, "Nxe4", "d6", "d3", "c6")
    text = text_of(board, found(value(board, -50), played), found(value(board, 350), better))
    assert text == "Better, 3.Nxe4 takes the knight on e4, which nothing guards; it misses the gain of a piece"


def test_mates_are_reasons_of_their_own() -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3")
    played, better = moves(board, "Nf6", "Qxf7"), moves(board, "g6", "Qf3", "Nf6")
    text = text_of(board, found(Value(Mate(1), 1.0), played), found(value(board, 10), better))
    assert text == "It allows mate in 1 by 4.Qxf7#"
    board = chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    text = text_of(
        board,
        found(value(board, 500), moves(board, "Kd2")),
        found(Value(Mate(1), 1.0), moves(board, "Ra8")),
    )
    assert text == "Better, 1.Ra8# is a back-rank mate; it misses mate in 1"


def test_a_stalemate_is_a_reason() -> None:
    board = chess.Board("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1")
    played, better = moves(board, "Kg6"), moves(board, "Qe7", "Kg8", "Kg6")
    text = text_of(board, found(DRAWN, played), found(Value(Mate(3), 1.0), better))
    assert "it misses mate in 3" in text.lower()
    assert "it leads to stalemate" in text


@given(st.integers(0, 10_000), st.integers(-3000, 3000), st.integers(-3000, 3000))
def test_any_two_lines_give_a_sentence_or_nothing(seed: int, played_cp: int, better_cp: int) -> None:
    board = chess.Board("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4")
    board.push_san("O-O")

    def line(number: int) -> tuple[chess.Move, ...]:
        after = board.copy()
        for _ in range(number % 14):
            legal = sorted(after.legal_moves, key=chess.Move.uci)
            if not legal:
                break
            after.push(legal[number % len(legal)])
            number = number * 31 + 7
        return tuple(after.move_stack[1:])

    text = text_of(
        board,
        found(value(board, played_cp), line(seed)),
        found(value(board, better_cp), line(seed + 1)),
    )
    assert not text or text[0].isupper() or text[0].isdigit()


# Where no tactic decides: what the first move of a line takes, or nothing.
WITHOUT_TACTIC = [
    (  # Doubled pawns are no reason.
        "r4rk1/pp3ppp/2n5/8/1b6/2N5/PPP2PPP/R4RK1 w - - 0 1",
        ("h3", "Bxc3", "bxc3", "Rfd8", "Rfd1", "Kf8"),
        ("Ne4", "Rfd8", "c3", "Be7", "Rfd1", "Kf8"),
        "",
    ),
    (  # What only the better move takes is a reason with what it wins.
        "1rr3k1/1q3ppp/p2p1N2/8/P4P2/7P/Rp1Q2P1/1R4K1 b - - 0 29",
        ("Kh8", "Nh5", "Qb4", "Qxb4", "Rxb4", "Rbxb2", "Rxb2", "Rxb2", "g6", "Nf6"),
        ("gxf6", "Raxb2", "Qc7", "Rxb8", "Rxb8", "Rc1", "Qd7", "Kh2", "d5", "Qd4"),
        "",
    ),
    (  # A pawn alone that only the better move takes.
        "4k3/5ppp/8/1p6/8/p7/5PPP/1R2K3 w - - 0 1",
        ("Kd2", "b4", "Kc1", "f6", "Kc2", "g6", "Rxb4", "h6"),
        ("Rxb5", "f6", "Kd2", "g6", "Kc1", "h6", "Kc2", "h5"),
        "",
    ),
    (
        "4k3/pp3ppp/2n5/8/8/2N5/PP3PPP/4K3 w - - 0 1",
        ("a3", "Kd7"),
        ("h3", "h6"),
        "",
    ),
    (  # That pieces are driven away is no reason.
        "4k3/pp3ppp/8/3p4/2b5/2N5/PP3PPP/4K3 w - - 0 1",
        ("Na4", "b5", "Nc3", "Kd7"),
        ("b3", "Bd3", "h3", "h6"),
        "",
    ),
    (
        "3qk3/5ppp/8/8/8/8/PPP2PP1/4K3 w - - 0 1",
        ("g4", "Qe7+", "Kd2", "Qd6+", "Kc1", "Qh6+", "Kb1", "Qg6"),
        ("Kf1", "Kf8", "g3", "h6"),
        "",
    ),
    (  # That something would be attacked is no reason for a move.
        "4k3/pp3ppp/8/8/2b5/8/PP3PPP/3RK3 w - - 0 1",
        ("h3", "Kf8", "g3", "h6"),
        ("Rd4", "Kf8", "h3", "h6"),
        "",
    ),
    (  # A piece that is developed is no reason.
        chess.STARTING_FEN,
        ("h3", "Nf6", "h4", "Nc6"),
        ("Nc3", "Nf6", "h4", "Nc6"),
        "",
    ),
    (
        "rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 1",
        ("h3", "O-O", "a3", "a6"),
        ("O-O", "Nc6", "Nxe5", "Nxe5"),
        "",
    ),
    (  # What the move played attacks, too, is no reason.
        "4k3/pp3ppp/8/8/2b5/8/PP3PPP/R3K3 w - - 0 1",
        ("Rc1", "b5", "g3", "g6"),
        ("b3", "Kd7", "h3"),
        "",
    ),
    (  # No attack is one on a piece that leaves there as well.
        "4k3/pp3ppp/8/8/2b5/8/PP3PPP/R3K3 w - - 0 1",
        ("h3", "Bd5", "g3", "g6"),
        ("b3", "Bd5", "h3"),
        "",
    ),
    (  # After the better move it attacks the knight as well. A pawn that is given is no sacrifice.
        "2r3k1/pp1bpp1p/3p1npQ/q7/2r1P1P1/2NR1P2/PPP1N3/2K4R b - - 2 19",
        ("R4c5", "g5", "Rxg5", "Rd5", "Rxd5", "Nxd5", "Re8", "Nef4"),
        ("Be6", "g5", "Nh5", "Nf4", "Qe5", "Nxh5", "gxh5", "Rxh5"),
        "",
    ),
    (  # A pawn that is won late is no reason.
        "r1bqk2r/ppp2ppp/2np1n2/2b1p3/4P3/2NP1N2/PPP1BPPP/R1BQK2R w KQkq - 0 6",
        ("Nd5", "Nxd5", "exd5", "Ne7", "d4", "exd4", "Nxd4", "Nxd5", "O-O", "O-O"),
        ("Na4", "Bb6", "O-O", "O-O", "c3", "h6", "Qc2", "Re8", "b4", "Ne7"),
        "",
    ),
    (  # That two moves drive pieces away is no reason.
        "2kr3r/ppq2ppp/2nbpn2/2p5/3pPP2/1P1P2N1/PB1PN1PP/R2Q1R1K b - - 0 13",
        ("Ng4", "e5", "Bf8", "h3", "Nh6", "a3"),
        ("Be7", "e5", "Nd5", "Ne4", "Kb8", "a3"),
        "",
    ),
    (  # That a piece would have to go is no reason for a move.
        "4k3/pp3ppp/8/3n4/8/8/PPPP1PPP/4K3 w - - 0 1",
        ("h3", "Kd7", "h4", "h6"),
        ("c4", "Nb6", "h3", "h6"),
        "",
    ),
    (  # A second move is no reason.
        "4k3/pp3ppp/8/8/2b5/8/PP3PPP/R3K3 w - - 0 1",
        ("h3", "h6", "g3", "g6"),
        ("Rd1", "h6", "Rd4", "g6"),
        "",
    ),
    (
        chess.STARTING_FEN,
        ("h3", "e6", "Nf3", "Nf6"),
        ("e4", "e6", "Nf3", "Nf6"),
        "",
    ),
    (  # A mate that is met is no reason.
        "6k1/5ppp/8/8/8/8/1P3PPP/1R4K1 w - - 0 1",
        ("h3", "h6", "Kf1", "Kf8"),
        ("Rd1", "h6", "h3", "Kf8"),
        "",
    ),
    (
        "8/8/2R4p/P1p3p1/2k5/3r4/2K5/8 w - - 0 1",
        ("Rxc5+", "Kxc5", "Kxd3", "Kb5"),
        ("Rxh6", "Rf3", "Rg6", "Rf2+"),
        "It trades the last pieces, and the pawn ending is worse",
    ),
]
ATTACKS = re.compile(r"(\d+\.+\S+) attacks the (\w+) on (\w\d)")


def check_claims(text: str, start: chess.Board, line: tuple[chess.Move, ...]) -> None:
    """Check what is said of the first moves of a line on its positions, those after each move by its name."""
    after, boards = start.copy(), {}
    for move in line:
        name = numbered(after, move)
        after.push(move)
        boards[name] = after.copy()
    for name, piece, square in ATTACKS.findall(text):
        board, at = boards[name], chess.parse_square(square)
        assert chess.piece_name(board.piece_type_at(at) or 0) == piece
        assert at in winning_captures(board, not board.turn)


def check_reason(board: chess.Board, played: tuple[chess.Move, ...], better: tuple[chess.Move, ...]) -> str:
    text = text_of(board, found(value(board, -40), played), found(value(board, 20), better))
    own, _, missed = text.partition("n the better line, ")
    check_claims(own, board, played)
    check_claims(missed, board, better)
    return text


@pytest.mark.parametrize(("fen", "played", "better", "words"), WITHOUT_TACTIC)
def test_what_a_first_move_does_is_the_reason_where_no_tactic_decides(
    fen: str, played: tuple[str, ...], better: tuple[str, ...], words: str
) -> None:
    board = chess.Board(fen)
    assert check_reason(board, moves(board, *played), moves(board, *better)) == words


@given(
    st.sampled_from([fen for fen, *_ in WITHOUT_TACTIC]),
    st.lists(st.integers(0, 40), min_size=3, max_size=8),
    st.lists(st.integers(0, 40), min_size=3, max_size=8),
)
def test_what_is_said_of_first_moves_holds_on_the_board(fen: str, one: list[int], other: list[int]) -> None:
    board = chess.Board(fen)
    lines = []
    for choices in (one, other):
        after = board.copy()
        for choice in choices:
            options = sorted(after.legal_moves, key=chess.Move.uci)
            if options:
                after.push(options[choice % len(options)])
        lines.append(tuple(after.move_stack))
    check_reason(board, *lines)


@pytest.mark.parametrize(
    ("fen", "played", "better", "unsaid"),
    [
        # The pawn on a4 guards the knight, and the rook is worth more.
        ("r3k3/p4ppp/8/1N6/P7/8/1P3PPP/4K3 w q - 0 1", ("h3", "Rb8", "Nc3", "h6"), "Kd2", "attacks"),
        # Out of check the rook takes on h2.
        (
            "r1bqk1nr/ppp3pp/2nb4/5p2/3p4/5N2/PPP2PPP/RNBQKB1R w KQkq - 0 6",
            ("Bc4", "Qe7+", "Be2", "Bd7"),
            "Be2",
            "attacks",
        ),
        # A king that moves twice is not hunted.
        ("3qk3/5ppp/8/8/8/8/PPP2PP1/4K3 w - - 0 1", ("g4", "Qe7+", "Kd2", "Qd6+", "Kc1", "h6"), "Kf1", "attacks"),
    ],
)
def test_what_a_first_move_does_not(fen: str, played: tuple[str, ...], better: str, unsaid: str) -> None:
    board = chess.Board(fen)
    best = found(value(board, 20), moves(board, better, "Kf8"))
    assert unsaid not in text_of(board, found(value(board, -40), moves(board, *played)), best)


def test_material_that_is_worth_far_more_than_the_loss_was_given_for_something() -> None:
    board = chess.Board("2r3k1/5ppp/8/8/2B5/1P6/5PPP/2R3K1 w - - 0 1")
    better = moves(board, "Bxf7+", "Kxf7", "Rxc8", "h6", "h3", "g6")
    played = moves(board, "h4", "h5", "g3", "g6", "Kg2", "Kg7")
    small, great = (found(value(board, cp), better) for cp in (40, 400))
    assert "the gain of" not in text_of(board, found(value(board, 10), played), small)
    assert "the gain of" in text_of(board, found(value(board, 10), played), great)


def test_a_tactic_of_both_lines_is_no_reason() -> None:
    board = chess.Board("3q1r2/pb3pp1/1p4k1/3pP1N1/2r2Q1P/8/Pn3PP1/3RR1K1 w - - 1 22")
    played = moves(board, "h5+", "Kh6", "Nxf7+", "Kh7", "Qf5+", "Kg8", "e6", "Qf6", "Qxf6", "gxf6")
    better = moves(board, "Rd4", "Nd3", "h5+", "Kh6", "Nxf7+", "Kh7", "Qf5+", "Kg8")
    assert text_of(board, found(value(board, 110), played), found(value(board, 210), better)) == ""


def test_what_is_won_behind_the_line_that_is_shown_is_no_reason() -> None:
    board = chess.Board("4k3/pp3ppp/4b3/8/8/3R4/PPP3PP/4K3 w - - 0 1")
    quiet = "h3", "h6", "h4", "h5", "a3", "a6", "a4", "a5", "Kf2"
    better = moves(board, *quiet, "Bd5", "Rxd5", "f6", "Rd3", "Ke7", "Rd2")
    played = moves(board, *quiet, "Ke7", "Kg3", "Bf5", "Rd2")
    assert text_of(board, found(value(board, 0), played), found(value(board, 300), better)) == ""


def test_a_promotion_is_no_lost_queen() -> None:
    board = chess.Board("8/8/5k2/8/P6p/8/3K4/8 b - - 0 2")
    played = moves(board, "Ke6", "a5", "Kd5", "a6", "h3", "a7", "h2", "a8=Q+")
    better = moves(board, "h3", "Ke3", "h2", "a5", "h1=Q", "a6", "Qb1", "a7")
    text = text_of(board, found(value(board, 900), played), found(value(board, -900), better))
    assert "a queen" not in text
    # It is said once.
    board = chess.Board("8/1P3k2/8/8/8/6p1/r5P1/6K1 b - - 0 1")
    played, better = moves(board, "Ke6", "b8=Q", "Kd5", "Qxg3"), moves(board, "Rb2", "Kf1", "Rxb7", "Ke1")
    text = text_of(board, found(value(board, 900), played), found(value(board, -900), better))
    assert text == "2.b8=Q promotes"


def test_where_nothing_can_be_seen_there_is_no_reason() -> None:
    board = chess.Board("8/8/1k6/3P4/3K4/8/8/8 w - - 0 4")
    played, better = moves(board, "Kc4", "Kc7"), moves(board, "Ke5", "Kc7")
    text = text_of(board, found(value(board, 0), played), found(value(board, 299), better))
    assert not text


def test_material_that_comes_back_is_no_loss() -> None:
    board = chess.Board("6r1/pp5p/2pk1p2/3p4/P3p3/2P1B3/1P5P/2KR4 w - - 0 27")
    played = moves(board, "Rg1", "Rxg1+", "Bxg1", "b6", "Bf2", "f5", "Bg3+", "Kc5", "Bb8", "a6")
    returned = moves(board, "Bxa7", "Ra8", "Bd4", "f5", "Rf1", "Ke6", "Kc2", "Rxa4")
    kept = moves(board, "Bxa7", "f5", "Bd4", "Ke6", "Kc2", "h5", "h4", "Rg3")
    texts = [
        text_of(board, found(value(board, -10), played), found(value(board, 200), better))
        for better in (returned, kept)
    ]
    assert "a7" not in texts[0]
    assert "27.Bxa7 takes the pawn on a7, which nothing guards; it misses the gain of a pawn" in texts[1]


@pytest.mark.parametrize(
    ("fen", "line", "text"),
    [
        ("6k1/3p1ppp/8/8/8/1B6/5PPP/6K1 b - - 0 1", ("h6", "Bd5", "Kf8", "Bb7", "g6"), ""),
        (
            "6k1/1p3ppp/8/8/8/1B6/5PPP/6K1 b - - 0 1",
            ("h6", "Bd5", "Kf8", "Bxb7", "g6"),
            "2.Bd5 attacks the pawn on b7; it costs a pawn: 2...Kf8 3.Bxb7",
        ),
        # A pawn that has just moved there is given.
        ("6k1/3p1ppp/8/8/8/1B6/5PPP/6K1 b - - 0 1", ("h6", "h3", "d5", "Bxd5", "g6"), ""),
    ],
)
def test_a_pawn_that_a_move_costs(fen: str, line: tuple[str, ...], text: str) -> None:
    board = chess.Board(fen)
    better = moves(board, "Kf8", "h3", "Ke7", "g3", "h6")
    assert text_of(board, found(value(board, 150), moves(board, *line)), found(value(board, 0), better)) == text


@pytest.mark.parametrize(
    ("fen", "played", "better", "asked", "answer", "text"),
    [
        (
            "r3r1k1/1bqnppbp/3p1np1/p1p5/PpP1PP2/1P1P1N2/1B1NB1PP/R2Q1R1K w - - 0 15",
            ("Ng1", "Nxe4", "Bxg7", "Nxd2", "Qxd2", "Kxg7"),
            ("Qc2", "e6", "Ng5", "h6", "Nh3", "e5"),
            ("Ng1", "Nxe4", "dxe4"),
            ("Bxb2", "Ra2", "Bg7"),
            "It costs a pawn: 15...Nxe4; "
            "16.dxe4 fails: 16...Bxb2 takes the bishop on b2, which nothing guards, and attacks the rook on a1",
        ),
        (
            "rnb1kbnr/pp3ppp/2p5/q3p3/8/P1N1P3/1P1P1PPP/R1BQKBNR w KQkq - 0 6",
            ("b4", "Bxb4", "Bb2", "Be7", "Qc2", "Bg4", "Nf3", "Nd7", "Ne4", "Bf5"),
            ("d4", "Nf6", "dxe5", "Qxe5", "Nf3", "Qe7", "Qc2", "g6", "e4", "Bg7"),
            ("b4", "Bxb4", "axb4"),
            ("Qxa1",),
            "The pawn on a3 is pinned by the queen on a5 and may not take on b4; "
            "7.axb4 fails: 7...Qxa1 takes the rook on a1, which nothing guards; it costs a pawn",
        ),
        (  # Nobody sees why that capture fails.
            "rnb1kbnr/pp3ppp/2p5/q3p3/8/P1N1P3/1P1P1PPP/R1BQKBNR w KQkq - 0 6",
            ("b4", "Bxb4", "Bb2", "Be7", "Qc2", "Bg4", "Nf3", "Nd7", "Ne4", "Bf5"),
            ("d4", "Nf6", "dxe5", "Qxe5", "Nf3", "Qe7", "Qc2", "g6", "e4", "Bg7"),
            ("b4", "Bxb4", "axb4"),
            ("Qc7",),
            "",
        ),
    ],
)
def test_why_a_move_fails(
    fen: str,
    played: tuple[str, ...],
    better: tuple[str, ...],
    asked: tuple[str, ...],
    answer: tuple[str, ...],
    text: str,
) -> None:
    board = chess.Board(fen)
    sign = 1 if board.turn else -1
    question = board_after(board, moves(board, *asked))

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        if position.fen() != question.fen():
            return Found(DRAWN)
        return found(value(position, 400 if position.turn else -400), moves(position, *answer))

    lines = found(value(board, -100 * sign), moves(board, *played)), found(value(board, 0), moves(board, *better))
    assert text_of(board, *lines, find) == text
    # Without that answer nothing is said of it.
    assert "fails" not in text_of(board, *lines)


@pytest.mark.parametrize(
    ("king", "better", "threat", "text"),
    [
        ("f1", "Bc4", "Rxd3", "It does not meet a threat: 1...Rxd3 takes the bishop on d3, which nothing guards"),
        # The better move does not meet it: it is no reason. Another move was threatened.
        ("f1", "h4", "Rxd3", ""),
        ("f1", "Bc4", "Rd6", "1...Rxd3 takes the bishop on d3, which nothing guards"),
        # The king guarded it.
        (
            "e2",
            "Bc4",
            "Rxd3",
            "1.Kf1 no longer guards d3: 1...Rxd3 takes the bishop on d3, which nothing guards",
        ),
    ],
)
def test_a_threat_that_a_move_does_not_meet(king: str, better: str, threat: str, text: str) -> None:
    board = chess.Board("3r2k1/5ppp/8/8/8/3B4/5PPP/8 w - - 0 1")
    board.set_piece_at(chess.parse_square(king), chess.Piece(chess.KING, chess.WHITE))

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        is_passed = position.turn == chess.BLACK and position.king(chess.WHITE) == board.king(chess.WHITE)
        return found(value(position, -500), moves(position, threat)) if is_passed else Found(DRAWN)

    step = "Kg1" if king == "f1" else "Kf1"
    played = found(value(board, -500), moves(board, step, "Rxd3", "g3", "Kf8"))
    saved = found(value(board, 20), moves(board, better, "h6", step, "Kf8"))
    assert text_of(board, played, saved, find) == (f"{text}; it costs a piece" if text else "")


def test_what_answers_a_check_was_no_threat() -> None:
    board = chess.Board("8/7k/p1R3p1/2B1b3/4Pp1p/P4K1P/2r5/6N1 b - - 12 47")
    played = found(value(board, 139), moves(board, "Rc3+", "Kg4", "Rg3+", "Kxh4", "Rc3", "Kg4", "Rg3+", "Kh4"))
    better = found(value(board, 30), moves(board, "a5", "a4", "Rc3+", "Ke2", "Rc2+", "Kd3", "Rc3+", "Kd2"))

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        is_passed = position.turn == chess.WHITE and position.piece_at(chess.C2) is not None
        return found(value(position, 400), moves(position, "Kg4")) if is_passed else Found(DRAWN)

    assert text_of(board, played, better, find) == "48.Kg4 attacks the pawn on h4; it costs a pawn: 48...Rg3+ 49.Kxh4"


def test_what_the_move_played_takes_later_is_not_missed() -> None:
    board = chess.Board("2R1nrk1/5ppp/p2p3P/2p3P1/4PB2/3q4/P2n2B1/1r1Q1R1K w - - 3 35")
    played = moves(board, "hxg7", "Nxg7", "Rxf8+", "Kxf8", "Qxd2", "Rxf1+", "Bxf1", "Qxf1+", "Kh2", "Kg8")
    better = moves(board, "Qxd2", "Rxf1+", "Bxf1", "Qxf1+", "Kh2", "gxh6", "gxh6", "Qf3", "Bxd6", "Qh5+")
    assert text_of(board, found(value(board, -199), played), found(value(board, -39), better)) == ""


def test_a_pawn_that_may_be_taken_back_and_a_long_mate_explain_nothing() -> None:
    board = chess.Board("1rbq1rk1/2p2pbp/p1npp1p1/1p6/2PP1P2/1P3N2/PB2PPBP/R2Q1RK1 w - - 0 13")
    played = moves(board, "Rb1", "bxc4", "Rc1", "Nb4", "bxc4", "Nxa2", "Rb1", "Qd7")
    better = moves(board, "Qd2", "Ne7", "Rab1", "Bb7", "Rfc1", "Be4", "Ra1")
    assert text_of(board, found(value(board, -95), played), found(value(board, -11), better)) == ""
    board = chess.Board("3r3k/1p1Pr1bp/p7/3P4/3B2Q1/5p2/PPq4P/3RR1K1 w - - 2 38")
    better = moves(board, "Bxg7+", "Kg8", "Bf6+", "Qg6", "Qxg6+", "hxg6")
    shown = "Qxg7+ Rxg7+ Bxg7+ Kxg7 Re7+ Kf8 Re8+ Rxe8 dxe8=Q+ Kxe8 Re1+ Kd8 Re8+ Kxe8 Kf1 Qg2+ Ke1 Qe2#"
    played = moves(board, *shown.split())
    for mate, text in ((5, "It allows mate in 5 by 38...Rxg7+"), (9, "")):
        lost = found(value_of(-Mate(mate), 19), played)
        assert text_of(board, lost, found(value(board, 900), better)) == text


def test_a_position_of_the_game_that_comes_again_is_no_reason() -> None:
    board = chess.Board("2r3r1/5p1p/1ppn1b1P/1k1p1p1R/p2P1N2/3KPNP1/PPR2P2/8 w - - 18 39")
    played, better = moves(board, "Ne5", "Rg5", "Nf3", "Rgg8"), moves(board, "Ke2", "Be7", "Rc1", "Bf6", "Kf1", "Rge8")
    assert text_of(board, found(DRAWN, played), found(value(board, 102), better)) == ""


@pytest.mark.parametrize("mate", [5, 6])
def test_a_missed_mate_is_named_if_it_is_not_long(mate: int) -> None:
    board = chess.Board("4k3/5ppp/8/1n6/8/p7/5PPP/1R2K3 w - - 0 1")
    played = found(value(board, 0), moves(board, "Kd2", "Nc7", "Kc2", "f6"))
    better = found(value_of(Mate(mate), 10), moves(board, "Rxb5", "f6", "Kd2", "g6"))
    reason = reason_for(board, played, better)
    assert (reason is None) == (mate == 6)
    assert reason is None or reason.text.endswith("which nothing guards; it misses mate in 5")


def test_what_is_compensated_costs_nothing() -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3")
    played, better = moves(board, "Nxe5", "Nxe5", "d3", "d6"), moves(board, "Nc3", "Nf6", "d3", "d6")
    assert text_of(board, found(value(board, 0), played), found(value(board, 80), better)) == ""


def test_a_piece_for_two_pawns_is_named() -> None:
    board = chess.Board("rn1qk2r/1pp2ppp/3b1n2/p2ppb2/3PP3/5PP1/PPP1N1BP/RNBQK2R b KQkq - 0 7")
    played = moves(board, "Bb4+", "c3", "dxe4", "cxb4", "axb4", "Nd2", "exd4", "fxe4", "Bg6", "O-O")
    better = moves(board, "dxe4", "dxe5", "Bxe5", "Qxd8+", "Kxd8", "Nd2", "Re8", "fxe4", "Bg6", "O-O")
    text = text_of(board, found(value(board, 250), played), found(value(board, -50), better))
    assert text == "8.c3 attacks the bishop on b4; it costs a piece for two pawns: 8...dxe4 9.cxb4 axb4"


def test_the_amount_is_that_of_the_line_named() -> None:
    board = chess.Board("r1bqkbnr/ppp2ppp/2n5/3P4/4pP2/5N2/PPPP2PP/RNBQKB1R w KQkq - 0 5")
    played = moves(board, "Ng1", "Qxd5", "Nc3", "Qe6", "Nh3", "Nf6")
    better = moves(board, "dxc6", "exf3", "Qxf3", "bxc6", "Be2", "Nh6", "Qxc6+", "Bd7", "Qd5", "Be7")
    text = text_of(board, found(value(board, -110), played), found(value(board, 110), better))
    assert text == "5...Qxd5 takes the pawn on d5, which nothing guards; it costs a pawn"


@pytest.mark.parametrize(
    ("fen", "played", "better", "text"),
    [
        (  # A rook that only a piece can win is the exchange.
            "rn1qk2r/pp1n2pp/2pbpp2/3pN3/3P1P2/4P3/PPP1Q1PP/RNB2RK1 w kq - 0 10",
            ("Nxd7", "Nxd7", "Nd2", "O-O", "c4", "Re8"),
            ("Qh5+", "g6", "Nxg6", "hxg6", "Qxh8+", "Nf8", "Qh3"),
            "It misses the gain of the exchange and a pawn: 10.Qh5+ g6 11.Nxg6 hxg6 12.Qxh8+",
        ),
        (  # The queen is lost in the exchange that follows.
            "2r3k1/1p3ppp/p4n2/3p1P2/P2Pp3/1P2P1Q1/3q2PP/1RrR2K1 w - - 13 28",
            ("Qf4", "Qc3", "h3", "h6", "Kh1", "Rxb1", "Rxb1", "Qc2"),
            ("Rbxc1", "Qxc1", "Rxc1", "Rxc1+", "Kf2", "Rc2+", "Ke1", "Rc8", "Qf4"),
            "It misses the gain of a queen for a rook: 28.Rbxc1 Qxc1 29.Rxc1 Rxc1+",
        ),
        (  # A quiet move that attacks nothing, and another piece that takes, explain little.
            "r1b1k2r/2p3pp/p2bpq2/3pN3/2pP4/2P5/PP3PPP/RN1Q1RK1 w kq - 2 14",
            ("Re1", "O-O", "Nd2", "Qxf2+", "Kh1", "Bxe5", "Rxe5"),
            ("Qa4+", "Kd8", "f4", "Bxe5", "fxe5", "Qh6", "Qc2", "Bd7"),
            "",
        ),
        (  # A fork is another matter where the knight is taken.
            "r1b2rk1/pppq1ppp/7B/3NP3/2B5/7P/PPP3P1/R4RK1 b - - 0 16",
            ("gxh6", "Nf6+", "Kg7", "Nxd7", "Bxd7", "Rad1", "Rad8", "Rf6", "h5", "Kh2"),
            ("c6", "Nf6+", "gxf6", "Rf3", "Qd4+", "Kh2", "Bg4", "Rg3", "f5", "Bd3"),
            "16...gxh6 no longer guards f6: 17.Nf6+ forks the king on g8 and the queen on d7; it costs material",
        ),
        (  # What may still be taken back is not lost.
            "r1bqk1nr/ppppbppp/2n5/6N1/3pP3/8/PPP2PPP/RNBQKB1R w KQkq - 2 5",
            ("Nxf7", "Kxf7", "Bc4+", "d5", "exd5", "Na5", "Qxd4", "Bf6", "Qe4", "Nxc4"),
            ("Nf3", "Nf6", "Nbd2", "d5", "exd5", "Qxd5", "Bc4", "Qc5", "O-O", "Bf5"),
            "",
        ),
        (
            "rnb1k1nr/ppp1qppp/8/8/3pN3/2PP4/PP3PPP/R2QKBNR w KQkq - 1 9",
            ("cxd4", "f5", "Qh5+", "g6", "Qe2", "fxe4", "dxe4", "Nf6", "f3", "O-O"),
            ("Be2", "dxc3", "Nxc3", "Nf6", "Nf3", "O-O", "O-O", "Rd8", "Re1", "c5"),
            "9...f5 uses a pin: the knight on e4 may not leave the line between the queen on e7 and the king on e1; "
            "it costs a piece for two pawns",
        ),
        (  # The knight is taken by both lines, and what the last move takes may be taken back.
            "r1bq1rk1/p1p2ppp/2N5/3p4/3P2n1/2N5/PPP2KPP/R1BQ3R w - - 2 11",
            ("Kg1", "Qf6", "Qf3", "Qxc6", "Nxd5", "Qd7", "h3", "Bb7", "Qxg4", "Qxd5"),
            ("Qxg4", "Qf6+", "Qf3", "Qxc6", "Re1", "Qg6", "Nxd5", "Qxc2+", "Qe2"),
            "",
        ),
        (  # What may be taken back at the end is not won.
            "rnbqkb1r/ppp2ppp/5n2/3pp3/3P4/4PP2/PPP1N1PP/RNBQKB1R b KQkq - 1 4",
            ("Bd6", "c4", "O-O", "c5", "Be7", "dxe5", "Nfd7", "Qxd5", "Nc6", "Nd4"),
            ("Nc6", "Nbc3", "Bd6", "Nb5", "Be7", "Nbc3", "a6", "dxe5", "Nxe5"),
            "",
        ),
        (  # A tactic decides by what it wins at once, too.
            "rn3rk1/1p6/p2q1p1p/2p5/8/3B3b/PPP1NQ1P/3R1RK1 b - - 1 22",
            ("Qd5", "Bh7+", "Kxh7", "Rxd5", "Nc6", "Qh4", "Rg8+", "Ng3", "Bxf1", "Qe4+"),
            ("Qe5", "Nf4", "Bxf1", "Rxf1", "Nc6", "Qg3+", "Qg5", "Bc4+", "Kh8"),
            "23.Bh7+ discovers an attack by the rook on d1 on the queen on d5; it costs material",
        ),
        (  # What may be taken behind the line of the move played is not what its tactic wins.
            "rnbqkbnr/pp2pppp/2p5/3p4/2PP4/2N5/PP2PPPP/R1BQKBNR b KQkq - 1 3",
            ("Bf5", "cxd5", "cxd5", "Qb3", "Nc6", "e4", "Bxe4", "Nxe4", "dxe4", "Qxb7"),
            ("dxc4", "Nf3", "b5", "e4", "Bg4", "a4", "Bxf3", "Qxf3"),
            "Better, 3...dxc4 takes the pawn on c4, which nothing guards; it misses the gain of a pawn",
        ),
        (  # A king that may not take is a guard.
            "r1bqk1nr/pppp1pp1/2n4p/8/1bB1P3/1QN2N2/PP3PPP/R1B1K2R b KQkq - 2 7",
            ("Nf6", "Bxf7+", "Kf8", "O-O", "d6", "Bc4"),
            ("Bxc3+", "Qxc3", "Nf6", "e5", "Nh7", "O-O"),
            "8.Bxf7+ takes the pawn on f7, which has not enough guards; it costs a pawn",
        ),
        (  # A pawn so late in the better line is not what the move costs.
            "r1bqk2r/pp2npp1/2pbpn1p/3pN3/3P1P2/P3B1P1/1PPNP1BP/R2QK2R b KQkq - 1 9",
            ("Nd7", "O-O", "b6", "Bf2", "O-O", "e4", "Ba6", "Nd3"),
            ("Nf5", "Bg1", "Qb6", "e4", "Nxe4", "Nxe4", "dxe4", "Nc4"),
            "",
        ),
        (  # A fork that begins late, and of which it cannot be said what it wins.
            "8/4k3/2Q2pp1/3ppb1p/8/7P/q4PP1/5RK1 w - - 0 34",
            ("Qc7+", "Bd7", "Qc5+", "Ke6", "Qb6+", "Ke7", "Qb4+", "Ke6", "Rc1", "d4"),
            ("Qc5+", "Ke6", "Rc1", "Qa4", "Qc8+", "Ke7", "Qb7+", "Bd7", "Qxd5", "Qd4"),
            "",
        ),
        (  # A pawn may take back, too: nothing is drawn away.
            "3r1rk1/pbqn1pp1/4pn1p/2p5/4P3/P1NB1N2/1P2QPPP/3R1RK1 w - - 2 18",
            ("e5", "Bxf3", "Qxf3", "Nxe5", "Qe2", "Nxd3", "Rxd3", "Rxd3", "Qxd3", "Rb8"),
            ("h3", "Nh5", "Bb5", "Nf4", "Qe3", "Nb6", "Rfe1"),
            "",
        ),
        (  # Two rooks for queen and knight: there are guards enough.
            "r3k3/3n3R/1pn1qp2/2p1p3/2P1P1r1/2P1Q1Pp/7P/3R2KB w - - 2 34",
            ("Bf3", "Nf8", "Rb7", "Nd8", "Rc7", "Rg5", "Be2", "Nf7", "Rb7", "Rd8"),
            ("Rhxd7", "Qxd7", "Rxd7", "Kxd7", "Qh6", "Kc7", "Bf3", "Rgg8", "Qh7+", "Kd6"),
            "Better, 34.Rhxd7 takes the knight on d7; it misses the gain of material",
        ),
        (  # The moves show all that is said to be won.
            "2b2rk1/4q1b1/p1p4p/8/5P1P/5B2/PrP1N1P1/R2Q1RK1 b - - 1 22",
            ("Qxh4", "Rb1", "Qf6", "Rxb2", "Qxb2", "Qb1", "Be6", "Qxb2", "Bxb2", "Bxc6"),
            ("Bf5", "Rc1", "Rxa2", "Qe1", "Bxc2", "Qf2", "Bd3", "Rfe1", "Rd2", "Rcd1"),
            "In the better line, 22...Bf5 attacks the pawn on c2; it misses the gain of two pawns: "
            "23.Rc1 Rxa2 24.Qe1 Bxc2",
        ),
        (  # What a quiet move wins late.
            "r4rk1/pp3pbp/6p1/3P4/1Q6/P2p1NP1/1P2qPBP/1bB2RK1 w - - 0 19",
            ("Nd4", "Qg4", "Bf4", "Bc2", "Bf3", "Qd7", "Nxc2", "dxc2", "Rc1", "Rac8"),
            ("Bd2", "a5", "Qb5", "Bd4", "Nxd4", "Qxd2", "Rxb1", "Rac8", "Rf1", "a4"),
            "",
        ),
        (  # A tactic that begins late.
            "3rkn2/1R6/1pn1qp2/2p1p3/2P1P1r1/2P1QBPp/7P/3R2K1 w - - 6 36",
            ("Rf1", "Rg5", "Rxb6", "Rd6", "Rb7", "Nd7", "Ra1", "Nd8", "Rc7", "Qxc4"),
            ("Rxb6", "Rc8", "Qxc5", "Nd7", "Qd5", "Qxd5", "exd5", "Nxb6", "Bxg4", "Ne7"),
            "It misses the gain of two pawns: 36.Rxb6 Rc8 37.Qxc5",
        ),
        (  # The first capture comes in the better line, too.
            "r1b1kb1r/pp3ppp/2n1p3/q3N3/2BP4/2P5/P4PPP/R1BQK2R w KQkq - 1 11",
            ("Qd3", "Nxe5", "dxe5", "Qxe5+", "Be3", "Bc5"),
            ("O-O", "Nxe5", "dxe5", "Bd7", "Bb3", "Bc6", "Qh5", "Qxc3"),
            "",
        ),
        (  # What is taken may be taken after the better move, too, and comes back.
            "3r2k1/3qn1b1/2p1p2p/Q1Pr1Pp1/Pp1PR3/1P2BNP1/5P2/4R1K1 b - - 0 35",
            ("Nxf5", "Qxb4", "Qf7", "Ne5", "Qh5", "Qc4", "Bxe5", "Rxe5", "Rxe5", "dxe5"),
            ("Rxf5", "Ne5", "Bxe5", "Rxe5", "Rxe5", "dxe5", "Rb8", "Qa6", "Qd5", "Qa7"),
            "",
        ),
        (  # What is pinned to its king is not called trapped.
            "3r4/4k1p1/3pqpb1/7p/1Q3B2/P6P/5PP1/3R2K1 b - - 7 34",
            ("Rd7", "Re1", "Qxe1+", "Qxe1+", "Kf7", "Qb4", "d5", "a4", "Bd3", "a5"),
            ("Kf7", "a4", "Qa2", "a5", "Kg8", "Bxd6", "Kh7", "Rc1", "Ra8", "Bc7"),
            "35.Re1 uses a pin: the queen on e6 may not leave the line between the rook on e1 and the king on e7; "
            "it costs a queen for a rook",
        ),
        (  # A promotion needs no combination.
            "8/8/8/p3R3/1P5p/r4k2/8/5K2 w - - 0 53",
            ("b5", "Ra1+", "Re1", "Rxe1+", "Kxe1", "h3", "Kd2", "h2", "b6", "h1=Q"),
            ("Rxa5", "Rb3", "Kg1", "Kg4", "Rd5", "Rb1+", "Kh2", "h3", "Rd2", "Kf5"),
            "53...Ra1+ 54.Re1 Rxe1+ 55.Kxe1 h3 56.Kd2 h2 57.b6, and 57...h1=Q promotes",
        ),
        (  # Of captures that come one after another, only those at the beginning have a name.
            "5rk1/pp1b2bp/1qn1pr1p/3p4/3P4/P1NB1N1P/1P1Q1PP1/4RRK1 b - - 0 15",
            ("Kh8", "Ne5", "Nxe5", "dxe5", "R6f7", "Bc2", "h5", "b4", "Be8", "Na4"),
            ("Rxf3", "gxf3", "Nxd4", "Re3", "Nxf3+", "Rxf3", "Rxf3", "Kg2", "Rf7", "f4"),
            "It misses the gain of two pawns: 15...Rxf3 16.gxf3 Nxd4 17.Re3 Nxf3+ 18.Rxf3 Rxf3",
        ),
        (  # A guard that the move cuts off.
            "3rkbnr/1pp3p1/p1n2pbp/4p3/2B1P1P1/2P2N1P/PP3P2/RNB1R1K1 w k - 0 12",
            ("Be3", "Bxe4", "Nbd2", "Bh7", "Nf1", "Nge7", "Rad1", "Bg8", "Bxg8", "Rxg8"),
            ("a4", "Bf7", "Nbd2", "Nge7", "Bxf7+", "Kxf7", "Nc4", "g5", "Be3", "Ng6"),
            "12.Be3 cuts the rook on e1 off from e4: 12...Bxe4 takes the pawn on e4, which nothing guards, and attacks "
            "the knight on f3; it costs a pawn",
        ),
    ],
)
def test_what_is_won_comes_first(fen: str, played: tuple[str, ...], better: tuple[str, ...], text: str) -> None:
    board = chess.Board(fen)
    sign = 1 if board.turn else -1
    worse, rest = value(board, -220 * sign), value(board, 20 * sign)
    assert text_of(board, found(worse, moves(board, *played)), found(rest, moves(board, *better))) == text


def test_a_capture_that_loses_nothing_by_itself_did_not_take_something_guarded() -> None:
    # White's queen is lost on the square where bishops are only exchanged.
    board = chess.Board("rb3qk1/pp4pb/2p1pr2/6QP/5n2/1BN5/PPPB1P2/2KR3R w - - 1 21")
    played = moves(board, "Bxf4", "Bxf4+", "Qxf4", "Rxf4", "Ne2", "Rxf2", "Nd4", "Kh8", "h6", "g5")
    better = moves(board, "h6", "Bc7", "hxg7", "Qxg7", "Qh4", "Bg6", "Rdg1", "Raf8", "Rg4", "Rf5")
    assert text_of(board, found(value(board, -628), played), found(value(board, 326), better)) == ""


def test_what_is_said_to_be_won_is_in_proportion_to_the_cost() -> None:
    board = chess.Board("5k2/p1R4p/1p4p1/4Pp2/6nP/5r2/P5K1/2R5 b - - 4 42")
    played = moves(board, "Ra3", "Rb7", "Nf6", "exf6", "Re3", "Rxh7", "f4", "Rc8+", "Re8", "Rh8+")
    better = moves(board, "Rf4", "Rxa7", "Ne3+", "Kg3", "Rc4", "Rxc4", "Nxc4")
    # The moves show a piece, and the line wins more.
    assert text_of(board, found(value(board, 1008), played), found(value(board, 300), better)) == ""


@pytest.mark.parametrize(
    ("cp", "text"), [(100, ""), (-700, "39...h3 40.Nxh3 gxh3 41.a4 h2 42.axb5, and 42...h1=Q promotes")]
)
def test_a_promotion_is_a_reason_if_the_pawn_cannot_be_stopped(cp: int, text: str) -> None:
    board = chess.Board("8/8/5k2/1pp5/6pp/8/PPP1K3/6N1 w - - 0 39")
    played = moves(board, "b3", "h3", "Nxh3", "gxh3", "a4", "h2", "axb5", "h1=Q", "b6", "Ke6")
    better = moves(board, "Kf2", "Ke5", "Ne2", "b4", "a4", "bxa3", "bxa3", "Kd5")

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        """The king catches the pawn, or is too late; elsewhere nothing."""
        if position.piece_at(chess.H3) is None or position.turn == chess.BLACK or not asked:
            return Found(DRAWN)
        if len(asked) == 1:
            return found(value(position, -380), tuple(asked))
        return found(value(position, cp), moves(position, "Kf2", "h2", "Kg2", "Ke5"))

    assert text_of(board, found(value(board, -381), played), found(value(board, 111), better), find) == text


def test_a_threat_is_about_as_strong_as_what_comes() -> None:
    board = chess.Board("6k1/1p3pp1/pqn2bp1/3p4/1P1P2PP/P4NPK/1r6/2R1Q3 b - - 0 33")
    played = found(value_of(Mate(3), 18), moves(board, "Bxd4", "Qe8+", "Kh7", "Ng5+", "Kh6", "Qh8#"))
    better = found(value(board, -502), moves(board, "Qd8", "Qe3", "Qe7", "Qxe7", "Bxe7", "Re1"))

    def text(cp: int) -> str:
        passed = Value(Cp(cp), 1.0 if cp > 0 else 0.1)
        return text_of(
            board, played, better, lambda at, asked=None: found(passed, moves(at, "Qe8+")) if at.turn else Found(DRAWN)
        )

    assert text(-330) == "It allows mate in 3 by 34.Qe8+"
    assert text(2000) == "It does not meet a threat: it allows mate in 3 by 34.Qe8+"


@pytest.mark.parametrize(
    ("fen", "played", "better", "text"),
    [
        (
            "2r2r2/6kp/Q3pNp1/2bpP3/2n5/2B3Pq/1P3P1P/1R2R1K1 w - - 1 35",
            ("Nd7", "Rxf2", "Nf8", "Qxh2#"),
            ("Re2", "Rb8", "Qc6", "Rfc8"),
            "35.Nd7 opens the line of the rook on f8 to f2: it allows mate in 2 by 35...Rxf2",
        ),
        (  # The better move leaves e6, too.
            "8/p2Q1N2/7p/3k3K/2p3P1/P2r1p1P/1P2nb2/3q4 b - - 1 43",
            ("Ke4", "Qe6+", "Kd4", "Qe5#"),
            ("Kc5", "Qe7+", "Kb6", "Qb4+", "Kc7", "Qxc4+"),
            "It allows mate in 2 by 44.Qe6+",
        ),
    ],
)
def test_what_the_move_opens_for_a_mate(fen: str, played: tuple[str, ...], better: tuple[str, ...], text: str) -> None:
    board = chess.Board(fen)
    sign = 1 if board.turn else -1
    worse, rest = (
        found(value_of(Mate(-2 * sign), 20), moves(board, *played)),
        found(value(board, 140 * sign), moves(board, *better)),
    )
    assert text_of(board, worse, rest) == text


def test_no_capture_at_the_end_of_a_line_that_allows_mate() -> None:
    board = chess.Board("6k1/5ppp/7P/8/8/2Q5/q4P2/B5K1 b - - 0 1")
    assert best_capture(board)[1] is None
    board.remove_piece_at(chess.C3)
    assert best_capture(board) == (3, chess.Move.from_uci("a2a1"))
