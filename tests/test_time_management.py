"""The budget of a move: never more than the clock holds, for any clock, and no game lost. The clock, and its thread."""

import math
import operator
import random
import threading
from collections.abc import Callable, Iterator
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine import time_management
from uci_engine.time_management import (
    FLOOR_MS,
    MOVES_COVERED,
    RESERVE_FACTOR,
    TIME_DEFAULTS,
    UNLIMITED,
    WAKE_UP_MS,
    Budget,
    Clock,
    Limits,
    TimeParameters,
    Timer,
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


# The clock of a search, and the thread of its timer ----------------------------------------------------------------


@pytest.fixture
def timer() -> Iterator[Timer]:
    timer = Timer()
    yield timer
    timer.close()


def ignore() -> None:
    """For a callback that may come or not."""


def never() -> None:
    raise AssertionError("called without need")


@pytest.fixture(autouse=True)
def nothing_is_called_without_need(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """What a callback raises, the timer prints and lives on: here it is a failure."""
    yield
    assert "called without need" not in capsys.readouterr().err


def test_an_unlimited_clock_never_ends_anything() -> None:
    clock = Clock(perf_counter() - 3600)
    assert not clock.may_end_early
    assert clock.deadline == math.inf
    assert not clock.soft_reached(0.01)
    assert clock.elapsed_ms() >= 3_600_000


def test_the_soft_limit_is_scaled_and_the_hard_limit_is_not() -> None:
    clock = Clock(perf_counter() - 1.0, Budget(2000, 5000))
    assert clock.may_end_early
    assert not clock.soft_reached(1.0)
    assert clock.soft_reached(0.4)
    assert Clock(perf_counter() - 6.0, Budget(20000, 5000)).soft_reached(100.0)


def test_pondering_counts_for_the_soft_limit_and_not_for_the_hard_one() -> None:
    now = perf_counter()
    clock = Clock(now - 10, Budget(4000, 6000), is_pondering=True)
    assert not clock.soft_reached(1.0)
    clock.ponderhit(now)
    assert clock.soft_reached(1.0)
    assert clock.deadline == pytest.approx(now + 6)
    assert clock.elapsed_ms() >= 10_000


def test_a_search_ends_at_its_deadline_unless_it_was_left(timer: Timer) -> None:
    ended = threading.Event()
    timer.begin(Clock(perf_counter(), Budget(40, 40)), ended.set, never)
    timer.end()
    assert not ended.wait(0.06)
    # The thread is alive, and serves the next search.
    started = perf_counter()
    timer.begin(Clock(started, Budget(10, 60)), ended.set, never)
    assert ended.wait(10)
    assert perf_counter() - started >= 0.06


def test_a_new_deadline_counts_from_the_moment_it_is_told_of(timer: Timer) -> None:
    ended = threading.Event()
    clock = Clock(perf_counter(), Budget(10, 20), is_pondering=True)
    timer.begin(clock, ended.set, ignore)
    assert not ended.wait(0.05)
    clock.ponderhit(perf_counter())
    timer.clock_changed()
    assert ended.wait(10)


def test_long_searches_are_reported_on(timer: Timer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_management, "REPORT_AFTER_SECONDS", 0.02)
    monkeypatch.setattr(time_management, "REPORT_EVERY_SECONDS", 0.01)
    times: list[float] = []
    enough, late = threading.Event(), threading.Event()

    def report() -> None:
        times.append(perf_counter())
        if len(times) >= 3:
            (late if enough.is_set() else enough).set()

    started = perf_counter()
    timer.begin(Clock(started, UNLIMITED), never, report)
    assert enough.wait(10)
    timer.end()
    late.clear()
    assert times[0] - started >= 0.02
    assert times[2] - started >= 0.04
    assert not late.wait(0.05)


def test_a_report_that_blocks_holds_up_only_the_end_of_its_search(
    timer: Timer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report is written to stdout, which a program may not read for a while."""
    monkeypatch.setattr(time_management, "REPORT_AFTER_SECONDS", 0.0)
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()
    calls: list[str] = []

    def report() -> None:
        begun.set()
        assert may_end.wait(10)
        calls.append("report")

    def end() -> None:
        timer.end()
        calls.append("end")
        ended.set()

    def change() -> None:
        timer.clock_changed()
        changed.set()

    timer.begin(Clock(perf_counter()), never, report)
    assert begun.wait(10)
    # `ponderhit` does not wait for the report, in the thread that also takes `stop`.
    changed = threading.Event()
    threads = [threading.Thread(target=target, daemon=True) for target in (change, end)]
    for thread in threads:
        thread.start()
    try:
        assert changed.wait(2)
        # The search waits: after its end it must not be touched.
        assert not ended.wait(0.05)
    finally:
        may_end.set()
    assert ended.wait(10)
    assert calls == ["report", "end"]
