"""Bytes to lines, UCI text to data and back: the clauses of the UCI text, what clients send, and any text."""

import time
from contextlib import suppress
from itertools import chain, pairwise
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uci_engine import score
from uci_engine.board.game import Game, PositionError
from uci_engine.search.info import Info
from uci_engine.text import MAX_INT, QUOTE_LENGTH, Message, parse_int, quoted
from uci_engine.time_management import Limits
from uci_engine.uci import protocol
from uci_engine.uci.protocol import MAX_LINE_BYTES, Go, SetOption, SetPosition, Word, format_info, parse, read_lines

# Bytes to lines


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


# Commands


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("uci", Word.UCI),
        ("register name A B code 4359874324", Word.REGISTER),
        ("d", Word.DISPLAY),
        ("bench 16 1 13", protocol.Tool("bench", ("16", "1", "13"))),
        ("debug on", protocol.Debug(True)),
        ("debug OFF", protocol.Debug(False)),
        ("debug", protocol.Debug(None)),
        ("go", Go(Limits())),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "{}\n", "{}\r\n", "\ufeff{}\r", "  \t{}  ", "{}\0", "joho {}"])
def test_commands_in_any_frame(line: str, command: protocol.Command, frame: str) -> None:
    assert parse(frame.format(line)) == command


# Numbers


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+5", 5),
        ("-50", -50),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("1" + "0" * 18, MAX_INT),
        ("-" + "9" * 5000, -MAX_INT),
        ("0" * 5000 + "12", 12),
        *((word, None) for word in ("", "-", "+", "1_000", "1e3", "0x10", "\u0663", " 5", "5 ", "--5", "+-5")),
        *((word, None) for word in ("1.0", "inf", "\u00b2", "5\n")),
    ],
)
def test_parse_int(word: str, number: int | None) -> None:
    assert parse_int(word) == number


# Options and positions

FEN = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("setoption name Clear Hash\n", SetOption("Clear Hash", None)),
        (
            "setoption name NalimovPath value c:\\chess\\tb\\4;c:\\chess\\tb\\5\n",
            SetOption("NalimovPath", "c:\\chess\\tb\\4;c:\\chess\\tb\\5"),
        ),
        ("setoption NAME hash VALUE 16", SetOption("hash", "16")),
        ("setoption  name  Move   Overhead  value  30  ", SetOption("Move Overhead", "30")),
        ("setoption name BookFile value  /a  b/\tc \r\n", SetOption("BookFile", "/a  b/\tc")),
        ("setoption name BookFile value name value x", SetOption("BookFile", "name value x")),
        ("setoption name Hash value", SetOption("Hash", "")),
        ("setoption name Hash", SetOption("Hash", None)),
        ("setoption name rename valued value 3", SetOption("rename valued", "3")),
        ("setoption please name Hash value 3", SetOption("Hash", "3")),
        ("setoption name", SetOption("", None)),
        ("setoption name value 3", SetOption("", "3")),
        ("setoption value 3", SetOption(None, "3")),
        ("setoption Hash 3", SetOption(None, None)),
        ("setoption", SetOption(None, None)),
        ("position startpos moves", SetPosition(None, ())),
        (f"position fen {FEN}", SetPosition(FEN, ())),
        (f"position  fen   {FEN}  moves e1g1\r\n", SetPosition(FEN, ("e1g1",))),
        (
            "position fen 8/8/8/8/8/8/8/K1k5 w - - moves a1a2",
            SetPosition("8/8/8/8/8/8/8/K1k5 w - -", ("a1a2",)),
        ),
        ("position new startpos", SetPosition(None, ())),
        ("position startpos moves E2E4 0000 moves", SetPosition(None, ("E2E4", "0000", "moves"))),
        *((line, Word.EMPTY) for line in ("", "\n", "\r\n", " \t ", "\0", "\ufeff", "\x0b\x0c")),
        # Commands are exact, and what is none is shortened.
        *((f" {line}\n", protocol.Unknown(line)) for line in ("UCI", "Quit", "quit!", "uciok", "stop;", "go\u0301")),
        ("x" * 10_000, protocol.Unknown("x" * QUOTE_LENGTH)),
    ],
)
def test_options_positions_and_what_is_no_command(line: str, command: protocol.Command) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(
    "line",
    [
        "position",
        "position moves e2e4",
        "position moves e2e4 startpos",
        f"position {FEN}",
        "position startpos e2e4",
        "position startpos startpos",
    ],
)
def test_position_that_cannot_be_meant(line: str) -> None:
    command = parse(line)
    assert isinstance(command, SetPosition)
    assert command.error
    assert (command.fen, command.moves) == (None, ())


# go


def go(words: str) -> Go:
    command = parse(f"go {words}")
    assert isinstance(command, Go)
    return command


