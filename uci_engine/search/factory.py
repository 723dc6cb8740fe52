"""Create searchers and workers of a core, and the weights and the network with which they evaluate.

`evaluation` is imported when it is needed: `core.load` says so first when another file hides that package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uci_engine.core import Core
from uci_engine.files import open_plain_file

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
    return core.searcher_class(position, _new_evaluator(core, weights, correction), table, values)


def new_worker(core: Core, searcher: Any) -> Any:
    """A worker that runs this searcher."""
    return core.modules["uci_engine.search.worker"].Worker(searcher)


def new_correction(core: Core, network: Network | None) -> Any:
    """A network as the kernel reads it, for many searchers; None for none. Raises MemoryError."""
    if network is None:
        return None
    return core.modules["evaluation.correction.weights"].CorrectionWeights(network)


def replace_evaluation(core: Core, searchers: Sequence[Any], weights: Weights, correction: Any) -> None:
    """Let searchers that do not run evaluate with other weights and `correction`, from `new_correction`.

    Raises MemoryError, and then no searcher is changed.
    """
    piece_square = weights.piece_square()
    evaluators = [_new_evaluator(core, weights, correction) for _ in searchers]
    for searcher, evaluator in zip(searchers, evaluators, strict=True):
        searcher.evaluator = evaluator
        searcher.position.accumulator.set_piece_square(piece_square)
        searcher.position.refresh()


def read_weights(path: str) -> Weights:
    """The weights of a file that the user has named. Never waits, for example for a pipe. Raises WeightsError."""
    from evaluation.weights import MAX_BYTES, Weights, WeightsError

    return Weights.parse(_read(path, MAX_BYTES + 1, WeightsError))


def read_network(path: str) -> Network:
    """The network of a file that the user has named. Never waits, for example for a pipe. Raises NetworkError."""
    from evaluation.correction.network import FILE_BYTES, Network, NetworkError

    return Network.parse(_read(path, FILE_BYTES + 1, NetworkError))


def _read(path: str, size: int, error_class: type[ValueError]) -> bytes:
    """The first bytes of a file. Raises `error_class`."""
    try:
        with open(open_plain_file(Path(path)), "rb") as file:
            return file.read(size)
    except OSError as error:
        raise error_class(f"the file cannot be read: {os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise error_class(f"the file cannot be read: {error}") from error


def _new_evaluator(core: Core, weights: Weights, correction: Any) -> Any:
    return core.modules["evaluation.evaluator"].Evaluator(weights, correction)
