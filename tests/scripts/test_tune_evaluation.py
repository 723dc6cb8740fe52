"""The tuner: coefficients of files, the model's loss and gradient, the fit, and the program."""

from __future__ import annotations

import json
import random
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from evaluation.base.record import CAPTURE, QUIET
from evaluation.weights import MATERIAL, PROVENANCE, Weights, default_weights
from tests.support import ROOT
from tests.support.records import random_records, records_of
from toolkit.errors import ProgramError
from toolkit.training.coefficients import COLUMNS, OFFSETS, Coefficients, find_coefficients
from toolkit.training.examples import Choice, Examples, log_loss, read_examples, split_games
from toolkit.training.model import (
    CENTRED,
    KINDS,
    Fit,
    Plan,
    add_up,
    as_constants,
    centred,
    columns_of,
    exact_scores,
    fit_scales,
    fit_weights,
    rounded,
    slices,
    weights_as_array,
    weights_from_array,
)
from toolkit.training.positions import pieces_of, write_positions
from tune_evaluation import main

SCALE = 150.0
OLD = weights_as_array(default_weights())


RECORDS = random_records(40, 60)
KNOWN_RECORDS = random_records(60, 80, seed=2)


def make_examples(records: Any, expected: Any = None, games: Any = None) -> Examples:
    found = find_coefficients(records)
    kept = np.flatnonzero(found.kpk_result == 0)
    expected = records["result"] / 2.0 if expected is None else expected
    games = np.arange(len(records)) // 20 if games is None else games
    return Examples(records, found, expected, games).rows(kept)


def known_weights(seed: int = 1) -> Any:
    """Weights of a few terms, the others 0, to be found again."""
    weights = np.zeros((COLUMNS, 2), np.int64)
    weights[OFFSETS["material"] : OFFSETS["material"] + 5] = np.array(MATERIAL)[:, None]
    chance = np.random.default_rng(seed)
    for name, size in (("bishop_pair", 1), ("pawn_island", 1), ("knight_mobility", 9), ("hanging", 1)):
        weights[OFFSETS[name] : OFFSETS[name] + size] = chance.integers(-60, 60, (size, 2))
    return weights


def promised(coefficients: Coefficients, weights: Any, scale: float = SCALE) -> Any:
    return 1 / (1 + np.exp(-exact_scores(coefficients, weights) / scale))


# ---- Coefficients ----


def test_several_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.training.coefficients.CHUNK", 500)
    done = []
    several = find_coefficients(RECORDS, 2, lambda steps=1, text=None: done.append(steps))
    assert sum(done) == len(RECORDS)
    found = find_coefficients(RECORDS)
    assert (several.matrix != found.matrix).nnz == 0
    for name in ("phase", "scales", "kpk_result", "ending"):
        assert (getattr(several, name) == getattr(found, name)).all()


# ---- Examples ----


def test_a_game_is_in_one_part_and_a_position_in_one_row(tmp_path: Path) -> None:
    paths = [tmp_path / "a.positions", tmp_path / "b.positions"]
    write_positions(paths[0], {}, RECORDS)
    write_positions(paths[1], {}, np.concatenate([random_records(20, 60, seed=5), RECORDS[:61]]))
    examples = read_examples(paths, Choice(), 1)
    assert len({record.tobytes()[:25] for record in examples.records}) == len(examples)
    parts = split_games(examples, {"train": 60.0, "validation": 20.0, "test": 20.0}, 3)
    assert sum(map(len, parts.values())) == len(examples)
    games = [set(part.games.tolist()) for part in parts.values()]
    assert all(games)
    assert sum(map(len, games)) == len(set.union(*games))
    again = split_games(examples, {"train": 60.0, "validation": 20.0, "test": 20.0}, 3)
    assert all((again[name].records == parts[name].records).all() for name in parts)


def test_what_is_chosen_and_what_is_expected(tmp_path: Path) -> None:
    records = RECORDS[:200].copy()
    records["flags"][::5] |= CAPTURE
    records["flags"][1::5] &= ~np.uint8(QUIET)
    records["score_cp"][2::5] = 2000
    write_positions(tmp_path / "x", {}, records)
    half = read_examples([tmp_path / "x"], Choice(mix=0.5, score_scale=100.0), 1)
    assert 0 < len(half) <= 80
    score_part = 1 / (1 + np.exp(-half.records["score_cp"] / 100.0))
    assert half.expected == pytest.approx(0.5 * score_part + half.records["result"] / 4)
    results = read_examples([tmp_path / "x"], Choice(mix=0.0), 1)
    assert (results.expected == results.records["result"] / 2).all()
    write_positions(tmp_path / "y", {"scores": None}, records)
    without = read_examples([tmp_path / "y"], Choice(), 1)
    assert (without.expected == without.records["result"] / 2).all()
    assert without.sources[0]["score_scale"] is None
    write_positions(tmp_path / "z", {}, records[:0])
    with pytest.raises(ProgramError, match="no position of z"):
        read_examples([tmp_path / "z"], Choice(mix=0.0), 1)


