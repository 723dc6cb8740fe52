"""toolkit.console: how a program ends, and text that cannot steer the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import SCRIPTS, run_python
from toolkit import console
from toolkit.errors import ProgramError
from uci_engine.text import printable


@pytest.mark.parametrize(
    ("failure", "code", "code_of_work", "complaint"),
    [
        (None, 3, 0, ""),
        (KeyboardInterrupt(), 130, 130, "error: interrupted\n"),
        (ProgramError("no openings"), 2, 1, "error: no openings\n"),
        (FileNotFoundError(2, "No such file", "x.pgn"), 2, 1, "error: x.pgn: No such file\n"),
        (LookupError("no weights"), None, 1, "error: no weights\n"),
    ],
)
def test_a_program_and_its_long_work_end_with_a_code_and_one_sentence(
    failure: BaseException | None,
    code: int | None,
    code_of_work: int,
    complaint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []

    def work() -> int:
        done.append("work")
        if failure is not None:
            raise failure
        return 3

    assert console.run_to_end(work, lambda: done.append("close"), (LookupError,)) == code_of_work
    assert done == ["work", "close"]
    assert capsys.readouterr() == ("", complaint)
    if code is not None:
        with pytest.raises(SystemExit) as left:
            console.run_program(work)
        assert left.value.code == code
        assert capsys.readouterr() == ("", complaint)


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
    done = run_python(SCRIPTS / "perft.py", "/no/such/file.epd", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: /no/such/file.epd: No such file or directory\n")