@pytest.mark.parametrize(
    ("words", "limits", "told"),
    [
        ("", Limits(), ""),
        ("infinite", Limits(infinite=True), ""),
        ("ponder", Limits(ponder=True), ""),
        ("depth 1 nodes 2 mate 3 movetime 0", Limits(depth=1, nodes=2, mate=3, movetime_ms=0), ""),
        ("wtime -50 btime 0 movestogo 0", Limits(wtime_ms=-50, btime_ms=0, movestogo=0), ""),
        (
            "binc 4 movestogo 40 ponder winc 3 btime 2 wtime 1",
            Limits(wtime_ms=1, btime_ms=2, winc_ms=3, binc_ms=4, movestogo=40, ponder=True),
            "",
        ),
        ("foo wtime 100 bar btime 100", Limits(wtime_ms=100, btime_ms=100), ""),
        ("wtime 100 wtime 200", Limits(wtime_ms=200), ""),
        ("depth 99999999999999999999", Limits(depth=MAX_INT), ""),
        # Clamped.
        ("depth 0", Limits(depth=1), "depth 0"),
        ("nodes 0", Limits(nodes=1), "nodes 0"),
        ("mate 0", Limits(mate=1), "mate 0"),
        ("movetime -5", Limits(movetime_ms=0), "movetime -5"),
        # Misread, and never endless.
        ("depth x", Limits(depth=1), "depth"),
        ("perft x", Limits(depth=1), "perft"),
        ("wtime 1e3 btime 1000", Limits(btime_ms=1000), "wtime"),
        ("depth wtime 100", Limits(wtime_ms=100), "depth"),
        ("infinite depth x", Limits(infinite=True), "depth"),
        ("ponder wtime x", Limits(ponder=True, depth=1), "wtime"),
        ("searchmoves", Limits(depth=1), "searchmoves"),
        ("searchmoves depth 3", Limits(depth=3), "searchmoves"),
        ("winc 100", Limits(winc_ms=100, depth=1), "go"),
        ("foo", Limits(depth=1), "go"),
    ],
)
def test_go(words: str, limits: Limits, told: str) -> None:
    """`told`: what the first remark names; nothing where there is none."""
    command = go(words)
    assert command.limits == limits
    texts = [problem.text for problem in command.problems]
    assert told in texts[0] if told else texts == []


def test_go_with_words_that_are_no_limits() -> None:
    assert go("searchmoves e2e5 zz 0000 depth 3") == Go(Limits(depth=3), ("e2e5", "zz", "0000"))
    assert go("depth 3 searchmoves e2e4 infinite") == Go(Limits(infinite=True), ("e2e4",))
    assert go("perft 5") == Go(Limits(), perft=5)
    assert go("perft -1").perft == 0
    assert go("depth 3 foo bar").unknown_word == "foo"


GO_TEXT = st.lists(
    st.sampled_from([*protocol.GO_WORDS, "0", "-1", "17", "x", "e2e4", "9" * 30, "\u0663", "1_0"]),
    max_size=12,
).map(" ".join)


@given(GO_TEXT)
def test_go_with_any_words_keeps_its_promises(words: str) -> None:
    command = go(words)
    limits, problems = command.limits, command.problems
    assert limits.infinite == ("infinite" in words.split())
    for value, lowest in ((limits.depth, 1), (limits.nodes, 1), (limits.mate, 1), (limits.movetime_ms, 0)):
        assert value is None or value >= lowest
    if problems and not limits.infinite and command.perft is None:
        assert not limits.is_endless
    assert all(str(problem).isascii() and len(str(problem)) < 300 for problem in problems)


WORDS = ["position", "startpos", "fen", "moves", "e2e4", "8/8/8/8/8/2k5/7R/K7", "w", "-", "setoption", "name", "value"]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=20)).map(" ".join))
def test_any_line_is_a_command_and_its_position_is_set_or_refused(line: str) -> None:
    command = parse(line)
    if isinstance(command, SetPosition):
        with suppress(PositionError):
            Game().set(command.fen, command.moves, chess960=False)


# Output


@pytest.mark.parametrize(
    ("info", "line"),
    [
        (Info(), "info"),
        (Info(depth=0, score=-score.MATE), "info depth 0 score mate 0"),
        (Info(depth=0, score=score.DRAW), "info depth 0 score cp 0"),
        (Info(score=3 - score.MATE, is_lower_bound=True), "info score mate -2 lowerbound"),
        (Info(seldepth=3, nodes=1), "info nodes 1"),
        (Info(message=Message("a\nb\r\tc  ")), "info string a b c"),
        (Info(message=Message("Sch\u00e4ch \U0001f600")), "info string Sch\\xe4ch \\U0001f600"),
        (Info(message=Message("")), "info string"),
    ],
)
def test_info(info: Info, line: str) -> None:
    assert format_info(info) == line


@given(st.text())
def test_output_is_one_line_of_printable_ascii_and_what_is_quoted_is_short(text: str) -> None:
    line = format_info(Info(message=Message(text)))
    assert all(" " <= character <= "~" for character in line + quoted(text))
    assert line == line.rstrip()
    assert len(quoted(text * 100)) < 1000
