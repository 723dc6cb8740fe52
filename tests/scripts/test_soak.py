"""The soak: engines with known faults are found out and the faults named, a sound one is left in peace."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import soak
from lib.soak import BUSY, load, usage_of
from lib.uci.conversation import load as load_conversation
from lib.uci.conversation import write
from lib.uci.interview import Interview
from tests.support import SUPPORT

FAULTY_ENGINE = SUPPORT / "faulty_engine.py"
# Far more than needed: what is tested here is that faults are seen, not how fast the machine is.
PATIENT = ("--ready-ms", "5000", "--stop-ms", "5000", "--exit-seconds", "10", "--load", "0", "--margin-ms", "5000")


def run_soak(folder: Path, *arguments: str, fault: str = "") -> tuple[int, dict[str, Any]]:
    """The exit code and the result of a soak in this folder, of the faulty engine unless `--engine` is given."""
    engine = f'name=faulty cmd="{sys.executable} {FAULTY_ENGINE} {fault or "none"} --rules"'
    words = [*PATIENT, "--keep", str(folder / "found"), "--json", str(folder / "result.json")]
    if "--engine" not in arguments:
        words += ["--engine", engine, "--each", "tc=0.5+0.05"]
    code = soak.main([*words, *arguments])
    return code, json.loads((folder / "result.json").read_text("utf-8"))


def violations(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [violation for entry in result["games"] for violation in entry["violations"]]


def test_a_sound_engine_is_left_in_peace(tmp_path: Path) -> None:
    code, result = run_soak(tmp_path, "--games", "2")
    assert violations(result) == []
    assert code == 0
    assert [game["plies"] > 0 and game["ending"] != "" for game in result["games"][:2]] == [True, True]
    assert [game["white"] for game in result["games"][:2]] == ["faulty", "faulty 2"]
    figures, _ = result["engines"].values()
    assert figures["moves"] > 0
    assert figures["min_clock_ms"] > 0


@pytest.mark.parametrize(
    ("fault", "oracle"),
    [
        ("held-back", "held-back"),
        ("count", "count"),
        ("crash", "alive"),
        ("clock", "clock"),
        ("legal-move", "legal-move"),
        ("legal-line", "legal-line"),
        ("last-line", "last-line"),
        ("progress", "progress"),
        ("score", "score"),
        ("info", "info"),
        ("clean-line", "clean-line"),
        ("stray", "stray"),
        ("exit", "exit"),
        ("stderr", "stderr"),
        ("answer", "answer"),
    ],
)
def test_a_fault_is_named_and_the_conversation_kept(fault: str, oracle: str, tmp_path: Path) -> None:
    margin = ("--margin-ms", "0") if fault == "clock" else ()
    short = ("--answer-seconds", "2") if fault == "answer" else ()
    code, result = run_soak(tmp_path, "--games", "2", "--restart", "1", *short, *margin, fault=fault)
    assert code == 1
    found = violations(result)
    assert oracle in {violation["oracle"] for violation in found}
    path = Path(next(violation["file"] for violation in found if violation["oracle"] == oracle))
    kept = load_conversation(path)
    assert any(text.startswith(f"{oracle}: ") for text in kept.about)
    assert "> ucinewgame\n" in write(kept)


def test_late_answers_to_isready_are_seen(tmp_path: Path) -> None:
    _, result = run_soak(tmp_path, "--games", "1", "--ready-ms", "20", "--each", "tc=20+1", fault="ready")
    assert {violation["oracle"] for violation in violations(result)} == {"ready"}


@pytest.mark.skipif(usage_of(1) is None and not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_open_files_are_counted(tmp_path: Path) -> None:
    _, result = run_soak(tmp_path, "--games", "5", fault="growth")
    assert {violation["oracle"] for violation in violations(result)} == {"growth"}


def test_an_oracle_can_be_left_out(tmp_path: Path) -> None:
    code, _ = run_soak(tmp_path, "--games", "1", "--without", "progress", fault="progress")
    assert code == 0


def test_a_journal_is_continued_with_the_same_settings_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = ("--journal", str(tmp_path / "journal"))
    run_soak(tmp_path, "--games", "1", *journal)
    _, result = run_soak(tmp_path, "--games", "3", *journal, "--resume")
    assert [entry["game"] for entry in result["games"] if entry["game"]] == [1, 2, 3]
    assert len({entry["plies"] for entry in result["games"] if entry["game"]}) > 1
    words = ["--engine", f"name=faulty cmd='{sys.executable} {FAULTY_ENGINE} --rules'", "--each", "tc=0.5+0.05"]
    assert soak.main([*PATIENT, *words, "--games", "4", "--seed", "2", *journal, "--resume"]) == 2
    assert "other settings" in capsys.readouterr().err


def test_our_engine(tmp_path: Path) -> None:
    words = ["--games", "1", "--each", "tc=0.6+0.02", "--keep", str(tmp_path), "--json", str(tmp_path / "result.json")]
    code = soak.main([*PATIENT, "--margin-ms", "1000", *words])
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert violations(result) == []
    assert code == 0


def test_load_ends_with_whoever_started_it() -> None:
    with load(1):
        time.sleep(0.05)
    starter = (
        "import os, subprocess, sys; command = [sys.executable, '-c', sys.argv[1], str(os.getpid())]\n"
        "print(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    )
    started = subprocess.run(
        [sys.executable, "-c", starter, BUSY], capture_output=True, text=True, check=True, timeout=30
    )
    deadline = time.monotonic() + 10
    while usage_of(int(started.stdout)) is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert usage_of(int(started.stdout)) is None


def test_an_interrupt_ends_the_run_and_not_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play = soak.Soak.play

    def play_one(self: soak.Soak, number: int) -> dict[str, Any]:
        if number > 1:
            raise KeyboardInterrupt
        return play(self, number)

    monkeypatch.setattr(soak.Soak, "play", play_one)
    code, result = run_soak(tmp_path, "--games", "5")
    assert code == 130
    assert [game["game"] for game in result["games"]] == [1]


def test_engines_that_do_not_get_ready_are_both_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    begin = Interview.__init__

    def count(self: Interview, *arguments: Any) -> None:
        started.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(Interview, "__init__", count)
    silent = f'name=silent cmd="{sys.executable} -c \'import time; time.sleep(60)\'"'
    words = ("--engine", silent, "--games", "2", "--answer-seconds", "0.1")
    code, result = run_soak(tmp_path, *words)
    assert code == 1
    assert [game["ending"] for game in result["games"][:2]] == ["not ready", "not ready"]
    assert len(started) == 4
