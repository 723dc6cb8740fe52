"""lib.console: progress on a terminal and off it, tables of plain text, files written whole."""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lib import console, program
from lib.errors import ProgramError
from tests.support import SCRIPTS


def test_progress_off_a_terminal_is_seldom_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("lib.console.time.monotonic", lambda: now)
    with console.show_progress("games", 40, done=10) as advance:
        for number in range(30):
            now += 1.0
            advance(1, f"[{number}]")
    assert capsys.readouterr() == (
        "",
        "games: 20/40 after 10 s  [9]\ngames: 30/40 after 20 s  [19]\ngames: 40/40 after 30 s  [29]\n",
    )


def test_progress_without_a_total(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lib.console.PLAIN_SECONDS", 0.0)
    with console.show_progress("games", None) as advance:
        advance(3)
    assert capsys.readouterr().err == "games: 3 after 0 s\n"


def test_progress_on_a_terminal_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr("lib.console.standard_error", lambda: terminal)
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


def test_a_program_leaves_with_its_code_and_an_interrupt_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        program.run_program(lambda: 3)
    assert left.value.code == 3

    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as left:
        program.run_program(interrupted)
    assert left.value.code == program.INTERRUPTED
    assert capsys.readouterr() == ("", "error: interrupted\n")


def test_numbers_below_one_are_refused() -> None:
    assert console.at_least_one("12") == 12
    for word in ("0", "-1", "1.5", "many"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^{word} is not 1 or more$"):
            console.at_least_one(word)


@pytest.mark.parametrize(
    ("failure", "code", "complaint"),
    [
        (None, 0, ""),
        (KeyboardInterrupt(), program.INTERRUPTED, "error: interrupted\n"),
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
    assert console.printable(name) == shown
    console.complain(name)
    console.say(name)
    console.standard_output().print(console.make_table(name, [name], [[name]]))
    out, err = capsys.readouterr()
    assert err == f"error: {shown}\n"
    assert out.count(shown) == 4
    assert "\x1b" not in out


PROGRAMS = sorted(path.name for path in SCRIPTS.glob("*.py"))
WITHOUT_TABLES = ("compare_syzygy.py", "find_magics.py")
WITHOUT = """
import runpy, sys
sys.modules[sys.argv[2]] = None
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
path = sys.argv[1]
sys.argv = [path, "--help"]
runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("name", "library"),
    [
        *((name, "rich") for name in PROGRAMS if name not in WITHOUT_TABLES),
        *((name, "chess") for name in WITHOUT_TABLES),
        ("plots.py", "matplotlib"),
        ("factorial_test.py", "numpy"),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(name: str, library: str) -> None:
    command = [sys.executable, "-c", WITHOUT, (SCRIPTS / name).as_posix(), library]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(rf"error: {library} is not installed; .* -m pip install -e .*\[tools\]'?\n", done.stderr)


def test_another_exception_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    for error in (ValueError("x"), ModuleNotFoundError("no", name="nonsense")):
        program.report_exception(type(error), error, None)
        assert capsys.readouterr().err.startswith(type(error).__name__)


@pytest.mark.parametrize(("word", "complaint"), [("", "is a folder"), ("none/file", "there is no folder")])
def test_a_file_that_cannot_be_written_is_refused_at_once(word: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=complaint):
        console.new_file(str(tmp_path / word))
    assert console.new_file(str(tmp_path / "file")) == tmp_path / "file"
