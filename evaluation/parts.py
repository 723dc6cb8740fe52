"""The parts of a score: what every term adds, tapered, in whole centipawns; families of them; and the values of pieces.

Invariant: the differences of the parts add up to the score, to the centipawn. A tapered term is a whole number of
1/UNITS centipawns. Each is rounded towards zero, and so is their sum, which is the score. What the sum has more than
the rounded terms goes to the terms with the largest remainders, one centipawn each. So a shown term is less than one
centipawn from its exact value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import chess

from evaluation.catalogue import CATALOGUE, FAMILIES
from evaluation.constants import FULL_SCALE

# The fixed point of `Evaluator.taper`: shares of the middlegame are in 256ths, the endgame scale is in 64ths.
FULL_SHARE: Final = 256
UNITS: Final = FULL_SHARE * FULL_SCALE
# The parts that are no terms: the result of a known ending, the learned correction, and what is cut off beyond
# ±STATIC_LIMIT.
KNOWN_ENDING: Final = "known_ending"
CORRECTION: Final = "correction"
CORRECTION_TITLE: Final = "learned correction"
LIMIT: Final = "limit"
CORRECTION_FAMILY: Final = "Learned correction"
LIMIT_FAMILY: Final = "Limit"

# White in middlegame and endgame, then Black.
Cell = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """What one term adds to the score: tapered, in whole centipawns, for each side from its own view.

    `name` is the term's, KNOWN_ENDING, CORRECTION or LIMIT. Black's number is White's minus the difference. So it may
    be up to two centipawns from its exact value.
    """

    name: str
    title: str
    family: str
    white_cp: int
    black_cp: int

    @property
    def difference_cp(self) -> int:
        """White minus Black."""
        return self.white_cp - self.black_cp


@dataclass(frozen=True, slots=True)
class Family:
    """The parts of one family. Its numbers are their sums."""

    name: str
    parts: tuple[Part, ...]

    @property
    def white_cp(self) -> int:
        """The sum for White, from White's view."""
        return sum(part.white_cp for part in self.parts)

    @property
    def black_cp(self) -> int:
        """The sum for Black, from Black's view."""
        return sum(part.black_cp for part in self.parts)

    @property
    def difference_cp(self) -> int:
        """White minus Black."""
        return self.white_cp - self.black_cp

    @property
    def titles(self) -> tuple[Part, ...]:
        """The parts, those with the same title added up under it."""
        sums: dict[str, Part] = {}
        for part in self.parts:
            before = sums.get(part.title, replace(part, name=part.title, white_cp=0, black_cp=0))
            white_cp, black_cp = before.white_cp + part.white_cp, before.black_cp + part.black_cp
            sums[part.title] = replace(before, white_cp=white_cp, black_cp=black_cp)
        return tuple(sums.values())


@dataclass(frozen=True, slots=True)
class PieceValue:
    """A piece on its square, and what it is worth there: how much its side's score falls when it is taken off.

    In centipawns, from the view of the piece's side. All terms count, as well as those of other pieces that change
    without it, the phase, and the endgame scale. So the values do not add up to the score. A king has none.
    """

    square: chess.Square
    piece: chess.Piece
    value_cp: int | None


def all_parts(
    cells: Sequence[Cell], phase: int, scale: int, tapered_cp: int, features_cp: int, correction_cp: int
) -> tuple[Part, ...]:
    """The parts of a score.

    `cells`: what the terms of the catalogue, in its order, add for White in the middlegame and in the endgame, and for
    Black, each from that side's own view. `phase`: 24 to 0. `scale`: of the endgame, in 64ths. `tapered_cp`: the sum of
    the terms, tapered, within its limit. `features_cp`: with the result of a known ending. `correction_cp`: what the
    network adds to them. The last three are from White's view.
    """
    parts = _terms(cells, phase * 32 // 3, scale)
    cut_cp = tapered_cp - sum(part.difference_cp for part in parts)
    if features_cp != tapered_cp:
        parts.append(_part(KNOWN_ENDING, "known ending", "Endgames", features_cp - tapered_cp))
    if correction_cp:
        parts.append(_part(CORRECTION, CORRECTION_TITLE, CORRECTION_FAMILY, correction_cp))
    if cut_cp:
        parts.append(_part(LIMIT, "limit of the score", LIMIT_FAMILY, cut_cp))
    return tuple(parts)


def families_of(parts: Iterable[Part]) -> tuple[Family, ...]:
    """The parts by family, in the order of FAMILIES. Last are CORRECTION_FAMILY and LIMIT_FAMILY, where they are."""
    found: dict[str, list[Part]] = {name: [] for name in FAMILIES}
    for part in parts:
        found.setdefault(part.family, []).append(part)
    return tuple(Family(name, tuple(parts)) for name, parts in found.items())


def _terms(cells: Sequence[Cell], share: int, scale: int) -> list[Part]:
    """The terms, tapered. `share`: of the middlegame, in 256ths."""

    def tapered(mg: int, eg: int) -> int:
        return mg * share * FULL_SCALE + eg * (FULL_SHARE - share) * scale

    parts = []
    sides = [(tapered(*cell[:2]), tapered(*cell[2:])) for cell in cells]
    differences = _rounded([white - black for white, black in sides])
    for term, (white, black), difference_cp in zip(CATALOGUE, sides, differences, strict=True):
        # A side that has nothing of a term gets no share of the rounding.
        white_cp = difference_cp if black == 0 else 0 if white == 0 else _quotient(white)
        parts.append(Part(term.name, term.title, term.family, white_cp, white_cp - difference_cp))
    return parts


def _rounded(exact: Sequence[int]) -> list[int]:
    """Numbers in 1/UNITS centipawns as whole centipawns, which add up to the quotient of the sum."""
    rounded = [_quotient(number) for number in exact]
    missing = _quotient(sum(exact)) - sum(rounded)
    sign = 1 if missing > 0 else -1
    by_remainder = sorted(range(len(exact)), key=lambda index: sign * (UNITS * rounded[index] - exact[index]))
    for index in by_remainder[: abs(missing)]:
        rounded[index] += sign
    return rounded


def _quotient(number: int) -> int:
    """1/UNITS centipawns as whole centipawns, rounded towards zero, as `Evaluator.taper` does."""
    return number // UNITS if number >= 0 else -(-number // UNITS)


def _part(name: str, title: str, family: str, difference_cp: int) -> Part:
    """A part that is no term, for the side that gains by it."""
    return Part(name, title, family, max(difference_cp, 0), max(-difference_cp, 0))


def pieces_of(board: chess.Board, evaluator: Any, base_board: Any) -> tuple[PieceValue, ...]:
    """Every piece of a board with its value. `base_board` has the same pieces, and has them afterwards."""
    before = evaluator.evaluate(base_board)
    values = []
    for square, piece in sorted(board.piece_map().items()):
        value_cp = None
        if piece.piece_type != chess.KING:
            number = 2 * piece.piece_type + piece.color
            base_board.remove(number, square)
            loss = before - evaluator.evaluate(base_board)
            base_board.put(number, square)
            value_cp = loss if piece.color == board.turn else -loss
        values.append(PieceValue(square, piece, value_cp))
    return tuple(values)
