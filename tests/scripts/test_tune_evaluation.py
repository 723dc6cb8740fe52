"""The tuner: coefficients of files, the cache, the model's loss and gradient, the fit, and the program."""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

import evaluation
from evaluation.catalogue import CATALOGUE
from evaluation.scoring import set_up
from evaluation.terms.endgames import ending
from evaluation.weights import MATERIAL, Weights, default_weights
from lib.errors import ProgramError
from lib.training.coefficient_reader import coefficients
from lib.training.coefficients import CoefficientCache, Coefficients, find_coefficients
from lib.training.descent import State, load_checkpoint, new_state, save_checkpoint
from lib.training.endgame_scales import KINDS, as_constants, ending_kinds, fit_scales
from lib.training.examples import Choice, Examples, fit_scale, log_loss, read_examples, split_games
from lib.training.model import (
    CENTRED,
    add_up,
    centred,
    columns_of,
    exact_scores,
    rounded,
    slices,
    weights_as_array,
    weights_from_array,
)
from lib.training.optimiser import Fit, Plan
from lib.training.outliers import group_errors, worst_positions
from lib.training.piece_counts import COLUMNS, OFFSETS
from lib.training.positions import CAPTURE, FIRST, QUIET, RECORD, board_of, pack, pieces_of, write_positions
from lib.training.priors import PRIORS, Penalty, Prior, parse_prior
from lib.training.tuning_report import Rival, calibrate
from tests.evaluation.test_evaluation import EXTREME, random_pieces
from tests.support.kernel import random_game, start_board
from tune_evaluation import main

SCALE = 150.0
OLD = weights_as_array(default_weights())


def random_records(games: int, plies: int = 60, seed: int = 0) -> Any:
    packed = []
    for number in range(games):
        for ply, board in enumerate(random_game(1000 * seed + number, start_board(number, False), plies)):
            packed.append(pack(board, 10 * (ply % 7) - 30, (number + seed) % 3, QUIET | (0 if ply else FIRST)))
    return np.frombuffer(b"".join(packed), RECORD)


RECORDS = random_records(40)
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
    for name, size in (("bishop_pair", 1), ("isolated_pawn", 1), ("knight_mobility", 9), ("hanging", 1)):
        weights[OFFSETS[name] : OFFSETS[name] + size] = chance.integers(-60, 60, (size, 2))
    return weights


def promised(coefficients: Coefficients, weights: Any, scale: float = SCALE) -> Any:
    return 1 / (1 + np.exp(-exact_scores(coefficients, weights) / scale))


# ---- Coefficients ----


def test_rows_are_the_coefficients_of_single_boards() -> None:
    boards = [random_pieces(seed) for seed in range(30)] + [chess.Board(fen) for fen in EXTREME]
    boards = [board for board in boards if chess.popcount(board.occupied) <= 32]
    records = np.frombuffer(b"".join(pack(board, 0, 1, 0) for board in boards), RECORD)
    for board, row in zip(boards, find_coefficients(records).matrix.toarray(), strict=True):
        found = coefficients(board)
        assert row.tolist() == [count for term in CATALOGUE for count in found[term.name]]


def test_scores_are_those_of_the_evaluator() -> None:
    found = find_coefficients(RECORDS)
    assert len(found) == len(RECORDS) > 1000
    scores = exact_scores(found, OLD)
    for record, score, kpk_result in zip(RECORDS, scores.tolist(), found.kpk_result.tolist(), strict=True):
        board = board_of(record)
        if not kpk_result:
            assert evaluation.evaluate(board, network=None) == (score if board.turn else -score), board.fen()


def test_no_positions_have_no_rows() -> None:
    found = find_coefficients(np.empty(0, RECORD))
    assert (len(found), found.matrix.shape) == (0, (0, COLUMNS))


@pytest.mark.parametrize("fen", ["8/8/8/8/8/8/8/K7 w - - 0 1", "P6k/8/8/8/8/8/8/K7 w - - 0 1"])
def test_a_position_that_cannot_be_evaluated_is_refused(fen: str) -> None:
    data = pack(chess.Board(), 0, 1, 0) + pack(chess.Board(fen), 0, 1, 0)
    with pytest.raises(ProgramError, match=f"^{fen} cannot be evaluated"):
        find_coefficients(np.frombuffer(data, RECORD))