def test_a_shuffled_file_is_refused() -> None:
    records = np.concatenate([RECORDS] * 2)
    examples = make_examples(records, games=np.zeros(len(records), np.int64))
    with pytest.raises(ProgramError, match="lost its games"):
        split_games(examples, {"train": 1.0, "test": 1.0}, 0)


# ---- The model ----


def test_the_gradient_is_that_of_the_loss_and_the_loss_that_of_the_scores() -> None:
    examples = make_examples(RECORDS[:400])
    weights = OLD.astype(np.float64)
    parts = slices(examples)
    sums = add_up(parts, weights, SCALE)
    assert sums.count == len(examples)
    exact = log_loss(exact_scores(examples.coefficients, OLD) / SCALE, examples.expected)
    assert sums.loss / sums.count == pytest.approx(exact, abs=5e-3)
    chance = np.random.default_rng(0)
    direction = chance.normal(size=weights.shape)
    step = 0.05
    plus, minus = (add_up(parts, weights + sign * step * direction, SCALE).loss for sign in (1, -1))
    assert (sums.gradient * direction).sum() == pytest.approx((plus - minus) / (2 * step), rel=2e-3, abs=2e-3)


def test_weights_go_to_an_array_and_back() -> None:
    assert weights_from_array(OLD.astype(np.float64)) == default_weights()
    assert rounded(np.array([0.5, 1.5, -0.5, -2.6, 5000.0])).tolist() == [0, 2, 0, -3, 1000]


def test_centred_tables_give_the_same_scores() -> None:
    found = find_coefficients(RECORDS)
    weights = np.random.default_rng(3).integers(-90, 90, (COLUMNS, 2))
    moved = centred(weights, found.matrix)
    assert (moved != weights).any()
    assert (exact_scores(found, moved) == exact_scores(found, weights)).all()
    for name in CENTRED:
        columns = columns_of([name])
        counts = np.asarray(abs(found.matrix[:, columns]).sum(axis=0)).ravel()
        assert (np.abs(counts @ moved[columns] / counts.sum()) <= 0.5).all(), name
    assert (centred(weights, found.matrix, columns_of(["knight_mobility"])) == weights).all()


# ---- The fit ----


def fit_known_weights(plan: Plan) -> Fit:
    """From 0, but for material, to known weights that their scores promise exactly."""
    truth = known_weights()
    train = make_examples(KNOWN_RECORDS, promised(find_coefficients(KNOWN_RECORDS), truth))
    start = (truth * columns_of(["material"])[:, None]).astype(np.float64)
    free = columns_of(["bishop_pair", "pawn_island", "knight_mobility", "hanging"])
    return fit_weights(train, train, start, free, plan)


def test_known_weights_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.training.model.DEVIATION_CP", 1e6)
    fit, truth = fit_known_weights(Plan(SCALE)), known_weights()
    seen = np.abs(find_coefficients(KNOWN_RECORDS).matrix).sum(axis=0) > 100
    seen = np.asarray(seen).reshape(-1)
    assert (seen & (truth[:, 1] != 0)).sum() > 10
    assert np.abs(fit.weights - truth)[seen].max() < 3
    assert fit.loss < fit.history[0][1]
    # What was not to be fitted has stayed.
    kept = columns_of(["material", "pawn_squares"])
    assert (fit.weights[kept] == truth[kept]).all()


def test_a_run_is_the_same_on_any_number_of_threads() -> None:
    one, three = (fit_known_weights(Plan(SCALE, iterations=6, threads=threads)) for threads in (1, 3))
    assert (one.weights == three.weights).all()
    assert one.history == three.history


# ---- The program ----


@pytest.fixture
def data(tmp_path: Path) -> Path:
    records = random_records(60, 50, seed=7).copy()
    found = find_coefficients(records)
    truth = OLD + 40 * columns_of(["bishop_pair", "rook_open_file"])[:, None]
    records["score_cp"] = np.clip(exact_scores(found, truth), -1400, 1400)
    chance = np.random.default_rng(0)
    records["result"] = 2 * (chance.random(len(records)) < promised(found, truth))
    path = tmp_path / "data.positions"
    write_positions(path, {"program": "test"}, records)
    return path


def command(data: Path, output: str = "tuned.toml") -> list[str]:
    folder = data.parent
    return [str(data), "--output", str(folder / output), "--parts", "60,20,20", "--iterations", "4"]


