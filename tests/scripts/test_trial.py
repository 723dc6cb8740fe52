"""lib.trial and lib.journal: a mistake that is seen at the start costs no journal, no tables and no long wait."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import match
import selfplay
import suite
import tune_search
from lib.engines.cache import EngineCache
from lib.engines.engine import EngineTimeoutError
from lib.engines.spec import EngineSpec
from lib.errors import ProgramError
from lib.journal import Journal
from lib.trial import try_engines
from tests.support import SUPPORT

FAKE = f"{sys.executable} {SUPPORT / 'fake_engine.py'}"
MUTE = EngineSpec("mute", (sys.executable, str(SUPPORT / "fake_engine.py"), "mute"))


def run(program: str, folder: Path, engine: str, *more: str) -> int:
    """Run a program with this engine, and with a journal in the folder."""
    match program:
        case "match":
            words = ["--engine", engine, "--engine", f"cmd='{FAKE}' depth=1", "--games", "2", "--longest", "2"]
            return match_main([*words, "--pgn", str(folder / "games.pgn"), *more])
        case "selfplay":
            words = ["--nodes", "10", "--hash", "1", "--games", "2", "--longest", "2"]
            return selfplay.main([*words, "--output", str(folder / "data.positions"), *more])
        case "tune_search":
            words = ["--engine", f"{engine} depth=1", "--tune", "Seed=1", "--iterations", "1", "--longest", "2"]
            return tune_search.main([*words, "--journal", str(folder / "tune.journal"), *more])
        case _:
            (folder.parent / "one.epd").write_text("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;\n", "utf-8")
            words = [str(folder.parent / "one.epd"), "--engine", f"{engine} depth=1"]
            return suite.main([*words, "--journal", str(folder / "suite.journal"), *more])


def match_main(words: list[str]) -> int:
    return match.main([*words, "--each", "depth=1"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "results"
    path.mkdir()
    return path


@pytest.mark.parametrize("program", ["match", "tune_search", "suite"])
def test_a_misspelt_engine_leaves_nothing_behind(
    program: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(program, folder, "cmd=stokfish") in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: stokfish: cannot run stokfish")
    assert err.count("\n") == 1
    assert list(folder.iterdir()) == []
    assert run(program, folder, f"cmd='{FAKE}'") in (0, 1)
    assert capsys.readouterr().out


@pytest.mark.parametrize("program", ["match", "selfplay", "tune_search", "suite"])
def test_an_unreachable_scheduler_leaves_nothing_behind(
    program: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("uci_engine.api.cluster.CLUSTER_SECONDS", 0.5)
    assert run(program, folder, f"cmd='{FAKE}'", "--cluster", "tcp://127.0.0.1:9") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error: no Dask scheduler answers at tcp://127.0.0.1:9" in err
    assert list(folder.iterdir()) == []


def test_a_silent_engine_is_waited_for_once_and_told_about(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lib.trial.SILENT_SECONDS", 0.1)
    monkeypatch.setattr("lib.trial.START_SECONDS", 1.0)
    with pytest.raises(EngineTimeoutError, match=r"mute .*: does it speak UCI"):
        try_engines([MUTE])
    assert capsys.readouterr().err == "mute has not answered yet; it is waited for 1 s\n"


def test_a_silent_engine_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lib.engines.cache.START_SECONDS", 1.0)
    began = time.monotonic()
    with EngineCache() as engines, pytest.raises(EngineTimeoutError):
        engines.engine(MUTE)
    assert time.monotonic() - began < 3.0


def test_equal_engines_are_started_once(tmp_path: Path) -> None:
    trace = tmp_path / "starts"
    start = f"runpy.run_path({str(SUPPORT / 'fake_engine.py')!r}, run_name='__main__')"
    command = f"import runpy; open({str(trace)!r}, 'a').write('x'); {start}"
    specs = [EngineSpec(name, (sys.executable, "-c", command)) for name in ("a", "b")]
    try_engines(specs)
    assert trace.read_text() == "x"


# ---- The journal ----


@pytest.mark.parametrize("text", ["", '{"settings":{"a":9}}\n', '{"settings":{"a":1}}\n{"torn', '{"sett'])
def test_a_journal_without_entries_blocks_nobody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "journal"
    path.write_text(text, "utf-8")
    with Journal(path, {"a": 1}) as journal:
        assert journal.entries == []
        journal.append({"key": "x"})
    assert path.read_text("utf-8") == '{"settings":{"a":1}}\n{"key":"x"}\n'


@pytest.mark.parametrize("text", ["my notes", "my notes\nof today\n", "{}\n", "[1]"])
@pytest.mark.parametrize("resume", [False, True])
def test_what_is_no_journal_is_left_alone(tmp_path: Path, text: str, resume: bool) -> None:
    path = tmp_path / "notes"
    path.write_text(text, "utf-8")
    with pytest.raises(ProgramError, match="is no journal"):
        Journal(path, {"a": 1}, resume=resume)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize("line", ["[" * 100_000, "null", "[1]", "x"])
def test_a_damaged_journal_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal"
    path.write_text('{"settings":{"a":1}}\n' + line + "\n", "utf-8")
    with pytest.raises(ProgramError, match="line 2 is no "):
        Journal(path, {"a": 1}, resume=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no file locks there")
def test_two_runs_cannot_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path, {"a": 1}) as journal:
        journal.append({"key": "x"})
        for resume in (False, True):
            with pytest.raises(ProgramError, match="is being written by another run"):
                Journal(path, {"a": 1}, resume=resume)
    with Journal(path, {"a": 1}, resume=True) as journal:
        assert journal.entries == [{"key": "x"}]


def test_a_killed_run_without_games_blocks_nobody(tmp_path: Path) -> None:
    program = (
        "import os; from pathlib import Path; from lib.journal import Journal\n"
        f"Journal(Path({str(tmp_path / 'journal')!r}), {{'a': 1}}); os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=SUPPORT.parents[1] / "scripts").returncode == 9
    assert (tmp_path / "journal").stat().st_size
    Journal(tmp_path / "journal", {"a": 2}).close()
    assert not (tmp_path / "journal").exists()


# ---- Words on the command line ----


@pytest.mark.parametrize(
    ("program", "words", "complaint"),
    [
        ("compare_syzygy", ["/nonexistent"], "error: /nonexistent: No such file or directory\n"),
        ("compare_syzygy", ["{folder}"], "error: no Syzygy tables in {folder}\n"),
        ("compare_syzygy", ["{folder}", "--positions", "0"], "0 is not 1 or more\n"),
        ("endgame_check", ["{folder}", "--count", "0"], "0 is not 1 or more\n"),
        ("suite", ["x.epd", "--engine", "cmd=x", "--positions", "-3"], "-3 is not 1 or more\n"),
        ("speed", ["--engine", "cmd=x option.Threads=x"], "error: x: Threads cannot be 'x'\n"),
        ("fuzz", ["--engine", "cmd=stokfish"], "error: stokfish: No such file or directory\n"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(program: str, words: list[str], complaint: str, folder: Path) -> None:
    words = [word.format(folder=folder) for word in words]
    path = SUPPORT.parents[1] / "scripts" / f"{program}.py"
    environment = {**os.environ, "PYTHONPATH": str(path.parents[1])}
    command = [sys.executable, str(path), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, env=environment)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert complaint.format(folder=folder) in done.stderr


def test_a_step_that_is_none_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("x", "0", "-1", "inf", "nan"):
        assert tune_search.main(["--engine", f"cmd='{FAKE}' depth=1", "--tune", f"Seed={step}"]) == 1
        assert f"'{step}' is no step" in capsys.readouterr().err
