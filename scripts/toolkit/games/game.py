"""Play one game between two running engines, or a pair of games with colours reversed, which is what workers do.

Invariants: every game ends, whatever the engines do, and who broke which rule is recorded. An engine's clock runs from
its `go` to its `bestmove` and pays for nobody else's time. A pair is played whole or not at all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import chess
import chess.engine

from toolkit.engines.answer import Answer
from toolkit.engines.cache import running_engines
from toolkit.engines.engine import EngineEndedError, EngineTimeoutError
from toolkit.engines.spec import EngineSpec
from toolkit.games.adjudication import MATE_CP, Adjudicator, Rules, Tables, open_tables
from toolkit.games.clock import Clock, Patience, limit_for
from toolkit.games.openings import Opening
from toolkit.games.record import GameRecord, MoveRecord


class Player(Protocol):
    """Whoever plays one side of a game."""

    spec: EngineSpec

    def new_game(self, seconds: float) -> None:
        """Get ready within this time. Raises EngineTimeoutError, EngineEndedError."""

    def play(self, board: chess.Board, limit: chess.engine.Limit, seconds: float) -> Answer:
        """Make a move within this time. Raises EngineTimeoutError, EngineEndedError."""


@dataclass(frozen=True)
class PairJob:
    """A pair of games: `first` plays White in the first one.

    number: of the pair in the match, from 1, for the PGN's Round.
    """

    first: EngineSpec
    second: EngineSpec
    opening: Opening
    number: int
    rules: Rules
    patience: Patience


def play_pair(job: PairJob) -> list[dict[str, Any]]:
    """The two games, as GameRecord.as_json has them, each with its PGN. Raises EngineError."""
    results = []
    with running_engines() as engines, open_tables(job.rules) as tables:
        for game_number, (white, black) in enumerate(((job.first, job.second), (job.second, job.first)), start=1):
            sides = engines.engine(white), engines.engine(black)
            record = Game(*sides, job.opening, job.rules, job.patience, tables).play()
            if record.fault is not None:
                engines.dismiss(white if record.guilty == white.name else black)
            pgn = record.pgn(f"{job.number}.{game_number}")
            results.append({**record.as_json(), "pgn": pgn})
    return results


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
    """One game between two players, who may be one and the same."""

    def __init__(
        self,
        white: Player,
        black: Player,
        opening: Opening,
        rules: Rules | None = None,
        patience: Patience | None = None,
        tables: Tables | None = None,
    ) -> None:
        self._players = (black, white)
        self._patience = patience or Patience()
        self._controls = (black.spec.control, white.spec.control)
        self._clocks = (Clock(black.spec.control, self._patience), Clock(white.spec.control, self._patience))
        self._adjudicator = Adjudicator(rules or Rules(), tables)
        self._board = opening.board()
        self.record = GameRecord(white.spec, black.spec, opening)

    def play(self) -> GameRecord:
        """Play to the end. An engine that loses by forfeit is to be restarted: its state is unknown."""
        for color in (chess.WHITE, chess.BLACK):
            if not self._make_ready(color):
                return self.record
        ended = rules_result(self._board)
        while ended is None:
            ended = self._move(self._board.turn)
            if self.record.fault is not None:
                return self.record
        self.record.result, self.record.ending = ended
        if "adjudication" in self.record.ending:
            self.record.termination = "adjudication"
        return self.record

    def _make_ready(self, color: chess.Color) -> bool:
        try:
            self._players[color].new_game(self._patience.ready_seconds)
        except EngineTimeoutError:
            detail = f"no readyok within {self._patience.ready_seconds:g} s of ucinewgame"
            self.record.forfeit("disconnect", color, f"{self._side(color)} does not answer", detail)
            return False
        except EngineEndedError as error:
            self._record_end(color, error)
            return False
        return True

    def _move(self, color: chess.Color) -> tuple[str, str] | None:
        """Have this side make a move; result and reason if the game is over, or a fault in the record."""
        player, clock = self._players[color], self._clocks[color]
        limit = limit_for(color, self._clocks, self._controls)
        began = time.perf_counter()
        try:
            answer = player.play(self._board, limit, clock.deadline_seconds)
        except EngineTimeoutError:
            waited = time.perf_counter() - began
            self._lose_on_time(color, waited, f"no answer within {waited:.1f} s")
            return None
        except EngineEndedError as error:
            self._record_end(color, error)
            return None
        if clock.is_lost(answer.seconds):
            over_ms = (answer.seconds - (clock.allowed_seconds or 0.0)) * 1000.0
            self._lose_on_time(color, answer.seconds, f"{over_ms:.1f} ms beyond its time")
            return None
        self._note_time(color, answer.seconds)
        if answer.move is None:
            self.record.forfeit("illegal move", color, f"{self._side(color)} makes no legal move", answer.text)
            return None
        clock.spend(answer.seconds)
        seconds, left = answer.seconds, clock.remaining_seconds
        self.record.moves.append(MoveRecord(answer.move, seconds, left, answer.score, answer.depth, answer.nodes))
        self._board.push(answer.move)
        score_cp = None if answer.score is None else answer.score.pov(color).score(mate_score=2 * MATE_CP)
        return rules_result(self._board) or self._adjudicator.verdict(self._board, score_cp)

    def _lose_on_time(self, color: chess.Color, seconds: float, detail: str) -> None:
        self._note_time(color, seconds)
        self.record.forfeit("time loss", color, f"{self._side(color)} loses on time", detail)

    def _record_end(self, color: chess.Color, error: EngineEndedError) -> None:
        """The engine is gone: tell a crash from an end in good order, and from a closed pipe."""
        said = f"; stderr: {error.last_words}" if error.last_words else ""
        if error.code:
            self.record.forfeit("crash", color, f"{self._side(color)} crashes", f"exit code {error.code}{said}")
        else:
            detail = "closed its pipe" if error.code is None else "left with exit code 0"
            self.record.forfeit("disconnect", color, f"{self._side(color)} disconnects", f"{detail}{said}")

    def _note_time(self, color: chess.Color, seconds: float) -> None:
        """Keep the worst that was seen."""
        name, clock = self._players[color].spec.name, self._clocks[color]
        allowed = clock.allowed_seconds
        if allowed is None:
            return
        over_ms = round(max(0.0, (seconds - allowed) * 1000.0), 1)
        self.record.overstep_ms[name] = max(self.record.overstep_ms.get(name, 0.0), over_ms)
        if clock.remaining_seconds is not None:
            left_ms = round((clock.remaining_seconds - seconds) * 1000.0, 1)
            self.record.min_clock_ms[name] = min(self.record.min_clock_ms.get(name, left_ms), left_ms)

    @staticmethod
    def _side(color: chess.Color) -> str:
        return "White" if color == chess.WHITE else "Black"