def test_the_cache_gives_the_same_and_finds_what_a_file_has_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lib.training.coefficients.CHUNK", 500)
    cache = CoefficientCache(tmp_path / "cache")
    assert sum(cache.find_missing(RECORDS[:1200], 1)) == 1200
    assert len(list((tmp_path / "cache").iterdir())) == 3
    longer = RECORDS[:1600].copy()
    longer["score_cp"] += 1
    # New labels change nothing; two chunks are there, the third has grown and a fourth is new.
    assert len(list(cache.missing(longer))) == 2
    assert sum(cache.find_missing(longer, 1)) == len(longer)
    read, found = cache.read(longer), find_coefficients(longer)
    assert (read.matrix != found.matrix).nnz == 0
    for name in ("phase", "scales", "kpk_result"):
        assert (getattr(read, name) == getattr(found, name)).all()
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(ProgramError, match="delete it"):
        cache.read(longer)


def test_a_changed_evaluation_finds_nothing_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CoefficientCache(tmp_path)
    list(cache.find_missing(RECORDS[:10], 1))
    assert not list(cache.missing(RECORDS[:10]))
    monkeypatch.setattr("lib.training.coefficients.source_digest", lambda: "another")
    assert len(list(cache.missing(RECORDS[:10]))) == 1


# ---- Examples ----


def test_a_game_is_in_one_part_and_a_position_in_one_row(tmp_path: Path) -> None:
    paths = [tmp_path / "a.positions", tmp_path / "b.positions"]
    write_positions(paths[0], {}, RECORDS)
    write_positions(paths[1], {}, np.concatenate([random_records(20, seed=5), RECORDS[:61]]))
    store = CoefficientCache(tmp_path / "cache")
    examples = read_examples(paths, Choice(), store, 1)
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
    store = CoefficientCache(tmp_path / "cache")
    half = read_examples([tmp_path / "x"], Choice(mix=0.5, score_scale=100.0), store, 1)
    assert 0 < len(half) <= 80
    score_part = 1 / (1 + np.exp(-half.records["score_cp"] / 100.0))
    assert half.expected == pytest.approx(0.5 * score_part + half.records["result"] / 4)
    noisy = read_examples([tmp_path / "x"], Choice(noisy=True, mix=0.0), store, 1)
    assert len(noisy) > len(half)
    assert (noisy.expected == noisy.results).all()
    write_positions(tmp_path / "y", {"scores": None}, records)
    without = read_examples([tmp_path / "y"], Choice(), store, 1)
    assert (without.expected == without.results).all()
    assert without.sources[0]["score_scale"] is None
    write_positions(tmp_path / "z", {}, records[:0])
    with pytest.raises(ProgramError, match="no position of z"):
        read_examples([tmp_path / "z"], Choice(mix=0.0), store, 1)


def test_a_shuffled_file_is_refused() -> None:
    records = np.concatenate([RECORDS] * 2)
    examples = make_examples(records, games=np.zeros(len(records), np.int64))
    with pytest.raises(ProgramError, match="lost its games"):
        split_games(examples, {"train": 1.0, "test": 1.0}, 0)


def test_the_scale_of_scores_is_found() -> None:
    chance = np.random.default_rng(0)
    scores = chance.normal(0, 300, 5000)
    assert fit_scale(scores, 1 / (1 + np.exp(-scores / 123.0))) == pytest.approx(123.0, rel=1e-3)


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


# ---- Priors ----


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


def test_priors_pull_towards_what_they_name() -> None:
    start = np.zeros((COLUMNS, 2))
    weights = start.copy()
    first = OFFSETS["pawn_squares"]
    weights[first + chess.A4] = 30.0
    assert Penalty([Prior("pawn_squares", "start", 10.0)], start).loss(weights) == pytest.approx(9.0)
    mirror = Penalty([Prior("pawn_squares", "mirror", 15.0)], start)
    assert mirror.loss(weights) == pytest.approx(4.0)
    weights[first + chess.H4] = 30.0
    assert mirror.loss(weights) == 0
    other = Penalty([Prior("knight_squares", "pawn_squares", 30.0)], start)
    assert other.loss(weights) == pytest.approx(2.0)
    large = Penalty([Prior("*", "start", 10.0, min_size=65)], start)
    assert large.loss(weights) == 0
    direction = np.random.default_rng(1).normal(size=weights.shape)
    for penalty in (mirror, other, Penalty(PRIORS, start)):
        step = (penalty.loss(weights + direction) - penalty.loss(weights - direction)) / 2
        assert (penalty.gradient(weights) * direction).sum() == pytest.approx(step)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "terms=*",
        "terms=x kind=start cp=1",
        "terms=* kind=x cp=1",
        "terms=* kind=start cp=0",
        "'",
        "terms=* kind=start cp=1 size=9999999",
    ],
)
def test_a_prior_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match="--prior"):
        parse_prior(text)


