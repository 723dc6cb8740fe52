"""The tuner: coefficients of files, the model's loss and gradient, the fit, and the program."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from hypothesis import given

import evaluation
from evaluation.base.constants import ENDGAME_SCALES
from evaluation.trace import KPK_RESULTS
from evaluation.weights import MATERIAL, Weights, default_weights
from tests.evaluation.test_evaluation import BOARDS, EXTREME, random_game, random_pieces, random_weights
from tests.support.kernel import ALL_CORES, core_or_skip, on_core
from tests.support.records import random_records, records_of
from toolkit.errors import ProgramError
from toolkit.training.coefficients import (
    COLUMNS,
    OFFSETS,
    WORD_BITS,
    CoefficientReader,
    Coefficients,
    find_coefficients,
    layout,
)
from toolkit.training.model import (
    CENTRED,
    Plan,
    Sample,
    centred,
    columns_of,
    exact_scores,
    fit_scales,
    fit_weights,
    loss_and_gradient,
    rounded,
    slices,
    weights_as_array,
    weights_from_array,
)
from toolkit.training.positions import (
    CAPTURE,
    QUIET,
    Source,
    log_loss,
    pieces_of,
    read_examples,
    split_rows,
    write_positions,
)
from tune_evaluation import main

SCALE = 150.0
OLD = weights_as_array(default_weights())


def sample_of(records: Any, expected: Any = None) -> Sample:
    found = find_coefficients(records)
    expected = records["result"] / 2.0 if expected is None else expected
    whole = Sample(records, expected, np.arange(len(records)) // 20, np.ones(len(records), np.float32), found)
    return whole.rows(np.flatnonzero(found.kpk_result == 0))


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


def can_be_packed(board: chess.Board) -> bool:
    return chess.popcount(board.occupied) <= 32 and all(len(board.pieces(chess.PAWN, us)) <= 8 for us in chess.COLORS)


def check_scores(seed: int, count: int) -> int:
    """Coefficients times weights against the evaluator, for so many games and placements; returns how many agreed."""
    boards = [random_game(seed + number, 7 * number % 200) for number in range(count)]
    boards += [random_pieces(seed + number) for number in range(count)] + [chess.Board(fen) for fen in EXTREME]
    boards = [board for board in boards if can_be_packed(board)]
    found = find_coefficients(records_of(boards))
    agreed = 0
    for weights in (default_weights(), random_weights(seed)):
        scores = exact_scores(found, weights_as_array(weights)).tolist()
        for board, score, kpk_result in zip(boards, scores, found.kpk_result.tolist(), strict=True):
            if not KPK_RESULTS[kpk_result]:
                assert evaluation.evaluate(board, weights, None) == (score if board.turn else -score), board.fen()
                agreed += 1
    return agreed


@pytest.mark.parametrize("core", ALL_CORES)
def test_coefficients_times_weights_are_the_score(core: str) -> None:
    assert on_core(core_or_skip(core), __name__, "check_scores", 10, 60) > 230


@given(board=BOARDS)
def test_no_sum_leaves_its_bits(board: chess.Board) -> None:
    """A coefficient beyond the bound of its digit would change its neighbour: the lowest digits show it."""
    words = CoefficientReader().read(records_of([board]))[0].words
    for word, bias in zip(words, layout().biases, strict=True):
        assert 0 <= word + bias < 1 << WORD_BITS


def test_several_processes_find_the_same(records: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.training.positions.CHUNK", 500)
    done = []
    several = find_coefficients(records, 2, lambda steps=1, text=None: done.append(steps))
    assert sum(done) == len(records)
    found = find_coefficients(records)
    assert (several.matrix != found.matrix).nnz == 0
    for name in ("share", "scales", "kpk_result", "ending"):
        assert (getattr(several, name) == getattr(found, name)).all()


# ---- Examples ----


def test_a_game_is_in_one_part_and_a_position_in_one_row(records: Any, tmp_path: Path) -> None:
    paths = [tmp_path / "a.positions", tmp_path / "b.positions"]
    write_positions(paths[0], {}, records)
    write_positions(paths[1], {}, np.concatenate([random_records(20, 60, seed=5), records[:61]]))
    examples, _ = read_examples(list(map(Source, paths)))
    assert len({record.tobytes()[:25] for record in examples.records}) == len(examples)
    parts, again = (split_rows(examples.games, (60.0, 20.0, 20.0), np.random.default_rng(3)) for _ in range(2))
    assert sorted(np.concatenate(parts)) == list(range(len(examples)))
    games = [set(examples.games[part].tolist()) for part in parts]
    assert all(games)
    assert sum(map(len, games)) == len(set.union(*games))
    assert all((one == other).all() for one, other in zip(parts, again, strict=True))
    with pytest.raises(ProgramError, match="lost its games"):
        split_rows(np.zeros(3000, np.int64), (1.0, 1.0), np.random.default_rng(0))


def test_what_is_chosen_and_what_is_expected(records: Any, tmp_path: Path) -> None:
    records = records[:200].copy()
    records["flags"][::5] |= CAPTURE
    records["flags"][1::5] &= ~np.uint8(QUIET)
    records["score_cp"][2::5] = 2000
    write_positions(tmp_path / "x", {}, records)
    half, _ = read_examples([Source(tmp_path / "x", mix=0.5)])
    assert 0 < len(half) <= 80
    score_part = 1 / (1 + np.exp(-half.records["score_cp"] / 100.0))
    assert half.expected == pytest.approx(0.5 * score_part + half.records["result"] / 4)
    results, _ = read_examples([Source(tmp_path / "x", mix=0.0)])
    assert (results.expected == results.records["result"] / 2).all()
    write_positions(tmp_path / "y", {"scores": None}, records)
    without, (fact,) = read_examples([Source(tmp_path / "y")])
    assert (without.expected == without.records["result"] / 2).all()
    assert fact["score_scale"] is None
    write_positions(tmp_path / "z", {}, records[:0])
    with pytest.raises(ProgramError, match="no position of z"):
        read_examples([Source(tmp_path / "z")])


# ---- The model ----


def test_the_gradient_is_that_of_the_loss_and_the_loss_that_of_the_scores(records: Any) -> None:
    examples = sample_of(records[:400])
    weights = OLD.astype(np.float64)
    parts = slices(examples)
    loss, gradient = loss_and_gradient(parts, weights, SCALE)
    exact = log_loss(exact_scores(examples.coefficients, OLD) / SCALE, examples.expected)
    assert loss / len(examples) == pytest.approx(exact, abs=5e-3)
    chance = np.random.default_rng(0)
    direction = chance.normal(size=weights.shape)
    step = 0.05
    plus, minus = (loss_and_gradient(parts, weights + sign * step * direction, SCALE)[0] for sign in (1, -1))
    assert (gradient * direction).sum() == pytest.approx((plus - minus) / (2 * step), rel=2e-3, abs=2e-3)


def test_weights_go_to_an_array_and_back() -> None:
    assert weights_from_array(OLD.astype(np.float64)) == default_weights()
    assert rounded(np.array([0.5, 1.5, -0.5, -2.6, 5000.0])).tolist() == [0, 2, 0, -3, 1000]


def test_centred_tables_give_the_same_scores(records: Any) -> None:
    found = find_coefficients(records)
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


def test_known_weights_are_found(records: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0, but for material, where their scores promise exactly what is expected."""
    monkeypatch.setattr("toolkit.training.model.DEVIATION_CP", 1e6)
    truth, found = known_weights(), find_coefficients(records)
    train = sample_of(records, promised(found, truth))
    start = (truth * columns_of(["material"])[:, None]).astype(np.float64)
    free = columns_of(["bishop_pair", "pawn_island", "knight_mobility", "hanging"])
    fit = fit_weights(train, train, start, free, Plan(SCALE))
    seen = np.asarray(np.abs(found.matrix).sum(axis=0) > 100).reshape(-1)
    assert (seen & (truth[:, 1] != 0)).sum() > 10
    assert np.abs(fit.weights - truth)[seen].max() < 3
    assert fit.loss < fit.history[0][1]
    # What was not to be fitted has stayed.
    kept = columns_of(["material", "pawn_squares"])
    assert (fit.weights[kept] == truth[kept]).all()


