"""Progress of a long command on standard error."""

from __future__ import annotations

import io

import pytest

from uci_engine.command_line import console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("uci_engine.command_line.console.time.monotonic", lambda: now[0])
    return now


def test_progress_is_a_line_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with console.Progress(5, 2) as progress:
        clock[0] += 11
        progress.reach(2)
        progress.add(0.5)
        clock[0] += 4
        progress.reach(4)
        clock[0] += 7
        for _ in range(10):
            progress.add(0.1)
    assert capsys.readouterr().err.splitlines() == ["games 2/5, 0:00:55 left", "games 4/5, 0:00:09 left"]


def test_progress_on_a_terminal_is_one_line_that_is_erased(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with console.Progress(4, 0) as progress:
        for _ in range(3):
            clock[0] += 5000
            progress.add(1)
    first, *others, last, end = terminal.getvalue().split("\r")[1:]
    assert [first, *others] == ["games 1/4, 4:10:00 left", "games 2/4, 2:46:40 left", "games 3/4, 1:23:20 left"]
    assert end == ""
    assert last == " " * len(first)


def test_without_standard_error_there_is_no_progress(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with console.Progress(1, 0) as progress:
        clock[0] += 100
        progress.reach(1)
