"""The fuzzer: it finds faults, shrinks what shows them, and repeats it; our engine stands up to it.

The files in tests/conversations are repeated for our engine: what it, or another engine, once got wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzz
from lib.engines.engine import EngineOption
from lib.engines.spec import EngineSpec, own_engine
from lib.errors import ProgramError
from lib.fuzz import lines as fuzz_lines
from lib.fuzz.machine import Assignment
from lib.uci.conversation import Conversation, End, Heard, Pause, Send, load, read, write
from lib.uci.grammar import read_best_move, read_info
from lib.uci.judge import Judge, first_illegal, read_position
from lib.uci.oracles import Patience, Violation
from tests.support import ROOT, SUPPORT

KEPT = sorted((ROOT / "tests" / "uci" / "conversations").glob("*.txt"))
# The tests look for wrong answers; a busy machine makes late ones.
PATIENT = Patience(ready_ms=5000, stop_ms=5000, exit_seconds=10, answer_seconds=20)
FAST = Patience(ready_ms=5000, stop_ms=5000, exit_seconds=5, answer_seconds=20)
# The engine of the tests always plays e2e4.
RULES = ("legal-move", "legal-line", "legal-ponder")


def faulty(fault: str, without: Sequence[str] = RULES) -> Assignment:
    command = (sys.executable, "-S", str(SUPPORT / "faulty_engine.py"), fault)
    assignment = Assignment(EngineSpec("faulty", command), patience=FAST, without=without)
    assignment.kinds = ("odd", "overlap")
    return assignment


def sent(conversation: Conversation) -> list[str]:
    return [step.data.decode().strip() for step in conversation.steps if isinstance(step, Send)]


class TestFinding:
    @pytest.mark.parametrize(
        ("fault", "needed"),
        [("score", "go"), ("alive", "stop")],
    )
    def test_a_fault_is_found_and_shrunk(self, fault: str, needed: str, tmp_path: Path) -> None:
        # An engine that dies just before it is told to leave has the wrong exit code as well.
        assignment = faulty(fault, (*RULES, "exit"))
        result = fuzz.fuzz(assignment, seed_number=1, examples=30, steps=8)
        assert result.finding is not None
        assert result.finding.violation.oracle == fault
        assert result.repeats
        path = fuzz.store(result.finding, tmp_path, fault, "faulty", result)
        lines = sent(load(path))
        assert any(line.startswith(needed) for line in lines)
        # Nothing but the line itself, and hardly ever one more: leaving too early, it would not be noticed.
        assert len(lines) <= 2, lines
        assert fault in {violation.oracle for violation in fuzz.replay(load(path), faulty(fault)).violations}
        assert not fuzz.replay(load(path), faulty("none")).violations

    def test_a_sound_engine_is_left_in_peace(self) -> None:
        assert fuzz.fuzz(faulty("none"), seed_number=3, examples=10).finding is None

    def test_an_oracle_can_be_left_out(self) -> None:
        assert fuzz.fuzz(faulty("held-back", (*RULES, "held-back")), seed_number=1, examples=10).finding is None


class TestOurEngine:
    def test_random_conversations(self) -> None:
        assignment = fuzz.assignment_for(own_engine(), PATIENT)
        assert {"Hash", "MultiPV"} <= {option.name for option in assignment.options}
        result = fuzz.fuzz(assignment, seed_number=11, examples=8, steps=15)
        assert result.finding is None, write(result.finding.conversation)
        assert result.conversations >= 8

    @pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
    def test_kept_conversations(self, path: Path) -> None:
        assignment = Assignment(own_engine(), patience=PATIENT)
        interview = fuzz.replay(load(path), assignment)
        assert [str(violation) for violation in interview.violations] == []
        assert interview.answers > 0

    def test_there_are_kept_conversations(self) -> None:
        assert len(KEPT) >= 5


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = f"name=faulty cmd='{sys.executable} -S {SUPPORT / 'faulty_engine.py'} count'"
    words = ["--engine", engine, "--keep", str(tmp_path), "--json", str(tmp_path / "result.json"), "--steps", "5"]
    words += ["--exit-seconds", "5", "--ready-ms", "5000", "--stop-ms", "5000", "--without", *RULES]
    assert fuzz.main([*words, "--lines", "--examples", "6"]) == 1
    found = json.loads((tmp_path / "result.json").read_text("utf-8"))["found"]
    assert [each["oracle"] for each in found] == ["count"]
    assert fuzz.main([*words, "--replay", found[0]["file"]]) == 1
    assert "readyok without isready" in capsys.readouterr().out
    assert fuzz.main(["--engine", "name=x"]) == 2


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


@pytest.mark.parametrize("text", ["what", "~ x", "* 99999999999 a", "* -1 a", "| \\x", "> \u00e4\n? no"])
def test_what_is_no_conversation(text: str) -> None:
    with pytest.raises(ProgramError):
        read(text)


@given(fuzz_lines.sound_positions())
def test_well_formed_positions_are_known(text: str) -> None:
    board = read_position(text.split()[1:], chess960=False)
    assert board is not None
    assert board.is_valid()


@pytest.mark.parametrize("words", fuzz_lines.REFUSED_POSITIONS)
def test_refused_positions_are_not(words: str) -> None:
    repeated = words.startswith("startpos moves g1f3")
    assert (read_position(words.split(), chess960=False) is not None) == repeated


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


def test_options_cost_little() -> None:
    hash_option = EngineOption.read("option name Hash type spin default 16 min 1 max 33554432")
    assert hash_option is not None
    assert {int(value) for value in fuzz_lines.sound_values(hash_option)} <= {1, 2, 3, 4}
    assert all(not value.isdigit() or int(value) <= 4 for value in fuzz_lines.odd_values(hash_option))
    style = EngineOption.read("option name My Style type combo default Solid var Solid var Very Wild")
    assert style is not None
    assert (style.name, style.choices) == ("My Style", ("Solid", "Very Wild"))
