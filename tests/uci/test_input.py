"""Bytes to lines: `LineSplitter`."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from uci_engine.uci.input import LineSplitter


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_where_the_stream_is_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    whole = LineSplitter(50)
    lines = whole.feed(data) + whole.finish()
    pieces = LineSplitter(50)
    places = [0, *sorted(cuts), len(data)]
    in_pieces = [line for i, j in pairwise(places) for line in pieces.feed(data[i:j])]
    assert in_pieces + pieces.finish() == lines


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1)))
def test_lines_come_out_as_they_went_in(texts: list[str]) -> None:
    splitter = LineSplitter()
    lines = splitter.feed("".join(f"{text}\r\n" for text in texts).encode())
    assert lines == [text for text in texts if text.strip()]
    assert splitter.finish() == []


def test_too_long_a_line_is_dropped_and_the_next_is_not() -> None:
    splitter = LineSplitter(3)
    assert splitter.feed(b"abc\nabcd\nab") == ["abc", None]
    assert splitter.feed(b"cdefgh") == []
    assert splitter.feed(b"\nxy\n") == [None, "xy"]


def test_too_long_a_line_is_not_stored() -> None:
    splitter = LineSplitter(10)
    started = time.perf_counter()
    for _ in range(100_000):
        splitter.feed(b"0123456789" * 10)
    assert splitter.finish() == [None]
    assert time.perf_counter() - started < 10
