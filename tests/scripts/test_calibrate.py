"""The ladder of levels: who meets whom, ratings whose truth is known, and whole runs that are continued and drawn."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from calibrate import Player, fit, level_player, main, meetings_of
from tests.scripts.test_tune_search import engine_in
from toolkit.elo import score_of_elo
from toolkit.engines.spec import EngineSpec
from toolkit.errors import ProgramError
from toolkit.games.tournament import PairingScore


def opponent(name: str, rating: float) -> Player:
    return Player(EngineSpec(name, ("program",)), rating, False)


def level(elo: int) -> Player:
    return level_player(EngineSpec("engine", ("program",)), elo)


def score_between(first: str, second: str, difference: float, pairs: int, chance: random.Random) -> PairingScore:
    """Games whose outcome has this expectation, a third of them drawn where the players are equal."""
    score = PairingScore(first, second)
    likely = score_of_elo(difference)
    draw = 4 * likely * (1 - likely) / 3

    def points() -> float:
        seen = chance.random()
        return 1.0 if seen < likely - draw / 2 else 0.5 if seen < likely + draw / 2 else 0.0

    score.pairs = [points() + points() for _ in range(pairs)]
    return score


def test_levels_meet_the_opponents_near_them() -> None:
    players = [level(1400), level(1000), level(1200), opponent("far", 2000), opponent("near", 1190)]
    meetings = meetings_of(players, 250.0)
    assert meetings == ((0, 4), (1, 4), (2, 4))


def test_true_ratings_are_found_within_the_error() -> None:
    truth = {"level 1000": 1080.0, "level 1200": 1190.0, "level 1400": 1490.0, "known": 1300.0, "other": 1250.0}
    players = [level(1000), level(1200), level(1400), opponent("known", 1300.0), opponent("other", 1250.0)]
    names = list(truth)
    inside = 0
    for seed in range(50):
        chance = random.Random(seed)
        scores = [
            score_between(first, second, truth[first] - truth[second], 60, chance)
            for first in names[:3]
            for second in names[3:]
        ]
        measured = fit(players, scores)
        inside += sum(abs(found.elo - truth[name]) <= found.error for name, found in measured.items())
    # 150 intervals of 95 %.
    assert 134 <= inside <= 149


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    run = engine_in(tmp_path)
    return [
        *("--engine", run, "--levels", "1300,1700", "--opponent", "1500", f"{run} name=known depth=1"),
        *("--opponent", "1510", f"{run} name=other depth=1", "--resign", "moves=1 score=100", "--longest", "10"),
        *("--journal", str(tmp_path / "journal"), "--json", str(tmp_path / "json")),
    ]


def test_a_run_measures_and_goes_on(tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--games", "4"]) == 0
    rows = json.loads((tmp_path / "json").read_text())["ratings"]
    # The lower level resigns every game, the higher one draws against those that never resign.
    assert rows["level 1300"]["elo"] + 200 < rows["level 1700"]["elo"]
    assert rows["level 1300"]["error"] > 0
    # Two levels with two opponents each.
    assert sum(row["games"] for row in rows.values()) == 4 * 4
    assert "level 1300" in capsys.readouterr().out
    journal = (tmp_path / "journal").read_text()
    with pytest.raises(ProgramError, match="--resume"):
        main([*command, "--games", "4"])
    assert main([*command, "--games", "4", "--resume"]) == 0
    assert (tmp_path / "journal").read_text() == journal
    # More games go on from those that were played.
    assert main([*command, "--games", "6", "--resume"]) == 0
    assert (tmp_path / "journal").read_text().startswith(journal)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--games", "3"], "pairs"),
        (["--opponent", "1500", "cmd=x depth=1 name=known"], "the same name"),
        (["--opponent", "1500", "cmd=/no/such/engine depth=1"], "/no/such/engine"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    words: list[str], complaint: str, tmp_path: Path, command: list[str]
) -> None:
    with pytest.raises(ProgramError, match=complaint):
        main([*command, *words])
    assert not (tmp_path / "journal").exists()
