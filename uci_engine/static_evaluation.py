"""The static evaluation of a position, explained, for `eval`, `secateur eval` and the Python API: with its score on the
scale of a search, and the result that it lets expect.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import evaluation
from evaluation import report
from uci_engine.score import normalised, win_draw_loss

if TYPE_CHECKING:
    from chess.engine import PovScore, PovWdl


class Explanation(evaluation.Explanation):
    """Why a position has its static score. `str()` of it is the text of `secateur eval`, and a notebook shows it.

    The `terms` add up to `score`, in the centipawns of the weights. Only `normalised_score` is on the scale of search
    reports.
    """

    __slots__ = ()

    @property
    def score(self) -> PovScore:
        """The static score that the engine plays with: that of `Engine.evaluate`."""
        return self._pov(self.white_score)

    @property
    def normalised_score(self) -> PovScore:
        """The score on the scale of search reports, where +100 wins half of the games."""
        return self._pov(self._normalised_cp)

    @property
    def expected(self) -> PovWdl:
        """The result that the score lets expect."""
        from chess.engine import PovWdl, Wdl

        wdl = Wdl(*self._permille)
        return PovWdl(wdl if self.white_to_move else -wdl, self.white_to_move)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The three largest differences in words, with their size in pawns from White's view."""
        return report.reasons(self)

    def __str__(self) -> str:
        wins, draws, losses = self._permille
        return "\n".join(
            [
                report.format_explanation(self),
                f"Normalised {self._normalised_cp / 100:+.2f} (White's view; +1.00: half of the games are won)",
                f"Expected result {wins / 10 + draws / 20:.1f} % for White: wins {wins / 10:.1f} %, "
                f"draws {draws / 10:.1f} %, losses {losses / 10:.1f} %",
            ]
        )

    def data(self) -> dict[str, Any]:
        """The same as data (see `evaluation.report.as_data`)."""
        permille = zip(("wins_permille", "draws_permille", "losses_permille"), self._permille, strict=True)
        return {"fen": self.fen, "normalised_cp": self._normalised_cp, **dict(permille), **report.as_data(self)}

    def __repr__(self) -> str:
        return f"<Explanation of {self.fen}: {self.white_score / 100:+.2f} for White, {len(self.terms)} terms>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _pov(self, white_cp: int) -> PovScore:
        from chess.engine import Cp, PovScore

        return PovScore(Cp(white_cp if self.white_to_move else -white_cp), self.white_to_move)

    @property
    def _normalised_cp(self) -> int:
        """From White's view."""
        return normalised(self.white_score, len(self.pieces))

    @property
    def _permille(self) -> tuple[int, int, int]:
        """The wins, draws and losses that are expected for White."""
        return win_draw_loss(self.white_score, len(self.pieces))