# ---- The program ----


@pytest.fixture
def data(tmp_path: Path, records: Any) -> Path:
    records = records.copy()
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
    assert main([*words, "--endgame-scales"]) == 0
    output = capsys.readouterr().out
    assert "new weights" in output
    assert '"queens": (' in output
    weights = Weights.load(folder / "tuned.toml")
    assert weights.middlegame["material"] == MATERIAL
    provenance = tomllib.loads((folder / "tuned.toml").read_text("utf-8"))["provenance"]
    assert "scripts/tune_evaluation.py data.positions --output tuned.toml" in provenance["command"]
    assert str(folder) not in provenance["command"]
    assert "data.positions" in provenance["data"]
    *_, new, material, old = (line.split("│")[3:6] for line in output.splitlines() if "│" in line)
    assert float(new[2]) == pytest.approx(float(provenance["test_loss"]), abs=1e-5)
    assert float(old[2]) < float(material[2])
    assert main([*command(data, "again.toml"), "--threads", "2"]) == 0
    assert Weights.load(folder / "again.toml") == weights
    assert main([*command(data, "terms.toml"), "--terms", "bishop_pair", "--seed", "1"]) == 0
    fitted = Weights.load(folder / "terms.toml")
    changed = [name for name in fitted.middlegame if fitted.middlegame[name] != default_weights().middlegame[name]]
    assert set(changed) <= {"bishop_pair"}
    for wrong in ("--terms", "x"), ("--start", "absent.toml"):
        assert main([*words, *wrong]) == 1
        assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


