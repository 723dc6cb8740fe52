"""Matches: games against engines that break every rule, clocks, adjudication, and the whole program."""

from __future__ import annotations

import argparse
import io
import json
import re
import signal
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn
import pytest

from match import main
from tests.scripts import fake, fake_command
from tests.support import FAKE_ENGINE, SCRIPTS, wait_until
from toolkit.engines.client import EngineCache
from toolkit.engines.spec import EngineSpec, TimeControl
from toolkit.games.adjudication import Adjudicator, Rules, add_arguments, rules_of
from toolkit.games.openings import Opening
from toolkit.games.pairs import Clock, Game, GameRecord, limit_for, rules_result

OPENINGS = str(SCRIPTS / "toolkit" / "mates.epd")


def play(white: EngineSpec, black: EngineSpec, opening: Opening | None = None, **settings: object) -> GameRecord:
    with EngineCache() as engines:
        sides = engines.engine(white), engines.engine(black)
        return Game(*sides, opening or Opening(), **settings).play()  # type: ignore[arg-type]


# ---- Games ----


def test_a_game_is_played_to_its_end_and_recorded() -> None:
    control = TimeControl(60.0, 0.5)
    white, black = (fake("good", ("Seed", seed), control=control) for seed in ("1", "2"))
    # The PGN standard escapes quotes and backslashes.
    record = play(replace(white, name='the "new" one'), replace(black, name="C:\\old"))
    assert record.fault is None
    assert all(conduct.min_clock_ms < 60_000 for conduct in record.conduct.values())
    text = record.pgn("3.1")
    assert {'[White "the \\"new\\" one"]', '[Black "C:\\\\old"]'} <= set(text.splitlines())
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert (game.headers["Round"], game.headers["TimeControl"]) == ("3.1", "60+0.5")
    assert rules_result(game.end().board()) == (record.result, record.ending)
    nodes = list(game.mainline())
    for node in nodes:
        clock, score = node.clock(), node.eval()
        assert clock is not None
        assert score is not None
        assert node.eval_depth() == 2
        assert abs(score.white().score(mate_score=10_000)) <= 50
        assert 50 < clock < 60.5 + 0.5 * len(nodes)
    for conduct, own in zip(record.conduct.values(), (nodes[::2], nodes[1::2]), strict=True):
        assert (conduct.moves, conduct.nodes) == (len(own), 30 * len(own))
        assert conduct.seconds == pytest.approx(sum(node.emt() or 0 for node in own), abs=0.001 * len(own))
    assert record.ending in nodes[-1].comment