@pytest.mark.parametrize("text", ["terms=tempo kind=mirror cp=1", "terms=tempo kind=pawn_squares cp=1"])
def test_a_prior_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match="tempo"):
        Penalty([parse_prior(text)], np.zeros((COLUMNS, 2)))


# ---- The fit ----


def make_fit(plan: Plan, priors: tuple[Prior, ...] = (), state: State | None = None) -> Fit:
    """From 0, but for material, to known weights that their scores promise exactly."""
    records = KNOWN_RECORDS
    found = find_coefficients(records)
    truth = known_weights()
    train = make_examples(records, promised(found, truth))
    start = (truth * columns_of(["material"])[:, None]).astype(np.float64)
    free = columns_of(["bishop_pair", "isolated_pawn", "knight_mobility", "hanging"])
    return Fit(train, train, Penalty(priors, start), free, plan, state or new_state([start]))


def test_known_weights_are_found() -> None:
    plan = Plan(SCALE, epochs=300, patience=300, rate_cp=4.0, batch=4096)
    state = make_fit(plan).run()
    (best,), truth = state.best, known_weights()
    seen = np.abs(find_coefficients(KNOWN_RECORDS).matrix).sum(axis=0) > 100
    seen = np.asarray(seen).reshape(-1)
    assert (seen & (truth[:, 1] != 0)).sum() > 10
    assert np.abs(best - truth)[seen].max() < 3
    assert state.best_loss < state.history[0][1]
    # What was not to be fitted has stayed.
    kept = columns_of(["material", "pawn_squares"])
    assert (best[kept] == truth[kept]).all()


def test_a_strong_prior_keeps_the_start() -> None:
    state = make_fit(Plan(SCALE, epochs=10, rate_cp=1.0), (Prior("*", "start", 1e-4),)).run()
    assert np.abs(state.parameters[0][columns_of(["hanging", "bishop_pair"])]).max() < 1.5


def test_a_run_that_gains_nothing_ends_early() -> None:
    # The first step of Adam is as large as the rate: far beyond all weights.
    state = make_fit(Plan(SCALE, epochs=50, patience=3, rate_cp=5000.0)).run()
    assert state.epoch == state.best_epoch + 3 < 50


def start(columns: int = COLUMNS) -> State:
    return new_state([np.zeros((columns, 2))])


def test_a_resumed_run_is_the_same_on_any_number_of_threads(tmp_path: Path) -> None:
    whole = make_fit(Plan(SCALE, epochs=6, seed=4)).run()

    class BrokenOffError(Exception):
        pass

    def break_off(state: State) -> None:
        save_checkpoint(tmp_path / "state.npz", state, {"seed": 4})
        if state.epoch == 3:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        make_fit(Plan(SCALE, epochs=6, seed=4, threads=2)).run(break_off)
    state = load_checkpoint(tmp_path / "state.npz", {"seed": 4}, start())
    resumed = make_fit(Plan(SCALE, epochs=6, seed=4, threads=3), state=state).run()
    assert (resumed.parameters[0] == whole.parameters[0]).all()
    assert (resumed.best_loss, resumed.history) == (whole.best_loss, whole.history)


def test_another_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    save_checkpoint(path, start(), {"seed": 4})
    with pytest.raises(ProgramError, match="seed differ"):
        load_checkpoint(path, {"seed": 5}, start())
    with pytest.raises(ProgramError, match="another shape"):
        load_checkpoint(path, {"seed": 4}, start(COLUMNS + 1))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ProgramError, match="no checkpoint"):
        load_checkpoint(path, {"seed": 4}, start())


# ---- The report ----


def test_calibrated_scores_promise_what_is_scored() -> None:
    found = find_coefficients(RECORDS)
    chance = np.random.default_rng(0)
    records = RECORDS.copy()
    records["result"] = 2 * (chance.random(len(records)) < promised(found, OLD))
    examples = make_examples(records, games=np.arange(len(records)))
    rival = Rival("x", OLD, SCALE)
    bins = calibrate(rival, examples)
    assert sum(each.positions for each in bins) == len(examples)
    assert all(abs(each.promised - each.scored) < 2 * each.error + 0.02 for each in bins)
    assert Rival.fitted("x", OLD, make_examples(RECORDS, promised(found, OLD))).scale == pytest.approx(SCALE, rel=1e-2)


