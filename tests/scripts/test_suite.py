"""scripts/suite.py: positions read, answers judged, engines asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import pytest

import suite
from tests.scripts import fake_command
from tests.support.dask_cluster import running_cluster
from toolkit.engines.client import Line
from toolkit.errors import ProgramError
from toolkit.questions import Question, judge, read_questions

FORK = "8/8/8/8/8/2k5/8/K6R w - -"  # any position with a rook that can give check
EPD = f"""# positions
{FORK} bm Rh3+; id "Theme A.001";
{FORK} am Rh2 Rh8; id "Theme A.002"; c0 "Rh3+=10, Rg1=4";
6k1/5ppp/8/8/8/8/8/K3R3 w - - dm 1; id "Theme B.001";
"""


@pytest.fixture
def epd(tmp_path: Path) -> Path:
    path = tmp_path / "positions.epd"
    path.write_text(EPD)
    return path


def question(best: str = "", avoid: str = "", mate: int | None = None) -> Question:
    return Question("x", chess.STARTING_FEN, frozenset(best.split()), frozenset(avoid.split()), mate, {})


def test_all_operations_are_read(epd: Path) -> None:
    first, second, third = read_questions(epd)
    assert (first.name, first.best) == ("Theme A.001", frozenset({"h1h3"}))
    assert second.avoid == {"h1h2", "h1h8"}
    assert (dict(second.points), second.max_points) == ({"h1g1": 4, "h1h3": 10}, 10)
    assert (third.mate_moves, third.best, third.max_points) == (1, frozenset(), 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no positions"),
        (f'{FORK} id "x";\n', "none of bm, am and dm"),
        (f"{FORK} bm Rh9;\n", ":1: "),
        (f"{FORK} bm Rh3; \n8/8/8/8/8/8/8/K6R w - - bm Rh3;\n", ":2: no legal position"),
        (f'{FORK} bm Rh3; c0 "Ra8=3";\n', ":1: "),
    ],
)
def test_what_is_no_suite_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.epd"
    path.write_text(text)
    with pytest.raises(ProgramError, match=why):
        read_questions(path)


@pytest.mark.parametrize(
    ("asked", "move", "mate", "met"),
    [
        (question("e2e4 d2d4"), "d2d4", None, True),
        (question("e2e4"), "d2d4", None, False),
        (question(avoid="e2e4"), "d2d4", None, True),
        (question("e2e4", avoid="e2e4"), "e2e4", None, False),
        (question(mate=3), "d2d4", 3, True),
        (question(mate=3), "d2d4", 4, False),
        (question(mate=3), "d2d4", None, False),
        (question("e2e4"), None, None, False),
    ],
)
def test_a_move_must_fit_all_that_is_asked(asked: Question, move: str | None, mate: int | None, met: bool) -> None:
    assert asked.is_met(move, mate) is met


def test_the_time_to_solution_is_that_of_the_last_unbroken_row() -> None:
    texts = (
        "info depth 1 score cp 10 nodes 20 pv e2e4",
        "info depth 2 score cp 10 nodes 40 pv d2d4",
        "info depth 3 score cp 10 nodes 80 pv e2e4 e7e5",
        "info depth 3 currmove a2a3 currmovenumber 2",
        "info depth 4 multipv 2 score cp 5 nodes 90 pv g1f3",
        "info string pv d2d4",
        "info depth 4 score cp 12 nodes 160 pv e2e4",
        "bestmove e2e4 ponder e7e5",
    )
    lines = [Line(100.0 + number, text) for number, text in enumerate(texts, 1)]
    answer = judge(question("e2e4"), lines, 100.0)
    assert (answer["solved"], answer["solution_seconds"], answer["seconds"]) == (True, 3.0, 8.0)
    answer = judge(question("e2e4"), lines[-1:], 100.0)
    assert (answer["solved"], answer["solution_seconds"]) == (True, 8.0)


# ---- Running ----


def scripted(tmp_path: Path, name: str, script: dict[str, list[str]]) -> str:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(script))
    return f"{fake_command(path)} name={name}"


def run(tmp_path: Path, epd: Path, *words: object) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and what the JSON says of each engine."""
    output = tmp_path / "output.json"
    code = suite.main([str(epd), *map(str, words), "--json", str(output)])
    return code, json.loads(output.read_text())["engines"]


MATE = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"
RIGHT = {MATE: ["info depth 3 score mate 1 pv e1e8", "bestmove e1e8"], "else": ["info pv h1h3", "bestmove h1h3"]}
WRONG = {MATE: ["info depth 1 score cp 500 pv e1e8", "bestmove e1e8"], "else": ["info pv h1h2", "bestmove h1h2"]}


def test_engines_are_asked_side_by_side(tmp_path: Path, epd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines = ("--engine", scripted(tmp_path, "right", RIGHT), "--engine", scripted(tmp_path, "wrong", WRONG))
    code, (right, wrong) = run(tmp_path, epd, *engines, "--each", "nodes=1 option.Hash=1", "--concurrency", 2)
    assert code == 0
    assert (right["solved"], right["points"], right["max_points"], right["unsolved"]) == (3, 10, 10, [])
    assert (wrong["solved"], wrong["points"]) == (0, 0)
    assert wrong["unsolved"] == ["Theme A.001", "Theme A.002", "Theme B.001"]
    assert [answer["move"] for answer in wrong["answers"]] == ["h1h2", "h1h2", "e1e8"]
    assert "wrong did not solve Theme A.001, Theme A.002, Theme B.001" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("crash", "exit code 3; stderr: it hurts"),
        ("hang", "did not say bestmove"),
        ("bestmove a1a8", "no legal move"),
    ],
)
def test_a_failure_is_named_and_the_engine_goes_on(tmp_path: Path, epd: Path, fault: str, said: str) -> None:
    engine = scripted(tmp_path, "faulty", {**RIGHT, MATE: [fault]})
    epd.write_text("\n".join(reversed(EPD.splitlines())))
    code, (summary,) = run(tmp_path, epd, "--engine", engine, "--each", "depth=1", "--patience", 3)
    assert (code, summary["solved"]) == (1, 2)
    (failure,) = summary["failures"]
    assert failure.startswith("Theme B.001: faulty ")
    assert said in failure


@pytest.mark.slow
def test_a_cluster_asks_the_same(tmp_path: Path, epd: Path) -> None:
    (tmp_path / "cluster").mkdir()
    engine = scripted(tmp_path, "right", {**RIGHT, MATE: ["crash"]})
    with running_cluster(tmp_path / "cluster") as cluster:
        code, (summary,) = run(tmp_path, epd, "--engine", engine, "--each", "nodes=1", "--cluster", cluster.address)
    assert (code, summary["solved"]) == (1, 2)
    assert "it hurts" in summary["failures"][0]
