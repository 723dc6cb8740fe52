"""Limited strength: the levels grow, and the choice among lines is bounded, monotone and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.test_mate import MATES
from tests.support.kernel import MIDDLEGAME, board_after, is_compiled, prepare, random_game, search, start_board
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.root_moves import RootMove
from uci_engine.search.strength import (
    MATE_NODES,
    MAX_ELO,
    MAX_PACE,
    MAX_SKILL_LEVEL,
    MIN_ELO,
    OPENING_PLIES,
    Level,
    Strength,
    clamped_score,
    elo_of_skill_level,
    goes_back,
    level_of,
)

ELOS = st.integers(MIN_ELO, MAX_ELO)
SEEDS = st.integers(0, 2**64 - 1)
ANY_SCORE = st.one_of(st.integers(-scores.MATE, scores.MATE), st.integers(scores.MATE_BOUND, scores.MATE - 1))


def numbered(values: list[int]) -> list[RootMove]:
    """Lines with these scores, whose moves are their numbers."""
    return [RootMove((number,), value) for number, value in enumerate(values)]


def strength_of(elo: int, seed: int = 0) -> Strength:
    return Strength(level_of(elo), seed)


@given(ELOS, ELOS)
def test_between_the_levels_nothing_turns_back(first: int, second: int) -> None:
    weaker, stronger = level_of(min(first, second)), level_of(max(first, second))
    assert weaker.nodes <= stronger.nodes
    assert weaker.lines >= stronger.lines
    assert weaker.noise_cp >= stronger.noise_cp


def test_skill_levels_are_equal_steps_up_to_full_strength() -> None:
    elos = [elo_of_skill_level(level) for level in range(MAX_SKILL_LEVEL + 1)]
    assert elos[-1] is None
    limited = [elo for elo in elos if elo is not None]
    assert (limited[0], limited[-1]) == (MIN_ELO, MAX_ELO)
    steps = {after - before for before, after in pairwise(limited)}
    assert max(steps) - min(steps) <= 1


@given(ELOS, SEEDS, st.lists(ANY_SCORE, min_size=1, max_size=12), st.integers(0, 2000))
def test_the_choice_is_bounded_monotone_and_the_same_for_the_same_seed(
    elo: int, seed: int, values: list[int], gain: int
) -> None:
    strength, lines, board = strength_of(elo, seed), numbered(values), chess.Board()
    chosen = strength.choose(lines, board)
    assert clamped_score(max(values)) - clamped_score(chosen.score) <= strength.max_loss_cp
    # The shortest mate that the search has found is not missed, and which of equal ones it is does not matter.
    assert max(values) < scores.MATE_BOUND or chosen.score == max(values)
    found = strength_of(elo, seed).choose(lines[::-1], board)
    assert found == chosen or found.score == chosen.score >= scores.MATE_BOUND
    better = [*values]
    better[chosen.move] = min(chosen.score + gain, scores.MATE)
    assert strength.choose(numbered(better), board).move == chosen.move


def test_moves_that_go_back_are_chosen_less_often() -> None:
    board = board_after(chess.STARTING_FEN, "g1f3 g8f6")
    back, other = (moves.encode(board, chess.Move.from_uci(word)) for word in ("f3g1", "b1c3"))
    lines = [RootMove((other,), 10), RootMove((back,), 10)]
    counts = Counter(strength_of(MIN_ELO, seed).choose(lines, board).move for seed in range(600))
    assert 0 < counts[back] < counts[other] / 5
    # What costs too much is never played instead.
    lines = [RootMove((back,), 900), RootMove((other,), 0)]
    assert all(strength_of(MIN_ELO, seed).choose(lines, board).move == back for seed in range(20))


@pytest.mark.parametrize(
    ("played", "move", "expected"),
    [
        ("g1f3 g8f6 f3d4 f6d5", "d4f3", True),
        ("g1f3 g8f6 b1c3 f6g8 a2a3 g8f6", "f3g1", True),
        # Too long ago, another square, another piece, and a capture.
        ("g1f3 g8f6 a2a3 f6g8 b2b3 g8f6 c2c3 f6g8 d2d3 g8f6", "f3g1", False),
        ("g1f3 g8f6", "f3d4", False),
        ("g1f3 g8f6 b1c3 f6g8", "a1b1", False),
        ("g1f3 e7e5 f3g1 e5e4 g1h3 e4e3 h3g1 e3f2", "e1f2", False),
        ("b1c3 g8f6 c3d5 f6g8 g1f3 g8f6", "d5c3", True),
        ("b1c3 g8f6 c3b1 f6g8", "b1c3", True),
    ],
)
def test_going_back(played: str, move: str, expected: bool) -> None:
    assert goes_back(board_after(chess.STARTING_FEN, played), chess.Move.from_uci(move)) is expected


@given(ELOS, SEEDS, SEEDS, st.integers(0, 500))
def test_the_pace_is_a_part_of_the_time_of_full_strength(elo: int, seed: int, key: int, ply: int) -> None:
    strength = strength_of(elo, seed)
    pace = strength.pace(key, ply, has_choice=True)
    assert 0 < strength.pace(key, ply, has_choice=False) <= pace <= MAX_PACE
    assert strength.pace(key, 0, has_choice=True) <= pace <= strength.pace(key, OPENING_PLIES, has_choice=True)


def test_greater_losses_are_chosen_less_often() -> None:
    level = Level(1300, 1000, 6, 100.0)
    values = [50, 40, 0, -60, -150, -260]
    times = Counter(Strength(level, seed).choose(numbered(values), chess.Board()).move for seed in range(4000))
    counts = [times[index] for index in range(len(values))]
    assert counts == sorted(counts, reverse=True)
    assert counts[4] > 0
    # 310 cp are more than three times the noise.
    assert counts[5] == 0
    # A softmax choice: 100 cp less are chosen e times less often.
    assert counts[0] / counts[3] == pytest.approx(2.718**1.1, rel=0.15)


# In a search ----------------------------------------------------------------------------------------------


@given(st.integers(0, 30), st.integers(1, 60), ELOS, SEEDS, st.integers(1, 6))
@settings(max_examples=40 if is_compiled() else 5)
def test_the_choice_is_within_the_nodes_and_the_lines_asked_for(
    game: int, plies: int, elo: int, seed: int, multipv: int
) -> None:
    *_, board = random_game(game, start_board(game, False), plies)
    if not any(board.legal_moves):
        return
    strength = strength_of(min(elo, 2000), seed)
    outcome = search(board, multipv=multipv, strength=strength)
    assert outcome.nodes <= strength.level.nodes + MATE_NODES
    assert max(info.multipv or 1 for info in (*outcome.infos, outcome.last)) <= multipv


@pytest.mark.parametrize("elo", [MIN_ELO, 1500, 2000, 2400])
@pytest.mark.parametrize("name", [name for name, (_, count, _) in MATES.items() if count <= 3])
def test_a_short_mate_is_played_at_every_level(name: str, elo: int) -> None:
    """Also where the lines that the level chooses from do not have it."""
    fen, count, firsts = MATES[name]
    for seed in range(3):
        outcome = search(chess.Board(fen), multipv=2, strength=strength_of(elo, seed))
        assert outcome.best.uci() in firsts
        assert outcome.score == scores.MATE - (2 * count - 1)


def test_what_a_search_finds_beyond_the_node_budget_does_not_count() -> None:
    """As in an analysis, whose search goes on."""
    strength = Strength(Level(1000, 600, 8, 100.0), 5)
    depths = (4, 5, 6) if is_compiled() else (3, 4)
    board = chess.Board(MIDDLEGAME)
    answers = {search(board, depth=depth, analyse_mode=True, strength=strength).best for depth in depths}
    assert len(answers) == 1


def test_a_search_that_found_nothing_still_has_a_move() -> None:
    manager, _ = prepare(chess.Board(), nodes=1, strength=strength_of(MIN_ELO))
    manager.stop()
    manager.run()
    # The stop is remembered.
    assert manager.nodes == 0
    assert manager.best in chess.Board().legal_moves
