"""The evaluation of one position, term by term: for the `eval` command and for tuners.

`Explanation` holds it twice. Its rows are the terms in middlegame and endgame, as the weights have them. Its parts are
the same terms tapered, in whole centipawns, grouped in families. `evaluation.report` writes the parts for people.

Invariant: the rows come from the same functions that `Evaluator.sum_of_terms` adds up. So their sum, tapered, is the
score of `Evaluator.evaluate`.
Invariant: the differences of the parts add up to that score, to the centipawn. A tapered term is a whole number of
1/UNITS centipawns. Each is rounded towards zero, and so is their sum, which is the score. What the sum has more than
the rounded terms goes to the terms with the largest remainders, one centipawn each. So a shown term is less than one
centipawn from its exact value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import chess

from evaluation import plain_cython
from evaluation.catalogue import ACCUMULATED, CATALOGUE, FAMILIES, Term
from evaluation.constants import FULL_PHASE, FULL_SCALE
from evaluation.piece_squares import accumulated_indices
from evaluation.weights import Weights, default_weights, pack, unpack

# The results of `KpkBitbase.result`, indexed by its return value.
KPK_RESULTS: Final = (
    "",
    "king and pawn against king, drawn",
    "king and pawn against king, White wins",
    "king and pawn against king, Black wins",
)
# The fixed point of `Evaluator.taper`: shares of the middlegame are in 256ths, the endgame scale is in 64ths.
FULL_SHARE: Final = 256
UNITS: Final = FULL_SHARE * FULL_SCALE
# The parts that are no terms: the result of a known ending, and what is cut off beyond ±STATIC_LIMIT.
KNOWN_ENDING: Final = "known_ending"
LIMIT: Final = "limit"
LIMIT_FAMILY: Final = "Limit"


@dataclass(frozen=True, slots=True)
class Row:
    """One term in centipawns, for White and for Black, each from that side's own view."""

    term: str
    white_mg: int
    white_eg: int
    black_mg: int
    black_eg: int

    @property
    def mg(self) -> int:
        """White minus Black in the middlegame."""
        return self.white_mg - self.black_mg

    @property
    def eg(self) -> int:
        """White minus Black in the endgame."""
        return self.white_eg - self.black_eg


