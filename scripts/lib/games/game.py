"""Play one game between two running engines: rules of the game, forfeits, adjudication.

Called by `games.pairs` and `selfplay`. What must stay true: every game ends, whatever the engines do, and who broke
which rule is recorded; an engine's clock runs from its `go` to its `bestmove` and pays for nobody else's time.
"""

from __future__ import annotations

import asyncio

import chess
import chess.engine

from lib.engines.playing import RunningEngine
from lib.games.adjudication import MATE_CP, Adjudicator, Rules, Tables
from lib.games.clock import Clock, Patience, limit_for
from lib.games.openings import Opening
from lib.games.record import GameRecord, MoveRecord


def rules_result(board: chess.Board) -> tuple[str, str] | None:
    """Result and reason, when the rules end the game in this position; draws are claimed as soon as they can be."""
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return "1/2-1/2", "stalemate"
        return ("0-1", "Black mates") if board.turn == chess.WHITE else ("1-0", "White mates")
    if board.is_insufficient_material():
        return "1/2-1/2", "insufficient material"
    if board.halfmove_clock >= 100:
        return "1/2-1/2", "fifty-move rule"
    if board.halfmove_clock >= 8 and board.is_repetition(3):
        return "1/2-1/2", "threefold repetition"
    return None


class Game:
    """One game between two running engines."""

    def __init__(
        self,
        white: RunningEngine,
        black: RunningEngine,
        opening: Opening,
        rules: Rules | None = None,
        patience: Patience | None = None,
        tables: Tables | None = None,
    ) -> None:
        self._engines = (black, white)
        self._patience = patience or Patience()
        self._controls = (black.spec.control, white.spec.control)
        self._clocks = (Clock(black.spec.control, self._patience), Clock(white.spec.control, self._patience))
        self._adjudicator = Adjudicator(rules or Rules(), tables)
        self._board = opening.board()
        self.record = GameRecord(white.spec, black.spec, opening)

    async def play(self) -> GameRecord:
        """Play to the end. An engine that loses by forfeit is to be restarted: its state is unknown."""
        for color in (chess.WHITE, chess.BLACK):
            if not await self._make_ready(color):
                return self.record
        ended = rules_result(self._board)
        while ended is None:
            ended = await self._move(self._board.turn)
            if self.record.fault is not None:
                return self.record
        self.record.result, self.record.ending = ended
        if "adjudication" in self.record.ending:
            self.record.termination = "adjudication"
        return self.record

    async def _make_ready(self, color: chess.Color) -> bool:
        engine = self._engines[color]
        try:
            async with asyncio.timeout(self._patience.ready_seconds):
                await engine.new_game()
        except TimeoutError:
            engine.kill()
            detail = f"no readyok within {self._patience.ready_seconds:g} s of ucinewgame"
            self.record.forfeit("disconnect", color, f"{self._side(color)} does not answer", detail)
            return False
        except chess.engine.EngineError as error:
            await self._record_failure(color, error)
            return False
        return True

    async def _move(self, color: chess.Color) -> tuple[str, str] | None:
        """Have this side make a move; result and reason if the game is over, or a fault in the record."""
        engine, clock = self._engines[color], self._clocks[color]
        limit = limit_for(color, self._clocks, self._controls)
        try:
            async with asyncio.timeout(clock.deadline_seconds):
                answer = await engine.search(self._board, limit)
        except TimeoutError:
            waited = engine.seconds_waited()
            engine.kill()
            self._note_time(color, waited)
            self.record.forfeit(
                "time loss", color, f"{self._side(color)} loses on time", f"no answer within {waited:.1f} s"
            )
            return None
        except chess.engine.EngineError as error:
            await self._record_failure(color, error)
            return None
        seconds = engine.seconds_used()
        self._note_time(color, seconds)
        if clock.is_lost(seconds):
            over_ms = (seconds - (clock.allowed_seconds or 0.0)) * 1000.0
            self.record.forfeit(
                "time loss", color, f"{self._side(color)} loses on time", f"{over_ms:.1f} ms beyond its time"
            )
            return None
        # A null move passes the library's check, and `(none)` is no move.
        if not answer.move:
            self.record.forfeit("illegal move", color, f"{self._side(color)} makes no legal move", engine.answer)
            return None
        clock.spend(seconds)
        score, depth = answer.info.get("score"), answer.info.get("depth")
        self.record.moves.append(MoveRecord(answer.move, seconds, clock.remaining_seconds, score, depth))
        self._board.push(answer.move)
        score_cp = None if score is None else score.pov(color).score(mate_score=2 * MATE_CP)
        return rules_result(self._board) or self._adjudicator.verdict(self._board, score_cp)

    async def _record_failure(self, color: chess.Color, error: chess.engine.EngineError) -> None:
        """Tell an engine that is gone from one that made an illegal move."""
        engine = self._engines[color]
        if not isinstance(error, chess.engine.EngineTerminatedError):
            detail = f"{engine.answer} ({error})"
            self.record.forfeit("illegal move", color, f"{self._side(color)} makes an illegal move", detail)
            return
        code = await engine.returncode
        said = f"; stderr: {engine.error_lines[-1]}" if engine.error_lines else ""
        if engine.lost or code == 0:
            detail = f"{engine.lost or 'left with exit code 0'}{said}"
            self.record.forfeit("disconnect", color, f"{self._side(color)} disconnects", detail)
        else:
            self.record.forfeit("crash", color, f"{self._side(color)} crashes", f"exit code {code}{said}")

    def _note_time(self, color: chess.Color, seconds: float) -> None:
        """Keep the worst that was seen."""
        name, clock = self._engines[color].spec.name, self._clocks[color]
        allowed = clock.allowed_seconds
        if allowed is None:
            return
        over_ms = round(max(0.0, (seconds - allowed) * 1000.0), 1)
        self.record.overstep_ms[name] = max(self.record.overstep_ms.get(name, 0.0), over_ms)
        if clock.remaining_seconds is not None:
            left_ms = round((clock.remaining_seconds - seconds) * 1000.0, 1)
            self.record.least_clock_ms[name] = min(self.record.least_clock_ms.get(name, left_ms), left_ms)

    @staticmethod
    def _side(color: chess.Color) -> str:
        return "White" if color == chess.WHITE else "Black"
