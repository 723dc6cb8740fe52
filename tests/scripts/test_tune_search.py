"""The tuner: its arithmetic on functions whose best point is known, and runs that are killed, continued and refused."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.test_journal import refuses_changed_entries
from tune_search import Parameter, Spsa, main

ENGINE = """
import sys
value, elo = 50, 1500
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name tunable\\noption name strength type spin default 50 min 0 max 100")
        print("option name UCI_LimitStrength type check default false")
        print("option name UCI_Elo type spin default 1500 min 500 max 3000")
        print("option name Hash type spin default 16 min 1 max 64\\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:3] == ["setoption", "name", "strength"]:
        value = int(words[-1])
    elif words[:3] == ["setoption", "name", "UCI_Elo"]:
        elo = int(words[-1])
    elif words[:1] == ["position"]:
        moves = words[words.index("moves") + 1:] if "moves" in words else []
    elif words[:1] == ["go"]:
        # White and Black shuffle knights; strength is seen in the score, by which the game is adjudicated.
        tour = ["b1c3", "c3b1"] if len(moves) % 2 == 0 else ["b8c6", "c6b8"]
        own = moves[len(moves) % 2::2]
        score = 10 * (value - 50) + elo - 1500
        print(f"info depth 1 score cp {score}\\nbestmove {tour[len(own) % 2]}", flush=True)
    elif words[:1] == ["quit"]:
        break
"""


def parameters(*values: int) -> list[Parameter]:
    return [Parameter(f"d{number}", value, 0, 200, 10) for number, value in enumerate(values)]


def test_it_finds_the_top_of_a_noisy_hill() -> None:
    chance = random.Random(1)
    best = (120, 60, 100)

    def merit(values: dict[str, int]) -> float:
        return -sum(((value - top) / 60) ** 2 for value, top in zip(values.values(), best, strict=True))

    spsa = Spsa(parameters(60, 120, 100), 4000, rate=0.01)
    for number in range(1, 4001):
        trial = spsa.pairing(number)
        difference = merit(trial.plus) - merit(trial.minus)
        # A pair of games: -2 to 2, mostly noise.
        seen = chance.random() < abs(difference)
        result = (2 if difference > 0 else -2) if seen else chance.choice((-2, -1, 0, 1, 2))
        spsa.learn(number, trial.directions, result)
    assert all(abs(value - top) <= 15 for value, top in zip(spsa.tuned().values(), best, strict=True))


def test_without_a_difference_nothing_moves() -> None:
    spsa = Spsa(parameters(60, 120), 100)
    for number in range(1, 101):
        trial = spsa.pairing(number)
        spsa.learn(number, trial.directions, 0)
    assert spsa.tuned() == {"d0": 60, "d1": 120}


def test_a_perturbation_depends_on_its_number_alone_and_stays_in_range() -> None:
    one, other = Spsa(parameters(5, 198), 50, seed=3), Spsa(parameters(5, 198), 50, seed=3)
    list(map(one.pairing, range(1, 10)))
    for number in (7, 1, 50):
        trial = one.pairing(number)
        assert trial == other.pairing(number)
        assert all(0 <= value <= 200 for value in (*trial.plus.values(), *trial.minus.values()))
    assert any(Spsa(parameters(5, 198), 50, seed=4).pairing(n) != one.pairing(n) for n in range(1, 9))


def test_small_steps_are_rounded_at_random() -> None:
    spsa = Spsa([Parameter("d", 10, 0, 20, 0.3)], 1)
    trials = [Spsa([Parameter("d", 10, 0, 20, 0.3)], 1, seed=seed).pairing(1) for seed in range(300)]
    differences = [abs(trial.plus["d"] - trial.minus["d"]) for trial in trials]
    assert set(differences) == {0, 1}
    assert sum(differences) / 300 == pytest.approx(0.6, abs=0.1)
    assert spsa.tuned() == {"d": 10}


def engine_in(folder: Path) -> str:
    """The command of that engine, which is written into a folder."""
    path = folder / "tunable.py"
    path.write_text(ENGINE, "utf-8")
    return f"cmd='{sys.executable} {path}'"


def tune(tmp_path: Path, *more: str) -> tuple[int, dict[str, object]]:
    out = tmp_path / "tuned.json"
    words = ["--engine", f"{engine_in(tmp_path)} depth=1", "--tune", "strength=10", "--rate", "0.05"]
    words += ["--resign", "moves=1 score=50"]
    code = main([*words, "--json", str(out), *more])
    return code, json.loads(out.read_text("utf-8")) if out.exists() else {}


def test_a_number_that_wins_games_grows(tmp_path: Path) -> None:
    code, found = tune(tmp_path, "--iterations", "12")
    assert code == 0
    assert found["pairs"] == 12
    tuned = found["tuned"]
    assert isinstance(tuned, dict)
    assert tuned["strength"] > 55


def cut_and_resume(run: Callable[..., tuple[int, dict[str, object]]], tmp_path: Path, *words: str) -> None:
    """A run of six pairs whose journal is cut in its fourth entry goes on to the same end."""
    journal = tmp_path / "some.journal"
    whole = run(tmp_path, *words, "--journal", str(journal))
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:4]) + lines[4][:10], "utf-8")
    again = run(tmp_path, *words, "--journal", str(journal), "--resume")
    assert whole[0] == again[0] == 0
    changes: list[dict[str, Any]] = [{"key": key} for key in ("-1", "99.5", "09", 9)]
    changes += [{"key": "9", "games": games} for games in ([], 5)]
    resume = [*words, "--journal", str(journal), "--resume"]
    refuses_changed_entries(journal, lambda: run(tmp_path, *resume), *changes)
    assert {**again[1], "conduct": 0} == {**whole[1], "conduct": 0}
    assert len(journal.read_text("utf-8").splitlines()) == 7


def test_a_run_can_grow(tmp_path: Path) -> None:
    words = ["--journal", str(tmp_path / "some.journal")]
    assert tune(tmp_path, "--iterations", "3", *words)[1]["pairs"] == 3
    code, found = tune(tmp_path, "--iterations", "5", *words, "--resume")
    assert (code, found["pairs"]) == (0, 5)


def test_a_run_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    cut_and_resume(tune, tmp_path, "--iterations", "6")
