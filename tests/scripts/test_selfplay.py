"""Self-play data: what is kept of a game, and runs that are killed, continued, or spread over a cluster."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

import chess
import chess.engine
import pytest

from lib.engines.spec import EngineSpec, TimeControl
from lib.games.openings import Opening, random_opening
from lib.games.record import GameRecord, MoveRecord
from selfplay import BATCH_GAMES, choose, main, quiet_positions
from tests.support import SUPPORT

FAKE = SUPPORT / "fake_engine.py"
SPEC = EngineSpec("fake", (sys.executable, str(FAKE)), None, TimeControl(depth=1))


def score(centipawns: int, color: chess.Color) -> chess.engine.PovScore:
    return chess.engine.PovScore(chess.engine.Cp(centipawns), color)


def test_quiet_positions_with_whites_score_and_result() -> None:
    opening = Opening(moves=("e2e4", "d7d5"))
    words = ["g1f3", "d5e4", "f3g1", "e4e3", "f1b5", "c7c6"]
    mate = chess.engine.PovScore(chess.engine.Mate(3), chess.WHITE)
    moves = [
        MoveRecord(chess.Move.from_uci(word), 0.0, None, score(10 * number, number % 2 == 0))
        for number, word in enumerate(words, start=2)
    ]
    moves.append(MoveRecord(chess.Move.from_uci("a2a3"), 0.0, None, mate))
    record = GameRecord(SPEC, SPEC, opening, moves, result="0-1")
    lines = list(quiet_positions(record))
    # Neither the capture, nor the answer to the check, nor the mate.
    board = opening.board()
    wanted = []
    for move, kept in zip(moves, (True, False, True, True, True, False, False), strict=True):
        if kept:
            assert move.score is not None
            wanted.append(f"{board.fen()} | {move.score.white().score()} | 0.0")
        board.push(move.move)
    assert lines == wanted
    assert lines[2].split(" | ")[1] == "-50"


def test_choosing_keeps_the_order() -> None:
    lines = [str(number) for number in range(50)]
    chosen = choose(iter(lines), 10, random.Random(1))
    assert len(chosen) == 10
    assert chosen == sorted(chosen, key=int)
    assert choose(iter(lines), 0, random.Random(1)) == lines
    assert choose(iter(lines[:3]), 10, random.Random(1)) == lines[:3]


def test_random_openings_are_legal_varied_and_repeatable() -> None:
    found = [random_opening(Opening(), random.Random(number), 2, 5) for number in range(50)]
    assert found == [random_opening(Opening(), random.Random(number), 2, 5) for number in range(50)]
    assert {len(opening.moves) for opening in found} == {2, 3, 4, 5}
    assert len({opening.moves for opening in found}) > 45
    assert not any(opening.board().is_check() for opening in found)


def arguments(output: Path, *words: str) -> list[str]:
    engine = f"cmd='{sys.executable} {FAKE}' depth=1"
    return ["--engine", engine, "--output", str(output), "--longest", "20", *words]


def check_lines(lines: list[str]) -> None:
    for line in lines:
        fen, centipawns, result = line.split(" | ")
        assert chess.Board(fen).is_valid()
        assert abs(int(centipawns)) <= 50
        assert result in ("1.0", "0.5", "0.0")


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz"])
def test_a_run_that_was_cut_short_goes_on(tmp_path: Path, name: str) -> None:
    output = tmp_path / name
    games = 3 * BATCH_GAMES
    words = arguments(output, "--games", str(games), "--positions", "5", "--json", str(tmp_path / "counts.json"))
    assert main(words) == 0
    whole = output.read_bytes()
    text = gzip.decompress(whole) if name.endswith(".gz") else whole
    lines = text.decode().splitlines()
    check_lines(lines)
    assert len(lines) == json.loads((tmp_path / "counts.json").read_text("utf-8"))["positions"] > games
    # As if killed while the second batch was written: its lines are there, but not in the journal.
    journal = tmp_path / f"{name}.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]) + b'{"key":"8-')
    assert main(words) == 1
    assert main([*words, "--resume"]) == 0
    again = output.read_bytes()
    assert (gzip.decompress(again) if name.endswith(".gz") else again) == text
    counts = json.loads((tmp_path / "counts.json").read_text("utf-8"))
    assert counts["games"] == sum(counts["results"].values()) == games
    assert counts["faults"] == {}


def test_forfeits_are_told_and_give_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = f"cmd='{sys.executable} {FAKE} crash 4' depth=1"
    assert main(["--engine", engine, "--output", str(tmp_path / "x.txt"), "--games", "2"]) == 0
    assert "2 crash: exit code 3" in capsys.readouterr().out
    assert (tmp_path / "x.txt").read_bytes() == b""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--engine", "cmd=x"], "no nodes="),
        (["--plies", "5-2"], "5-2"),
        (["--plies", "x"], "MIN-MAX"),
        (["--engine", "cmd=/no/such/program depth=1"], "cannot run"),
        (["--openings", "/no/such/file.epd"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    assert main(arguments(tmp_path / "x.txt", *words)) == 1
    assert reason in capsys.readouterr().err
