"""Progress of a long command on standard error."""

from __future__ import annotations

import io

import pytest

from uci_engine.command_line import console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO(), None], ids=["terminal", "file", "none"])
def test_progress_is_one_line_of_a_terminal_that_is_erased(
    stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("uci_engine.command_line.console.time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr", stream)
    with console.Progress(6, 2) as progress:
        for _ in range(3):
            now[0] += 5000
            progress.add(1)
    if isinstance(stream, Terminal):
        *shown, last, end = stream.getvalue().split("\r")[1:]
        assert shown == ["games 3/6, 4:10:00 left", "games 4/6, 2:46:40 left", "games 5/6, 1:23:20 left"]
        assert (last, end) == (" " * len(shown[0]), "")
    else:
        assert stream is None or stream.getvalue() == ""
