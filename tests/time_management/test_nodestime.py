"""Nodestime: the clock in nodes depends on its first reading and the nodes spent alone."""

from contextlib import closing
from dataclasses import asdict, replace

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.engines import go
from uci_engine.engine import UciEngine
from uci_engine.time_management import AvailableNodes
from uci_engine.time_management import Limits

NODES_PER_MS = 3
CLOCK = Limits(wtime_ms=4_000, btime_ms=4_000, winc_ms=40, binc_ms=40)
NODES_OF_THE_CLOCK = 4_000 * NODES_PER_MS
INCREMENT = 40 * NODES_PER_MS


def limits_of(white: bool, time_ms: int, increment_ms: int) -> Limits:
    """Our clock, and one of the opponent that must not matter."""
    if white:
        return Limits(wtime_ms=time_ms, winc_ms=increment_ms, btime_ms=77)
    return Limits(btime_ms=time_ms, binc_ms=increment_ms, wtime_ms=77)


@given(
    st.integers(1, 10**6),
    st.integers(0, 10**4),
    st.lists(st.tuples(st.integers(0, 10**5), st.integers(-10, 10**6)), max_size=8),
)
def test_the_first_clock_the_increments_and_the_nodes_are_all_that_counts(
    first_ms: int, increment_ms: int, moves: list[tuple[int, int]]
) -> None:
    """One process may play both colours: each has a clock of its own."""
    available_nodes = AvailableNodes(NODES_PER_MS)
    left = {}
    for white in (True, False):
        first = limits_of(white, first_ms + white, increment_ms)
        assert available_nodes.adjust(first, white) == first
        left[white] = (first_ms + white) * NODES_PER_MS
    for number, (nodes, gui_ms) in enumerate(moves):
        white = number % 2 == 0
        available_nodes.spend(white, nodes)
        left[white] += increment_ms * NODES_PER_MS - nodes
        shown = available_nodes.adjust(limits_of(white, gui_ms, increment_ms), white)
        assert shown == limits_of(white, left[white] // NODES_PER_MS, increment_ms)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(depth=3),
        Limits(movetime_ms=5),
        Limits(btime_ms=5),
        replace(CLOCK, infinite=True),
        replace(CLOCK, ponder=True),
    ],
)
def test_a_search_without_our_clock_is_left_alone(limits: Limits) -> None:
    available_nodes = AvailableNodes(NODES_PER_MS)
    assert available_nodes.adjust(limits, True) is None
    assert available_nodes.adjust(CLOCK, True) == CLOCK
    available_nodes.spend(True, 3_000)
    assert available_nodes.adjust(limits, True) is None
    assert available_nodes.adjust(CLOCK, True) == replace(CLOCK, wtime_ms=3_040)


def think(engine: UciEngine, limits: Limits) -> tuple[str | None, int]:
    """The move and the nodes of a search of the position at hand."""
    ear = go(engine, **asdict(limits))
    return ear.answer.move, ear.last.nodes or 0


def play(engine: UciEngine, plies: int, later_clock: Limits = CLOCK) -> list[tuple[str | None, int]]:
    """White's moves and the nodes of each; `later_clock` is what the GUI shows after the first."""
    board = chess.Board()
    played: list[tuple[str | None, int]] = []
    engine.new_game()
    while len(board.move_stack) < plies:
        assert engine.set_position(None, [move.uci() for move in board.move_stack]) == []
        played.append(think(engine, later_clock if played else CLOCK))
        board.push_uci(str(played[-1][0]))
        board.push(min(board.legal_moves, key=str))
    return played


def test_games_are_the_same_whatever_the_gui_shows_later() -> None:
    with closing(UciEngine(tuning=True)) as engine:
        assert engine.set_option("NodesTime", str(NODES_PER_MS)) == []
        game = play(engine, 16)
        assert len({nodes for _, nodes in game}) > 4
        assert sum(nodes for _, nodes in game) < NODES_OF_THE_CLOCK + len(game) * INCREMENT
        assert play(engine, 16, replace(CLOCK, wtime_ms=1)) == game


def test_the_longest_clock_is_a_number_of_nodes() -> None:
    with closing(UciEngine(tuning=True)) as engine:
        assert engine.set_option("NodesTime", "100000") == []
        engine.set_position(None, [])
        assert think(engine, Limits(wtime_ms=10**18, depth=2))[0] is not None
