"""A static score for people, as text and as data: a table in pawns, the value of every piece, and reasons in words.

Invariant: in every line of the table White minus Black is the difference, and the differences of the families add up to
the score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import chess
from chess.engine import Cp, PovScore, PovWdl, Wdl

from evaluation.base.constants import FULL_PHASE, FULL_SCALE
from evaluation.catalogue import KNOWN_ENDING, LIMIT, NETWORK_TERM
from evaluation.trace import Subtotal, TermValue, Trace
from uci_engine.score import normalised, win_draw_loss
from uci_engine.text import counted_pieces

REASONS: Final = 3
# The width of the first column, and of a square.
NAME_WIDTH: Final = 33
SQUARE_WIDTH: Final = 7


class Explanation(Trace):
    """Why a position has its static score. `str()` of it is the text of `secateur eval`.

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
        wdl = Wdl(*self._permille)
        return PovWdl(wdl if self.white_to_move else -wdl, self.white_to_move)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The three largest differences in words, with their size in pawns from White's view."""
        titles = [title for family in self.families for title in family.titles if title.difference_cp]
        titles.sort(key=lambda title: -abs(title.difference_cp))
        return tuple(f"{_words(self, title)} ({title.difference_cp / 100:+.2f})" for title in titles[:REASONS])

    def __str__(self) -> str:
        """An ASCII table in pawns and what belongs to it, without a newline at the end."""
        lines = [*_table(self), *_boards(self)]
        if self.reasons:
            numbered = [f" {number}. {text}" for number, text in enumerate(self.reasons, start=1)]
            lines += ["The biggest reasons:", *numbered, ""]
        return "\n".join([*lines, *self._totals()])

    def _totals(self) -> Iterable[str]:
        """The lines below the reasons: the phase, the score, and what it lets expect."""
        if self.known_ending:
            yield f"Known ending: {self.known_ending}"
        phase = f"Phase {self.phase} ({FULL_PHASE}: middlegame, 0: endgame)"
        yield f"{phase}; endgame counts {self.scale} of {FULL_SCALE}"
        if self.network_score is not None:
            features, network_score = self.features_score / 100, self.network_score / 100
            yield f"Features {features:+.2f}, network {network_score:+.2f} (White's view)"
        side, sign = ("White", 1) if self.white_to_move else ("Black", -1)
        yield f"Score {self.white_score / 100:+.2f} (White's view)"
        yield f"Score {sign * self.white_score / 100:+.2f} (the side to move's view: {side})"
        yield f"Normalised {self._normalised_cp / 100:+.2f} (White's view; +1.00: half of the games are won)"
        wins, draws, losses = self._permille
        yield (
            f"Expected result {wins / 10 + draws / 20:.1f} % for White: wins {wins / 10:.1f} %, "
            f"draws {draws / 10:.1f} %, losses {losses / 10:.1f} %"
        )

    def data(self) -> dict[str, object]:
        """The same as dicts, lists, texts and whole numbers. All scores are in centipawns.

        GUIS.md describes the keys. New ones may come, and none goes or changes its meaning.
        """
        placed = [
            (value, {"square": chess.square_name(value.square), "piece": value.piece.symbol()}) for value in self.pieces
        ]
        permille = zip(("wins_permille", "draws_permille", "losses_permille"), self._permille, strict=True)
        return {
            "fen": self.fen,
            "normalised_cp": self._normalised_cp,
            **dict(permille),
            "side_to_move": "white" if self.white_to_move else "black",
            "white_score_cp": self.white_score,
            "features_cp": self.features_score,
            "network_cp": self.network_score,
            "phase": self.phase,
            "endgame_scale": self.scale,
            "known_ending": self.known_ending or None,
            "reasons": list(self.reasons),
            "families": [
                {"name": family.name, **_numbers(family), "terms": [_term_data(term) for term in family.terms]}
                for family in self.families
            ],
            "pieces": [{**place, "value_cp": value.value_cp} for value, place in placed],
            "network_pieces": [
                {**place, "white_cp": value.network_cp} for value, place in placed if value.network_cp is not None
            ],
        }

    def __repr__(self) -> str:
        return f"<Explanation of {self.fen}: {self.white_score / 100:+.2f} for White, {len(self.terms)} terms>"

    def _pov(self, white_cp: int) -> PovScore:
        return PovScore(Cp(white_cp if self.white_to_move else -white_cp), self.white_to_move)

    @property
    def _normalised_cp(self) -> int:
        """From White's view."""
        return normalised(self.white_score, len(self.pieces))

    @property
    def _permille(self) -> tuple[int, int, int]:
        """The wins, draws and losses that are expected for White."""
        return win_draw_loss(self.white_score, len(self.pieces))


