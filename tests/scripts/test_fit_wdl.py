"""The fit of the model of wins: known constants are found again, and the engine's are in the form that is printed."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import numpy as np
import pytest

from fit_wdl import Outcomes, WinModel, fit, joined, likelihood, main, read_outcomes
from toolkit.errors import ProgramError
from toolkit.training.positions import FIRST, QUIET, RECORD, pack, read_positions, write_positions
from uci_engine import score as scores

KNOWN = WinModel((6, 32), (320.0, -420.0, 200.0), (90.0, 50.0))
ENGINES = WinModel(scores.WIN_PIECES, scores.WIN_MIDPOINT_CP, scores.WIN_SPREAD_CP)
ALL_PIECES = np.arange(2, 33)


def synthetic(games: int, seed: int = 0, each: int = 10) -> Outcomes:
    """Positions whose results are drawn from the known model, `each` of a game, all independent."""
    chance = np.random.default_rng(seed)
    count = games * each
    unknown = Outcomes(
        chance.normal(0.0, 250.0, count).round(),
        chance.integers(2, 33, count),
        np.zeros(count, np.int64),
        np.repeat(np.arange(games), each),
    )
    reached = KNOWN.probabilities(unknown).cumsum(axis=1)
    result = (chance.random(count)[:, None] > reached[:, :2]).sum(axis=1)
    return Outcomes(unknown.score_cp, unknown.pieces, result, unknown.game)


def test_known_constants_are_found() -> None:
    found = fit(synthetic(10_000), 2, KNOWN.pieces)
    for values, expected in zip(found.curves(ALL_PIECES), KNOWN.curves(ALL_PIECES), strict=True):
        assert np.abs(values / expected - 1.0).max() < 0.06
    # The constants are likelier than others, and no likelier than those of the fit.
    outcomes = synthetic(2000, seed=1)
    best = fit(outcomes, 2, KNOWN.pieces)
    fitted, known, flat = (
        likelihood(outcomes, *model.curves(outcomes.pieces)) for model in (best, KNOWN, fit(outcomes, 0, KNOWN.pieces))
    )
    assert fitted >= known - 1e-6
    assert known > flat + 0.005


def test_the_models_of_program_and_engine_are_one() -> None:
    for pieces in (2, 7, 20, 32):
        for score_cp in (-300, -1, 0, 40, 900):
            one = Outcomes(np.array([float(score_cp)]), np.array([pieces]), np.array([0]), np.array([0]))
            shares = [round(1000 * share) for share in ENGINES.probabilities(one)[0, ::-1]]
            assert np.abs(np.subtract(shares, scores.win_draw_loss(score_cp, pieces))).max() <= 1
            assert [curve[0] for curve in ENGINES.curves(one.pieces)] == pytest.approx(scores.win_curve(pieces))


def test_the_constants_of_the_engine_are_in_the_form_that_is_printed() -> None:
    source = Path(scores.__file__).read_text("utf-8")
    assert ENGINES.source() in source
    assert ENGINES.is_sound


def records(*positions: tuple[str, int, int, bool]) -> np.ndarray:
    """Records of FEN, score from White's view, result, and whether a game begins."""
    return np.frombuffer(
        b"".join(
            pack(chess.Board(fen), score_cp, result, FIRST if first else QUIET)
            for fen, score_cp, result, first in positions
        ),
        RECORD,
    )


def test_which_positions_count() -> None:
    kings = "4k3/8/8/8/8/8/4P3/4K3 {} - - 0 {}"
    outcomes = read_outcomes(
        records(
            (kings.format("w", 10), 30, 2, True),
            (kings.format("b", 12), 40, 2, False),
            (kings.format("w", 13), -50, 2, False),
            (kings.format("b", 14), scores.MATE - 1, 2, False),
            (kings.format("w", 3), 1, 1, True),
            (kings.format("w", 5), 2, 1, False),
        ),
        skip_moves=2,
    )
    # From the view of the side to move; neither a mate nor the first two moves of a game.
    assert outcomes.score_cp.tolist() == [-40, -50, 2]
    assert outcomes.result.tolist() == [0, 2, 1]
    assert outcomes.pieces.tolist() == [3, 3, 3]
    assert outcomes.game.tolist() == [0, 0, 1]
    both = joined([outcomes, outcomes])
    assert both.game.tolist() == [0, 0, 1, 2, 2, 3]
    assert (len(both), both.games) == (6, 4)
    assert len(read_outcomes(np.empty(0, RECORD), 0)) == 0


def write_games(path: Path, games: int) -> None:
    """Games whose results follow their scores, roughly."""
    chance = np.random.default_rng(7)
    boards = ["4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 {}", "r3k3/8/8/8/8/8/4P3/R3K3 w - - 0 {}"]
    positions = []
    for _ in range(games):
        result = int(chance.integers(3))
        for move in range(12):
            score_cp = int(chance.normal(150 * (result - 1), 100))
            positions.append((boards[move % 2].format(move + 1), score_cp, result, move == 0))
    write_positions(path, {}, records(*positions))


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.positions"
    write_games(path, 300)
    assert main([str(path), str(path)]) == 0
    printed = capsys.readouterr().out
    assert "predicted / observed" in printed
    assert "600 games" in printed
    write_positions(path, {"scores": None}, read_positions(path)[1].copy())
    with pytest.raises(ProgramError, match="no positions with scores"):
        main([str(path)])
    assert re.search(r"^WIN_PIECES = \(6, 32\)\nWIN_MIDPOINT_CP = \(.*\)\nWIN_SPREAD_CP = \(.*\)\n\Z", printed, re.M)
