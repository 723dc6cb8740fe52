"""toolkit.console: how a program ends, and text that cannot steer the terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ENVIRONMENT, SCRIPTS
from toolkit import console
from toolkit.errors import ProgramError
from uci_engine.text import printable


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


def test_what_cannot_be_used_is_one_sentence_of_the_program(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "perft.py"), "/no/such/file.epd"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (2, "error: /no/such/file.epd: No such file or directory\n")
