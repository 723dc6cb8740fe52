"""The static evaluation of a position, as `eval` and `secateur eval` show it: explained, on the scale of the scores of
a search, and with the result that it lets expect.
"""

from __future__ import annotations

from typing import Any

import chess

from evaluation.correction.network import Network
from evaluation.explain import Explanation, explain
from evaluation.report import as_data, format_explanation
from evaluation.weights import Weights
from uci_engine.score import normalised, piece_count, win_draw_loss


class StaticEvaluation:
    """The explanation and, for White, the normalised score in centipawns and the expected results in permille."""

    def __init__(self, board: chess.Board, weights: Weights, network: Network | None) -> None:
        """`network`: of the correction; None: it is off."""
        self._fen = board.fen()
        self._explanation: Explanation = explain(board, weights, network)
        pieces = piece_count(board)
        self._normalised_cp = normalised(self._explanation.white_score, pieces)
        self._wins, self._draws, self._losses = win_draw_loss(self._explanation.white_score, pieces)

    def text(self, colour: bool) -> str:
        """For people. `colour`: with the escape sequences of a terminal."""
        expected = self._wins / 10 + self._draws / 20
        return "\n".join(
            [
                format_explanation(self._explanation, colour),
                f"Normalised {self._normalised_cp / 100:+.2f} (White's view; +1.00: half of the games are won)",
                f"Expected result {expected:.1f} % for White: wins {self._wins / 10:.1f} %, "
                f"draws {self._draws / 10:.1f} %, losses {self._losses / 10:.1f} %",
            ]
        )

    def data(self) -> dict[str, Any]:
        """The same as data (see `evaluation.report.as_data`)."""
        return {
            "fen": self._fen,
            "normalised_cp": self._normalised_cp,
            "wins_permille": self._wins,
            "draws_permille": self._draws,
            "losses_permille": self._losses,
            **as_data(self._explanation),
        }
