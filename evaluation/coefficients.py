"""How often each weight counts in the sum of a position, for tuners.

The sum of terms is linear in the weights: coefficients times weights, in the middlegame as in the endgame. A tuner
takes the phase and the endgame scale from `evaluation.explain`. Invariant: the coefficients are read from the result of
`Evaluator.sum_of_terms`, so they cannot differ from those of the engine.
"""

from __future__ import annotations

from typing import Any, Final

import chess

from evaluation.catalogue import ACCUMULATED, CATALOGUE, Term
from evaluation.explain import set_up
from evaluation.weights import PIECE_NAMES

# With one weight at 1 and the others at 0, the sum is one coefficient. With weights BASE**0, BASE**1, ... the sum holds
# one coefficient per digit in that base, because coefficients are far within ±BASE / 2.
BASE: Final = 256
DIGITS: Final = 7


def coefficients(board: chess.Board) -> dict[str, list[int]]:
    """For each term of the catalogue the coefficients of its weights, White minus Black.

    ValueError when the board cannot be evaluated.
    """
    evaluator, base_board = set_up(board)
    for term in CATALOGUE:
        _set(evaluator, term, [0] * term.size)
    rest = evaluator.sum_of_terms(base_board, False)
    found: dict[str, list[int]] = {}
    for term in CATALOGUE:
        if term.group == ACCUMULATED:
            found[term.name] = _counts(board, term)
            continue
        found[term.name] = []
        for first in range(0, term.size, DIGITS):
            count = min(DIGITS, term.size - first)
            powers = [BASE**digit for digit in range(count)]
            _set(evaluator, term, [0] * first + powers + [0] * (term.size - first - count))
            found[term.name] += _digits(evaluator.sum_of_terms(base_board, False) - rest, count)
        _set(evaluator, term, [0] * term.size)
    return found


def _set(evaluator: Any, term: Term, values: list[int]) -> None:
    """Set the weights of one term in an evaluator. Those of the accumulator are left as they are."""
    if term.group != ACCUMULATED:
        setattr(getattr(evaluator, term.group), term.name, values if term.size > 1 else values[0])


def _digits(number: int, count: int) -> list[int]:
    """The lowest digits of a number, each from -BASE / 2 up."""
    digits = []
    for _ in range(count):
        digits.append((number + BASE // 2) % BASE - BASE // 2)
        number = (number - digits[-1]) // BASE
    return digits


def _counts(board: chess.Board, term: Term) -> list[int]:
    """The coefficients of a term that the accumulator adds up: pieces by type, or by square."""
    counts = [0] * term.size
    for square, piece in board.piece_map().items():
        sign = 1 if piece.color else -1
        if term.name == "material":
            if piece.piece_type != chess.KING:
                counts[piece.piece_type - 1] += sign
        elif term.name == f"{PIECE_NAMES[piece.piece_type - 1]}_squares":
            counts[square if piece.color else chess.square_mirror(square)] += sign
    return counts
