"""The budget of a move: never more than the clock holds, for any clock, and whole games not lost on time."""

import math
import operator
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.time_management import (
    FLOOR_MS,
    MOVES_COVERED,
    RESERVE_FACTOR,
    TIME_DEFAULTS,
    UNLIMITED,
    WAKE_UP_MS,
    Budget,
    Limits,
    TimeParameters,
    allocate,
)
from uci_engine.tunable import tunables_of

TIMES = [-50, 0, 1, 5, 10, 50, 100, 300, 1_000, 10_000, 60_000, 3_600_000, 10**12]
OVERHEADS = [0, 10, 30, 100, 1000, 5000]


def clock(time: int, increment: int | None = 0, moves_to_go: int | None = None) -> Limits:
    return Limits(wtime_ms=time, winc_ms=increment, movestogo=moves_to_go)


NUMBERS = st.integers(-(10**18), 10**18) | st.integers(-10, 100_000)
PACES = st.just(TIME_DEFAULTS) | st.builds(
    TimeParameters, **{one.name: st.integers(one.minimum, one.maximum) for one in tunables_of(TIME_DEFAULTS)}
)


@given(NUMBERS, NUMBERS, st.none() | NUMBERS, st.none() | NUMBERS, st.integers(0, 5000), st.integers(0, 20_000), PACES)
def test_any_clock_is_sane_and_monotone(
    time: int,
    more: int,
    increment: int | None,
    moves_to_go: int | None,
    overhead: int,
    ply: int,
    time_parameters: TimeParameters,
) -> None:
    budget = allocate(clock(time, increment, moves_to_go), True, overhead, ply, time_parameters)
    richer = allocate(clock(time + abs(more), increment, moves_to_go), True, overhead, ply, time_parameters)
    # Doubles near 10**18 are some hundred ms apart.
    assert 0 < budget.soft_ms <= budget.hard_ms <= max(time - overhead, FLOOR_MS)
    assert budget.soft_ms <= richer.soft_ms
    assert budget.hard_ms <= richer.hard_ms


@pytest.mark.parametrize("overhead", OVERHEADS)
@pytest.mark.parametrize("move_time", [0, 1, 10, 31, 1_000, 10**12])
def test_movetime_is_taken_whole(move_time: int, overhead: int) -> None:
    expected = max(move_time - overhead, FLOOR_MS)
    assert allocate(Limits(movetime_ms=move_time), True, overhead, 0) == Budget(math.inf, expected)


def test_movetime_and_clock_the_smaller_counts() -> None:
    on_the_clock = allocate(clock(10_000), True, 30, 0)
    assert allocate(Limits(wtime_ms=10_000, winc_ms=0, movetime_ms=10**6), True, 30, 0) == on_the_clock
    assert allocate(Limits(wtime_ms=10_000, movetime_ms=40), True, 30, 0) == Budget(10, 10)


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(depth=5),
        Limits(nodes=1000),
        Limits(mate=3),
        Limits(infinite=True),
        Limits(ponder=True),
        Limits(winc_ms=1000, movestogo=4),
    ],
)
def test_no_clock_no_end(limits: Limits) -> None:
    assert allocate(limits, True, 30, 0) == UNLIMITED


@pytest.mark.parametrize(
    ("limits", "white", "same"),
    [
        (Limits(depth=50, wtime_ms=1000), True, clock(1000)),
        (Limits(ponder=True, wtime_ms=1000), True, clock(1000)),
        (Limits(wtime_ms=1_000, winc_ms=10, btime_ms=60_000, binc_ms=1_000), True, clock(1_000, 10)),
        (Limits(wtime_ms=1_000, winc_ms=10, btime_ms=60_000, binc_ms=1_000), False, clock(60_000, 1_000)),
        # Of one clock alone it does not matter whose it is; but no time left is not the same as no clock.
        (Limits(btime_ms=60_000, binc_ms=1_000), True, clock(60_000, 1_000)),
        (Limits(wtime_ms=0, btime_ms=60_000), True, clock(0)),
    ],
)
def test_the_clock_of_the_side_to_move_counts(limits: Limits, white: bool, same: Limits) -> None:
    assert allocate(limits, white, 30, 0) == allocate(same, True, 30, 0)


