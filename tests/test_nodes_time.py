"""Time counted in nodes: a clock that only its own first reading and the nodes spent can move."""

import time
from contextlib import closing
from dataclasses import replace

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.engine import Engine
from uci_engine.limits import Limits
from uci_engine.nodes_time import NodesPurse
from uci_engine.report import BestMove, Info

NODES_PER_MS = 3
CLOCK = Limits(wtime_ms=4_000, btime_ms=4_000, winc_ms=40, binc_ms=40)
NODES_OF_THE_CLOCK = 4_000 * NODES_PER_MS
INCREMENT = 40 * NODES_PER_MS


@given(
    st.booleans(),
    st.integers(1, 10**6),
    st.integers(0, 10**4),
    st.lists(st.tuples(st.integers(0, 10**5), st.integers(-10, 10**6)), max_size=8),
)
def test_the_first_clock_the_increments_and_the_nodes_are_all_that_counts(
    white: bool, first_ms: int, increment_ms: int, moves: list[tuple[int, int]]
) -> None:
    purse = NodesPurse(NODES_PER_MS)

    def limits(time_ms: int) -> Limits:
        if white:
            return Limits(wtime_ms=time_ms, winc_ms=increment_ms, btime_ms=77)
        return Limits(btime_ms=time_ms, binc_ms=increment_ms, wtime_ms=77)

    assert purse.shown(limits(first_ms), white) == limits(first_ms)
    left = first_ms * NODES_PER_MS
    for nodes, gui_ms in moves:
        purse.spend(nodes)
        left += increment_ms * NODES_PER_MS - nodes
        assert purse.shown(limits(gui_ms), white) == limits(left // NODES_PER_MS)


@pytest.mark.parametrize("limits", [Limits(depth=3), Limits(infinite=True), Limits(btime_ms=5)])
def test_a_search_without_our_clock_is_left_alone(limits: Limits) -> None:
    purse = NodesPurse(NODES_PER_MS)
    assert purse.shown(limits, True) == limits
    purse.spend(1_000)
    assert purse.shown(CLOCK, True) == CLOCK


def play(engine: Engine, plies: int, gui_clock: Limits = CLOCK) -> list[tuple[str | None, int]]:
    """The moves that the engine plays as White, after the first by a clock of the GUI's, and the nodes of each."""
    board = chess.Board()
    played: list[tuple[str | None, int]] = []
    engine.new_game()
    while len(board.move_stack) < plies:
        infos: list[Info] = []
        answers: list[BestMove] = []
        assert engine.set_position(None, [move.uci() for move in board.move_stack]) == []
        engine.go(gui_clock if played else CLOCK, time.perf_counter(), infos.append, answers.append)
        assert engine.wait(60)
        nodes = infos[-1].nodes
        assert nodes is not None
        played.append((answers[0].move, nodes))
        board.push_uci(str(answers[0].move))
        board.push(min(board.legal_moves, key=str))
    return played


def test_games_are_the_same_whatever_the_gui_shows_later() -> None:
    with closing(Engine(tuning=True)) as engine:
        assert engine.set_option("NodesTime", str(NODES_PER_MS)) == []
        game = play(engine, 16)
        assert len({nodes for _, nodes in game}) > 4
        assert sum(nodes for _, nodes in game) < NODES_OF_THE_CLOCK + len(game) * INCREMENT
        assert play(engine, 16, replace(CLOCK, wtime_ms=1)) == game
        # A fixed time is that many nodes.
        assert 50 * NODES_PER_MS <= fixed_time(engine, 50) <= 51 * NODES_PER_MS


def fixed_time(engine: Engine, milliseconds: int) -> int:
    infos: list[Info] = []
    answers: list[BestMove] = []
    engine.set_position(None, [])
    engine.go(Limits(movetime_ms=milliseconds), time.perf_counter(), infos.append, answers.append)
    assert engine.wait(60)
    return infos[-1].nodes or 0


def test_only_tuners_count_nodes() -> None:
    with closing(Engine()) as engine:
        assert engine.set_option("NodesTime", "3")[0].startswith("error: there is no option")
