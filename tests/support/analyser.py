"""An analyser without an engine: it counts material one ply deep. Fast, and the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import chess
from chess.engine import Cp, Limit, Mate, PovScore

from uci_engine.game_analysis.boards import material_balance


class MaterialAnalyser:
    """Takes the move after which the side to move has most material, and knows mates in one."""

    def analyse(
        self,
        board: chess.Board,
        limit: Limit,
        *,
        game: object = None,
        root_moves: Iterable[chess.Move] | None = None,
        multipv: int | None = None,
    ) -> Any:
        """The last report of a search; of the move that is first in the alphabet among equal ones."""
        moves = list(board.legal_moves if root_moves is None else root_moves)
        scored = [(self._score(board, move), move) for move in moves]
        ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].uci()))
        infos = [self._info(board, score, move) for score, move in ranked[: multipv or 1]]
        return infos if multipv else infos[0] if infos else {}

    def probe_tablebases(self, board: chess.Board) -> int | None:
        """There are none."""
        return None

    def human(self, board: chess.Board, rating: float) -> dict[chess.Move, float]:
        """All moves are as likely."""
        return dict.fromkeys(board.legal_moves, 1 / board.legal_moves.count())

    def _score(self, board: chess.Board, move: chess.Move) -> int:
        board.push(move)
        score = 99_999 if board.is_checkmate() else 100 * material_balance(board, not board.turn)
        board.pop()
        return score

    def _info(self, board: chess.Board, score: int, move: chess.Move) -> dict[str, Any]:
        shown = Mate(1) if score == 99_999 else Cp(score)
        return {"score": PovScore(shown, board.turn), "depth": 1, "nodes": 20, "pv": [move]}
