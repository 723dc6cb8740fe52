"""The clock of a search, and the thread of its timer."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator

import pytest

from uci_engine import time_management
from uci_engine.time_management import UNLIMITED, Budget, Clock, Timer


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
    clock = Clock(time.perf_counter() - 3600)
    assert not clock.may_end_early
    assert clock.deadline == math.inf
    assert not clock.soft_reached(0.01)
    assert clock.elapsed_ms() >= 3_600_000


def test_the_soft_limit_is_scaled_and_the_hard_limit_is_not() -> None:
    clock = Clock(time.perf_counter() - 1.0, Budget(2000, 5000))
    assert clock.may_end_early
    assert not clock.soft_reached(1.0)
    assert clock.soft_reached(0.4)
    assert Clock(time.perf_counter() - 6.0, Budget(20000, 5000)).soft_reached(100.0)


def test_pondering_counts_for_the_soft_limit_and_not_for_the_hard_one() -> None:
    now = time.perf_counter()
    clock = Clock(now - 10, Budget(4000, 6000), is_pondering=True)
    assert not clock.soft_reached(1.0)
    clock.ponderhit(now)
    assert clock.soft_reached(1.0)
    assert clock.deadline == pytest.approx(now + 6)
    assert clock.elapsed_ms() >= 10_000


def test_a_search_ends_at_its_deadline_unless_it_was_left(timer: Timer) -> None:
    ended = threading.Event()
    timer.begin(Clock(time.perf_counter(), Budget(40, 40)), ended.set, never)
    timer.end()
    assert not ended.wait(0.06)
    # The thread is alive, and serves the next search.
    started = time.perf_counter()
    timer.begin(Clock(started, Budget(10, 60)), ended.set, never)
    assert ended.wait(10)
    assert time.perf_counter() - started >= 0.06


def test_a_new_deadline_counts_from_the_moment_it_is_told_of(timer: Timer) -> None:
    ended = threading.Event()
    clock = Clock(time.perf_counter(), Budget(10, 20), is_pondering=True)
    timer.begin(clock, ended.set, ignore)
    assert not ended.wait(0.05)
    clock.ponderhit(time.perf_counter())
    timer.clock_changed()
    assert ended.wait(10)


def test_long_searches_are_reported_on(timer: Timer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_management, "REPORT_AFTER_SECONDS", 0.02)
    monkeypatch.setattr(time_management, "REPORT_EVERY_SECONDS", 0.01)
    times: list[float] = []
    enough, late = threading.Event(), threading.Event()

    def report() -> None:
        times.append(time.perf_counter())
        if len(times) >= 3:
            (late if enough.is_set() else enough).set()

    started = time.perf_counter()
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

    timer.begin(Clock(time.perf_counter()), never, report)
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


def test_closing_ends_the_thread() -> None:
    before = set(threading.enumerate())
    timer = Timer()
    (thread,) = set(threading.enumerate()) - before
    timer.close()
    thread.join(10)
    assert not thread.is_alive()
