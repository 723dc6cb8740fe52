"""Matches: games against engines that break every rule, clocks, adjudication, statistics, and the whole programs."""

from __future__ import annotations

import argparse
import io
import json
import math
import random
import re
import signal
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import chess
import chess.engine
import chess.pgn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibrate
import factorial_test
import match
import tune_search
from calibrate import PRIOR_ELO, Ladder, Player, level_player
from factorial_test import FactorialTest
from match import main
from tests.scripts import fake, fake_command
from tests.support import FAKE_ENGINE, SCRIPTS, wait_until
from toolkit.elo import PAIR_SCORES, Sprt, estimate, likeliest_with_score, score_of_elo
from toolkit.engines.client import EngineCache
from toolkit.engines.spec import EngineSpec, TimeControl
from toolkit.errors import ProgramError
from toolkit.games.adjudication import Adjudicator, Rules, add_arguments, rules_of
from toolkit.games.openings import Opening
from toolkit.games.pairs import Clock, Game, GameRecord, limit_for, rules_result
from tune_search import Parameter, Spsa

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
        running = psutil.Process(process.pid)

        def command_line(child: Any) -> str:
            """Empty once the process has gone."""
            try:
                return "" if child.status() == psutil.STATUS_ZOMBIE else str(child.cmdline())
            except psutil.Error:
                return ""

        wait_until(lambda: sum(str(FAKE_ENGINE) in command_line(child) for child in running.children(True)) >= 4)
        children = running.children(recursive=True)
        process.send_signal(getattr(signal, number))
        assert process.wait(20) == (130 if number == "SIGINT" else -getattr(signal, number))
        wait_until(lambda: not any(map(command_line, children)))


# ---- Statistics: against published figures, sums done another way, simulation ----


COUNTS = st.lists(st.integers(1, 2000), min_size=5, max_size=5)


# Large tests of the Stockfish testing framework, as fastchess's tests quote them.
@pytest.mark.parametrize(
    ("counts", "sprt", "ratio"),
    [
        ((223, 9863, 21279, 10037, 246), Sprt(0.5, 2.5), -3.07),
        ((871, 26175, 55983, 26678, 821), Sprt(0.0, 2.0), -4.98),
    ],
)
def test_the_likelihood_ratio_is_the_published_one(counts: tuple[int, ...], sprt: Sprt, ratio: float) -> None:
    assert sprt.ratio(counts) == pytest.approx(ratio, abs=0.006)


@given(COUNTS)
def test_the_estimate_agrees_with_the_textbook(counts: list[int]) -> None:
    pairs = [score for score, count in zip(PAIR_SCORES, counts, strict=True) for _ in range(count)]
    mean, deviation = statistics.fmean(pairs), statistics.pstdev(pairs) / math.sqrt(len(pairs))
    result = estimate(counts)
    assert result.score == pytest.approx(mean)
    assert result.elo == pytest.approx(-400 * math.log10(1 / mean - 1), abs=1e-9)
    normal = statistics.NormalDist(mean, deviation)
    assert score_of_elo(result.low_elo) == pytest.approx(max(0.0, normal.inv_cdf(0.025)), rel=1e-9)
    assert score_of_elo(result.high_elo) == pytest.approx(min(1.0, normal.inv_cdf(0.975)), rel=1e-9)
    assert result.error_elo == pytest.approx((result.high_elo - result.low_elo) / 2)
    assert result.superiority == pytest.approx(1 - normal.cdf(0.5), abs=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0), (0, 0, 7, 0, 0), (0, 0, 0, 0, 3), (2, 0, 0, 0, 0)])
def test_too_little_gives_no_false_certainty(counts: tuple[int, ...]) -> None:
    result = estimate(counts)
    assert result.error_elo == math.inf
    assert 0.0 < result.superiority < 1.0
    assert Sprt().verdict(counts) == ""