def test_the_worst_positions_come_first_one_of_a_game() -> None:
    found = find_coefficients(RECORDS)
    expected = promised(found, OLD)
    expected[30] = 1 - expected[30] if abs(expected[30] - 0.5) > 0.3 else 1 - round(expected[30])
    examples = make_examples(RECORDS, expected)
    rival = Rival("x", OLD, SCALE)
    text = worst_positions(rival, examples, 3)
    assert text.startswith(board_of(RECORDS[30]).fen())
    assert text.count("static") == 3
    groups = group_errors(rival, examples)
    assert sum(group.positions for group in groups if group.kind.startswith("queens")) == len(examples)
    phases = [group.kind for group in groups if group.kind.startswith("phase")]
    assert phases == sorted(phases, key=lambda kind: int(kind.split()[1]))
    assert sum(group.share for group in groups if group.kind.startswith("phase")) == pytest.approx(1, abs=0.2)


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
    words = [str(data), "--output", str(folder / output), "--cache", str(folder / "cache"), "--parts", "60,20,20"]
    return [*words, "--checkpoint", str(folder / "state.npz"), "--epochs", "4", "--batch", "1"]


def test_the_program_writes_weights_with_their_provenance_and_the_same_again(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data.parent
    words = command(data)
    assert main([*words, "--json", str(folder / "x.json"), "--also", str(data), "--worst", "2"]) == 0
    output = capsys.readouterr().out
    assert "new weights" in output
    assert "material, mobility" in output
    assert "data: loss" in output
    weights = Weights.load(folder / "tuned.toml")
    assert weights.middlegame["material"] == MATERIAL
    provenance = tomllib.loads((folder / "tuned.toml").read_text("utf-8"))["provenance"]
    assert str(data) in provenance["command"]
    assert "data.positions" in provenance["data"]
    figures = json.loads((folder / "x.json").read_text())
    assert figures["losses"]["new weights"]["test"]["loss"] == pytest.approx(
        float(provenance["test_loss"]), abs=1e-6
    )
    assert figures["losses"]["old weights"]["test"]["loss"] < figures["losses"]["material"]["test"]["loss"]
    assert main([*command(data, "again.toml"), "--resume", "--threads", "2"]) == 0
    assert Weights.load(folder / "again.toml") == weights
    assert main([*command(data, "terms.toml")[:-4], "--terms", "bishop_pair", "--seed", "1", "--epochs", "2"]) == 0
    fitted = Weights.load(folder / "terms.toml")
    changed = [name for name in fitted.middlegame if fitted.middlegame[name] != default_weights().middlegame[name]]
    assert set(changed) <= {"bishop_pair"}


def test_a_fit_from_material_knows_no_other_weight_of_before(data: Path) -> None:
    words = [*command(data)[:-4], "--terms", "tempo", "--epochs", "1", "--from-material"]
    assert main(words) == 0
    fitted, today = Weights.load(data.parent / "tuned.toml"), default_weights()
    for name, numbers in fitted.middlegame.items():
        if name == "material" or name.startswith("mop_up_"):
            assert (numbers, fitted.endgame[name]) == (today.middlegame[name], today.endgame[name])
        elif name != "tempo":
            assert not any((*numbers, *fitted.endgame[name])), name


def test_the_picture_of_the_calibration(data: Path) -> None:
    picture = data.parent / "x.png"
    assert main([*command(data), "--epochs", "1", "--picture", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "more",
    [["--terms", "x"], ["--prior", "x"], ["--start", "absent.toml"], ["--also", "absent"], ["--also", "test"]],
)
def test_what_cannot_be_used_is_said_in_a_sentence(
    data: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(data), *more]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("more", ["--mix 2", "--rate 0", "--parts 1,2", "--epochs 0", "--positions -5", "--worst -1"])
def test_wrong_options_are_refused(data: Path, more: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command(data), *more.split()])
    assert ended.value.code == 2


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


def test_the_kinds_of_endings_are_those_of_the_evaluation() -> None:
    boards = random_endings(300, 1)
    records = np.frombuffer(b"".join(pack(board, 0, 1, QUIET) for board in boards), RECORD)
    kinds = ending_kinds(pieces_of(records))
    assert kinds.tolist() == [ending(set_up(board)[1]) for board in boards]
    assert set(kinds.tolist()) == set(range(len(KINDS)))


def test_the_factors_behind_the_results_are_found_again() -> None:
    boards = random_endings(6000, 2)
    records = np.frombuffer(b"".join(pack(board, 0, 1, QUIET) for board in boards), RECORD)
    examples = make_examples(records)
    pieces = pieces_of(examples.records)
    kinds = ending_kinds(pieces)
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
    assert fitted["pawns", 3].gain > 0
    lines = as_constants(cells).splitlines()
    assert len(lines) == len(KINDS)
    assert lines[0].startswith('    "pawns": (')