@pytest.mark.parametrize("overhead", OVERHEADS)
def test_the_last_move_of_a_period_leaves_a_reserve(overhead: int) -> None:
    for time in TIMES:
        budget = allocate(clock(time, 0, 1), True, overhead, 78)
        assert budget.hard_ms <= max(0.8 * (time - overhead), FLOOR_MS)
        if time >= 100:
            assert budget.hard_ms >= 0.3 * (time - 3 * overhead)


@pytest.mark.parametrize(
    ("time", "increment", "moves_to_go", "least", "most"),
    [
        (60_000, 0, None, 1_000, 2_500),
        (60_000, 1_000, None, 2_000, 4_000),
        (10_000, 100, None, 250, 500),
        (180_000, 2_000, None, 5_000, 10_000),
        (60_000, 0, 40, 1_500, 3_000),
        (5_400_000, 30_000, None, 150_000, 300_000),
    ],
)
def test_usual_time_controls_are_used(
    time: int, increment: int, moves_to_go: int | None, least: int, most: int
) -> None:
    budget = allocate(clock(time, increment, moves_to_go), True, 30, 0)
    assert least <= budget.soft_ms <= most
    assert 3 * budget.soft_ms <= budget.hard_ms <= 0.42 * time


@given(PACES, st.integers(1, 100), st.integers(0, 50), st.integers(-500, 500), st.floats(0, 1))
def test_the_less_is_settled_the_more_is_spent(
    time_parameters: TimeParameters, depth: int, stable: int, drop: int, effort: float
) -> None:
    share = time_parameters.soft_factor(depth, stable, drop, effort)
    assert share > 0
    assert time_parameters.soft_factor(depth, stable + 1, drop, effort) <= share
    assert time_parameters.soft_factor(depth, stable, drop + 1, effort) >= share
    assert time_parameters.soft_factor(depth, stable, drop, effort / 2) >= share


def lowest_clock(
    start: float,
    increment: int,
    overhead: int,
    period: int | None,
    think: Callable[[Budget], float],
) -> float:
    """Play MOVES_COVERED moves and return the lowest clock seen (0 or less: lost on time). Each loses all its overhead.

    `think` picks the time of a move. After `period` moves the starting time is added again.
    """
    time = lowest = start
    for move in range(MOVES_COVERED):
        if period and move and move % period == 0:
            time += start
        to_go = period - move % period if period else None
        time -= think(allocate(clock(int(time), increment, to_go), True, overhead, 2 * move)) + overhead
        lowest = min(lowest, time)
        time += increment
    return lowest


def at_random(seed: int) -> Callable[[Budget], float]:
    chance = random.Random(seed)
    return lambda budget: chance.random() * budget.hard_ms


@pytest.mark.parametrize("overhead", OVERHEADS)
@pytest.mark.parametrize(
    ("increment", "period"),
    [*((increment, None) for increment in (0, 1, 10, 100, 1_000)), *((0, period) for period in (1, 2, 3, 10, 40, 100))],
)
def test_a_whole_game_is_never_lost_on_time(increment: int, period: int | None, overhead: int) -> None:
    unpaid = (period or MOVES_COVERED) * (max(overhead - increment, 0) + FLOOR_MS)
    for factor in (1, 1.4, 2, 5, 30, 300):
        start = factor * RESERVE_FACTOR * unpaid + overhead + WAKE_UP_MS
        for think in (operator.attrgetter("hard_ms"), operator.attrgetter("soft_ms"), at_random(1)):
            assert lowest_clock(start, increment, overhead, period, think) > 0
