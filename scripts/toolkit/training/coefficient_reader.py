"""How often each weight counts in the sum of a position, for tuners.

The sum of terms is linear in the weights: coefficients times weights, in the middlegame as in the endgame. Invariant:
the coefficients are read from the result of `Evaluator.sum_of_terms`, so they cannot differ from those of the engine.

With the weights 1, 32, 1024, ... the sum holds one coefficient in each five bits. `layout` says where each coefficient
is: how many bits it needs follows from the bound of its term in the catalogue. A sum has 64 bits, so a row of
evaluators is prepared, each with the weights for its part, and every position is shown to each of them. That takes a
fraction of a microsecond for each evaluator.

The large tables, of pieces by square and of pairs of pawns, are not read in this way: `coefficients` counts the pieces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import chess

from evaluation.base.accumulated import FULL_PHASE
from evaluation.catalogue import ACCUMULATED, CATALOGUE, Term
from evaluation.weights import default_weights

# The groups whose coefficients are counted from the pieces.
COUNTED_GROUPS: Final = (ACCUMULATED, "pawn_pairs")
# A side has at most so many pieces of one type, apart from its king.
MAX_PIECES: Final = 15
# Of a signed 64-bit sum. All sums of a word's coefficients stay within them.
WORD_BITS: Final = 62
# Black to move, White to move.
EMPTY_BOARDS: Final = [chess.Board(f"8/8/8/8/8/8/8/8 {side} - - 0 1") for side in "bw"]


@dataclass(frozen=True, slots=True)
class Digit:
    """Where one coefficient stands: in the bits `shift` to `shift + bits - 1` of the sum of evaluator `word`.

    Every sum has its `Layout.bias` added first, which moves each coefficient up by 2 ** (bits - 1).
    """

    term: str
    index: int
    word: int
    shift: int
    bits: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The digits of all weights outside the board, in the catalogue's order, and what to add to each sum."""

    digits: tuple[Digit, ...]
    biases: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the evaluation sees of one position, apart from the weights.

    `words`: the sums, White minus Black. `phase`: 24 to 0. `scales`: the endgame scale factors in 64ths if Black, and
    if White, is ahead in the endgame. `kpk_result`: an index of `trace.KPK_RESULTS`; the score of king and pawn
    against king is not the sum alone. `ending`: which row of `constants.ENDGAME_SCALES` the position belongs to.
    """

    words: tuple[int, ...]
    phase: int
    scales: tuple[int, int]
    kpk_result: int
    ending: int


@cache
def layout() -> Layout:
    """Where each coefficient stands."""
    digits: list[Digit] = []
    biases = [0]
    shift = 0
    for term in CATALOGUE:
        if term.group in COUNTED_GROUPS:
            continue
        bits = (2 * _max_coefficient(term)).bit_length()
        for index in range(term.size):
            if shift + bits > WORD_BITS:
                biases.append(0)
                shift = 0
            digits.append(Digit(term.name, index, len(biases) - 1, shift, bits))
            biases[-1] += 1 << shift + bits - 1
            shift += bits
    return Layout(tuple(digits), tuple(biases))


def place(board: Any, pieces: Iterable[tuple[int, int]], turn: bool) -> None:
    """Set up a BaseBoard. A piece is (number, square), where the number is 2 * piece type + colour (White is 1)."""
    board.set_pieces(EMPTY_BOARDS[turn])
    put = board.put
    for piece, square in pieces:
        put(piece, square)


class CoefficientReader:
    """The prepared evaluators, one after another. Making one takes milliseconds, reading a position microseconds."""

    def __init__(self) -> None:
        # Imported here, because importing the package must load no kernel module (see `evaluation`).
        from evaluation.base.base_board import BaseBoard
        from evaluation.evaluator import Evaluator
        from evaluation.terms.endgames import endgame_scale, ending

        self._board = BaseBoard([0] * len(default_weights().piece_square()))
        self._endgame_scale, self._ending = endgame_scale, ending
        evaluators = [Evaluator(default_weights()) for _ in layout().biases]
        for word, evaluator in enumerate(evaluators):
            _set_powers(evaluator, word)
        self._kpk = evaluators[0].kpk
        self._sums = [evaluator.sum_of_terms for evaluator in evaluators]

    def read(self, pieces: Iterable[tuple[int, int]], turn: bool) -> Reading:
        """A position with pieces as `place` takes them.

        The caller sees to it that the position can be evaluated (see `scoring.check`).
        """
        board = self._board
        place(board, pieces, turn)
        scale = self._endgame_scale
        return Reading(
            tuple([sum_of_terms(board, False) for sum_of_terms in self._sums]),
            min(board.phase, FULL_PHASE),
            (scale(board, 0), scale(board, 1)),
            self._kpk.result(board),
            self._ending(board),
        )


def _max_coefficient(term: Term) -> int:
    """The bound of a coefficient of the term, for either side."""
    if term.owner == "side":
        return term.max_count
    return term.max_count * (1 if term.owner == "king" else MAX_PIECES)


def _set_powers(evaluator: Any, word: int) -> None:
    """Give an evaluator the weights of one word: powers of two for its digits, and 0 for all other weights."""
    values = {term.name: [0] * term.size for term in CATALOGUE}
    for digit in layout().digits:
        if digit.word == word:
            values[digit.term][digit.index] = 1 << digit.shift
    for term in CATALOGUE:
        if term.group != ACCUMULATED:
            numbers = values[term.name]
            setattr(evaluator.context, term.name, numbers if term.size > 1 else numbers[0])
