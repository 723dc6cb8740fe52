"""Marks, losses and accuracy, out of values alone."""

from __future__ import annotations

from itertools import chain
from typing import Any

import chess
import pytest
from chess.engine import Cp, Mate, MateGiven, Score
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.board.pieces import phase_weight
from uci_engine.game_analysis.boards import board_after
from uci_engine.game_analysis.judgement import (
    BLUNDER_LOSS,
    DECIDED_LOSS,
    ERRORS,
    MISTAKE_LOSS,
    SURE_LOSS,
    Found,
    Judgement,
    Mark,
    Phase,
    Value,
    accuracy_of,
    judge,
    phases_of,
    site_expected,
    value_of,
)

# The usual position with White and with Black to move, and a line in which nothing is taken.
QUIET = {
    chess.WHITE: (chess.STARTING_FEN, "e2e4"),
    chess.BLACK: (chess.STARTING_FEN.replace(" w ", " b "), "e7e5"),
}
BISHOP = "r1bqkb1r/ppp2ppp/2np1n2/4p3/2B1P3/2N2N2/PPPP1PPP/R1BQ1RK1 w kq - 0 1"
SACRIFICE = (BISHOP, "c4f7 e8f7 d2d3 f8e7 c1e3 h8f8")
FORK = ("2b2rk1/5ppp/8/8/3Q4/8/PPn2PPP/R5K1 w - - 0 1", "d4d1 c2a1 d1a1 f8e8 a1d1 e8e7")
FORCED = ("K7/8/1k6/8/8/8/8/7q w - - 0 1", "a8b8")


def judged(
    best: Score | float,
    played: Score | float,
    white: bool = True,
    others: float | None = None,
    is_book: bool = False,
    line: tuple[str, str] | None = None,
) -> Judgement:
    """The judgement of the first move of a line, which is a position with moves; a move before it stands before `|`.

    The scores, or the expected results, are those for the side that moves. Equal ones: the move is the best.
    """
    fen, words = line or QUIET[white]
    *before, moves = ([chess.Move.from_uci(word) for word in part.split()] for part in words.split("|"))
    board = board_after(chess.Board(fen), chain(*before))

    def seen(each: Score | float) -> Value:
        if isinstance(each, Score):
            return value_of(each if board.turn else -each)
        expected = each if board.turn else 1 - each
        return Value(Cp(round(400 * (expected - 0.5))), expected)

    found = Found(seen(played), line=tuple(moves))
    better = Found(seen(best), line=found.line if best == played else (chess.Move.null(),))
    return judge(board, better, found, None if others is None else seen(others), is_book=is_book)


def only(fen: str, words: str) -> dict[str, Any]:
    """For `judged`: all other moves are worth much less."""
    return {"others": 0.2, "line": (fen, words)}


@pytest.mark.parametrize(
    ("played", "options", "mark"),
    [
        (0.5, only(*SACRIFICE), Mark.BRILLIANT),
        (0.5, {"others": 0.45}, Mark.BEST),
        # In a won game no move is brilliant.
        (1.0, {"others": 0.92, "line": SACRIFICE}, Mark.BEST),
        # A forced move, and one of the book that is no mistake, are not judged.
        (0.2, {"line": FORCED}, Mark.FORCED),
        (0.5 - MISTAKE_LOSS + 0.001, {"is_book": True}, Mark.BOOK),
        (0.5 - MISTAKE_LOSS - 0.001, {"is_book": True}, Mark.MISTAKE),
        # The only move is obvious: it takes at least what it can lose, takes back, promotes, or is one of few out of
        # check.
        (0.5, only("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5"), Mark.BEST),
        (0.5, only("4k3/2p5/3p4/8/8/3R4/8/4K3 w - - 0 1", "d3d6"), Mark.GOOD),
        (0.5, only("4k3/2p5/3p4/8/8/3R4/3R4/4K3 w - - 0 1", "d3d6 | c7d6"), Mark.BEST),
        (0.5, only("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"), Mark.BEST),
        (0.5, only("4k3/8/8/8/8/8/8/r3K3 w - - 0 1", "e1e2"), Mark.BEST),
        # A sacrifice is taken, and the line does not bring back what it gives.
        (0.5, only(BISHOP, "c4f7 e8f7"), Mark.GOOD),
        # A fork costs a rook, whatever the queen does.
        (0.5, only(*FORK), Mark.GOOD),
        (0.5, only("4k3/8/8/8/8/8/p5PP/4R1K1 w - - 0 1", "e1f1 a2a1q f1a1 e8e7 a1d1 e7e6"), Mark.GOOD),
    ],
)
def test_what_deserves_another_mark_than_its_loss_says(played: float, options: dict[str, Any], mark: Mark) -> None:
    judgement = judged(max(played, 0.5), played, **options)
    assert judgement.mark is mark
    assert (judgement.weight == 0) == (mark in (Mark.FORCED, Mark.BOOK))


@pytest.mark.parametrize("white", chess.COLORS)
def test_a_lost_game_weighs_little_and_a_missed_win_is_told(white: bool) -> None:
    lost, even = judged(0.02, 0.0, white), judged(0.5, 0.5, white)
    assert not lost.mark.is_error
    assert lost.weight < even.weight / 5
    assert judged(0.99, 0.5, white).weight == pytest.approx(even.weight)
    pairs = ((0.95, 0.6), (0.95, 0.8), (0.8, 0.3))
    assert [judged(*pair, white).missed_win for pair in pairs] == [True, False, False]


