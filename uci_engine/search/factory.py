"""Create searchers and workers of a core, with the default weights."""

from __future__ import annotations

from typing import Any

from uci_engine.core import Core


def new_searcher(core: Core, hash_mib: int, values: dict[str, int] | None = None) -> Any:
    """A searcher with its own table. `values`: search parameters by name. Raises MemoryError."""
    return new_searcher_on(core.table_class(hash_mib), core, values)


def new_searcher_on(table: Any, core: Core, values: dict[str, int] | None = None) -> Any:
    """A searcher on a table that it may share with other searchers. Raises MemoryError."""
    from evaluation.weights import default_weights

    weights = default_weights()
    evaluator = core.modules["evaluation.evaluator"].Evaluator(weights)
    position = core.position_class(weights.piece_square())
    return core.searcher_class(position, evaluator, table, values)


def new_worker(core: Core, searcher: Any) -> Any:
    """A worker that runs this searcher."""
    return core.modules["uci_engine.search.worker"].Worker(searcher)