@given(COUNTS, st.floats(-300, 300))
def test_the_likeliest_distribution_has_the_score(counts: list[int], elo: float) -> None:
    best = likeliest_with_score([count / sum(counts) for count in counts], score_of_elo(elo))
    assert sum(best) == pytest.approx(1)
    assert np.dot(best, PAIR_SCORES) == pytest.approx(score_of_elo(elo), abs=1e-9)


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, "H1"), (8.0, "H0")])
def test_the_error_rates_of_the_sequential_test(elo: float, wrong: str) -> None:
    # The pairs of a usual test: many draws, and colours that matter.
    model = likeliest_with_score([0.04, 0.22, 0.45, 0.24, 0.05], score_of_elo(elo))
    chance, sprt, tests, mistakes = np.random.default_rng(1), Sprt(0.0, 8.0), 500, 0
    for _ in range(tests):
        counts = np.zeros(5, dtype=np.int64)
        while not (verdict := sprt.verdict([int(count) for count in counts])):
            counts += chance.multinomial(80, model)
        mistakes += verdict == wrong
    # At most so many wrong decisions as were asked for, within three deviations, and not suspiciously few.
    assert 0.01 < mistakes / tests < 0.05 + 3 * math.sqrt(0.05 * 0.95 / tests)


# ---- match, calibrate, factorial_test, tune_search: arithmetic where the truth is known, and runs that go on ----

OWN = EngineSpec("engine", ("program",))
ENGINE = fake_command("tunable")


# ---- Levels ----


def test_levels_meet_the_opponents_near_them_and_are_rated_by_these() -> None:
    levels = [level_player(OWN, elo) for elo in (1400, 1000, 1200, 2900)]
    far, near = (Player(replace(OWN, name=name), rating) for name, rating in (("far", 2000.0), ("near", 1190.0)))
    ladder = Ladder(levels, [far, near], 250.0, 2000)
    assert [(score.first, score.second) for score in ladder.scores] == [
        ("level 1400", "near"),
        ("level 1000", "near"),
        ("level 1200", "near"),
    ]
    assert [engine.name for engine in ladder.engines] == ["level 1400", "level 1000", "level 1200", "near"]
    # Three games of four: 191 Elo.
    ladder.scores[2].pairs = [(1.0, 0.5)] * 2000
    measured = ladder.ratings()
    assert measured["level 1200"]["elo"] == pytest.approx(1190 + 190.8, abs=1)
    assert measured["level 1200"]["games"] == 4000
    # Without a game only the prior is known.
    assert measured["level 1000"]["elo"] == pytest.approx(1000)
    assert measured["level 1000"]["error"] == pytest.approx(1.96 * PRIOR_ELO, rel=0.01)


# ---- Changes ----


def design(count: int, share: float = 0.5, seed: int = 0) -> FactorialTest:
    changes = {f"f{number}": {f"n{number}": 1} for number in range(count)}
    return FactorialTest(OWN, changes, {f"n{number}": 0 for number in range(count)}, 1, share, seed)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_known_effects_are_found_within_their_errors(share: float) -> None:
    true_elo = {"f0": 0.0, "f1": 15.0, "f2": -40.0, "f3": 200.0, "f4": -8.0}
    missed = 0
    for seed in range(20):
        chance, trial = random.Random(seed), design(5, share)
        for number in range(3000):
            # Games that are won or lost, by sides that differ as the design says.
            turned = trial.directions(number)
            expected = score_of_elo(sum(elo * side for elo, side in zip(true_elo.values(), turned, strict=True)))
            trial.learn(number, turned, sum(1 if chance.random() < expected else -1 for _ in range(2)))
        found = trial.effects()
        missed += sum(abs(each["elo"] - true_elo[each["label"]]) > each["error_elo"] for each in found)
    # Of 100 intervals of 95 % five miss, give or take.
    assert missed <= 13
    assert found == sorted(found, key=lambda each: -each["elo"])
    assert found[1]["error_elo"] < 20 / math.sqrt(2 * share)


def test_each_change_is_on_one_side_at_most_as_often_as_asked() -> None:
    trial = design(3, 0.2)
    drawn = [trial.directions(number) for number in range(1, 3001)]
    assert drawn == [design(3, 0.2).directions(number) for number in range(1, 3001)]
    assert drawn != [design(3, 0.2, seed=1).directions(number) for number in range(1, 3001)]
    for column in zip(*drawn, strict=True):
        assert column.count(1) / 3000 == pytest.approx(0.2, abs=0.03)
        assert column.count(-1) / 3000 == pytest.approx(0.2, abs=0.03)
    assert trial.values((1, -1, 0), 1) == {"n0": 1, "n1": 0, "n2": 0}
    assert trial.values((1, -1, 0), -1) == {"n0": 0, "n1": 1, "n2": 0}


