"""Whether a reason holds beyond its two lines."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import pytest
from chess.engine import Cp, Mate

from tests.support.moves import moves
from uci_engine.game_analysis.lines import TwoLines
from uci_engine.game_analysis.reasons import Confirmation, reason_for
from uci_engine.game_analysis.searches import nothing_found
from uci_engine.game_analysis.values import DRAWN, Found, Value, value_of

# A pawn may attack the knight, and it may leave.
BOARD = chess.Board("6k1/p4ppp/8/1p6/8/2N5/P4PPP/6K1 w - - 0 1")
SAID = "1...b4 attacks the knight on c3; it costs a piece: 2.Kh2 bxc3"
UNSAID = ""


def value(cp: int) -> Value:
    return value_of(Cp(cp), 12)


class Answers:
    """Short searches that find what a test says, by the moves before in SAN; of one move by that, or of `others`."""

    def __init__(self, found: dict[str, tuple[Value, str]]) -> None:
        self.found = found
        self.asked: list[str] = []

    def __call__(self, board: chess.Board, asked: Sequence[chess.Move] | None = None) -> Found:
        words = BOARD.variation_san(board.move_stack) if board.move_stack else ""
        name = " ".join(word for word in words.split() if not word.endswith("."))
        if asked is not None:
            name += f" {board.san(asked[0])}" if len(asked) == 1 else " others"
        self.asked.append(name)
        if name not in self.found:
            return Found(DRAWN)
        found, reply = self.found[name]
        return Found(found, line=moves(board, *reply.split()))


def text_of(find: Answers | None, played: Value, better: Value) -> str:
    lost = Found(played, line=moves(BOARD, "h3", "b4", "Kh2", "bxc3", "Kg1", "Kf8"))
    saved = Found(better, line=moves(BOARD, "a3", "Kf8", "h3", "Ke7", "Kh2", "f6"))
    reason = reason_for(BOARD, lost, saved, find or nothing_found)
    return "" if reason is None else reason.text


SEEN = {"h3": (value(-400), "b4"), "a3": (value(10), "Kf8")}


@pytest.mark.parametrize(
    ("defence", "text"),
    [
        ({}, SAID),
        # The knight goes, and that is as good as the line, or worse.
        ({"h3 b4 others": (value(-110), "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (value(-110), "Kh2 bxc3")}, UNSAID),
        ({"h3 b4 others": (value(-140), "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (value(-110), "Kh2 bxc3")}, SAID),
        # Where all is lost, it is said what.
        ({"h3 b4 others": (value(-310), "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (value(-400), "Kh2 bxc3")}, SAID),
        ({"h3 b4 others": (value(-290), "Ne4 Kf8 Nc5"), "h3 b4 Kh2": (value(-400), "Kh2 bxc3")}, UNSAID),
        # A defence that loses the knight as well.
        ({"h3 b4 others": (value(-110), "g3 bxc3 Kg2 Kf8"), "h3 b4 Kh2": (value(-110), "Kh2 bxc3")}, SAID),
    ],
)
def test_material_that_a_defence_keeps_is_not_what_a_move_costs(
    defence: dict[str, tuple[Value, str]], text: str
) -> None:
    assert text_of(Answers(SEEN | defence), value(-400), value(10)) == text


@pytest.mark.parametrize(("cp", "text"), [(-400, SAID), (-250, SAID), (-50, UNSAID), (10, UNSAID)])
def test_what_short_searches_do_not_see_is_no_reason(cp: int, text: str) -> None:
    find = Answers(SEEN | {"h3": (value(cp), "b4")})
    assert text_of(find, value(-400), value(10)) == text
    assert find.asked[:2] == ["h3", "a3"]


@pytest.mark.parametrize(
    ("played", "better", "text"),
    [
        (value(-400), value(10), SAID),
        (value(-140), value(0), SAID),
        # With so little lost, the piece comes back.
        (value(-100), value(0), UNSAID),
        # Unless that decides the game.
        (value(-130), value(0), SAID),
        # With so much lost, it is not for a piece.
        (value(-600), value(100), SAID),
        (value(-620), value(100), UNSAID),
        (value_of(Mate(-9), 12), value(10), UNSAID),
    ],
)
def test_a_reason_is_in_proportion_to_what_a_move_costs(played: Value, better: Value, text: str) -> None:
    assert text_of(None, played, better) == text


@pytest.mark.parametrize(("replies", "is_reason"), [("b4 Kh2 bxc3 Kg1 Kf8", False), ("Kf8 Kh2 Ke7 Kg1 f6", True)])
def test_what_is_missed_is_half_of_the_reason_where_the_move_played_loses_something(
    replies: str, is_reason: bool
) -> None:
    played = Found(value(-300), line=moves(BOARD, "h3", *replies.split()))
    better = Found(value(150), line=moves(BOARD, "Nxb5", "Kf8", "Nxa7", "Ke7", "h3", "f6"))
    lines = TwoLines(BOARD, played, better)
    assert Confirmation(lines, nothing_found).is_won(lines.better, 4) is is_reason