@pytest.mark.parametrize(
    ("mode", "fault", "detail"),
    [
        ("illegal", "illegal move", "a1a1"),
        ("crash", "crash", "exit code 3; stderr: it hurts"),
        ("close", "disconnect", "closed its pipes"),
        ("hang", "time loss", "no answer within"),
        ("slow", "time loss", "ms beyond its time"),
    ],
)
def test_whoever_breaks_a_rule_loses_and_is_named(
    mode: str, fault: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.games.pairs.HANG_SECONDS", 1.0)
    seconds = 0.6 if fault == "time loss" else 20.0
    record = play(fake(control=TimeControl(20.0)), fake(mode, first_bad_move=3, control=TimeControl(seconds)))
    assert (record.fault, record.result, record.guilty) == (fault, "1-0", mode)
    assert len(list(record.moves.mainline())) == 5
    assert (record.conduct[mode].overstep_ms > 0) == (fault == "time loss")
    ((kind, words),) = record.conduct[mode].forfeits
    assert kind == fault
    assert detail in words
    game = chess.pgn.read_game(io.StringIO(record.pgn("1")))
    assert game is not None
    assert game.headers["Result"] == "1-0"
    assert game.headers["Termination"] != "normal"


def test_odd_output_is_no_fault() -> None:
    assert play(fake("odd"), fake(), rules=Rules(max_moves=4)).fault is None


# ---- Clocks ----


def test_clocks_with_periods_increments_and_fixed_times() -> None:
    clock = Clock(TimeControl(10.0, 1.0, moves=2))
    assert clock.moves_to_go == 2
    clock.spend(3.0)
    assert (clock.remaining_seconds, clock.moves_to_go) == (8.0, 1)
    clock.spend(8.0)
    assert (clock.remaining_seconds, clock.moves_to_go) == (11.0, 2)
    assert [clock.is_lost(seconds) for seconds in (11.0, 11.001)] == [False, True]
    late = Clock(TimeControl(10.0), margin_ms=50)
    assert [late.is_lost(seconds) for seconds in (10.049, 10.051)] == [False, True]
    fixed = Clock(TimeControl(movetime_seconds=0.1), margin_ms=50)
    assert [fixed.is_lost(seconds) for seconds in (0.299, 0.301)] == [False, True]
    assert not Clock(TimeControl(nodes=5)).is_lost(1e6)
    # A time for the move beside a clock is advice, not a limit.
    advised = Clock(TimeControl(60.0, movetime_seconds=1.0))
    assert advised.deadline_seconds > 60.0
    assert not advised.is_lost(7.0)


def test_go_shows_whole_milliseconds_and_an_opponent_without_a_clock() -> None:
    clocks = (Clock(TimeControl(nodes=9)), Clock(TimeControl(5.0, 0.05, moves=40)))
    clocks[1].spend(1.00055)
    shown = chess.engine.Limit(white_clock=4.049, black_clock=4.049, white_inc=0.05, black_inc=0.05, remaining_moves=39)
    assert limit_for(chess.WHITE, clocks) == shown
    assert limit_for(chess.BLACK, clocks) == chess.engine.Limit(nodes=9)


# ---- Ends of games ----


@pytest.mark.parametrize(
    ("fen", "moves", "ending"),
    [
        ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "", ("1-0", "checkmate")),
        ("7k/8/8/8/8/8/8/K6R w - - 100 90", "", ("1/2-1/2", "fifty-move rule")),
        (chess.STARTING_FEN, "g1f3 g8f6 f3g1 f6g8 " * 2, ("1/2-1/2", "threefold repetition")),
        (chess.STARTING_FEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1", None),
    ],
)
def test_the_rules_of_the_game(fen: str, moves: str, ending: tuple[str, str] | None) -> None:
    assert rules_result(Opening(fen, tuple(moves.split())).board()) == ending


RESIGNED = ("1-0", "Black resigns by adjudication")
LEVEL = ("1/2-1/2", "draw by adjudication: level scores")
ONE, BOTH = ("--resign", "moves=2 score=500"), ("--resign", "moves=2 score=500 both=yes")


@pytest.mark.parametrize(
    ("words", "scores", "verdicts"),
    [
        (ONE, [0, -500, 0, -499, 0, -600, 0], [None] * 7),
        (ONE, [0, -500, 0, None, 0, -600, 0], [None] * 7),
        (ONE, [0, -500, 0, -500], [None] * 3 + [RESIGNED]),
        (BOTH, [0, -500, 0, -500, 0], [None] * 5),
        (BOTH, [500, -500, 600, -500], [None] * 3 + [RESIGNED]),
        (("--draw", "from=3 moves=2 score=10"), [10, -10, 0, 5, 0], [None] * 3 + [LEVEL] * 2),
        (("--draw", "from=3 moves=2 score=10"), [0, 0, 0, 11, 0], [None] * 5),
        (("--draw", "from=9 score=10"), [0] * 8, [None] * 8),
    ],
)
def test_resignation_and_agreed_draws(
    words: tuple[str, ...], scores: list[int | None], verdicts: list[tuple[str, str] | None]
) -> None:
    """After each of these moves there and back; scores by White and Black in turn."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    adjudicator = Adjudicator(rules_of(parser.parse_args(words)))
    board = chess.Board()
    found = []
    for number, score in enumerate(scores):
        board.push_uci(("g1f3", "g8f6", "f3g1", "f6g8")[number % 4])
        found.append(adjudicator.verdict(board, score))
    assert found == verdicts


# ---- The program ----


def engine_words(name: str, seed: int, mode: str = "good", first_bad_move: int = 1) -> tuple[str, str]:
    return "--engine", f"name={name} {fake_command(mode, first_bad_move)} option.Seed={seed}"


def run(folder: Path, *words: str) -> dict[str, Any]:
    """The results of a match."""
    output = folder / "result.json"
    files = ("--openings", OPENINGS, "--pgn", str(folder / "games.pgn"), "--json", str(output))
    assert main([*files, "--each", "depth=1", "--longest", "16", *words]) == 0
    found: dict[str, Any] = json.loads(output.read_text("utf-8"))
    return found


def read_headers(path: Path) -> list[chess.pgn.Headers]:
    """Of every game of a file, each legal and with a result."""
    headers = []
    with path.open(encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors
            assert game.headers["Result"] in ("1-0", "0-1", "1/2-1/2")
            headers.append(game.headers)
    return headers


def rounds_of(headers: list[chess.pgn.Headers]) -> list[tuple[str, str, str]]:
    """Round, White and Black of every game, in order."""
    return sorted((each["Round"], each["White"], each["Black"]) for each in headers)


def test_a_gauntlet_agrees_with_its_pgn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engines = *engine_words("A", 1), *engine_words("B", 2), *engine_words("C", 3, "illegal", 4)
    result = run(tmp_path, *engines, "--games", "16", "--concurrency", "2")
    shown, progress = capsys.readouterr()
    played = read_headers(tmp_path / "games.pgn")
    for pairing in result["pairings"]:
        own = [each for each in played if pairing["second"] in (each["White"], each["Black"])]
        white = [{"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}[each["Result"]] for each in own]
        games = [points if each["White"] == "A" else 1 - points for each, points in zip(own, white, strict=True)]
        # The games of a pair stand together.
        sums = [one + other for one, other in zip(games[::2], games[1::2], strict=True)]
        assert pairing["games"] == len(games) == 16
        assert [pairing[key] for key in ("wins", "draws", "losses")] == [games.count(each) for each in (1.0, 0.5, 0.0)]
        assert pairing["pentanomial"] == [sums.count(each) for each in (0.0, 0.5, 1.0, 1.5, 2.0)]
        assert pairing["score"] == pytest.approx(statistics.fmean(games))
        assert ("+inf ± ?" if pairing["elo"] is None else f"{pairing['elo']:+.1f} ±") in shown
    assert re.search(r"A - all +│ +32 ", shown)
    faults = {name: Counter(conduct["faults"]) for name, conduct in result["conduct"].items()}
    assert [faults[name].total() for name in "ABC"] == [0, 0, faults["C"]["illegal move"]] == [0, 0, 16]
    assert "C: illegal move: bestmove a1a1" in shown
    assert re.search(r"\+\d+ =\d+ -\d+  Elo \S+ ± \S+  forfeits 16", progress)
    rounds = rounds_of(played)
    assert len(set(rounds)) == 32
    # Each opening twice, colours reversed.
    assert {("1.1", "A", "B"), ("1.2", "B", "A")} <= set(rounds)


def test_a_decided_sequential_test_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*engine_words("good", 1), *engine_words("bad", 2, "illegal", 2), "--games", "400"]
    words += ["--sprt", "elo0=0", "elo1=90", "alpha=0.1", "beta=0.1"]
    result = run(tmp_path, *words)
    assert result["pairings"][0]["sprt"]["verdict"] == "H1"
    assert result["pairings"][0]["games"] < 100
    shown = capsys.readouterr()
    assert "H1 accepted" in shown.out
    # Few openings, and engines without a clock.
    assert shown.err.startswith("warning: ")
    # Decided is decided: going on plays nothing more.
    assert run(tmp_path, *words, "--resume") == result


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_no_process_outlives_a_match(tmp_path: Path, number: str) -> None:
    psutil = pytest.importorskip("psutil")
    words = [*engine_words("A", 1, "hang", 3), *engine_words("B", 2), "--each", "tc=600"]
    command = [sys.executable, str(SCRIPTS / "match.py"), *words, "--concurrency", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        match = psutil.Process(process.pid)

        def command_line(child: Any) -> str:
            """Empty once the process has gone."""
            try:
                return "" if child.status() == psutil.STATUS_ZOMBIE else str(child.cmdline())
            except psutil.Error:
                return ""

        wait_until(lambda: sum(str(FAKE_ENGINE) in command_line(child) for child in match.children(True)) >= 4)
        children = match.children(recursive=True)
        process.send_signal(getattr(signal, number))
        assert process.wait(20) == (130 if number == "SIGINT" else -getattr(signal, number))
        wait_until(lambda: not any(map(command_line, children)))
