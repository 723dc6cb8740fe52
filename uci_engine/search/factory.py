"""Create searchers and workers of a core, and what they evaluate with.

`evaluation` is imported when it is needed: `core.load` says so first when another file hides that package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uci_engine.core import Core

if TYPE_CHECKING:
    from evaluation.correction.network import Network
    from evaluation.weights import Weights


def new_searcher(core: Core, hash_mib: int, values: dict[str, int] | None = None, correction: Any = None) -> Any:
    """A searcher with its own table. `values`: search parameters by name. `correction`: from `new_correction`.

    Raises MemoryError.
    """
    return new_searcher_on(core.table_class(hash_mib), core, values, correction=correction)


def new_searcher_on(
    table: Any,
    core: Core,
    values: dict[str, int] | None = None,
    weights: Weights | None = None,
    correction: Any = None,
) -> Any:
    """A searcher on a table that it may share with other searchers. Raises MemoryError.

    `weights`: of its evaluation; None: the default ones. `correction`: from `new_correction`.
    """
    from evaluation.weights import default_weights

    weights = weights or default_weights()
    position = core.position_class(weights.piece_square())
    return core.searcher_class(position, _new_evaluator(core, weights, correction), table, values or {})


def new_worker(core: Core, searcher: Any) -> Any:
    """A worker that runs this searcher."""
    return core.modules["uci_engine.search.worker"].Worker(searcher)


def new_correction(core: Core, network: Network | None) -> Any:
    """A network as the kernel reads it, for many searchers; None for none. Raises MemoryError."""
    if network is None:
        return None
    return core.modules["evaluation.correction.correction"].CorrectionWeights(network)


def replace_evaluation(core: Core, searchers: Sequence[Any], weights: Weights, correction: Any) -> None:
    """Let searchers that do not run evaluate with other weights and `correction`, from `new_correction`.

    Raises MemoryError, and then no searcher is changed.
    """
    piece_square = weights.piece_square()
    evaluators = [_new_evaluator(core, weights, correction) for _ in searchers]
    for searcher, evaluator in zip(searchers, evaluators, strict=True):
        searcher.evaluator = evaluator
        searcher.position.piece_square = piece_square
        searcher.position.refresh()


def _new_evaluator(core: Core, weights: Weights, correction: Any) -> Any:
    return core.modules["evaluation.evaluator"].Evaluator(weights, correction)
