"""The evaluation as a library: what a position is worth, and why.

    >>> import chess, evaluation
    >>> evaluation.evaluate(chess.Board()) > 0      # the side to move is a little ahead
    True
    >>> print(evaluation.format_explanation(evaluation.explain(chess.Board())))     # doctest: +SKIP

What must stay true: importing this package loads no kernel module (`bitboards`, `placement`, `features`,
`evaluator`), because whether the compiled or the plain ones serve a process is decided later, by
`uci_engine.core.load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.weights import Weights, WeightsError, default_weights

if TYPE_CHECKING:
    import chess

    from evaluation.explain import Explanation

__all__ = ["Weights", "WeightsError", "default_weights", "evaluate", "explain", "format_explanation"]


def evaluate(board: chess.Board, weights: Weights | None = None) -> int:
    """The static score of a position in centipawns from the side to move's view, strictly within ±30000.

    Only the men and the side to move matter. ValueError unless there is one king and at most 16 men a side,
    and no pawn on the first or last rank. To score many positions keep an `Evaluator` and a `Placement`
    instead.
    """
    from evaluation.explain import place

    evaluator, placement = place(board, weights)
    score: int = evaluator.evaluate(placement)
    return score


def explain(board: chess.Board, weights: Weights | None = None) -> Explanation:
    """The same score term by term. ValueError as `evaluate`."""
    from evaluation.explain import explain as explain_terms

    return explain_terms(board, weights)


def format_explanation(explanation: Explanation) -> str:
    """An ASCII table of an explanation, without a newline at the end."""
    from evaluation.explain import format_explanation as format_terms

    return format_terms(explanation)
