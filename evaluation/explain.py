"""The evaluation of one position, term by term, for the `eval` command.

`Explanation` holds it twice. Its rows are the terms in middlegame and endgame, as the weights have them. Its parts are
the same terms tapered, in whole centipawns, grouped in families (see `evaluation.parts`). `evaluation.report` writes
the parts for people.

Invariant: the rows come from the same functions that `Evaluator.sum_of_terms` adds up. So their sum, tapered, is the
score of `Evaluator.evaluate`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import chess

from evaluation.catalogue import ACCUMULATED, CATALOGUE, Term
from evaluation.constants import FULL_PHASE
from evaluation.piece_squares import accumulated_indices
from evaluation.weights import Weights, default_weights, pack, unpack

if TYPE_CHECKING:
    from evaluation.correction.contributions import Contribution
    from evaluation.correction.network import Network
    from evaluation.parts import Family, Part, PieceValue

# The results of `KpkBitbase.result`, indexed by its return value.
KPK_RESULTS: Final = (
    "",
    "king and pawn against king, drawn",
    "king and pawn against king, White wins",
    "king and pawn against king, Black wins",
)


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
class Explanation:
    """All terms and the final score.

    `terms` has a row for each term of the catalogue, by its name, and `rows` one for each title. `parts` has the same
    terms tapered, in the same order, then KNOWN_ENDING, CORRECTION and LIMIT where they are not 0. `families` groups
    the parts. `pieces` are all pieces, from a1 to h8. `phase` runs from 24 (all pieces on the board) to 0. `scale` is
    the endgame scale factor, in 64ths. `kpk_result` is the result of king and pawn against king, "" for any other
    position, and `kpk_result_cp` what it adds to the tapered sum. `features_score` is what the features say, from
    White's view, and `correction` what the network adds to it, None while that is off. `contributions` are what each
    piece adds to the correction. All scores are in centipawns.
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
    features_score: int
    correction: int | None = None
    contributions: tuple[Contribution, ...] = ()

    @property
    def families(self) -> tuple[Family, ...]:
        """The parts by family, in the order of FAMILIES. Last are CORRECTION_FAMILY and LIMIT_FAMILY, where they are.
        """
        from evaluation.parts import families_of

        return families_of(self.parts)

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


def set_up(board: chess.Board, weights: Weights | None = None, network: Network | None = None) -> tuple[Any, Any]:
    """An Evaluator and a BaseBoard for a board. ValueError when the board cannot be evaluated."""
    # Imported here, because importing the package must load no kernel module (see `evaluation`).
    from evaluation.base_board import BaseBoard
    from evaluation.correction.weights import CorrectionWeights
    from evaluation.evaluator import Evaluator

    check(board)
    weights = weights or default_weights()
    base_board = BaseBoard(weights.piece_square())
    base_board.set_pieces(board)
    return Evaluator(weights, None if network is None else CorrectionWeights(network)), base_board


def evaluate(board: chess.Board, weights: Weights | None = None, network: Network | None = None) -> int:
    """The static score in centipawns from the side to move's view, strictly within ±30000.

    `network`: whose correction is added; None: the weighted features alone.
    Only the pieces and the side to move matter. ValueError unless there is one king and at most 16 pieces a side, and
    no pawn on the first or last rank. To score many positions, keep one `Evaluator` and one `BaseBoard` (see `set_up`).
    """
    evaluator, base_board = set_up(board, weights, network)
    score: int = evaluator.evaluate(base_board)
    return score


def explain(board: chess.Board, weights: Weights | None = None, network: Network | None = None) -> Explanation:
    """Every term of the evaluation of a position, and the correction of a network if there is one.

    ValueError when the board cannot be evaluated.
    """
    # Imported here, because importing the package must load no kernel module (see `evaluation`), and be fast.
    from evaluation.parts import all_parts, pieces_of
    from evaluation.terms.endgames import endgame_scale

    weights = weights or default_weights()
    evaluator, base_board = set_up(board, weights, network)
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
    features = evaluator.with_kpk_result(tapered, kpk_result)
    correction = None
    if network is not None:
        from evaluation.correction.contributions import contributions

        sign = 1 if board.turn else -1
        correction = sign * evaluator.correction_of(base_board, sign * features)
    white_score = features + (correction or 0)
    scale = endgame_scale(base_board, int(unpack(packed)[1] > 0))
    phase = min(base_board.accumulator.phase, FULL_PHASE)
    cells = [(row.white_mg, row.white_eg, row.black_mg, row.black_eg) for row in terms]
    return Explanation(
        terms=tuple(terms),
        phase=phase,
        scale=scale,
        kpk_result=KPK_RESULTS[kpk_result],
        kpk_result_cp=features - tapered,
        white_to_move=board.turn,
        white_score=white_score,
        score=white_score if board.turn else -white_score,
        parts=all_parts(cells, phase, scale, tapered, features, correction or 0),
        pieces=pieces_of(board, evaluator, base_board),
        features_score=features,
        correction=correction,
        contributions=contributions(board, network) if correction and network is not None else (),
    )


def _accumulated(board: chess.Board, colour: chess.Color, term: Term, weights: list[int]) -> int:
    """What one side's pieces add for one term of the accumulator."""
    return sum(weights[index] for index in accumulated_indices(board, colour, term.name))
