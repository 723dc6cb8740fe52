"""The evaluation as a library: scores, and their explanation term by term.

    >>> import chess, evaluation
    >>> evaluation.evaluate(chess.Board()) > 0      # the side to move is a little ahead
    True
    >>> print(evaluation.format_explanation(evaluation.explain(chess.Board())))     # doctest: +SKIP

Both are what the engine plays with by default: the weighted features, and what the network adds. `network=None` leaves
out the network. All scores are in the centipawns of the weights.

Invariant: importing this package loads no kernel module (those of `base`, `context`, `terms`, `evaluator`), because
`uci_engine.core.load` chooses between the compiled and the plain ones later. It alone checks that the processor has the
instructions for which they were compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.scoring import evaluate
from evaluation.weights import Weights, WeightsError, default_weights

if TYPE_CHECKING:
    from evaluation.explanation import Explanation, PieceValue, Subtotal, TermValue, explain
    from evaluation.report import format_explanation

__all__ = [
    "Explanation",
    "PieceValue",
    "Subtotal",
    "TermValue",
    "Weights",
    "WeightsError",
    "default_weights",
    "evaluate",
    "explain",
    "format_explanation",
]


def __getattr__(name: str) -> object:
    """A name of the explanation, at its first use: a start of the engine does not need it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = "report" if name == "format_explanation" else "explanation"
    return getattr(import_module(f"evaluation.{module}"), name)
