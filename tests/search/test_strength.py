"""Limited strength: a level draws its move from the policy, by its seed, and mates a bare king by its search."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.kernel import MIDDLEGAME, is_compiled, prepare, random_game, search, searcher, start_board
from uci_engine.policy.policy import human_moves
from uci_engine.search.strength import (
    MAX_ELO,
    MAX_PACE,
    MAX_SKILL_LEVEL,
    MIN_ELO,
    OPENING_PLIES,
    Strength,
    elo_of_skill_level,
)

ELOS = st.integers(MIN_ELO, MAX_ELO)
SEEDS = st.integers(0, 2**64 - 1)


def test_skill_levels_are_equal_steps_up_to_full_strength() -> None:
    elos = [elo_of_skill_level(level) for level in range(MAX_SKILL_LEVEL)]
    assert (elos[0], elos[-1]) == (MIN_ELO, MAX_ELO)
    steps = {after - before for before, after in pairwise(elos)}
    assert max(steps) - min(steps) <= 1


def test_moves_are_drawn_as_often_as_people_play_them() -> None:
    board = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    searcher().begin(0)
    shares = human_moves(searcher(), board, 1500)
    draws = 1000 if is_compiled() else 100
    drawn = Counter(Strength(1500, seed).choose(searcher(), board, list(shares)) for seed in range(draws))
    assert sum(drawn[move] for move in shares) == draws
    for move, share in shares.items():
        assert drawn[move] / draws == pytest.approx(share, abs=4 * (share / draws) ** 0.5 + 0.01)
    # Of the moves that are allowed alone.
    allowed = list(shares)[-2:]
    assert {Strength(1500, seed).choose(searcher(), board, allowed) for seed in range(20)} <= set(allowed)


@given(ELOS, SEEDS, SEEDS, st.integers(0, 500))
def test_the_pace_is_a_part_of_the_time_of_full_strength(elo: int, seed: int, key: int, ply: int) -> None:
    strength = Strength(elo, seed)
    pace = strength.pace(key, ply, has_choice=True)
    assert 0 < strength.pace(key, ply, has_choice=False) <= pace <= MAX_PACE
    assert strength.pace(key, 0, has_choice=True) <= pace <= strength.pace(key, OPENING_PLIES, has_choice=True)


# In a search ----------------------------------------------------------------------------------------------


@given(st.integers(0, 30), st.integers(1, 60), ELOS, SEEDS, st.integers(1, 6))
@settings(max_examples=40 if is_compiled() else 5, deadline=None)
def test_a_level_plays_one_legal_move_with_the_lines_asked_for(
    game: int, plies: int, elo: int, seed: int, multipv: int
) -> None:
    *_, board = random_game(game, start_board(game, False), plies)
    if not any(board.legal_moves):
        return
    outcome = search(board, multipv=multipv, strength=Strength(elo, seed))
    lines = [info for info in (*outcome.infos, outcome.last) if info.pv]
    assert max(info.multipv or 1 for info in lines) <= multipv
    assert outcome.last.pv[0] == outcome.best
    again = search(board, multipv=multipv, strength=Strength(elo, seed))
    assert again.best == outcome.best


def test_another_seed_draws_another_move() -> None:
    board = chess.Board(MIDDLEGAME)
    assert len({search(board, strength=Strength(1200, seed)).best for seed in range(8)}) > 2


def test_the_searches_of_a_level_count_no_nodes() -> None:
    for fen in (MIDDLEGAME, "7k/8/8/8/8/8/r7/7K w - - 0 1", "8/8/8/3k4/8/8/8/KR6 w - - 0 1"):
        assert search(chess.Board(fen), nodes=100, strength=Strength(1500, 1)).nodes <= 100


@pytest.mark.parametrize("nodes", [None, 1])
def test_a_level_that_is_stopped_at_once_still_has_a_move(nodes: int | None) -> None:
    manager, _ = prepare(chess.Board(), nodes=nodes, strength=Strength(MIN_ELO))
    manager.stop()
    manager.run()
    assert manager.best in chess.Board().legal_moves
