"""The evaluation as a library: scores, and their explanation term by term.

    >>> import chess, evaluation
    >>> evaluation.evaluate(chess.Board()) > 0      # the side to move is a little ahead
    True
    >>> print(evaluation.format_explanation(evaluation.explain(chess.Board())))     # doctest: +SKIP

Invariant: importing this package loads no kernel module (`bitboards`, `accumulator`, `base_board`, `context`, `terms`,
`evaluator`), because `uci_engine.core.load` chooses between the compiled and the plain ones later.
"""

from __future__ import annotations

from evaluation.explain import Explanation, Family, Part, PieceValue, Row, evaluate, explain
from evaluation.report import format_explanation
from evaluation.weights import Weights, WeightsError, default_weights

__all__ = [
    "Explanation",
    "Family",
    "Part",
    "PieceValue",
    "Row",
    "Weights",
    "WeightsError",
    "default_weights",
    "evaluate",
    "explain",
    "format_explanation",
]