# ---- Endgame scale factors ----


def random_endgame(chance: random.Random) -> chess.Board:
    """A legal position at random squares. Both sides have the same pieces, but one more or another minor piece."""
    while True:
        white = "".join(chance.choices("PNBRQ", (8, 2, 2, 3, 1), k=chance.randint(1, 6)))
        black = white[chance.randint(0, 1) :].translate(chance.choice(({}, str.maketrans("NB", "BN"))))
        board, symbols = chess.Board(None), f"K{white}k{black.lower()}"
        for square, symbol in zip(chance.sample(chess.SQUARES, len(symbols)), symbols, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        if board.is_valid() and not board.is_check() and any(board.legal_moves):
            return board


def test_the_factors_behind_the_results_are_found_again() -> None:
    chance = random.Random(2)
    records = records_of(random_endgame(chance) for _ in range(6000))
    examples = sample_of(records)
    pieces = pieces_of(examples.records)
    kinds = examples.coefficients.ending
    names = list(ENDGAME_SCALES)
    assert set(kinds.tolist()) == set(range(len(names)))
    right = np.where(kinds == names.index("pawns"), 40, np.where(kinds == names.index("rooks"), 110, 64))
    found = examples.coefficients
    pawns = np.stack([(pieces == 2 * chess.PAWN + colour).sum(1) for colour in range(2)], axis=1)
    is_of_table = (pawns > 0) & (found.scales > 0)
    true = replace(found, scales=np.where(is_of_table, right[:, None], found.scales).astype(np.uint8))
    table = fit_scales(replace(examples, expected=promised(true, OLD)), OLD, SCALE)
    for kind, scale in (("pawns", 40), ("rooks", 110), ("unequal", 64), ("opposite bishops", 64)):
        for count in (2, 4):
            assert abs(table[kind][count - 1] - scale) < 12, kind
    assert list(table) == names
