"""match, calibrate, factorial_test, tune_search: arithmetic where the truth is known, and runs that are continued."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import calibrate
import factorial_test
import match
import tune_search
from calibrate import PRIOR_ELO, Ladder, Player, level_player
from factorial_test import FactorialTest
from tests.scripts import fake_command
from tests.scripts.test_journal import refuses_changed_entries
from tests.scripts.test_match import OPENINGS, engine_words, read_headers, rounds_of
from toolkit.elo import score_of_elo
from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from tune_search import Parameter, Spsa

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


def run(program: ModuleType, tmp_path: Path, length: int, *more: str) -> dict[str, Any]:
    """The results of a run of so many games or pairs."""
    out = tmp_path / "out.json"
    count, words = COMMANDS[program]
    assert program.main([*words, count, str(length), "--json", str(out), *more]) == 0
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


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
    whole = run(program, tmp_path, length, *words)
    check_result(program, whole)
    rounds = rounds_of(read_headers(pgn))
    with pytest.raises(ProgramError, match="--resume"):
        run(program, tmp_path, length, *words)
    words.append("--resume")
    # As if killed in the middle of the last line but one, and once before the games of a pair were all written.
    *lines, torn, _ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines) + torn[:10])
    pgn.write_text("[Event ")
    # Times differ.
    assert {**run(program, tmp_path, length, *words), "conduct": 0} == {**whole, "conduct": 0}
    assert rounds_of(read_headers(pgn)) == rounds
    assert len(set(rounds)) == len(rounds) == 2 * whole["pairs"]
    if program is match:
        entry = json.loads(journal.read_bytes().splitlines()[-1])
        names = {"white": "A", "black": "B"}
        changes: list[dict[str, Any]] = [{"pair": pair} for pair in (-1, True, json.loads(lines[1])["pair"], "x")]
        changes += [{"games": games} for games in ([], [names], [names, names], 5, entry["games"][:1])]
        refuses_changed_entries(journal, lambda: run(program, tmp_path, length, *words), *changes)
    assert run(program, tmp_path, length + 2, *words)["pairs"] > whole["pairs"]
    assert journal.read_bytes().startswith(b"".join(lines))
    pgn.write_text('[Event "?"]\n\n1. e4 *\n')
    with pytest.raises(ProgramError, match="not in the journal"):
        run(program, tmp_path, length + 2, *words)


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
