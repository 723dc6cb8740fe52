"""toolkit.console: progress on a terminal and off it, tables of plain text, files written whole."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from toolkit import console
from toolkit.errors import ProgramError
from uci_engine.text import printable


def test_progress_off_a_terminal_is_seldom_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("toolkit.console.time.monotonic", lambda: now)
    with console.show_progress("games", 40, done=10) as advance:
        for number in range(30):
            now += 1.0
            advance(1, f"[{number}]")
    output = capsys.readouterr()
    assert output.out == ""
    shown = [(line.split()[0], line.split()[2], line.split()[-1]) for line in output.err.splitlines()]
    assert shown == [("games", "20/40", "[9]"), ("games", "30/40", "[19]"), ("games", "40/40", "[29]")]


def test_progress_on_a_terminal_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr("toolkit.console.standard_error", lambda: terminal)
    with console.show_progress("games", 4) as advance:
        advance(3, "a [b]")
    assert "3/4" in screen.getvalue()
    assert "a [b]" in screen.getvalue()


def test_cells_are_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    console.standard_output().print(console.make_table("", ["name", "n"], [["[red]x", "1"], ["y", "22"]]))
    assert "[red]x" in capsys.readouterr().out


def test_a_complaint_keeps_its_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    console.complain("no [such] file")
    assert capsys.readouterr() == ("", "error: no [such] file\n")


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    console.write_json(path, {"name": "Grünfeld", "n": [1, 2]})
    assert json.loads(path.read_text("utf-8")) == {"name": "Grünfeld", "n": [1, 2]}
    with pytest.raises(TypeError):
        console.write_json(path, {"a": list(range(10_000)), "b": object()})
    assert json.loads(path.read_text("utf-8"))["n"] == [1, 2]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("raised", "code", "complaint"),
    [
        (KeyboardInterrupt(), console.INTERRUPTED, "error: interrupted\n"),
        (ProgramError("no openings"), 2, "error: no openings\n"),
        (FileNotFoundError(2, "No such file", "x.pgn"), 2, "error: x.pgn: No such file\n"),
    ],
)
def test_a_program_leaves_with_its_code(
    raised: BaseException, code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise raised

    for main, expected in ((lambda: 3, 3), (fail, code)):
        with pytest.raises(SystemExit) as left:
            console.run_program(main)
        assert left.value.code == expected
    assert capsys.readouterr() == ("", complaint)


def test_numbers_below_one_are_refused() -> None:
    assert console.at_least_one("12") == 12
    for word in ("0", "-1", "1.5", "many"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^{word} is not 1 or more$"):
            console.at_least_one(word)


@pytest.mark.parametrize(
    ("failure", "code", "complaint"),
    [
        (None, 0, ""),
        (KeyboardInterrupt(), console.INTERRUPTED, "error: interrupted\n"),
        (OSError("the disk is full"), 1, "error: the disk is full\n"),
        (ProgramError("no openings"), 1, "error: no openings\n"),
        (LookupError("no weights"), 1, "error: no weights\n"),
    ],
)
def test_whatever_comes_of_long_work_it_is_closed(
    failure: BaseException | None, code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def work() -> None:
        done.append("work")
        if failure is not None:
            raise failure

    assert console.run_to_end(work, lambda: done.append("close"), (LookupError,)) == code
    assert done == ["work", "close"]
    assert capsys.readouterr().err == complaint


def test_a_mistake_in_long_work_is_not_hidden() -> None:
    done: list[str] = []
    with pytest.raises(ZeroDivisionError):
        console.run_to_end(lambda: print(1 // 0), lambda: done.append("close"))
    assert done == ["close"]


def test_text_from_outside_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b]0;title\x07\x1b[2JKöln\u202e\r\n\x9b1m"
    shown = r"\x1b]0;title\x07\x1b[2JKöln\u202e\r\n\x9b1m"
    assert printable(name) == shown
    console.complain(name)
    console.say(name)
    console.standard_output().print(console.make_table(name, [name], [[name]]))
    out, err = capsys.readouterr()
    assert err == f"error: {shown}\n"
    assert out.count(shown) == 4
    assert "\x1b" not in out


@pytest.mark.parametrize(("word", "complaint"), [("", "is a folder"), ("none/file", "there is no folder")])
def test_a_file_that_cannot_be_written_is_refused_at_once(word: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=complaint):
        console.new_file(str(tmp_path / word))
    assert console.new_file(str(tmp_path / "file")) == tmp_path / "file"
