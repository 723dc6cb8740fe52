"""The search without what could change its value: alpha-beta alone, to compare with minimax.

It has no transposition table, no quiescence search, no draw before its time, and of the steps none but mate distance
pruning, which is exact. The moves are ordered as ever. Only a plain core lets methods be replaced; all cores search the
same tree.
"""

from __future__ import annotations

from typing import Any

import chess

from tests.support.kernel import board_after
from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.core import load
from uci_engine.search.parameters import OFF_DEPTH
from uci_engine.search.thread_pool import new_searcher

# The values of `uci_engine.search.parameters` that switch a step off.
STEPS_OFF = {
    "reverse_futility_depth": 0,
    "null_move_depth": OFF_DEPTH,
    "probcut_depth": OFF_DEPTH,
    "iir_depth": OFF_DEPTH,
    "singular_depth": OFF_DEPTH,
    "lmp_depth": 0,
    "futility_depth": 0,
    "history_pruning_depth": 0,
    "see_pruning_depth": 0,
    "lmr_depth": OFF_DEPTH,
}


class NoTable:
    """A transposition table that remembers nothing."""

    def prefetch(self, key: int) -> int:
        return 0

    def probe(self, key: int) -> int:
        return 0

    def store(self, key: int, move: int, score: int, raw_eval: int, depth: int, bound: int) -> int:
        return 0


def plain_searcher() -> Any:
    machine: Any = new_searcher(load(), load().table_class(1), STEPS_OFF)
    position = machine.position

    def leaf(alpha: int, beta: int, ply: int) -> int:
        if machine._enter_node(ply):
            return 0
        machine.picker.begin(ply, 0, False)
        if machine.picker.next(ply) == 0:
            return ply - scores.MATE if position.checkers else int(machine.draw_score[ply & 1])
        return int(machine.draw_score[ply & 1] if position.is_draw(ply) else machine.evaluate())

    machine.table = NoTable()
    machine._quiescence = leaf
    machine.evaluator.is_known_draw = lambda _: False
    position.upcoming_repetition = lambda _: False
    return machine


def plain_search(cases: list[tuple[str, str, bool, int, int]]) -> list[tuple[int, str, int]]:
    """Value, best move and nodes of each case: FEN, moves played, Chess960?, depth, contempt in centipawns."""
    machine = plain_searcher()
    results = []
    for fen, played, chess960, depth, contempt_cp in cases:
        board = board_after(fen, played, chess960)
        machine.set_contempt(contempt_cp)
        machine.position.set_board(board)
        machine.begin(0)
        machine.set_root([moves.encode(board, move) for move in board.legal_moves])
        value = machine.search_root(depth, -scores.INFINITE, scores.INFINITE, 0)
        best: chess.Move = moves.decode(machine.pv()[0], board.chess960)
        results.append((value, best.uci(), machine.nodes))
    return results