# ---- Numbers ----


def parameters(*values: int) -> list[Parameter]:
    return [Parameter(f"d{number}", value, 0, 200, 10) for number, value in enumerate(values)]


def test_it_finds_the_top_of_a_noisy_hill() -> None:
    chance = random.Random(1)
    best = (120, 60, 100)

    def merit(values: dict[str, int]) -> float:
        return -sum(((value - top) / 60) ** 2 for value, top in zip(values.values(), best, strict=True))

    spsa = Spsa(OWN, parameters(60, 120, 100), 4000, rate=0.01)
    for number in range(4000):
        trial = spsa.pairing(number)
        difference = merit(trial.plus) - merit(trial.minus)
        # A pair of games: -2 to 2, mostly noise.
        seen = chance.random() < abs(difference)
        result = (2 if difference > 0 else -2) if seen else chance.choice((-2, -1, 0, 1, 2))
        spsa.learn(number, trial.directions, result)
    assert all(abs(value - top) <= 15 for value, top in zip(spsa.tuned().values(), best, strict=True))


def test_a_perturbation_depends_on_its_number_alone_and_stays_in_range() -> None:
    one, other = Spsa(OWN, parameters(5, 198), 50, seed=3), Spsa(OWN, parameters(5, 198), 50, seed=3)
    list(map(one.pairing, range(1, 10)))
    for number in (6, 0, 49):
        trial = one.pairing(number)
        assert trial == other.pairing(number)
        assert all(0 <= value <= 200 for value in (*trial.plus.values(), *trial.minus.values()))
    assert any(Spsa(OWN, parameters(5, 198), 50, seed=4).pairing(n) != one.pairing(n) for n in range(1, 9))


def test_small_steps_are_rounded_at_random() -> None:
    trials = [Spsa(OWN, [Parameter("d", 10, 0, 20, 0.3)], 1, seed=seed).pairing(0) for seed in range(300)]
    differences = [abs(trial.plus["d"] - trial.minus["d"]) for trial in trials]
    assert set(differences) == {0, 1}
    assert sum(differences) / 300 == pytest.approx(0.6, abs=0.1)


# ---- The programs ----


COMMANDS: dict[ModuleType, tuple[str, list[str]]] = {
    match: (
        "--games",
        [
            *(*engine_words("A", 1), *engine_words("B", 2), "--each", "depth=1", "--openings", OPENINGS),
            *("--longest", "16", "--concurrency", "2"),
        ],
    ),
    calibrate: (
        "--games",
        [
            *("--engine", ENGINE, "--levels", "1300,1700", "--opponent", "1500", f"{ENGINE} name=known depth=1"),
            *("--opponent", "1510", f"{ENGINE} name=other depth=1", "--resign", "moves=1 score=100", "--longest", "10"),
        ],
    ),
    factorial_test: (
        "--pairs",
        [
            *("--engine", f"{ENGINE} depth=1", "--change", "strength=40", "--change", "more: Hash=32"),
            *("--share", "0.4", "--resign", "moves=1 score=50"),
        ],
    ),
    tune_search: (
        "--iterations",
        [
            *("--engine", f"{ENGINE} depth=1", "--tune", "strength=10", "--rate", "0.05"),
            *("--resign", "moves=1 score=50"),
        ],
    ),
}


def run_again(program: ModuleType, tmp_path: Path, length: int, *more: str) -> dict[str, Any]:
    """The results of a run of so many games or pairs."""
    out = tmp_path / "out.json"
    count, words = COMMANDS[program]
    assert program.main([*words, count, str(length), "--json", str(out), *more]) == 0
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


def refuses_changed_entries(journal: Path, resume: Callable[[], object], *changes: dict[str, Any]) -> None:
    """A run is not resumed when the last entry of its journal has any of these changes."""
    whole = journal.read_bytes()
    *lines, last = whole.splitlines(keepends=True)
    for change in ({"key": None, "first": None, "pair": None}, *changes):
        changed = b"".join(lines) + json.dumps(json.loads(last) | change).encode() + b"\n"
        journal.write_bytes(changed)
        with pytest.raises(ProgramError, match="is no entry of this"):
            resume()
        assert journal.read_bytes() == changed
    journal.write_bytes(whole)


