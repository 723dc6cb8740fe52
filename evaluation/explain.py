"""The evaluation of one position, term by term, for people: the `eval` command and whoever tunes the weights.

What must stay true: the rows are the very methods that `Features.pawns` and `Features.pieces` add up, so
their sum, tapered, is the score of `Evaluator.evaluate` on every position; a test holds it to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import chess

from evaluation import plain_cython
from evaluation.weights import PIECE_NAMES, Weights, default_weights, unpack

# Term and method, in the order that Features asks for.
TERMS: Final = (
    ("doubled pawns", "doubled"),
    ("isolated pawns", "isolated"),
    ("connected pawns", "connected"),
    ("passed pawns", "passed_pawns"),
    ("king shelter", "shelter"),
    ("pawn storm", "storm"),
    ("knight mobility", "knights"),
    ("bishop mobility", "bishops"),
    ("rook mobility", "rooks"),
    ("queen mobility", "queens"),
    ("bishop pair", "bishop_pair"),
    ("outposts", "outposts"),
    ("rooks on open files", "rook_files"),
    ("passed pawns' paths", "passed_pawn_paths"),
    ("attack on the king", "king_danger"),
    ("safe checks", "safe_checks"),
    ("threats", "threats"),
    ("pawn push threats", "push_threats"),
    ("hanging pieces", "hanging"),
    ("bare king", "mop_up"),
)

# The verdicts of `evaluation.kpk`, in the order of their numbers.
VERDICTS: Final = (
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
    """All terms and what becomes of their sum.

    `phase` runs from 24 (all pieces on the board) to 0, `scale` is the share of the endgame's value that counts,
    in 64ths. `verdict` says what is known of the ending, "" for nothing, and `verdict_cp` what that adds to the
    tapered sum. Both scores are in centipawns.
    """

    rows: tuple[Row, ...]
    phase: int
    scale: int
    verdict: str
    verdict_cp: int
    white_to_move: bool
    white_score: int
    score: int

    @property
    def total(self) -> Row:
        """The sum of all rows."""
        return Row(
            "total",
            sum(row.white_mg for row in self.rows),
            sum(row.white_eg for row in self.rows),
            sum(row.black_mg for row in self.rows),
            sum(row.black_eg for row in self.rows),
        )


def place(board: chess.Board, weights: Weights | None = None) -> tuple[Any, Any]:
    """An Evaluator and a BaseBoard for a board; ValueError when the board cannot be evaluated."""
    plain_cython.provide()
    from evaluation.base_board import BaseBoard
    from evaluation.evaluator import Evaluator

    for colour in chess.COLORS:
        if len(board.pieces(chess.KING, colour)) != 1 or board.occupied_co[colour].bit_count() > 16:
            raise ValueError("a position to evaluate has one king and at most 16 pieces a side")
    if board.pawns & chess.BB_BACKRANKS:
        raise ValueError("a position to evaluate has no pawn on the first or last rank")
    weights = weights or default_weights()
    base_board = BaseBoard(weights.piece_square())
    base_board.set_pieces(board)
    return Evaluator(weights), base_board


def evaluate(board: chess.Board, weights: Weights | None = None) -> int:
    """The static score in centipawns from the side to move's view, strictly within ±30000.

    Only the pieces and the side to move matter. ValueError unless there is one king and at most 16 pieces a side, and
    no pawn on the first or last rank. To score many positions keep an `Evaluator` and a `BaseBoard` instead.
    """
    evaluator, base_board = place(board, weights)
    score: int = evaluator.evaluate(base_board)
    return score


def explain(board: chess.Board, weights: Weights | None = None) -> Explanation:
    """Every term of the evaluation of a position; ValueError when the board cannot be evaluated."""
    weights = weights or default_weights()
    evaluator, base_board = place(board, weights)
    features = evaluator.features
    features.begin(base_board)
    rows = [_material(board, weights), _squares(board, weights)]
    for term, name in TERMS:
        method = getattr(features, name)
        rows.append(_row(term, method(base_board, 1), method(base_board, 0)))
    rows.append(_row("side to move", features.tempo * board.turn, features.tempo * (not board.turn)))
    packed = sum(row.mg + (row.eg << 32) for row in rows)
    tapered = evaluator.taper(base_board, packed)
    verdict = evaluator.kpk.verdict(base_board)
    white_score = evaluator.with_verdict(tapered, verdict)
    return Explanation(
        rows=tuple(rows),
        phase=min(base_board.accumulator.phase, 24),
        scale=evaluator.endgame_scale(base_board, int(unpack(packed)[1] > 0)),
        verdict=VERDICTS[verdict],
        verdict_cp=white_score - tapered,
        white_to_move=board.turn,
        white_score=white_score,
        score=white_score if board.turn else -white_score,
    )


def format_explanation(explanation: Explanation) -> str:
    """An ASCII table in pawns, without a newline at the end."""
    lines = [
        "                     |     White     |     Black     |     Total",
        " Term                |   MG     EG   |   MG     EG   |   MG     EG",
        "---------------------+---------------+---------------+--------------",
    ]
    lines += [_line(row) for row in explanation.rows]
    lines += [lines[2], _line(explanation.total), ""]
    lines.append(f"Phase {explanation.phase} (24: middlegame, 0: endgame); endgame counts {explanation.scale} of 64")
    if explanation.verdict:
        lines.append(f"Known ending: {explanation.verdict}, {explanation.verdict_cp / 100:+.2f}")
    side = "White" if explanation.white_to_move else "Black"
    lines.append(f"Score {explanation.white_score / 100:+.2f} (White's view)")
    lines.append(f"Score {explanation.score / 100:+.2f} (the side to move's view: {side})")
    return "\n".join(lines)


def _row(term: str, white: int, black: int) -> Row:
    return Row(term, *unpack(white), *unpack(black))


def _material(board: chess.Board, weights: Weights) -> Row:
    """The pieces at their fixed values."""
    values = [0, *weights.packed("material"), 0]
    white, black = (sum(values[piece] for _, piece in _pieces(board, us)) for us in (True, False))
    return _row("material", white, black)


def _squares(board: chess.Board, weights: Weights) -> Row:
    """Where the pieces stand."""
    tables = [[0] * 64, *(weights.packed(f"{name}_squares") for name in PIECE_NAMES)]
    white, black = (sum(tables[piece][at] for at, piece in _pieces(board, us)) for us in (True, False))
    return _row("piece squares", white, black)


def _pieces(board: chess.Board, colour: chess.Color) -> list[tuple[chess.Square, chess.PieceType]]:
    """Squares, as the colour sees them, and types of its pieces."""
    flip = 0 if colour else 56
    return [(at ^ flip, piece.piece_type) for at, piece in board.piece_map().items() if piece.color == colour]


def _line(row: Row) -> str:
    """One row of the table, in pawns."""
    pairs = ((row.white_mg, row.white_eg), (row.black_mg, row.black_eg), (row.mg, row.eg))
    cells = (f"{mg / 100:6.2f} {eg / 100:6.2f}" for mg, eg in pairs)
    return " | ".join((f" {row.term:<19}", *cells))
