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

from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Literal

import chess

from evaluation.weights import Weights, default_weights

if TYPE_CHECKING:
    from evaluation.base.base_board import BaseBoard
    from evaluation.evaluator import Evaluator
    from evaluation.network.file import Network
    from evaluation.network.inference import NetworkWeights
    from evaluation.trace import Trace


def check(board: chess.Board) -> None:
    """ValueError when the board cannot be evaluated: also one of a variant, or whose fields do not agree."""
    if not isinstance(board, chess.Board):
        raise ValueError(f"a position is a chess.Board, not {type(board).__name__}")
    if board.uci_variant != "chess":
        raise ValueError(f"this engine plays chess and Chess960, not {board.uci_variant}")
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    masks = (*kinds, *board.occupied_co, board.occupied, board.castling_rights)
    numbers = (*masks, board.ep_square or 0, board.halfmove_clock, board.fullmove_number)
    are_numbers = type(board.turn) is bool and all(isinstance(number, int) and number >= 0 for number in numbers)
    are_in_range = are_numbers and max(masks) <= chess.BB_ALL and (board.ep_square or 0) < len(chess.SQUARES)
    # The sum of masks is their union where no two have a square in common.
    parts = (kinds, board.occupied_co)
    if not are_in_range or not all(sum(part) == reduce(or_, part) == board.occupied for part in parts):
        raise ValueError("the fields of the board are those of no position")
    for colour in chess.COLORS:
        if len(board.pieces(chess.KING, colour)) != 1 or board.occupied_co[colour].bit_count() > 16:
            raise ValueError("a position to evaluate has one king and at most 16 pieces a side")
    if board.pawns & chess.BB_BACKRANKS:
        raise ValueError("a position to evaluate has no pawn on the first or last rank")


def set_up(
    board: chess.Board, weights: Weights | None = None, network: Network | None = None
) -> tuple[Evaluator, BaseBoard]:
    """An Evaluator and a BaseBoard for a board. ValueError when the board cannot be evaluated.

    `weights`: None: those of the package. `network`: None: the evaluator has the terms alone.
    """
    # Imported here, because importing the package must load no kernel module.
    from evaluation.base.base_board import BaseBoard
    from evaluation.evaluator import Evaluator

    check(board)
    weights = weights or default_weights()
    base_board = BaseBoard(weights.piece_square)
    base_board.set_pieces(board)
    return Evaluator(weights, network_weights(network)), base_board


@lru_cache(maxsize=2)
def network_weights(network: Network | None) -> NetworkWeights | None:
    """A network as the kernel reads it, or None for none. Evaluators share it: to make it takes milliseconds."""
    from evaluation.network.inference import NetworkWeights

    return None if network is None else NetworkWeights(network)


def chosen(network: Network | Literal["default"] | None) -> Network | None:
    """The network that an argument stands for: "default" is the one of the package. Raises RuntimeError."""
    if network != "default":
        return network
    from evaluation.network.file import default_network

    return default_network()


def evaluate(
    board: chess.Board, weights: Weights | None = None, network: Network | Literal["default"] | None = "default"
) -> int:
    """The static score that the engine plays with: centipawns from the side to move's view, strictly within ±30000.

    `weights`, `network`: by default those of the package. Without a network (None) the weighted terms alone.
    Only the pieces and the side to move matter. ValueError unless there is one king and at most 16 pieces a side, and
    no pawn on the first or last rank, also where the fields of the board do not agree. RuntimeError where the network
    of the package cannot be read. To score many positions, keep one `Evaluator` and one `BaseBoard` (see `set_up`).
    """
    evaluator, base_board = set_up(board, weights, chosen(network))
    return evaluator.evaluate(base_board)


def explain(
    board: chess.Board, weights: Weights | None = None, network: Network | Literal["default"] | None = "default"
) -> Trace:
    """What `evaluate` adds up with the same arguments, term by term. ValueError: as there."""
    # Imported here, because a start of the engine does not need it.
    from evaluation.trace import Trace

    return Trace.of(board, weights, chosen(network))