def check_result(program: ModuleType, found: dict[str, Any]) -> None:
    """What the fake engine makes of the command line."""
    if program is match:
        assert [pairing["games"] for pairing in found["pairings"]] == [2 * found["pairs"]] == [8]
    elif program is calibrate:
        rows = found["ratings"]
        # The lower level resigns every game, the higher one draws against those that never resign.
        assert rows["level 1300"]["elo"] + 200 < rows["level 1700"]["elo"]
        # Two levels with two opponents each.
        assert sum(row["games"] for row in rows.values()) == 2 * found["pairs"] == 4 * 4
    elif program is factorial_test:
        more, strength = found["changes"]
        assert (more["label"], strength["label"], found["pairs"]) == ("more", "strength=40", 16)
        assert strength["elo"] < -300
        assert abs(more["elo"]) < 300
    else:
        assert found["pairs"] == 12
        assert found["tuned"]["strength"] > 55
    assert all(conduct["moves"] > 0 and conduct["forfeits"] == [] for conduct in found["conduct"].values())


@pytest.mark.parametrize(("program", "length"), [(match, 8), (calibrate, 4), (factorial_test, 16), (tune_search, 12)])
def test_a_run_finds_what_is_there_goes_on_to_the_same_end_and_may_grow(
    program: ModuleType, length: int, tmp_path: Path
) -> None:
    pgn, journal = tmp_path / "games.pgn", tmp_path / "games.pgn.journal"
    words = ["--pgn", str(pgn)]
    whole = run_again(program, tmp_path, length, *words)
    check_result(program, whole)
    rounds = rounds_of(read_headers(pgn))
    with pytest.raises(ProgramError, match="--resume"):
        run_again(program, tmp_path, length, *words)
    words.append("--resume")
    # As if killed in the middle of the last line but one, and once before the games of a pair were all written.
    *lines, torn, _ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines) + torn[:10])
    pgn.write_text("[Event ")
    # Times differ.
    assert {**run_again(program, tmp_path, length, *words), "conduct": 0} == {**whole, "conduct": 0}
    assert rounds_of(read_headers(pgn)) == rounds
    assert len(set(rounds)) == len(rounds) == 2 * whole["pairs"]
    if program is match:
        entry = json.loads(journal.read_bytes().splitlines()[-1])
        names = {"white": "A", "black": "B"}
        changes: list[dict[str, Any]] = [{"pair": pair} for pair in (-1, True, json.loads(lines[1])["pair"], "x")]
        changes += [{"games": games} for games in ([], [names], [names, names], 5, entry["games"][:1])]
        refuses_changed_entries(journal, lambda: run_again(program, tmp_path, length, *words), *changes)
    assert run_again(program, tmp_path, length + 2, *words)["pairs"] > whole["pairs"]
    assert journal.read_bytes().startswith(b"".join(lines))
    pgn.write_text('[Event "?"]\n\n1. e4 *\n')
    with pytest.raises(ProgramError, match="not in the journal"):
        run_again(program, tmp_path, length + 2, *words)


@pytest.mark.parametrize(
    ("program", "more", "complaint"),
    [
        (match, ("--each", ""), "no tc="),
        (match, ("--games", "3"), "pairs of games"),
        (match, ("--sprt", "elo0=9"), "elo0=9"),
        (match, ("--sprt", "alpha=0.5"), "alpha"),
        (match, ("--sprt", "beta=0"), "beta"),
        (match, ("--engine", "cmd=z", "--sprt"), "two engines"),
        (match, ("--engine", "cmd=/no/such/engine"), "/no/such/engine"),
        (calibrate, ("--games", "3"), "pairs"),
        (calibrate, ("--levels", "2500"), "known rating"),
        (calibrate, ("--opponent", "1500", "cmd=x depth=1 name=known"), "the same name"),
        (factorial_test, ("--change", "colour=1"), "has no number called 'colour'"),
        (factorial_test, ("--change", "too much:Seed=-1"), "at least 0"),
        (factorial_test, ("--change", "again:strength=70"), "two changes set strength"),
        (factorial_test, ("--share", "0.6"), "at most 0.5"),
        (tune_search, ("--tune", "colour"), "has no number called 'colour'"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_leaves_nothing_behind(
    program: ModuleType, more: Sequence[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ProgramError, match=complaint):
        program.main([*COMMANDS[program][1], "--pgn", str(tmp_path / "games.pgn"), *more])
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