def test_the_program_writes_weights_with_their_provenance_and_the_same_again(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data.parent
    words = command(data)
    assert main([*words, "--json", str(folder / "x.json"), "--also", str(data)]) == 0
    output = capsys.readouterr().out
    assert "new weights" in output
    assert "data.positions: loss" in output
    weights = Weights.load(folder / "tuned.toml")
    assert weights.middlegame["material"] == MATERIAL
    provenance = tomllib.loads((folder / "tuned.toml").read_text("utf-8"))["provenance"]
    assert "scripts/tune_evaluation.py data.positions --output tuned.toml" in provenance["command"]
    assert str(folder) not in provenance["command"]
    assert "data.positions" in provenance["data"]
    figures = json.loads((folder / "x.json").read_text())
    assert figures["losses"]["new weights"]["test"]["loss"] == pytest.approx(float(provenance["test_loss"]), abs=1e-6)
    assert figures["losses"]["old weights"]["test"]["loss"] < figures["losses"]["material"]["test"]["loss"]
    assert main([*command(data, "again.toml"), "--threads", "2"]) == 0
    assert Weights.load(folder / "again.toml") == weights
    assert main([*command(data, "terms.toml"), "--terms", "bishop_pair", "--seed", "1"]) == 0
    fitted = Weights.load(folder / "terms.toml")
    changed = [name for name in fitted.middlegame if fitted.middlegame[name] != default_weights().middlegame[name]]
    assert set(changed) <= {"bishop_pair"}


@pytest.mark.parametrize(
    "more",
    [["--terms", "x"], ["--start", "absent.toml"]],
)
def test_what_cannot_be_used_is_said_in_a_sentence(
    data: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(data), *more]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


# ---- Endgame scale factors ----


def random_endings(count: int, seed: int) -> list[chess.Board]:
    """Kings, up to two pieces a side and up to six pawns a side."""
    chance = random.Random(seed)
    boards = []
    for _ in range(count):
        board = chess.Board(None)
        kings = chance.sample([chess.A1, chess.C3, chess.F1, chess.B8, chess.E6, chess.H8], 2)
        board.set_piece_at(kings[0], chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(kings[1], chess.Piece(chess.KING, chess.BLACK))
        types = chance.choices(chess.PIECE_TYPES[1:5], k=chance.randrange(3))
        for colour in chess.COLORS:
            for piece_type in types if chance.random() < 0.8 else types[1:]:
                free = [square for square in chess.SQUARES if board.piece_at(square) is None]
                board.set_piece_at(chance.choice(free), chess.Piece(piece_type, colour))
            for _ in range(chance.randrange(7)):
                free = [square for square in range(8, 56) if board.piece_at(square) is None]
                board.set_piece_at(chance.choice(free), chess.Piece(chess.PAWN, colour))
        boards.append(board)
    return boards


def test_the_factors_behind_the_results_are_found_again() -> None:
    boards = random_endings(6000, 2)
    records = records_of(boards)
    examples = make_examples(records)
    pieces = pieces_of(examples.records)
    kinds = examples.coefficients.ending
    assert set(kinds.tolist()) == set(range(len(KINDS)))
    right = np.where(kinds == KINDS.index("pawns"), 40, np.where(kinds == KINDS.index("rooks"), 110, 64))
    found = examples.coefficients
    pawns = np.stack([(pieces == 2 * chess.PAWN + colour).sum(1) for colour in range(2)], axis=1)
    is_of_table = (pawns > 0) & (found.scales > 0)
    true = replace(found, scales=np.where(is_of_table, right[:, None], found.scales).astype(np.uint8))
    cells = fit_scales(replace(examples, expected=promised(true, OLD)), OLD, SCALE)
    fitted = {(cell.kind, cell.pawns): cell for cell in cells}
    for kind, scale in (("pawns", 40), ("rooks", 110), ("unequal", 64), ("opposite bishops", 64)):
        for count in (2, 4):
            cell = fitted[kind, count]
            assert cell.count > 5
            assert abs(cell.fitted - scale) < 12, cell
    lines = as_constants(cells).splitlines()
    assert len(lines) == len(KINDS)
    assert lines[0].startswith('    "pawns": (')


def test_the_files_of_the_engine_name_options_that_programs_have() -> None:
    """Or the commit whose program had them."""
    weights = tomllib.loads((ROOT / "evaluation" / "weights.toml").read_text("utf-8"))[PROVENANCE]
    network = tomllib.loads((ROOT / "evaluation" / "network" / "default.toml").read_text("utf-8"))
    for facts in (weights, network, network["start"]):
        command = shlex.split(facts["command"])
        program = (ROOT / command[0]).read_text("utf-8")
        gone = [word for word in command if word.startswith("--") and f'"{word}"' not in program]
        assert not gone or "commit" in facts.get("program", ""), gone
