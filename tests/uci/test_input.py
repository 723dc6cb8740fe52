"""Bytes to lines: `read_lines`. How long the program may work after the last line: `read`."""

from __future__ import annotations

import io
import os
import threading
import time
from itertools import chain, pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine.uci import loop, protocol
from uci_engine.uci.loop import Inbox, Writer, read
from uci_engine.uci.protocol import MAX_LINE_BYTES, read_lines


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


def test_too_long_a_line_is_dropped_and_the_next_is_not() -> None:
    assert lines_of(b"abc\nabcd\nab", b"cdefgh", b"\nxy\n", max_bytes=3) == ["abc", None, None, "xy"]


@pytest.mark.timing
def test_too_long_a_line_is_not_stored() -> None:
    started = time.perf_counter()
    assert lines_of(*[b"0123456789" * 10] * 100_000, max_bytes=10) == [None]
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(("data", "exits"), [(b"ucinewgame\n", 0), (b"ucinewgame\nquit\n", 1)])
def test_a_slow_command_is_finished_at_the_end_of_the_input_but_not_after_quit(
    monkeypatch: pytest.MonkeyPatch, data: bytes, exits: int
) -> None:
    exit_calls: list[None] = []
    monkeypatch.setattr(loop, "STUCK_SECONDS", 0.05)
    monkeypatch.setattr(loop, "exit_now", lambda: exit_calls.append(None))
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    inbox = Inbox()
    reader = threading.Thread(target=read, args=(read_end, inbox, Writer(io.BytesIO())))
    reader.start()
    # The command is taken out, and is executed for much longer than STUCK_SECONDS.
    inbox.get()
    reader.join(1.0 if exits else 0.4)
    assert reader.is_alive() == (not exits)
    inbox.task_done()
    inbox.closed.set()
    reader.join()
    os.close(read_end)
    assert len(exit_calls) == exits
