"""The evaluation as a library: scores, alone and term by term.

    >>> import chess, evaluation
    >>> evaluation.evaluate(chess.Board()) > 0      # the side to move is a little ahead
    True
    >>> evaluation.explain(chess.Board())["material"]
    0

Both are what the engine plays with by default: the weighted terms, and what the network adds. `network=None` leaves
out the network. All scores are in the centipawns of the weights.

Invariant: importing this package loads no kernel module (`base.bitboards`, `base.base_board`, `context`, `terms`,
`evaluator`, `network.inference`), because `uci_engine.core.load` chooses between the compiled and the plain ones later.
It alone checks that the processor has the instructions for which they were compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.scoring import evaluate
from evaluation.weights import Weights, WeightsError, default_weights

if TYPE_CHECKING:
    from evaluation.trace import PieceValue, Subtotal, TermValue, Trace, explain

__all__ = [
    "PieceValue",
    "Subtotal",
    "TermValue",
    "Trace",
    "Weights",
    "WeightsError",
    "default_weights",
    "evaluate",
    "explain",
]


def __getattr__(name: str) -> object:
    """A name of `evaluation.trace`, at its first use: a start of the engine does not need it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evaluation import trace

    return getattr(trace, name)
