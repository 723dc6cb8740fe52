"""The error of static evaluations: what is chosen from games, what an engine's `eval` says, and the figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np
import pytest

from evaluation.weights import default_weights
from evaluation_error import error_of, main, quiet_positions
from tests.scripts import fake_command
from tests.support.kernel import random_game
from tests.support.networks import random_network
from toolkit.training.coefficients import find_coefficients
from toolkit.training.model import exact_scores, weights_as_array, weights_text
from toolkit.training.positions import CAPTURE, QUIET, RECORD, board_of, game_numbers, keys, read_positions
from toolkit.training.positions import write_positions as write

ENGINE = f"name=other {fake_command()}"


def game_text(seed: int, plies: int = 80, result: str = "1-0") -> str:
    boards = list(random_game(seed, chess.Board(), plies))
    game = chess.pgn.Game.from_board(boards[-1])
    game.headers["Result"] = result
    return str(game)


def chosen_of(texts: list[str], every: int, seed: int) -> Any:
    packed = [
        record for number, text in enumerate(texts) for record in quiet_positions(text.encode(), number, every, seed)
    ]
    return np.frombuffer(b"".join(packed), RECORD)


@pytest.fixture
def deep_records(records: Any) -> Any:
    """Positions that the shipped weights score as the deep search does, but for some noise."""
    records = records[:500].copy()
    scores = exact_scores(find_coefficients(records), weights_as_array(default_weights()))
    noise = np.random.default_rng(0).normal(0, 20, len(records))
    records["score_cp"] = np.clip(scores * 2 + noise, -2000, 2000).astype(np.int16)
    records["halfmove"] = np.clip(45 + scores // 20, 0, 90)
    return records


@pytest.fixture
def deep(tmp_path: Path, deep_records: Any) -> Path:
    write(tmp_path / "deep.positions", {"scores": {"name": "deep"}}, deep_records)
    return tmp_path / "deep.positions"


def test_quiet_positions_are_spread_over_a_game() -> None:
    records = chosen_of([game_text(seed) for seed in range(12)], 10, 0)
    assert len(records) > 20
    assert (records["flags"] & (QUIET | CAPTURE) == QUIET).all()
    assert (records["result"] == 2).all()
    games = game_numbers(records)
    plies = np.array([board_of(record).ply() for record in records])
    assert plies.min() >= 12
    assert (np.diff(plies)[np.diff(games) == 0] >= 10).all()
    assert not any(board_of(record).is_check() for record in records)
    again = chosen_of([game_text(seed) for seed in range(12)], 10, 0)
    assert again.tobytes() == records.tobytes()
    assert chosen_of([game_text(seed) for seed in range(12)], 10, 1).tobytes() != records.tobytes()


def test_choose_writes_each_position_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "games.pgn").write_text("\n\n".join(game_text(seed) for seed in (1, 2, 3, 2)) + "\n")
    words = ["choose", str(tmp_path / "games.pgn"), "--output", str(tmp_path / "quiet.positions")]
    assert main([*words, "--every", "1"]) == 0
    provenance, records = read_positions(tmp_path / "quiet.positions")
    assert provenance["scores"] is None
    assert len(np.unique(keys(records))) == len(records) > 5
    assert "of 3 games" in capsys.readouterr().out
    assert game_numbers(records)[-1] == 2
    assert main(["compare", str(tmp_path / "quiet.positions")]) == 1
    assert "no positions with scores" in capsys.readouterr().err


def test_the_error_is_that_of_the_best_scale() -> None:
    chance = np.random.default_rng(0)
    scores = chance.normal(0, 200, 3000)
    games = np.arange(3000) // 10
    expected = 1 / (1 + np.exp(-scores / 100))
    perfect = error_of("x", scores * 3, expected, games)
    assert perfect.scale == pytest.approx(300, rel=1e-3)
    assert perfect.error < 1e-3
    blind = error_of("x", chance.normal(0, 1, 3000), expected, games)
    assert blind.error == pytest.approx(float(expected.std()), rel=0.05)
    assert 0 < blind.interval < 0.02


def test_evaluations_are_compared(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = deep.parent
    (folder / "same.toml").write_text(weights_text(default_weights()), "utf-8")
    (folder / "other.network").write_bytes(random_network(1).pack())
    words = ["compare", str(deep), "--weights", str(folder / "same.toml"), "--engine", ENGINE]
    words += ["--network", str(folder / "other.network")]
    assert main([*words, "--json", str(folder / "x.json")]) == 0
    errors = {each["name"]: each for each in json.loads((folder / "x.json").read_text())["errors"]}
    own_names = ["material", "Secateur", "Secateur, same.toml", "Secateur, other.network"]
    assert list(errors) == [*own_names, "other: Classical", "other: Final"]
    own = errors["Secateur"]
    assert own["error"] < errors["material"]["error"]
    assert own["scale"] == pytest.approx(50, rel=0.1)
    assert {**errors["Secateur, same.toml"], "name": "Secateur"} == own
    # Its numbers are random, so they spoil what the weights know.
    assert errors["Secateur, other.network"]["error"] > own["error"]
    classical, final = errors["other: Classical"], errors["other: Final"]
    assert final["error"] == pytest.approx(classical["error"], abs=1e-4)
    assert final["scale"] == pytest.approx(2 * classical["scale"], rel=1e-3)
    assert own["error"] < final["error"] < errors["material"]["error"]
    assert "other: Final" in capsys.readouterr().out


def test_what_cannot_be_compared_is_said_in_a_sentence(
    deep: Path, deep_records: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = deep.parent
    (folder / "no.network").write_text("nothing")
    deep_records["halfmove"][5] = 99
    write(folder / "check.positions", {"scores": "x"}, deep_records)
    for words in (
        ["compare", str(folder / "check.positions"), "--engine", ENGINE],
        ["compare", str(folder / "absent.positions")],
        ["compare", str(deep), "--weights", str(folder / "absent.toml")],
        ["compare", str(deep), "--network", str(folder / "no.network")],
        ["choose", str(folder / "absent.pgn"), "--output", str(folder / "y")],
    ):
        assert main(words) == 1
        assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")
