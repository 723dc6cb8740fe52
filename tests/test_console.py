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


def test_progress_on_a_terminal_is_one_line_that_is_erased(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with console.Progress(6, 2) as progress:
        for _ in range(3):
            clock[0] += 5000
            progress.add(1)
    first, *others, last, end = terminal.getvalue().split("\r")[1:]
    assert [first, *others] == ["games 3/6, 4:10:00 left", "games 4/6, 2:46:40 left", "games 5/6, 1:23:20 left"]
    assert end == ""
    assert last == " " * len(first)


@pytest.mark.parametrize("stream", [io.StringIO(), None], ids=["file", "none"])
def test_elsewhere_there_is_no_progress(
    stream: io.StringIO | None, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    with console.Progress(1, 0) as progress:
        clock[0] += 100
        progress.add(1)
    assert stream is None or stream.getvalue() == ""
