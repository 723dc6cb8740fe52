"""Bytes to lines: `read_lines`. How long the program may work after the last line: `read`, `Inbox.quit`."""

from __future__ import annotations

import io
import os
import time
from itertools import chain, pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.uci import protocol
from uci_engine.uci.loop import STUCK_SECONDS, Inbox, Mark, Writer, read
from uci_engine.uci.protocol import MAX_LINE_BYTES, Word, read_lines


def lines_of(*pieces: bytes, max_bytes: int = MAX_LINE_BYTES) -> list[str | None]:
    """The lines of an input that arrives in these pieces."""
    arriving = chain(filter(None, pieces), [b""])
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(protocol, "os", SimpleNamespace(read=lambda descriptor, count: next(arriving)))
        return [line for _, line in read_lines(0, max_bytes)]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_where_the_stream_is_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[i:j] for i, j in pairwise(places)]
    assert lines_of(*pieces, max_bytes=50) == lines_of(data, max_bytes=50)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1)))
def test_lines_come_out_as_they_went_in(texts: list[str]) -> None:
    assert lines_of("".join(f"{text}\r\n" for text in texts).encode()) == [text for text in texts if text.strip()]


def test_only_cr_and_lf_end_a_line() -> None:
    assert lines_of(b"a\rb\r\n \n\ncd") == ["a", "b", "cd"]
    line = "isready\u2028isready\u0085isready\fisready\visready\0"
    assert lines_of(f"{line}\n".encode()) == [line]
    assert lines_of(b"C:\\Sch\xe4ch \xff\n") == ["C:\\Sch\ufffdch \ufffd"]


def test_too_long_a_line_is_dropped_and_the_next_is_not() -> None:
    assert lines_of(b"abc\nabcd\nab", b"cdefgh", b"\nxy\n", max_bytes=3) == ["abc", None, None, "xy"]


@pytest.mark.timing
def test_too_long_a_line_is_not_stored() -> None:
    started = time.perf_counter()
    assert lines_of(*[b"0123456789" * 10] * 100_000, max_bytes=10) == [None]
    assert time.perf_counter() - started < 10


def test_an_input_in_non_blocking_mode_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([BlockingIOError, b"uci\n", BlockingIOError, b""])
    waited_for = []
    monkeypatch.setattr(protocol, "os", SimpleNamespace(read=Mock(side_effect=answers)))
    monkeypatch.setattr(protocol, "select", SimpleNamespace(select=lambda ready, *_: waited_for.append(ready)))
    assert [line for _, line in read_lines(7)] == ["uci"]
    assert waited_for == [[7], [7]]


@pytest.mark.parametrize(
    ("data", "last"), [(b"ucinewgame\n", Mark.END_OF_INPUT), (b"ucinewgame\nquit\nisready\n", Word.QUIT)]
)
def test_only_quit_hurries_what_was_read_before(data: bytes, last: Mark | Word) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    inbox = Inbox()
    inbox.closed.set()
    read(read_end, inbox, Writer(io.BytesIO()))
    os.close(read_end)
    events = [inbox.get() for _ in range(inbox.qsize())]
    assert [event.what for event in events[:2]] == [Word.NEW_GAME, last]
    assert inbox.must_end == (last is Word.QUIT)


def test_after_quit_the_process_ends_once_no_more_commands_are_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = Inbox()
    seconds_waited = []

    def wait(seconds: float) -> bool:
        seconds_waited.append(seconds)
        if len(seconds_waited) < 3:
            inbox.task_done()
        return False

    monkeypatch.setattr(inbox.closed, "wait", wait)
    monkeypatch.setattr("os._exit", Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        inbox.quit("quit")
    assert seconds_waited == [STUCK_SECONDS] * 3
