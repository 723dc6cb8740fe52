"""What UCI allows an engine to say, and what not."""

from __future__ import annotations

import re

import pytest

from tests.support.uci_lines import read_best_move, read_info, read_option


def test_a_line_is_taken_apart() -> None:
    info = read_info("info depth 9 seldepth 12 multipv 2 score mate -3 upperbound wdl 0 0 1000 nodes 5 pv e2e4 e7e5")
    assert (info.score, info.bound, info.wdl, info.pv) == (("mate", -3), "upperbound", (0, 0, 1000), ["e2e4", "e7e5"])
    assert info.numbers == {"depth": 9, "seldepth": 12, "multipv": 2, "nodes": 5}
    info = read_info("info currmove e2e4 currmovenumber 1 string a  b")
    assert (info.currmove, info.string) == ("e2e4", "a  b")
    assert read_best_move("bestmove e7e8q ponder a2a1n") == ("e7e8q", "a2a1n")
    assert read_best_move("bestmove (none)") == ("(none)", None)


def test_an_option_is_taken_apart() -> None:
    for line, wanted in (
        ("option name Clear Hash type button", ("Clear Hash", "button", None, None)),
        ("option name Skill type spin default 3 min -5 max 20", ("Skill", "spin", -5, 20)),
        ("option name OwnBook type check default false", ("OwnBook", "check", None, None)),
        ("option name A type string default C:\\b c", ("A", "string", None, None)),
    ):
        option = read_option(line)
        assert (option.name, option.type, option.min, option.max) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "info depth 3 score -368 pv e2e4",
        "info depth 3  score cp 1 pv e2e4",
        "info depth 3 score cp 1 pv e2e4 ",
        "info depth 3 depth 3 score cp 1 pv e2e4",
        "info seldepth 3 score cp 1 nodes 3",
        "info depth 3 score cp 1 pv",
        "info depth 3 score cp 1 pv e2-e4",
        "info depth 3 score cp 1.5 pv e2e4",
        "info depth 3 score cp 1 wdl 1 2 3 pv e2e4",
        "info depth 3 score cp 1 nodes -1",
        "info depth 3 score cp 100000",
        "info depth 3 pv e2e4",
        "info depth 3 hashfull 1001",
        "info depth 3 multipv 0",
        "info string",
        "info string a ",
        "info",
        "info string \u00e4",
        "bestmove",
        "bestmove e2e4 ponder",
        "bestmove e2-e4",
        "bestmove e2e4 e7e5",
        "bestmove e2e4 ",
        "bestmove (none) ponder e2e4",
        "option name A type check default yes",
        "option name A type check",
        "option name A type spin default 3",
        "option name A type string default",
        "option name A type button default 1",
        "option name A  B type button",
        "option name type button",
    ],
)
def test_what_uci_does_not_allow(line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(line))):
        {"info": read_info, "bestmove": read_best_move, "option": read_option}[line.split()[0]](line)
