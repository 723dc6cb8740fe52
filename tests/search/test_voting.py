"""The vote of several searches: whose line is played."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.root_moves import Line
from uci_engine.search.voting import elect


def line(move: int, score: int, depth: int, bound: Bound = Bound.EXACT) -> Line:
    return Line([move, 99], score, depth, depth, bound)


def test_the_deeper_and_the_better_line_win() -> None:
    assert elect([line(1, 20, 10), line(2, 20, 11)]).moves[0] == 2
    assert elect([line(1, 20, 10), line(2, 35, 10)]).moves[0] == 2
    # Equals are no reason to leave the main search's move.
    assert elect([line(1, 20, 10), line(2, 20, 10)]).moves[0] == 1


def test_many_agree_against_one() -> None:
    agreed = [line(2, 20, 10), line(2, 20, 9), line(2, 20, 12)]
    chosen = elect([line(1, 24, 11), *agreed])
    assert chosen is agreed[2]
    assert elect([line(1, 400, 11), *agreed]).moves[0] == 1


def test_of_equally_deep_lines_the_one_with_a_score_is_shown() -> None:
    exact = line(2, 20, 10)
    assert elect([line(2, 30, 10, Bound.LOWER), exact]) is exact


@pytest.mark.parametrize("win", [scores.MATE - 5, scores.TABLEBASE_WIN - 9])
def test_a_proved_win_needs_no_majority(win: int) -> None:
    slower = win - 2
    lines = [line(1, 300, 20), line(1, 310, 20), line(3, slower, 12), line(2, win, 8)]
    assert elect(lines).moves[0] == 2


def test_a_mate_against_us_is_avoided_if_anyone_sees_how() -> None:
    assert elect([line(1, 6 - scores.MATE, 14), line(1, 6 - scores.MATE, 15), line(2, -900, 9)]).moves[0] == 2


def test_what_was_never_searched_does_not_vote() -> None:
    empty = Line([7])
    assert elect([empty, line(2, -500, 1)]).moves[0] == 2
    assert elect([line(2, -500, 1), empty, empty]).moves[0] == 2
    assert elect([empty, Line([8])]) is empty


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(-scores.MATE, scores.MATE), st.integers(0, 40)), min_size=1, max_size=9
    )
)
def test_the_vote_elects_one_of_the_lines(entries: list[tuple[int, int, int]]) -> None:
    lines = [line(*entry) for entry in entries]
    chosen = elect(lines)
    assert any(chosen is candidate for candidate in lines)
    assert chosen.depth > 0 or all(candidate.depth == 0 for candidate in lines)
    assert elect([lines[0]]) is lines[0]
