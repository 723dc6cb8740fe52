"""The fuzzer: it finds faults, shrinks what shows them, and repeats it; our engine stands up to it.

The files in tests/uci/conversations are repeated for our engine: what it, or another engine, once got wrong.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzz
from fuzz import Finding, Fuzzer
from tests.support import ROOT, SUPPORT, wait_until
from tests.support.faulty_engine import FAULTS
from toolkit.engines.spec import EngineSpec, own_engine
from toolkit.uci.conversation import Conversation, End, Heard, Pause, Send, load, read, write
from toolkit.uci.grammar import read_best_move, read_info
from toolkit.uci.interview import usage_of
from toolkit.uci.judge import Judge, first_illegal
from toolkit.uci.oracles import Patience, Violation

KEPT = sorted((ROOT / "tests" / "uci" / "conversations").glob("*.txt"))
# The tests look for wrong answers; a busy machine makes late ones.
PATIENT = Patience(ready_ms=5000, stop_ms=5000, clock_ms=5000, exit_seconds=10)
ORACLE_OF = {"crash": "alive"}
IMPATIENT = {
    "ready": Patience(ready_ms=20, stop_ms=5000, clock_ms=5000, exit_seconds=10),
    "clock": Patience(ready_ms=5000, stop_ms=5000, clock_ms=0, exit_seconds=10),
    "answer": Patience(ready_ms=5000, stop_ms=5000, clock_ms=5000, exit_seconds=10, answer_seconds=1),
}


def faulty(fault: str, without: tuple[str, ...] = ()) -> Fuzzer:
    command = (sys.executable, str(SUPPORT / "faulty_engine.py"), fault)
    # With a fault that makes every answer late, a hundred questions in one piece take long.
    kinds = ("games",) if fault == "ready" else ("games", "odd", "overlap", "options")
    return Fuzzer(EngineSpec("faulty", command), IMPATIENT.get(fault, PATIENT), without, kinds)


def first_finding(fuzzer: Fuzzer, conversations: int) -> Finding | None:
    found = (fuzzer.talk(f"1 {number}") for number in range(conversations))
    return next((finding for finding in found if finding is not None), None)


def sent(conversation: Conversation) -> list[str]:
    return [step.data.decode().strip() for step in conversation.steps if isinstance(step, Send)]


class TestFinding:
    @pytest.mark.skipif(usage_of(1) is None, reason="needs /proc")
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_is_found_and_repeated(self, fault: str, tmp_path: Path) -> None:
        oracle = ORACLE_OF.get(fault, fault)
        finding = first_finding(faulty(fault), 40)
        assert finding is not None
        assert finding.violation.oracle == oracle
        path = fuzz.store(finding, tmp_path)
        assert oracle in {violation.oracle for violation in faulty(fault).replay(load(path)).violations}
        assert not faulty("none").replay(load(path)).violations

    @pytest.mark.parametrize(("fault", "needed"), [("score", "go"), ("alive", "stop")])
    def test_what_does_not_matter_is_left_out(self, fault: str, needed: str) -> None:
        fuzzer = faulty(fault)
        finding = first_finding(fuzzer, 40)
        assert finding is not None
        finding = fuzzer.minimised(finding)
        assert finding.repeats
        said = sent(finding.conversation)
        assert any(line.startswith(needed) for line in said)
        # Nothing but the line itself, and hardly ever one more: leaving too early, it would not be noticed.
        assert len(said) <= 2, said

    def test_a_sound_engine_is_left_in_peace(self) -> None:
        assert first_finding(faulty("none"), 12) is None


class TestOurEngine:
    @pytest.mark.parametrize("core", ["auto", "python-chess"])
    def test_random_conversations(self, core: str) -> None:
        fuzzer = Fuzzer(own_engine(core), PATIENT)
        fuzzer.ask_options()
        assert {"Hash", "MultiPV"} <= {option.name for option in fuzzer.options}
        finding = first_finding(fuzzer, 8)
        assert finding is None, write(finding.conversation)

    @pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
    def test_kept_conversations(self, path: Path) -> None:
        interview = Fuzzer(own_engine(), PATIENT).replay(load(path))
        assert [str(violation) for violation in interview.violations] == []
        assert interview.answers > 0


ENGINE = f"name=faulty cmd='{sys.executable} {SUPPORT / 'faulty_engine.py'} count'"
WORDS = ["--engine", ENGINE, "--steps", "5", "--exit-seconds", "5", "--ready-ms", "5000", "--stop-ms", "5000"]


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORDS, "--keep", str(tmp_path), "--json", str(tmp_path / "result.json"), "--lines"]
    assert fuzz.main([*words, "--conversations", "12", "--load", "1"]) == 1
    found = json.loads((tmp_path / "result.json").read_text("utf-8"))["found"]
    assert [each["oracle"] for each in found] == ["count"]
    assert fuzz.main([*words, "--replay", found[0]["file"]]) == 1
    assert "readyok without isready" in capsys.readouterr().out
    assert fuzz.main(["--engine", "name=x"]) == 2


def test_an_interrupt_ends_the_run_and_not_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = Fuzzer.talk

    def talk_twice(self: Fuzzer, seed: str) -> Finding | None:
        if self.conversations == 2:
            raise KeyboardInterrupt
        return talk(self, seed)

    monkeypatch.setattr(Fuzzer, "talk", talk_twice)
    assert fuzz.main([*WORDS, "--keep", str(tmp_path), "--without", "count"]) == 130
    assert "faulty: 2 conversations" in capsys.readouterr().out


def test_load_ends_with_whoever_started_it() -> None:
    with fuzz.load_of(1):
        time.sleep(0.05)
    starter = (
        "import os, subprocess, sys; command = [sys.executable, '-c', sys.argv[1], str(os.getpid())]\n"
        "print(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    )
    command = [sys.executable, "-c", starter, fuzz.BUSY]
    started = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    wait_until(lambda: usage_of(int(started.stdout)) is None)


STEPS = st.one_of(
    st.builds(Send, st.binary(max_size=30), st.integers(1, 50)),
    st.text(max_size=20).map(lambda text: Send(f"{text}\n".encode())),
    st.text(st.characters(max_codepoint=255), max_size=20).map(Heard),
    st.builds(Pause, st.integers(0, 1000)),
    st.just(End()),
)


@given(st.lists(STEPS))
def test_a_conversation_survives_its_file(steps: list[Send | Heard | Pause | End]) -> None:
    text = write(Conversation(tuple(steps)))
    assert text.isascii()
    assert read(text).steps == tuple(steps)


def judged(*events: str) -> list[str]:
    """What a judge finds in lines sent (`> `) and heard (`< `), 10 ms apart."""
    judge = Judge(Patience())
    found = []
    for number, event in enumerate(("> uci", "< uciok", "> isready", "< readyok", *events)):
        if event.startswith("> "):
            judge.sent(event[2:], number / 100)
        else:
            found += [violation.oracle for violation in judge.heard(event[2:], number / 100)]
    return found


PV = "< info depth 1 score cp 3 pv e2e4"


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (("> go depth 1", PV, "< bestmove e2e4"), []),
        (("> go infinite", PV, "< bestmove e2e4"), ["held-back"]),
        (("> go infinite", PV, "> stop", "< bestmove e2e4"), []),
        (("> go ponder depth 1", PV, "> ponderhit", "< bestmove e2e4"), []),
        (("> go ponder infinite", PV, "> ponderhit", "< bestmove e2e4"), ["held-back"]),
        (("> go depth 1", "< bestmove e2e4"), ["line-first"]),
        (("> go depth 1", PV, "< bestmove d2d4"), ["last-line"]),
        (("> go depth 1", PV, "< bestmove e2e5"), ["legal-move", "last-line"]),
        (("> go depth 1", PV, "< bestmove e2e4 ponder e2e4"), ["legal-ponder"]),
        (("> go depth 1", PV, "< bestmove"), ["best-move"]),
        (("> go depth 1", PV, "< bestmove e2e4", "< bestmove e2e4"), ["count"]),
        (("> go depth 1", "< info depth 1 score cp 3 pv e2e4 e7e4"), ["legal-line"]),
        (("> go depth 1", PV.replace("1", "2"), PV), ["progress"]),
        (("> stop", "> ponderhit", "< readyok"), ["count"]),
        ((PV,), ["count"]),
        (("< hello",), ["stray"]),
        (("> joho", "< hello"), []),
        (("> go searchmoves e2e5", "< bestmove (none)"), []),
        (("> go searchmoves e2e5 a2a3", PV, "< bestmove e2e4"), ["legal-move"]),
        (("> position startpos moves e2e5", "> go depth 1", "< bestmove (none)"), []),
        (("> position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "> go depth 1", "< bestmove (none)"), []),
        (("> position startpos", "> go depth 1", "< bestmove (none)"), ["legal-move"]),
        (("> isready", *["> debug on"] * 25, "< readyok"), ["ready"]),
        (("> go infinite", *["> stop"] * 25, PV, "< bestmove e2e4"), ["stop"]),
        (("> go wtime 50 btime 9999", *["> debug on"] * 30, PV, "< bestmove e2e4"), ["clock"]),
        (("> go wtime 9999 btime 50", *["> debug on"] * 30, PV, "< bestmove e2e4"), []),
        (("> go ponder wtime 50 btime 9", *["> debug on"] * 30, "> ponderhit", PV, "< bestmove e2e4"), []),
        (("> setoption name Hash value 1", "> isready", *["> debug on"] * 25, "< readyok"), []),
    ],
)
def test_the_judge(events: tuple[str, ...], found: list[str]) -> None:
    assert judged(*events) == found


def test_castling_is_written_as_the_options_say() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert first_illegal(chess.Board(fen), ["e1g1", "e8c8"]) is None
    assert first_illegal(chess.Board(fen), ["e1h1"]) == "e1h1"
    assert first_illegal(chess.Board(fen, chess960=True), ["e1h1", "e8a8"]) is None
    assert first_illegal(chess.Board(fen, chess960=True), ["e1g1"]) == "e1g1"


def test_the_grammar_takes_lines_apart() -> None:
    info = read_info("info depth 9 seldepth 12 multipv 2 score mate -3 upperbound wdl 0 0 1000 nodes 5 pv e2e4 e7e5")
    assert (info.score, info.bound, info.wdl, info.pv) == (("mate", -3), "upperbound", (0, 0, 1000), ["e2e4", "e7e5"])
    assert read_info("info currmove e2e4 currmovenumber 1 string a  b").string == "a  b"
    assert read_best_move("bestmove e7e8q ponder a2a1n").ponder == "a2a1n"
    for line in ("bestmove", "bestmove e2e4 ponder", "bestmove e2-e4", "bestmove e2e4 e7e5", "bestmove e2e4 "):
        with pytest.raises(Violation):
            read_best_move(line)
    for line in (
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
        "info depth 3 pv e2e4",
        "info string",
        "info",
        "info string \u00e4",
    ):
        with pytest.raises(Violation):
            read_info(line)
