"""The fit of the model of wins: known constants are found again, and the engine's are in the form that is printed."""

from __future__ import annotations

import re
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt
import pytest

from fit_wdl import OUTCOME, Outcomes, WinModel, fit, likelihood, main, probabilities, read_outcomes
from toolkit.errors import ProgramError
from toolkit.training.positions import FIRST, QUIET, RECORD, pack, read_positions, write_positions
from uci_engine import score as scores

KNOWN = WinModel((320.0, -420.0, 200.0), (90.0, 50.0, 0.0))
ENGINES = WinModel(scores.WIN_MIDPOINT_CP, scores.WIN_SPREAD_CP)


def outcomes_of(score_cp: npt.ArrayLike, pieces: npt.ArrayLike) -> Outcomes:
    """Positions whose results are not known yet."""
    found = np.zeros(np.shape(score_cp), OUTCOME)
    found["score_cp"], found["pieces"] = score_cp, pieces
    return found


def test_known_constants_are_found() -> None:
    chance, count = np.random.default_rng(0), 100_000
    drawn = outcomes_of(chance.normal(0.0, 250.0, count).round(), chance.integers(2, 33, count))
    reached = probabilities(drawn, *KNOWN.curves()).cumsum(axis=1)
    drawn["result"] = (chance.random(count)[:, None] > reached[:, :2]).sum(axis=1)
    found = fit(drawn)
    assert np.abs(np.divide(found.curves(), KNOWN.curves()) - 1.0).max() < 0.06
    # Rounded constants are a little less likely than the best.
    assert likelihood(drawn, *found.curves()) >= likelihood(drawn, *KNOWN.curves()) - 1e-6


def test_the_models_of_program_and_engine_are_one_in_the_form_that_is_printed() -> None:
    assert ENGINES.source() in Path(scores.__file__).read_text("utf-8")
    asked = [(score_cp, pieces) for pieces in (2, 7, 20, 32) for score_cp in (-300, -1, 0, 40, 900)]
    shares = 1000 * probabilities(outcomes_of(*np.transpose(asked)), *ENGINES.curves())[:, ::-1]
    assert np.abs(shares - [scores.win_draw_loss(*each) for each in asked]).max() <= 1
    assert np.transpose(ENGINES.curves())[2:] == pytest.approx(np.array([scores.win_curve(n) for n in range(2, 33)]))


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
            (kings.format("b", 14), 40, 2, False),
            (kings.format("w", 15), -50, 2, False),
            (kings.format("b", 16), scores.MATE - 1, 2, False),
            (kings.format("w", 3), 1, 1, True),
            (kings.format("w", 7), 2, 1, False),
        )
    )
    # From the view of the side to move; neither a mate nor the first four moves of a game.
    assert outcomes.tolist() == [(-40, 3, 0, 0), (-50, 3, 2, 0), (2, 3, 1, 1)]
    assert len(read_outcomes(np.empty(0, RECORD))) == 0


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Games whose results follow their scores, roughly."""
    chance = np.random.default_rng(7)
    boards = ["4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 {}", "r3k3/8/8/8/8/8/4P3/R3K3 w - - 0 {}"]
    results = chance.integers(3, size=300).tolist()
    positions = [
        (boards[move % 2].format(move + 1), int(chance.normal(150 * (result - 1), 100)), result, move == 0)
        for result in results
        for move in range(12)
    ]
    path = tmp_path / "games.positions"
    write_positions(path, {}, records(*positions))
    assert main([str(path), str(path)]) == 0
    printed = capsys.readouterr().out
    assert "predicted / observed" in printed
    assert "600 games" in printed
    assert re.search(r"^WIN_PIECES = \(6, 32\)\nWIN_MIDPOINT_CP = \(.*\)\nWIN_SPREAD_CP = \(.*\)\n\Z", printed, re.M)
    write_positions(path, {"scores": None}, read_positions(path)[1].copy())
    with pytest.raises(ProgramError, match="no positions with scores"):
        main([str(path)])
