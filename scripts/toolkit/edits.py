"""The edits that confirm causes, searched by another engine: does the loss go away, or come, as the cause says?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import chess
from chess.engine import Limit, SimpleEngine

from uci_engine.game_analysis.causes import Cause, Edit, passed_board
from uci_engine.game_analysis.values import MAX_SITE_CP, Found, site_expected

# An edit is confirmed by this part of the loss that the other engine sees, where that is no less than LEAST_LOSS.
CONFIRMED, LEAST_LOSS = 0.5, 0.03
# Longer than any search: an engine that hangs is given up.
PATIENCE_SECONDS = 60.0
# The site's centipawns in one of Stockfish 15.1.
SITE_CP = 1.6
VERDICTS = ("confirmed", "refused", "no loss")


@cache
def started(command: tuple[str, ...]) -> SimpleEngine:
    """The engine of this process, which ends with it. Raises OSError."""
    return SimpleEngine.popen_uci(list(command))


class OtherEngine:
    """What another engine says of an error on a board: `best` and `worse` are expected after the two moves."""

    def __init__(self, command: tuple[str, ...], nodes: int, board: chess.Board, played: Found, better: Found) -> None:
        """`nodes`: those of each search. Raises OSError where the engine cannot be started."""
        self._engine, self._limit = started(command), Limit(nodes=nodes, time=PATIENCE_SECONDS)
        self._board, self._better = board, better.line[0]
        self._loss = better.value.expected_for(board.turn) - played.value.expected_for(board.turn)
        self.best, self.worse = self.expected(board, better.line[:1]), self.expected(board, played.line[:1])

    def expected(self, board: chess.Board, moves: Iterable[chess.Move]) -> float:
        """What the player may expect, from 0 to 1, of a position with these moves alone, by the rule of the site."""
        info = self._engine.analyse(board, self._limit, game=self, root_moves=list(moves))
        return site_expected(SITE_CP * info["score"].pov(self._board.turn).score(mate_score=MAX_SITE_CP))

    def checks(self, cause: Cause) -> list[dict[str, Any]]:
        """A verdict on each edit of a cause; without one, on half of the loss that we see."""
        seen, checks = self.best - self.worse, []
        for name, board, moves in self.edits_of(cause) or [("", self._board, [])]:
            value = self.expected(board, moves) if name else self.worse
            gone = value - self.worse if name == Edit.NO_REPLY.name else self.best - value
            part = gone / max(seen if name else self._loss, LEAST_LOSS)
            verdict = VERDICTS[2 if seen < LEAST_LOSS else 0 if part >= CONFIRMED else 1]
            values = [round(each, 4) for each in (self.best, self.worse, value)]
            checks.append({"edit": name, "verdict": verdict, "part": round(part, 3), "expected": values})
        return checks

    def edits_of(self, cause: Cause) -> list[tuple[str, chess.Board, list[chess.Move]]]:
        """The name of each edit, and the position with the moves that are left in it."""
        edits = []
        for evidence in cause.evidence:
            board, moves = evidence.board, list(evidence.board.legal_moves)
            if evidence.edit is Edit.PASS:
                moves = [*evidence.found.line[:1]]
            elif evidence.edit is Edit.NO_BETTER:
                moves.remove(self._better)
            else:
                reply = cause.line.moves[1]
                square = reply.to_square if board.is_capture(reply) else None
                moves = [move for move in moves if move != reply and move.to_square != square]
            edits.append((evidence.edit.name, board, moves))
        passed = passed_board(self._board)
        if cause.is_threat and passed and all(name != Edit.PASS.name for name, *_ in edits):
            edits.append((Edit.PASS.name, passed, [cause.line.moves[1]]))
        return edits
