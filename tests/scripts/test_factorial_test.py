"""The factorial test: its arithmetic on results with known effects, and runs that are killed, continued and refused."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from factorial_test import Factor, FactorialTest, estimate_effects, main
from tests.scripts.test_tune_search import cut_and_resume, engine_in
from toolkit.elo import score_of_elo
from toolkit.errors import ProgramError


def factors(count: int) -> list[Factor]:
    return [Factor(f"f{number}", {f"n{number}": 1}) for number in range(count)]


def design(count: int, share: float = 0.5, seed: int = 0) -> FactorialTest:
    return FactorialTest(factors(count), {f"n{number}": 0 for number in range(count)}, share, seed)


def played(
    trial: FactorialTest, true_elo: list[float], pairs: int, seed: int
) -> tuple[list[tuple[int, ...]], list[float]]:
    """Results of pairs whose games are won or lost, by sides that differ as the design says."""
    chance = random.Random(seed)
    directions = [trial.directions(number) for number in range(1, pairs + 1)]
    results = []
    for turned in directions:
        expected = score_of_elo(sum(elo * side for elo, side in zip(true_elo, turned, strict=True)))
        results.append(float(sum(1 if chance.random() < expected else -1 for _ in range(2))))
    return directions, results


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_known_effects_are_found_within_their_errors(share: float) -> None:
    true_elo = [0.0, 15.0, -40.0, 200.0, -8.0]
    trial = design(5, share)
    missed = 0
    for seed in range(20):
        found = estimate_effects(trial.factors, *played(trial, true_elo, 3000, seed))
        missed += sum(abs(effect.elo - elo) > effect.error_elo for effect, elo in zip(found, true_elo, strict=True))
    # Of 100 intervals of 95 % five miss, give or take.
    assert missed <= 13
    assert found[1].error_elo < 20 / math.sqrt(2 * share)


def test_each_change_is_on_one_side_at_most_as_often_as_asked() -> None:
    trial = design(3, 0.2)
    drawn = [trial.directions(number) for number in range(1, 3001)]
    assert drawn == [design(3, 0.2).directions(number) for number in range(1, 3001)]
    assert drawn != [design(3, 0.2, seed=1).directions(number) for number in range(1, 3001)]
    for place in range(3):
        column = [turned[place] for turned in drawn]
        assert column.count(1) / 3000 == pytest.approx(0.2, abs=0.03)
        assert column.count(-1) / 3000 == pytest.approx(0.2, abs=0.03)
    assert trial.values((1, -1, 0), 1) == {"n0": 1, "n1": 0, "n2": 0}
    assert trial.values((1, -1, 0), -1) == {"n0": 0, "n1": 1, "n2": 0}


def measure(tmp_path: Path, *more: str) -> tuple[int, dict[str, object]]:
    out = tmp_path / "factorial.json"
    words = ["--engine", f"{engine_in(tmp_path)} depth=1", "--change", "strength=40", "--change", "more: Hash=32"]
    code = main([*words, "--share", "0.4", "--resign", "moves=1 score=50", "--json", str(out), *more])
    return code, json.loads(out.read_text("utf-8")) if out.exists() else {}


def test_a_change_that_loses_games_is_told_from_one_that_does_nothing(tmp_path: Path) -> None:
    code, found = measure(tmp_path, "--pairs", "16")
    assert code == 0
    assert found["pairs"] == 16
    changes = found["changes"]
    assert isinstance(changes, list)
    assert [change["label"] for change in changes] == ["more", "strength=40"]
    assert changes[1]["elo"] < -300
    assert abs(changes[0]["elo"]) < 300


def test_a_run_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    cut_and_resume(measure, tmp_path, "--pairs", "6")


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (("--change", "colour=1"), "has no number called 'colour'"),
        (("--change", "too much:strength=101"), "at most 100"),
        (("--change", "again:strength=70"), "two changes set strength"),
        (("--share", "0.6"), "at most 0.5"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path: Path, more: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ProgramError, match=complaint):
        measure(tmp_path, *more)
