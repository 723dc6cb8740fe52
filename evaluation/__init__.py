"""The evaluation as a library: scores, and their explanation term by term.

    >>> import chess, evaluation
    >>> evaluation.evaluate(chess.Board()) > 0      # the side to move is a little ahead
    True
    >>> print(evaluation.format_explanation(evaluation.explain(chess.Board())))     # doctest: +SKIP

Invariant: importing this package loads no kernel module (`bitboards`, `accumulator`, `base_board`, `context`, `terms`,
`evaluator`), because `uci_engine.core.load` chooses between the compiled and the plain ones later. It alone checks that
the processor has the instructions for which they were compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.explain import Explanation, Row, evaluate, explain
from evaluation.weights import Weights, WeightsError, default_weights

if TYPE_CHECKING:
    from evaluation.parts import Family, Part, PieceValue
    from evaluation.report import format_explanation

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

# Imported when they are used, because a start of the engine does not need them.
_LATER = {
    "Family": "evaluation.parts",
    "Part": "evaluation.parts",
    "PieceValue": "evaluation.parts",
    "format_explanation": "evaluation.report",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
