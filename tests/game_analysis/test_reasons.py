"""Why a move is an error or good: the kind of the reason, its moves, squares and pieces; not its wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import chess
import pytest
from chess.engine import Cp, Mate
from hypothesis import given
from hypothesis import strategies as st

from tests.support.moves import moves
from uci_engine.game_analysis.boards import board_after, numbered, winning_captures
from uci_engine.game_analysis.reasons import Comparison, Reason, reason_for, support_for
from uci_engine.game_analysis.searches import Finder, nothing_found
from uci_engine.game_analysis.tactics import Kind
from uci_engine.game_analysis.values import DRAWN, Found, Value, value_of
from uci_engine.game_analysis.words import material_words

NAMED = re.compile(
    r"\d+\.+[-\w+#=]+|\b[a-h][1-8]\b|mate in \d+|"
    r"\b(?:pawns?|piece|knight|bishop|rook|queen|king|exchange|material|stalemate)\b"
)
THREAT = "does not meet a threat"
ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "tables" / "reasons.tsv").read_text().splitlines()
    if not line.startswith("#")
]


def value(board: chess.Board, cp: int) -> Value:
    return value_of(Cp(cp), board.occupied.bit_count())


def found(board: chess.Board, cp: int, *line: str) -> Found:
    return Found(value(board, cp), line=moves(board, *line))


def named(reason: Reason | None) -> str:
    """The moves, squares and pieces that a reason names, "-" for no reason."""
    return "-" if reason is None else " ".join(NAMED.findall(reason.text))


def kinds(reason: Reason | None) -> list[Kind]:
    return [] if reason is None else [motif.kind for motif in reason.motifs]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_the_reason_of_a_mistake(row: list[str]) -> None:
    fen, *both, expected_kinds, expected_names = row
    board = chess.Board(fen)

    def side(score: str, line: str) -> Found:
        shown = Mate(int(score[1:])) if score[0] == "#" else Cp(int(score))
        return Found(value_of(shown, board.occupied.bit_count()), line=moves(board, *line.split()))

    reason = reason_for(board, side(*both[:2]), side(*both[2:]))
    assert (", ".join(kind.value for kind in kinds(reason)) or "-", named(reason)) == (expected_kinds, expected_names)
    if reason is not None:
        assert reason.text[0].isupper() or reason.text[0].isdigit()


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


ATTACKS = re.compile(r"(\d+\.+\S+) attacks the (\w+) on (\w\d)")
CHOICES = st.lists(st.integers(0, 40), max_size=8)


def check_attacks(text: str, start: chess.Board, line: Sequence[chess.Move]) -> None:
    """Check the attacks that a text names on the positions of a line, by the names of its moves."""
    boards, after = {}, start.copy()
    for move in line:
        name = numbered(after, move)
        after.push(move)
        boards[name] = after.copy()
    for name, piece, square in ATTACKS.findall(text):
        board, at = boards[name], chess.parse_square(square)
        assert chess.piece_name(board.piece_type_at(at) or 0) == piece
        assert at in winning_captures(board, not board.turn)


@given(st.sampled_from(ROWS), CHOICES, CHOICES, st.integers(-3000, 3000), st.integers(-3000, 3000))
def test_what_is_said_of_any_two_lines_holds_on_the_board(
    row: list[str], one: list[int], other: list[int], played_cp: int, better_cp: int
) -> None:
    board = chess.Board(row[0])
    lines = []
    for choices in (one, other):
        after = board.copy()
        for choice in choices:
            options = sorted(after.legal_moves, key=chess.Move.uci)
            if options:
                after.push(options[choice % len(options)])
        lines.append(tuple(after.move_stack))
    played, better = (
        Found(value(board, cp), line=line) for cp, line in zip((played_cp, better_cp), lines, strict=True)
    )
    reason = reason_for(board, played, better)
    if reason is not None:
        assert reason.text[0].isupper() or reason.text[0].isdigit()
        own, _, missed = reason.text.partition("n the better line, ")
        check_attacks(own, board, played.line)
        check_attacks(missed, board, better.line)


# Threats, and captures that fail -------------------------------------------------------------------------------------


def answering(is_asked: Callable[[chess.Board], bool], cp: int, *line: str) -> Finder:
    """Short searches that find this for White in the positions that are asked, and nothing elsewhere."""

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        return found(position, cp, *line) if is_asked(position) else Found(DRAWN)

    return find


PINNED = "rnb1kbnr/pp3ppp/2p5/q3p3/8/P1N1P3/1P1P1PPP/R1BQKBNR w KQkq - 0 6"
PINNED_LINES = (
    "b4 Bxb4 Bb2 Be7 Qc2 Bg4 Nf3 Nd7 Ne4 Bf5",
    "d4 Nf6 dxe5 Qxe5 Nf3 Qe7 Qc2 g6 e4 Bg7",
    "b4 Bxb4 axb4",
)


@pytest.mark.parametrize(
    ("fen", "played", "better", "asked", "answer", "names"),
    [
        (
            "r3r1k1/1bqnppbp/3p1np1/p1p5/PpP1PP2/1P1P1N2/1B1NB1PP/R2Q1R1K w - - 0 15",
            "Ng1 Nxe4 Bxg7 Nxd2 Qxd2 Kxg7",
            "Qc2 e6 Ng5 h6 Nh3 e5",
            "Ng1 Nxe4 dxe4",
            "Bxb2 Ra2 Bg7",
            "pawn 15...Nxe4 16.dxe4 16...Bxb2 bishop b2 rook a1",
        ),
        (PINNED, *PINNED_LINES, "Qxa1", "pawn a3 queen a5 b4 7.axb4 7...Qxa1 rook a1 pawn"),
        # Nobody sees why that capture fails.
        (PINNED, *PINNED_LINES, "Qc7", "-"),
    ],
)
def test_why_a_capture_fails(fen: str, played: str, better: str, asked: str, answer: str, names: str) -> None:
    board = chess.Board(fen)
    question = board_after(board, moves(board, *asked.split()))
    find = answering(lambda at: at.fen() == question.fen(), 400 if question.turn else -400, *answer.split())
    lines = found(board, -100, *played.split()), found(board, 0, *better.split())
    assert named(reason_for(board, *lines, find)) == names
    # Without that answer nothing is said of the capture.
    assert numbered(*capture_of(question)) not in named(reason_for(board, *lines))


def capture_of(board: chess.Board) -> tuple[chess.Board, chess.Move]:
    before = board.copy()
    move = before.pop()
    return before, move


@pytest.mark.parametrize(
    ("king", "better", "threat", "is_threat", "names"),
    [
        ("f1", "Bc4", "Rxd3", True, "1...Rxd3 bishop d3 piece"),
        # The better move does not meet it: it is no reason. Another move was threatened.
        ("f1", "h4", "Rxd3", False, "-"),
        ("f1", "Bc4", "Rd6", False, "1...Rxd3 bishop d3 piece"),
        # The king guarded it.
        ("e2", "Bc4", "Rxd3", False, "1.Kf1 d3 1...Rxd3 bishop d3 piece"),
    ],
)
def test_a_threat_that_a_move_does_not_meet(king: str, better: str, threat: str, is_threat: bool, names: str) -> None:
    board = chess.Board("3r2k1/5ppp/8/8/8/3B4/5PPP/8 w - - 0 1")
    board.set_piece_at(chess.parse_square(king), chess.Piece(chess.KING, chess.WHITE))
    find = answering(lambda at: not at.turn and at.king(chess.WHITE) == board.king(chess.WHITE), -500, threat)
    step = "Kg1" if king == "f1" else "Kf1"
    reason = reason_for(
        board, found(board, -500, step, "Rxd3", "g3", "Kf8"), found(board, 20, better, "h6", step, "Kf8"), find
    )
    assert named(reason) == names
    assert (reason is not None and THREAT in reason.text) == is_threat


def test_what_answers_a_check_was_no_threat() -> None:
    board = chess.Board("8/7k/p1R3p1/2B1b3/4Pp1p/P4K1P/2r5/6N1 b - - 12 47")
    played = found(board, 139, "Rc3+", "Kg4", "Rg3+", "Kxh4", "Rc3", "Kg4", "Rg3+", "Kh4")
    better = found(board, 30, "a5", "a4", "Rc3+", "Ke2", "Rc2+", "Kd3", "Rc3+", "Kd2")
    find = answering(lambda at: at.turn and at.piece_at(chess.C2) is not None, 400, "Kg4")
    assert named(reason_for(board, played, better, find)) == "48.Kg4 pawn h4 pawn 48...Rg3+ 49.Kxh4"


@pytest.mark.parametrize(("expected", "is_threat"), [(0.1, False), (1.0, True)])
def test_a_threat_is_about_as_strong_as_what_comes(expected: float, is_threat: bool) -> None:
    board = chess.Board("6k1/1p3pp1/pqn2bp1/3p4/1P1P2PP/P4NPK/1r6/2R1Q3 b - - 0 33")
    played = Found(value_of(Mate(3), 18), line=moves(board, "Bxd4", "Qe8+", "Kh7", "Ng5+", "Kh6", "Qh8#"))
    better = found(board, -502, "Qd8", "Qe3", "Qe7", "Qxe7", "Bxe7", "Re1")

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        return Found(Value(Cp(0), expected), line=moves(position, "Qe8+")) if position.turn else Found(DRAWN)

    reason = reason_for(board, played, better, find)
    assert named(reason) == "mate in 3 34.Qe8+"
    assert reason is not None
    assert (THREAT in reason.text) == is_threat


@pytest.mark.parametrize(("cp", "is_reason"), [(100, False), (-700, True)])
def test_a_promotion_is_a_reason_if_the_pawn_cannot_be_stopped(cp: int, is_reason: bool) -> None:
    board = chess.Board("8/8/5k2/1pp5/6pp/8/PPP1K3/6N1 w - - 0 39")
    played = found(board, -381, "b3", "h3", "Nxh3", "gxh3", "a4", "h2", "axb5", "h1=Q", "b6", "Ke6")
    better = found(board, 111, "Kf2", "Ke5", "Ne2", "b4", "a4", "bxa3", "bxa3", "Kd5")

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        """The king catches the pawn, or is too late; elsewhere nothing."""
        if position.piece_at(chess.H3) is None or position.turn == chess.BLACK or not asked:
            return Found(DRAWN)
        if len(asked) == 1:
            return Found(value(position, -380), line=tuple(asked))
        return found(position, cp, "Kf2", "h2", "Kg2", "Ke5")

    assert kinds(reason_for(board, played, better, find)) == ([Kind.PROMOTION] if is_reason else [])


# What short searches confirm -----------------------------------------------------------------------------------------

# A pawn may attack the knight, and it may leave.
BOARD = chess.Board("6k1/p4ppp/8/1p6/8/2N5/P4PPP/6K1 w - - 0 1")
SEEN = {"h3": (-400, "b4"), "a3": (10, "Kf8")}


class Answers:
    """Short searches that find what a test says, by the moves before in SAN; of one move by that, or of `others`."""

    def __init__(self, found: dict[str, tuple[int, str]]) -> None:
        self.found = found

    def __call__(self, board: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        words = BOARD.variation_san(board.move_stack) if board.move_stack else ""
        name = " ".join(word for word in words.split() if not word.endswith("."))
        if asked is not None:
            name += f" {board.san(asked[0])}" if len(asked) == 1 else " others"
        cp, reply = self.found.get(name, (0, ""))
        return found(board, cp, *reply.split())


def costs_a_piece(find: Finder, played: Value, better: Value) -> bool:
    lost = Found(played, line=moves(BOARD, "h3", "b4", "Kh2", "bxc3", "Kg1", "Kf8"))
    saved = Found(better, line=moves(BOARD, "a3", "Kf8", "h3", "Ke7", "Kh2", "f6"))
    names = named(reason_for(BOARD, lost, saved, find))
    assert names in ("-", "1...b4 knight c3 piece 2.Kh2")
    return names != "-"


@pytest.mark.parametrize(
    ("defence", "is_reason"),
    [
        ({}, True),
        # The knight goes, and that is as good as the line, or worse.
        ({"h3 b4 others": (-110, "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (-110, "Kh2 bxc3")}, False),
        ({"h3 b4 others": (-140, "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (-110, "Kh2 bxc3")}, True),
        # Where all is lost, it is said what.
        ({"h3 b4 others": (-310, "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (-400, "Kh2 bxc3")}, True),
        ({"h3 b4 others": (-290, "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (-400, "Kh2 bxc3")}, False),
        # A defence that loses the knight as well.
        ({"h3 b4 others": (-110, "g3 bxc3 Kg2 Kf8"), "h3 b4 Kh2": (-110, "Kh2 bxc3")}, True),
        # Short searches see the cost, most of it, little of it, nothing.
        ({"h3": (-400, "b4")}, True),
        ({"h3": (-250, "b4")}, True),
        ({"h3": (-50, "b4")}, False),
        ({"h3": (10, "b4")}, False),
    ],
)
def test_what_a_move_costs_is_seen_and_no_defence_keeps_it(
    defence: dict[str, tuple[int, str]], is_reason: bool
) -> None:
    assert costs_a_piece(Answers(SEEN | defence), value(BOARD, -400), value(BOARD, 10)) == is_reason


@pytest.mark.parametrize(
    ("played", "better", "is_reason"),
    [
        (Cp(-400), 10, True),
        (Cp(-140), 0, True),
        # With so little lost, the piece comes back. Unless that decides the game.
        (Cp(-100), 0, False),
        (Cp(-130), 0, True),
        # With so much lost, it is not for a piece.
        (Cp(-600), 100, True),
        (Cp(-620), 100, False),
        (Mate(-9), 10, False),
    ],
)
def test_a_reason_is_in_proportion_to_what_a_move_costs(played: Cp | Mate, better: int, is_reason: bool) -> None:
    assert costs_a_piece(nothing_found, value_of(played, 12), value(BOARD, better)) == is_reason


@pytest.mark.parametrize(("replies", "is_reason"), [("b4 Kh2 bxc3 Kg1 Kf8", False), ("Kf8 Kh2 Ke7 Kg1 f6", True)])
def test_what_is_missed_is_half_of_the_reason_where_the_move_played_loses_something(
    replies: str, is_reason: bool
) -> None:
    played = found(BOARD, -300, "h3", *replies.split())
    lines = Comparison(BOARD, played, found(BOARD, 150, "Nxb5", "Kf8", "Nxa7", "Ke7", "h3", "f6"))
    assert lines.is_won(lines.better, 4) is is_reason


# Good moves ----------------------------------------------------------------------------------------------------------

LOST = value_of(Cp(-600), 32)
# White threatens mate on f7.
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"


def test_a_tactic_supports_the_move_that_begins_it() -> None:
    board = chess.Board("4k3/1q6/8/8/4N3/8/8/4K3 w - - 0 1")
    support = support_for(board, Found(DRAWN, line=moves(board, "Nd6+", "Kd7", "Nxb7")))
    assert (kinds(support), named(support)) == ([Kind.FORK], "1.Nd6+ king e8 queen b7")


@pytest.mark.parametrize(("others", "is_only"), [(LOST, True), (DRAWN, False), (None, False)])
def test_the_only_move_is_said_to_be_it(others: Value | None, is_only: bool) -> None:
    board = chess.Board()
    support = support_for(board, Found(DRAWN, line=moves(board, "e4", "e5")), others)
    assert (support is not None) == is_only


def test_a_threat_is_named_where_the_move_meets_it() -> None:
    board = chess.Board(SCHOLAR)
    seen: list[chess.Board] = []

    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        seen.append(position)
        return Found(value_of(Cp(900), 32), line=moves(position, "Qxf7#"))

    assert named(support_for(board, found(board, 0, "g6", "Qf3", "Nf6"), find=find)) == "4.Qxf7#"
    assert [position.turn for position in seen] == [chess.WHITE]
    assert seen[0].is_valid()
    # The move does not meet it.
    assert support_for(board, found(board, 0, "Nf6", "Qxf7#"), find=find) is None


def test_no_threat_is_looked_for_in_check_or_named_where_it_changes_nothing() -> None:
    def find(position: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        assert not board.is_check()
        return Found(DRAWN, line=moves(position, "Qxf7#"))

    board = chess.Board("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1")
    assert support_for(board, found(board, 0, "Kd1", "Re3"), find=find) is None
    board = chess.Board(SCHOLAR)
    assert support_for(board, found(board, 0, "g6", "Qf3"), find=find) is None


def test_a_sacrifice_that_works_is_shown_with_its_line() -> None:
    board = chess.Board("1k6/3q4/8/3N4/8/8/5PPP/R5K1 w - - 0 1")
    line = moves(board, "Ra8+", "Kxa8", "Kf1", "Qxd5")
    assert "1.Ra8+ 2.Kf1" in named(support_for(board, Found(DRAWN, line=line)))
    # A sacrifice that loses is none that works.
    assert support_for(board, Found(LOST, line=line)) is None
