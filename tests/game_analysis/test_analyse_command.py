"""`secateur analyse`: files in, pages and PGN out; interrupted and continued; one sentence for every mistake."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import chess.pgn
import pytest

from tests.support import ENVIRONMENT, PATIENCE_SECONDS, wait_until
from tests.test_command_line import secateur
from uci_engine.command_line import program
from uci_engine.command_line.analyse import _parser, _Run, _sealed, run
from uci_engine.command_line.arguments import UsageError
from uci_engine.web_board.report import REPORT_FILE

SHORT = '[Event "A"]\n[White "{white}"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 *\n\n'
ATOMIC = '[Event "A"]\n[Variant "Atomic"]\n[White "C"]\n\n1. e4 *\n\n'
FORFEIT = '[Event "F"]\n[White "Eve"]\n[Result "1-0"]\n\n1-0\n\n'


def analyse(folder: Path, *words: object, data: str = "") -> subprocess.CompletedProcess[str]:
    return secateur("analyse", *words, folder=folder, data=data)


def refusal(folder: Path, *words: object) -> str:
    """The one sentence of a run, in this process, that must be refused."""
    output, errors = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(output), redirect_stderr(errors):
        code = program.run(["analyse", *map(str, words)])
    assert (code, output.getvalue(), errors.getvalue().count("\n")) == (1, "", 1)
    return errors.getvalue()


def games_of(path: Path) -> list[chess.pgn.Game]:
    with path.open(encoding="utf-8") as file:
        return list(iter(lambda: chess.pgn.read_game(file), None))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    games = SHORT.format(white="Ann") + FORFEIT + SHORT.format(white="Bob") + ATOMIC
    (tmp_path / "games.pgn").write_text(games, "utf-8")
    return tmp_path


def test_games_become_pgn_pages_and_an_index(folder: Path) -> None:
    result = analyse(folder, "games.pgn", "--nodes", 300)
    assert result.stderr == "game 4: it is a game of atomic, and this engine plays chess and Chess960\n"
    assert result.stdout == f"3 of 4 games analysed: {Path('games-analysis', 'index.html')}\n"
    out = folder / "games-analysis"
    # A game without moves has no page.
    assert names_in(out) == ["game-0001.html", "game-0003.html", "games.pgn", "index.html", REPORT_FILE]
    games = games_of(out / "games.pgn")
    assert [game.headers["White"] + game.headers["Result"] for game in games] == ["Ann*", "Eve1-0", "Bob*"]
    assert [node.san() for node in games[0].mainline()] == ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6"]
    assert 4 in games[0].end().nags
    index = (out / "index.html").read_text("utf-8")
    assert re.findall(r'href="(game[^"]*)"', index) == ["game-0001.html", "game-0003.html"]


def test_threads_change_no_byte_of_the_results(folder: Path) -> None:
    (folder / "games.pgn").write_text("".join(SHORT.format(white=name) for name in ("Ann", "Bob", "Cid")), "utf-8")
    for threads in (1, 2, 3):
        words = ("--nodes", 2000, "--threads", threads, "--output", threads, "--player", "bob")
        assert analyse(folder, "games.pgn", *words).returncode == 0
    first, *others = ({path.name: path.read_bytes() for path in (folder / name).iterdir()} for name in "123")
    assert others == [first, first]
    # Bob's mistakes are shown, and in games without him those of both.
    assert b"mistake by Bob" not in first["game-0001.html"]
    assert b"mistakes by Bob" in first["game-0002.html"]


def test_one_game_has_no_index_and_pages_can_be_left_out(folder: Path) -> None:
    out = folder / "analysis"
    out.mkdir()
    (out / "index.html").write_text("other games")
    result = analyse(folder, "-", "--depth", 3, "--threads", 1, data=SHORT.format(white="Ann"))
    assert result.stdout == f"1 of 1 games analysed: {Path('analysis', 'game-0001.html')}\n"
    assert names_in(out) == ["game-0001.html", "games.pgn", "index.html", REPORT_FILE]
    assert (out / "index.html").read_text() == "other games"
    for name, words in (("games.pgn", ("--no-pages",)), ("-", ())):
        result = analyse(folder, name, "--nodes", 100, "--output", name[0], *words, data=FORFEIT)
        assert result.stdout.endswith(f" games analysed: {Path(name[0], 'games.pgn')}\n")
        assert names_in(folder / name[0]) == ["games.pgn", REPORT_FILE]


def test_standard_input_is_open_and_the_games_have_a_bound(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("uci_engine.command_line.analyse.MAX_BYTES", 10)
    for stdin, name, sentence in (
        (None, "-", "standard input is closed"),
        (io.TextIOWrapper(io.BytesIO(b"1. e4 e5 2. Nf3")), "-", "the games have more than"),
        (None, str(folder / "games.pgn"), "the games have more than"),
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(UsageError, match=f"secateur analyse: {sentence}"):
            run([name], "auto")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
def test_the_name_of_a_file_does_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m.pgn").write_text(SHORT.format(white="Ann"))
    result = analyse(tmp_path, "a\x1b[31m.pgn", "--nodes", 50, "--no-pages")
    assert result.stdout == "1 of 1 games analysed: a\\x1b[31m-analysis/games.pgn\n"


# Enough that a run does not end before the test can interrupt it.
GAMES = 24
# With the results in the folder of the games.
WORDS = (".", "--nodes", 3000, "--threads", 1, "--output", "out", "--option", "Hash=4")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_run_that_ends_early_is_continued(tmp_path: Path, number: signal.Signals) -> None:
    names = [f"P{number}" for number in range(1, GAMES + 1)]
    games = "".join(SHORT.format(white=name) for name in names)
    (tmp_path / "many.pgn").write_text(games, "utf-8")
    out = tmp_path / "out"
    journal = out / "unfinished.journal"
    command = [sys.executable, "-m", "uci_engine", "analyse", *map(str, WORDS)]
    process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 2)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    if number == signal.SIGINT:
        assert process.returncode == 130
        told = rf"^interrupted: \d+ of {GAMES} games are done, --resume goes on with the others$"
        assert re.search(told, errors, re.M)
        assert len(games_of(out / "games.pgn")) >= 2
        assert (out / "index.html").exists()
    else:
        # A line that was torn.
        with journal.open("ab") as file:
            file.write(b'{"number":9,"dig')
    first_page = (out / "game-0001.html").stat().st_mtime_ns
    before = journal.read_bytes()
    assert "is of an unfinished run: continue it with --resume" in refusal(tmp_path, *WORDS)
    told = "was begun with other games, limit, options or pages"
    assert told in refusal(tmp_path, *WORDS, "--resume", "--no-pages")
    # Other games, and the same in another order.
    swapped = games.replace("P2", "X").replace("P1", "P2").replace("X", "P1")
    for other in (games[:500], swapped):
        (tmp_path / "many.pgn").write_text(other, "utf-8")
        assert told in refusal(tmp_path, *WORDS, "--resume")
    (tmp_path / "many.pgn").write_text(games, "utf-8")
    assert journal.read_bytes() == before

    result = analyse(tmp_path, *WORDS, "--resume")
    assert f"{GAMES} of {GAMES} games analysed" in result.stdout
    assert [game.headers["White"] for game in games_of(out / "games.pgn")] == names
    assert (out / "game-0001.html").stat().st_mtime_ns == first_page
    assert not journal.exists()


ENTRY = {"number": 2, "names": "A", "page": "", "cells": [], "pgn": "*", "remarks": []}
SEALED = _sealed(ENTRY)


@pytest.mark.parametrize(
    "lines",
    [["hello"], ['{"games": 3}'], [""], [SEALED.replace("A", "B")], [SEALED, SEALED], [SEALED, ""], [_sealed({})]],
    ids=range(7),
)
def test_a_journal_that_cannot_be_read_is_not_touched(folder: Path, lines: list[str]) -> None:
    journal = folder / "out" / "unfinished.journal"
    journal.parent.mkdir()
    with chdir(folder):
        this = _Run(_parser("auto").parse_intermixed_args(["games.pgn", "--output", "out", "--resume"]))
        journal.write_text(f"{_sealed(this._settings)}\n{SEALED}\n")
        assert this._unfinished() == [ENTRY]
        content = "\n".join([_sealed(this._settings), *lines, ""])
        journal.write_text(content)
        with pytest.raises(UsageError, match=r"unfinished\.journal cannot be read: remove it"):
            this._unfinished()
    assert journal.read_text() == content


def test_a_folder_has_one_run_at_a_time(folder: Path) -> None:
    out = folder / "new" / "out"
    command = [sys.executable, "-m", "uci_engine", "analyse", "games.pgn", "--depth", "40", "--output", str(out)]
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT) as first:
        try:
            wait_until((out / "unfinished.lock").exists)
            for words in ((), ("--force",), ("--resume",)):
                told = refusal(folder, "games.pgn", "--output", out, *words)
                assert told.startswith("secateur analyse: another run ")
        finally:
            first.kill()
    assert analyse(folder, "games.pgn", "--nodes", 50, "--output", out, "--no-pages").returncode == 0
    assert names_in(out) == ["games.pgn", REPORT_FILE]


def test_a_file_of_games_is_never_replaced(folder: Path) -> None:
    games = folder / "games.pgn"
    text = games.read_bytes()
    outputs = {".": None, "linked": Path.hardlink_to, "pointed": Path.symlink_to}
    if sys.platform == "win32":
        # There not everybody may make symbolic links.
        del outputs["pointed"]
    for output, link in outputs.items():
        (folder / output).mkdir(exist_ok=True)
        if link is not None:
            link(folder / output / "games.pgn", games)
        told = "has games to analyse, and would be replaced: name another folder with --output"
        assert refusal(folder, "games.pgn", "--no-pages", "--output", output, "--force") == (
            f"secateur analyse: {Path(output, 'games.pgn')} {told}\n"
        )
    with games.open() as file:
        words = [sys.executable, "-m", "uci_engine", "analyse", "-", "--no-pages", "--output", ".", "--force"]
        assert subprocess.run(words, cwd=folder, env=ENVIRONMENT, stdin=file, check=False).returncode == 1
    assert games.read_bytes() == text
    assert names_in(folder) == ["games.pgn", *list(outputs)[1:]]


def test_results_are_replaced_only_by_force(folder: Path) -> None:
    out, words = folder / "out", (".", "--nodes", 100, "--output", "out")
    (folder / "z.PGN").write_text(FORFEIT)
    (folder / "notes.txt").write_text(FORFEIT)
    done = f"4 of 5 games analysed: {Path('out', 'index.html')}\n"
    assert analyse(folder, *words).stdout == done
    # The files of the folder by name.
    assert [game.headers["White"] for game in games_of(out / "games.pgn")] == ["Ann", "Eve", "Bob", "Eve"]
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    told = "is there already: replace it with --force, or name a folder with --output"
    assert refusal(folder, *words) == f"secateur analyse: {Path('out', 'games.pgn')} {told}\n"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    # Results in the folder of the games are not analysed.
    assert analyse(folder, *words, "--force").stdout == done
    assert analyse(folder, "-", *words[1:], "--force", data=SHORT.format(white="Eve")).returncode == 0
    assert [game.headers["White"] for game in games_of(out / "games.pgn")] == ["Eve"]
    # The index named another game for this page.
    assert names_in(out) == ["game-0001.html", "game-0003.html", "games.pgn", REPORT_FILE]


def test_a_player_who_is_in_no_game_is_told_with_those_who_are(folder: Path) -> None:
    told = refusal(folder, "games.pgn", "--player", "n")
    assert told == "secateur analyse: nobody in these games is called n: the players are Ann; B; Eve; Bob; C\n"


def test_where_nothing_can_be_analysed_nothing_is_left(folder: Path) -> None:
    (folder / "no.pgn").write_text("hello\n")
    (folder / "empty").mkdir()
    (folder / "out").mkdir()
    (folder / "out" / "games.pgn").write_text("older")
    for words in ((), ("--output", "b"), ("--output", "empty"), ("--output", "out", "--force")):
        result = analyse(folder, "no.pgn", *words, "--nodes", 100)
        assert result.returncode == 1
        assert result.stderr.endswith("no game could be analysed\n")
    assert analyse(folder, "games.pgn", "--option", "Contempt=x").returncode == 2
    assert names_in(folder) == ["empty", "games.pgn", "no.pgn", "out"]
    assert names_in(folder / "out") == ["games.pgn"]
    assert (folder / "out" / "games.pgn").read_text() == "older"
