"""The static evaluation of a position, as `eval`, `secateur eval` and the Python API show it: explained, on the scale
of the scores of a search, and with the result that it lets expect.
"""

from __future__ import annotations

from typing import Any

from evaluation.explain import Explanation
from evaluation.report import as_data, format_explanation
from uci_engine.score import normalised, win_draw_loss


def text(explanation: Explanation, colour: bool = False) -> str:
    """For people. `colour`: with the escape sequences of a terminal."""
    normalised_cp, wins, draws, losses = _expected(explanation)
    return "\n".join(
        [
            format_explanation(explanation, colour),
            f"Normalised {normalised_cp / 100:+.2f} (White's view; +1.00: half of the games are won)",
            f"Expected result {wins / 10 + draws / 20:.1f} % for White: wins {wins / 10:.1f} %, "
            f"draws {draws / 10:.1f} %, losses {losses / 10:.1f} %",
        ]
    )


def data(fen: str, explanation: Explanation) -> dict[str, Any]:
    """The same as data (see `evaluation.report.as_data`)."""
    normalised_cp, wins, draws, losses = _expected(explanation)
    return {
        "fen": fen,
        "normalised_cp": normalised_cp,
        "wins_permille": wins,
        "draws_permille": draws,
        "losses_permille": losses,
        **as_data(explanation),
    }


def _expected(explanation: Explanation) -> tuple[int, int, int, int]:
    """For White: the normalised score in centipawns, and the expected wins, draws and losses in permille."""
    pieces = len(explanation.pieces)
    return normalised(explanation.white_score, pieces), *win_draw_loss(explanation.white_score, pieces)