def _table(trace: Trace) -> Iterable[str]:
    """The terms of each family, in pawns."""
    rule = "-" * (NAME_WIDTH + 32)
    yield f" {'':<{NAME_WIDTH}}{'White':>9}{'Black':>9}{'Difference':>13}"
    yield rule
    for family in trace.families:
        # What is 0 for both sides is left out.
        titles = [title for title in family.titles if title.white_cp or title.black_cp]
        if titles:
            yield _row("", family)
        if len(family.titles) > 1:
            for title in titles:
                yield _row("  ", title)
    yield rule
    yield _row("", Subtotal("Sum", trace.terms))
    yield ""


def _boards(trace: Trace) -> Iterable[str]:
    """The pieces with their values, and with what they add to the network."""
    yield "Value of each piece for its own side: what the score loses without it"
    yield from _board({value.square: (value.piece, value.value_cp) for value in trace.pieces})
    yield ""
    if trace.network_score:
        yield "What each piece adds to the network (White's view)"
        yield from _board({value.square: (value.piece, value.network_cp) for value in trace.pieces}, "+")
        yield ""


def _term_data(term: TermValue) -> dict[str, object]:
    middlegame, endgame = term.difference or (None, None)
    phases = {"middlegame_cp": middlegame, "endgame_cp": endgame}
    return {"name": term.name, "title": term.title, **_numbers(term), **phases}


def _numbers(value: TermValue | Subtotal) -> dict[str, int]:
    return {"white_cp": value.white_cp, "black_cp": value.black_cp, "difference_cp": value.difference_cp}


def _words(trace: Trace, title: Subtotal) -> str:
    """Why a title has its difference."""
    side = "White" if title.difference_cp > 0 else "Black"
    name, words = title.terms[0].name, title.name.capitalize()
    if name == "material" and (material := _material(trace, side)):
        return material
    if name == "tempo":
        return f"{side} is to move"
    if name == NETWORK_TERM:
        return f"The network sees {abs(title.difference_cp) / 100:.2f} more for {side} than the features"
    if name == KNOWN_ENDING:
        return f"{words}: {trace.known_ending}"
    return words if name == LIMIT else f"{words}: better for {side}"


def _material(trace: Trace, side: str) -> str:
    """What the pieces of a side are more than those of the other: "White has a knight for two pawns". Or ""."""
    surplus: Counter[chess.PieceType] = Counter()
    for value in trace.pieces:
        surplus[value.piece.piece_type] += 1 if value.piece.color == (side == "White") else -1
    more, fewer = counted_pieces(surplus), counted_pieces({kind: -count for kind, count in surplus.items()})
    if more and fewer:
        return f"{side} has {more} for {fewer}"
    return f"{side} is {more} up" if more else ""


def _row(indent: str, numbers: Subtotal) -> str:
    white, black, difference = (cp / 100 for cp in _numbers(numbers).values())
    return f" {indent + numbers.name:<{NAME_WIDTH}}{white:9.2f}{black:9.2f}{difference:13.2f}"


def _board(values: Mapping[chess.Square, tuple[chess.Piece, int | None]], sign: str = "") -> Iterable[str]:
    """The board, each piece with its value in pawns. `sign`: "+" to show that of numbers above 0, too."""
    rule = "   +" + (("-" * SQUARE_WIDTH) + "+") * 8
    yield rule
    for rank in range(7, -1, -1):
        row = [values.get(chess.square(file, rank), (None, None)) for file in range(8)]
        pieces = ["" if piece is None else piece.symbol() for piece, _ in row]
        numbers = ["" if value_cp is None else f"{value_cp / 100:{sign}.2f}" for _, value_cp in row]
        yield f" {rank + 1} |" + "".join(f"{cell.center(SQUARE_WIDTH)}|" for cell in pieces)
        yield "   |" + "".join(f"{cell.center(SQUARE_WIDTH)}|" for cell in numbers)
        yield rule
    yield "    " + " ".join(f"{name:^{SQUARE_WIDTH}}" for name in chess.FILE_NAMES).rstrip()