@dataclass(frozen=True, slots=True)
class Part:
    """What one term adds to the score: tapered, in whole centipawns, for each side from its own view.

    `name` is the term's, KNOWN_ENDING or LIMIT. Black's number is White's minus the difference. So it may be up to two
    centipawns from its exact value.
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


@dataclass(frozen=True, slots=True)
class Explanation:
    """All terms and the final score.

    `terms` has a row for each term of the catalogue, by its name, and `rows` one for each title. `parts` has the same
    terms tapered, in the same order, then KNOWN_ENDING and LIMIT where they are not 0. `families` groups the parts.
    `pieces` are all pieces, from a1 to h8. `phase` runs from 24 (all pieces on the board) to 0. `scale` is the endgame
    scale factor, in 64ths. `kpk_result` is the result of king and pawn against king, "" for any other position, and
    `kpk_result_cp` what it adds to the tapered sum. Both scores are in centipawns.
    """

    terms: tuple[Row, ...]
    phase: int
    scale: int
    kpk_result: str
    kpk_result_cp: int
    white_to_move: bool
    white_score: int
    score: int
    parts: tuple[Part, ...]
    pieces: tuple[PieceValue, ...]

    @property
    def families(self) -> tuple[Family, ...]:
        """The parts by family, in the order of FAMILIES. Last is LIMIT_FAMILY, where there is one."""
        found: dict[str, list[Part]] = {name: [] for name in FAMILIES}
        for part in self.parts:
            found.setdefault(part.family, []).append(part)
        return tuple(Family(name, tuple(parts)) for name, parts in found.items())

    @property
    def rows(self) -> tuple[Row, ...]:
        """The terms, those with the same title added up, in the order of the catalogue."""
        parts: dict[str, list[Row]] = {}
        for term, row in zip(CATALOGUE, self.terms, strict=True):
            parts.setdefault(term.title, []).append(row)
        return tuple(_added_up(title, rows) for title, rows in parts.items())

    @property
    def total(self) -> Row:
        """The sum of all terms."""
        return _added_up("total", self.terms)


def _added_up(name: str, rows: Iterable[Row]) -> Row:
    cells = zip(*((row.white_mg, row.white_eg, row.black_mg, row.black_eg) for row in rows), strict=True)
    return Row(name, *map(sum, cells))


def check(board: chess.Board) -> None:
    """ValueError when the board cannot be evaluated."""
    for colour in chess.COLORS:
        if len(board.pieces(chess.KING, colour)) != 1 or board.occupied_co[colour].bit_count() > 16:
            raise ValueError("a position to evaluate has one king and at most 16 pieces a side")
    if board.pawns & chess.BB_BACKRANKS:
        raise ValueError("a position to evaluate has no pawn on the first or last rank")


def set_up(board: chess.Board, weights: Weights | None = None) -> tuple[Any, Any]:
    """An Evaluator and a BaseBoard for a board. ValueError when the board cannot be evaluated."""
    plain_cython.provide()
    # Imported here, because importing the package must load no kernel module (see `evaluation`).
    from evaluation.base_board import BaseBoard
    from evaluation.evaluator import Evaluator

    check(board)
    weights = weights or default_weights()
    base_board = BaseBoard(weights.piece_square())
    base_board.set_pieces(board)
    return Evaluator(weights), base_board


def evaluate(board: chess.Board, weights: Weights | None = None) -> int:
    """The static score in centipawns from the side to move's view, strictly within ±30000.

    Only the pieces and the side to move matter. ValueError unless there is one king and at most 16 pieces a side, and
    no pawn on the first or last rank. To score many positions, keep one `Evaluator` and one `BaseBoard` (see `set_up`).
    """
    evaluator, base_board = set_up(board, weights)
    score: int = evaluator.evaluate(base_board)
    return score


def explain(board: chess.Board, weights: Weights | None = None) -> Explanation:
    """Every term of the evaluation of a position. ValueError when the board cannot be evaluated."""
    plain_cython.provide()
    # Imported here, because importing the package must load no kernel module (see `evaluation`).
    from evaluation.terms.endgames import endgame_scale

    weights = weights or default_weights()
    evaluator, base_board = set_up(board, weights)
    context = evaluator.context
    context.begin(base_board)
    terms = []
    for term in CATALOGUE:
        if term.group == ACCUMULATED:
            white, black = (_accumulated(board, us, term, weights.packed(term.name)) for us in (True, False))
        else:
            group_weights = getattr(evaluator, term.group)
            white, black = (term.function(group_weights, context, base_board, us) for us in (1, 0))
        terms.append(Row(term.name, *unpack(white), *unpack(black)))
    packed = sum(pack(row.mg, row.eg) for row in terms)
    tapered = evaluator.taper(base_board, packed)
    kpk_result = evaluator.kpk.result(base_board)
    white_score = evaluator.with_kpk_result(tapered, kpk_result)
    scale = endgame_scale(base_board, int(unpack(packed)[1] > 0))
    phase = min(base_board.accumulator.phase, FULL_PHASE)
    parts = _parts(terms, phase * 32 // 3, scale)
    cut_cp = tapered - sum(part.difference_cp for part in parts)
    if kpk_result:
        parts.append(_part(KNOWN_ENDING, "known ending", "Endgames", white_score - tapered))
    if cut_cp:
        parts.append(_part(LIMIT, "limit of the score", LIMIT_FAMILY, cut_cp))
    return Explanation(
        terms=tuple(terms),
        phase=phase,
        scale=scale,
        kpk_result=KPK_RESULTS[kpk_result],
        kpk_result_cp=white_score - tapered,
        white_to_move=board.turn,
        white_score=white_score,
        score=white_score if board.turn else -white_score,
        parts=tuple(parts),
        pieces=tuple(_pieces(board, evaluator, base_board)),
    )


def _parts(rows: Sequence[Row], share: int, scale: int) -> list[Part]:
    """The terms, tapered. `share`: of the middlegame, in 256ths. `scale`: of the endgame, in 64ths."""

    def tapered(mg: int, eg: int) -> int:
        return mg * share * FULL_SCALE + eg * (FULL_SHARE - share) * scale

    parts = []
    differences = _rounded([tapered(row.mg, row.eg) for row in rows])
    for term, row, difference_cp in zip(CATALOGUE, rows, differences, strict=True):
        white, black = tapered(row.white_mg, row.white_eg), tapered(row.black_mg, row.black_eg)
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


def _pieces(board: chess.Board, evaluator: Any, base_board: Any) -> list[PieceValue]:
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
    return values


def _accumulated(board: chess.Board, colour: chess.Color, term: Term, weights: list[int]) -> int:
    """What one side's pieces add for one term of the accumulator."""
    return sum(weights[index] for index in accumulated_indices(board, colour, term.name))