@pytest.mark.parametrize("white", chess.COLORS)
@pytest.mark.parametrize(
    ("best", "played", "mark"),
    [
        (0.6, 0.6, Mark.BEST),
        (0.6, 0.6 - SURE_LOSS + 0.001, Mark.SOUND),
        (0.6, 0.6 - SURE_LOSS - 0.001, Mark.INACCURACY),
        (0.6, 0.6 - MISTAKE_LOSS - 0.001, Mark.MISTAKE),
        (0.6, 0.6 - BLUNDER_LOSS - 0.001, Mark.BLUNDER),
        # A mate is missed where the game is no longer decided.
        (Mate(2), Cp(900), Mark.SOUND),
        (Mate(3), Cp(300), Mark.BLUNDER),
        (Mate(3), Mate(9), Mark.SOUND),
        (Mate(3), Mate(-2), Mark.BLUNDER),
        # It is allowed where the game was not lost before.
        (Cp(-900), Mate(-2), Mark.SOUND),
        (Cp(-300), Mate(-2), Mark.BLUNDER),
        (Mate(-5), Mate(-2), Mark.SOUND),
        # In a decided game pawns are no matter, and less is sure.
        (0.93, 0.93 - DECIDED_LOSS + 0.001, Mark.SOUND),
        (0.93, 0.93 - DECIDED_LOSS - 0.001, Mark.MISTAKE),
        (Cp(900), Cp(500), Mark.SOUND),
        (Cp(3000), Cp(1000), Mark.SOUND),
        (Cp(0), Cp(-110), Mark.BLUNDER),
    ],
)
def test_the_marks_are_those_of_the_loss_and_of_lichess(
    white: bool, best: Score | float, played: Score | float, mark: Mark
) -> None:
    judgement = judged(best, played, white)
    assert judgement.mark is mark
    assert mark.is_error == (mark in ERRORS)


@given(st.integers(-3000, 3000), st.integers(-3000, 3000))
def test_the_expected_result_is_that_of_lichess(one: int, other: int) -> None:
    values = [value_of(Cp(cp)) for cp in sorted((one, other))]
    assert values[0].expected <= values[1].expected
    assert value_of(Cp(-one)).expected == pytest.approx(1 - value_of(Cp(one)).expected)
    assert site_expected(100) == pytest.approx(0.591, abs=0.001)
    # A shown score is worth more where few pieces are left.
    assert value_of(Cp(50), 32).expected < value_of(Cp(50), 8).expected
    assert (value_of(Mate(-2)).expected, value_of(Mate(2)).expected) == (0.0, 1.0)
    assert value_of(Cp(31000)).is_tablebase


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_greater_loss_is_never_a_better_mark_and_both_sides_are_judged_alike(
    best: float, one: float, other: float
) -> None:
    smaller, greater = (judged(best, best - loss) for loss in sorted((best * one, best * other)))
    order = [Mark.BEST, Mark.SOUND, *ERRORS]
    assert order.index(smaller.mark) <= order.index(greater.mark)
    assert 100 >= smaller.accuracy >= greater.accuracy >= 0
    for_white, for_black = judged(one, other), judged(one, other, white=False)
    assert for_white.loss == pytest.approx(for_black.loss, abs=1e-9)
    assert for_white.loss == pytest.approx(max(one - other, 0), abs=1e-9)


def test_the_accuracy_of_a_player_is_that_of_the_moves_that_are_judged() -> None:
    book, best = Judgement(Mark.BOOK, 0.0), Judgement(Mark.BEST, 0.0, 100.0, 1.0)
    blunders = [Judgement(Mark.BLUNDER, 0.5, 10.0, weight) for weight in (1.0, 0.5)]
    assert accuracy_of([book, best, *blunders]) == "46 %"
    assert accuracy_of([book]) == "\u2013"
    mates = [judged(Mate(mate), Mate(4)) for mate in (2, 3)]
    assert [accuracy_of([each]) for each in mates] == ["99 %", "100 %"]


def test_phases_never_return() -> None:
    assert phase_weight(chess.Board()) == 24
    assert phase_weight(chess.Board("4k3/8/8/8/8/8/8/RNB1K3 w - - 0 1")) == 4
    opening, middlegame, endgame = Phase
    assert phases_of([24, 24, 19, 24, 8, 12]) == [opening, opening, middlegame, middlegame, endgame, endgame]
    assert phases_of([24] * 26)[23:] == [Phase.OPENING, Phase.MIDDLEGAME, Phase.MIDDLEGAME]


@pytest.mark.parametrize(
    ("score", "text", "mover", "before"),
    [
        (MateGiven, "#", chess.WHITE, Mate(1)),
        (-MateGiven, "#-0", chess.BLACK, Mate(-1)),
        (Mate(2), "#2", chess.WHITE, Mate(3)),
        (Mate(-2), "#-2", chess.WHITE, Mate(-2)),
        (Cp(31), "+0.31", chess.BLACK, Cp(31)),
        (Cp(-5), "-0.05", chess.WHITE, Cp(-5)),
    ],
)
def test_a_score_is_text_and_a_mate_is_one_move_longer_before_the_move_of_the_mating_side(
    score: Score, text: str, mover: chess.Color, before: Score
) -> None:
    value = Value(score, 0.5)
    assert value.text == text
    assert value.backed_up(mover).score == before
