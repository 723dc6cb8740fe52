"""Reports in python-chess's form are what python-chess itself reads from the UCI lines."""

from __future__ import annotations

import chess
import chess.engine
from hypothesis import given
from hypothesis import strategies as st

from uci_engine import score as scores
from uci_engine.api import info_dict
from uci_engine.search.info import Info
from uci_engine.text import Message
from uci_engine.uci.protocol import format_info

MOVES = tuple(map(chess.Move.from_uci, ("e2e4", "e7e5", "g1f3")))
NUMBERS = st.none() | st.integers(0, 10**9)
SCORES = st.integers(-scores.MATE, scores.MATE)
PERMILLE = st.none() | st.integers(0, 1000)


@given(
    st.builds(
        Info,
        depth=NUMBERS,
        seldepth=NUMBERS,
        multipv=st.none() | st.integers(1, 256),
        score=st.none() | SCORES,
        pieces=st.integers(2, 32),
        is_lower_bound=st.booleans(),
        show_wdl=st.booleans(),
        nodes=NUMBERS,
        nps=NUMBERS,
        hashfull=PERMILLE,
        tbhits=NUMBERS,
        time_ms=NUMBERS,
        pv=st.sampled_from([(), MOVES[:1], MOVES]),
        currmove=st.none() | st.just(MOVES[0]),
        currmovenumber=NUMBERS,
        message=st.none() | st.just(Message.error("some words")),
    ),
    st.sampled_from([chess.engine.INFO_ALL, chess.engine.INFO_NONE, chess.engine.INFO_BASIC, chess.engine.INFO_SCORE]),
)
def test_reports(info: Info, selector: chess.engine.Info) -> None:
    line = format_info(info).removeprefix("info ")
    expected = chess.engine._parse_uci_info(line, chess.Board(), selector)
    found = info_dict(info, chess.WHITE, selector)
    assert {key: value for key, value in found.items() if key in expected} == expected
