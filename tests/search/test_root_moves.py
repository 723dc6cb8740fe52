"""Thread voting: whose root move is played."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine import score as scores
from uci_engine.search.info import Bound
from uci_engine.search.root_moves import RootMove, vote


def root_move(move: int, score: int, depth: int, bound: Bound = Bound.EXACT) -> RootMove:
    return RootMove((move, 99), score, depth, depth, bound)


def test_the_deeper_and_the_better_move_win() -> None:
    assert vote([root_move(1, 20, 10), root_move(2, 20, 11)]).move == 2
    assert vote([root_move(1, 20, 10), root_move(2, 35, 10)]).move == 2
    # Equals are no reason to leave the main search's move.
    assert vote([root_move(1, 20, 10), root_move(2, 20, 10)]).move == 1


def test_many_agree_against_one() -> None:
    agreed = [root_move(2, 20, 10), root_move(2, 20, 9), root_move(2, 20, 12)]
    chosen = vote([root_move(1, 24, 11), *agreed])
    assert chosen is agreed[2]
    assert vote([root_move(1, 400, 11), *agreed]).move == 1


def test_of_equally_deep_searches_the_one_with_a_score_is_shown() -> None:
    exact = root_move(2, 20, 10)
    assert vote([root_move(2, 30, 10, Bound.LOWER), exact]) is exact


@pytest.mark.parametrize("win", [scores.MATE - 5, scores.TABLEBASE_WIN - 9])
def test_a_proved_win_needs_no_majority(win: int) -> None:
    slower = win - 2
    candidates = [root_move(1, 300, 20), root_move(1, 310, 20), root_move(3, slower, 12), root_move(2, win, 8)]
    assert vote(candidates).move == 2


def test_a_mate_against_us_is_avoided_if_anyone_sees_how() -> None:
    assert vote([root_move(1, 6 - scores.MATE, 14), root_move(1, 6 - scores.MATE, 15), root_move(2, -900, 9)]).move == 2


def test_what_was_never_searched_does_not_vote() -> None:
    empty = RootMove((7,))
    assert vote([empty, root_move(2, -500, 1)]).move == 2
    assert vote([root_move(2, -500, 1), empty, empty]).move == 2
    assert vote([empty, RootMove((8,))]) is empty


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(-scores.MATE, scores.MATE), st.integers(0, 40)), min_size=1, max_size=9
    )
)
def test_the_vote_is_for_one_of_the_candidates(entries: list[tuple[int, int, int]]) -> None:
    candidates = [root_move(*entry) for entry in entries]
    chosen = vote(candidates)
    assert any(chosen is candidate for candidate in candidates)
    assert chosen.depth > 0 or all(candidate.depth == 0 for candidate in candidates)
    assert vote([candidates[0]]) is candidates[0]
