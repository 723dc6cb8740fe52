"""Pairs of games with colours reversed, which is what workers play: clocks, forfeits, and what is kept of each game.

Invariants: every game ends, whatever the engines do, and who broke which rule is recorded. An engine's clock runs from
its `go` to its `bestmove` and pays for nobody else's time. `go` never shows more time than there is. A pair is played
whole or not at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import chess
import chess.engine
import chess.pgn

from toolkit.engines.client import Engine, EngineEndedError, EngineTimeoutError, running_engines
from toolkit.engines.spec import EngineSpec, TimeControl
from toolkit.games.adjudication import MATE_CP, Adjudicator, Rules
from toolkit.games.openings import Opening

# The kinds of forfeits, with the words that the PGN standard has for such an end.
FAULTS: Mapping[str, str] = {
    "time loss": "time forfeit",
    "illegal move": "rules infraction",
    "crash": "abandoned",
    "disconnect": "abandoned",
}


# How far a fixed time for a move may be overstepped, which is no clock, and which engines take for a goal.
MOVETIME_MARGIN_MS = 200.0
# How long after its time an engine is waited for until it is killed.
HANG_SECONDS = 5.0
# How long a search without any time limit may take.
SEARCH_SECONDS = 300.0


# ---- Clocks ----


class Clock:
    """The clock of one engine. margin_ms: how far it may be overstepped."""

    def __init__(self, control: TimeControl, margin_ms: float = 0.0) -> None:
        self.control = control
        self._margin_ms = margin_ms
        self._moves_made = 0
        self.remaining_seconds = control.base_seconds

    @property
    def moves_to_go(self) -> int | None:
        """Moves until more time comes; None when none will."""
        moves = self.control.moves
        return None if moves is None else moves - self._moves_made % moves

    @property
    def allowed_seconds(self) -> float | None:
        """What the next move may take; None for any time."""
        # Beside a clock a time for the move is only advice.
        return self.control.movetime_seconds if self.remaining_seconds is None else self.remaining_seconds

    @property
    def grace_seconds(self) -> float:
        """How much more the next move may take before the game is lost."""
        least_ms = MOVETIME_MARGIN_MS if self.remaining_seconds is None else 0.0
        return max(self._margin_ms, least_ms) / 1000.0

    @property
    def deadline_seconds(self) -> float:
        """When to stop waiting for an answer."""
        allowed = self.allowed_seconds
        return SEARCH_SECONDS if allowed is None else allowed + self.grace_seconds + HANG_SECONDS

    def is_lost(self, seconds: float) -> bool:
        """Whether a move that takes so long loses on time."""
        allowed = self.allowed_seconds
        return allowed is not None and seconds > allowed + self.grace_seconds

    def spend(self, seconds: float) -> None:
        """Take the time of a move off, and add what the move earns."""
        self._moves_made += 1
        if self.remaining_seconds is None or self.control.base_seconds is None:
            return
        self.remaining_seconds = max(0.0, self.remaining_seconds - seconds) + self.control.increment_seconds
        if self.control.moves is not None and self._moves_made % self.control.moves == 0:
            self.remaining_seconds += self.control.base_seconds


def limit_for(color: chess.Color, clocks: tuple[Clock, Clock]) -> chess.engine.Limit:
    """What `go` says; the clocks are (Black's, White's).

    An opponent without a clock is shown with the mover's: some engines want both.
    """
    clock = clocks[color]
    limit = clock.control.fixed_limit()
    if clock.remaining_seconds is None:
        return limit
    black, white = (clock if side.remaining_seconds is None else side for side in clocks)
    limit.black_clock, limit.white_clock = _whole_ms(black), _whole_ms(white)
    limit.black_inc, limit.white_inc = black.control.increment_seconds, white.control.increment_seconds
    limit.remaining_moves = clock.moves_to_go
    return limit


def _whole_ms(clock: Clock) -> float:
    """The seconds left, in whole milliseconds, never more than there are."""
    return int((clock.remaining_seconds or 0.0) * 1000.0) / 1000.0


# ---- Records ----


@dataclass(slots=True)
class Conduct:
    """How an engine behaved, in one game or in many.

    moves, with the nodes that it reported and the seconds for them. overstep_ms: how far its slowest move went beyond
    its limit, zero if none did. min_clock_ms: the least that it had left on its clock. forfeits: each with its kind,
    and what the engine did, in its own words where there are any.
    """

    moves: int = 0
    nodes: int = 0
    seconds: float = 0.0
    overstep_ms: float = 0.0
    min_clock_ms: float = math.inf
    forfeits: list[tuple[str, str]] = field(default_factory=list)

    def add(self, more: Conduct) -> None:
        """Take what came later."""
        self.moves, self.nodes = self.moves + more.moves, self.nodes + more.nodes
        self.seconds = round(self.seconds + more.seconds, 6)
        self.overstep_ms = max(self.overstep_ms, more.overstep_ms)
        self.min_clock_ms = min(self.min_clock_ms, more.min_clock_ms)
        self.forfeits += more.forfeits

    def add_move(self, clock: Clock, seconds: float, nodes: int | None) -> None:
        """Take a move that was made on this clock, as it was before."""
        allowed, left = clock.allowed_seconds, clock.remaining_seconds
        over_ms = 0.0 if allowed is None else round(max(0.0, (seconds - allowed) * 1000.0), 1)
        left_ms = math.inf if left is None else round((left - seconds) * 1000.0, 1)
        self.add(Conduct(1, nodes or 0, seconds, over_ms, left_ms))


@dataclass(slots=True)
class GameRecord:
    """One game. `result` as in PGN; `ending` in words; `fault` and `guilty` (an engine's name) for a forfeit."""

    white: EngineSpec
    black: EngineSpec
    moves: chess.pgn.Game
    conduct: dict[str, Conduct]
    result: str = "*"
    ending: str = ""
    termination: str = "normal"
    fault: str | None = None
    guilty: str | None = None

    def forfeit(self, fault: str, color: chess.Color, verb: str, detail: str) -> None:
        """End the game to the loss of this colour. detail: what its engine did."""
        self.result = "0-1" if color == chess.WHITE else "1-0"
        self.ending = f"{chess.COLOR_NAMES[color].title()} {verb}"
        self.termination = FAULTS[fault]
        self.fault = fault
        self.guilty = (self.white if color == chess.WHITE else self.black).name
        self.conduct[self.guilty].forfeits.append((fault, detail))

    def as_json(self) -> dict[str, Any]:
        """For the journal, with the PGN left to the caller."""
        return {
            "white": self.white.name,
            "black": self.black.name,
            "result": self.result,
            "fault": self.fault,
            "conduct": {name: asdict(conduct) for name, conduct in self.conduct.items()},
        }

    def pgn(self, round_name: str) -> str:
        """The game as PGN, with `[%eval]` (White's view, and depth), `[%clk]` and `[%emt]` comments. Ask once."""
        headers, last = self.moves.headers, self.moves.end()
        headers["Event"] = "match"
        headers["Date"] = time.strftime("%Y.%m.%d")
        headers["Round"] = round_name
        for side, engine in (("White", self.white), ("Black", self.black)):
            # The PGN standard escapes these in a string, python-chess does not.
            headers[side] = engine.name.replace("\\", "\\\\").replace('"', '\\"')
        headers["Result"] = self.result
        if self.white.control == self.black.control:
            headers["TimeControl"] = str(self.white.control)
        else:
            headers["WhiteTimeControl"] = str(self.white.control)
            headers["BlackTimeControl"] = str(self.black.control)
        headers["PlyCount"] = str(last.ply() - self.moves.ply())
        headers["Termination"] = self.termination
        headers["EndReason"] = self.ending
        details = [detail for conduct in self.conduct.values() for _, detail in conduct.forfeits]
        # A brace would end the comment.
        closing = ": ".join([self.ending, *details]).replace("{", "(").replace("}", ")")
        last.comment = f"{last.comment} {closing}".strip()
        return f"{self.moves}\n\n"


# ---- Games ----


def rules_result(board: chess.Board) -> tuple[str, str] | None:
    """Result and reason, when the rules end the game in this position; draws are claimed as soon as they can be."""
    if (outcome := board.outcome()) is not None:
        return outcome.result(), outcome.termination.name.lower().replace("_", " ")
    if board.is_fifty_moves():
        return "1/2-1/2", "fifty-move rule"
    if board.is_repetition(3):
        return "1/2-1/2", "threefold repetition"
    return None


class Game:
    """One game between two engines."""

    def __init__(
        self,
        white: Engine,
        black: Engine,
        opening: Opening,
        rules: Rules | None = None,
        margin_ms: float = 0.0,
    ) -> None:
        self._engines = (black, white)
        self._clocks = (Clock(black.spec.control, margin_ms), Clock(white.spec.control, margin_ms))
        self._adjudicator = Adjudicator(rules or Rules())
        self._board = opening.board()
        moves = chess.pgn.Game.from_board(self._board)
        self._last = moves.end()
        self.record = GameRecord(white.spec, black.spec, moves, {side.name: Conduct() for side in (white, black)})

    def play(self) -> GameRecord:
        """Play to the end. An engine that loses by forfeit is to be restarted: its state is unknown."""
        record, ended = self.record, None
        try:
            for side in (chess.WHITE, chess.BLACK):
                self._engines[side].new_game()
            ended = rules_result(self._board)
            while ended is None and record.fault is None:
                side = self._board.turn
                ended = self._move(side)
        except EngineTimeoutError as error:
            record.forfeit("disconnect", side, "does not answer", str(error))
        except EngineEndedError as error:
            # A crash, an end in good order, or a closed pipe.
            fault, verb = ("crash", "crashes") if error.code else ("disconnect", "disconnects")
            record.forfeit(fault, side, verb, str(error))
        if ended is not None:
            record.result, record.ending = ended
            record.termination = "adjudication" if "adjudication" in record.ending else "normal"
        return record

    def _move(self, color: chess.Color) -> tuple[str, str] | None:
        """Have this side make a move; result and reason if the game is over, or a fault in the record.

        Raises EngineEndedError.
        """
        clock, conduct = self._clocks[color], self.record.conduct[self._engines[color].name]
        began = time.perf_counter()
        try:
            answer = self._engines[color].play(self._board, limit_for(color, self._clocks), clock.deadline_seconds)
        except EngineTimeoutError:
            waited = time.perf_counter() - began
            conduct.add_move(clock, waited, None)
            self.record.forfeit("time loss", color, "loses on time", f"no answer within {waited:.1f} s")
            return None
        conduct.add_move(clock, answer.seconds, answer.nodes)
        if clock.is_lost(answer.seconds):
            over_ms = (answer.seconds - (clock.allowed_seconds or 0.0)) * 1000.0
            self.record.forfeit("time loss", color, "loses on time", f"{over_ms:.1f} ms beyond its time")
            return None
        if answer.move is None:
            self.record.forfeit("illegal move", color, "makes no legal move", answer.text)
            return None
        clock.spend(answer.seconds)
        self._last = self._last.add_main_variation(answer.move)
        self._last.set_eval(answer.score, answer.depth)
        self._last.set_clock(clock.remaining_seconds)
        self._last.set_emt(answer.seconds)
        self._board.push(answer.move)
        score_cp = None if answer.score is None else answer.score.pov(color).score(mate_score=2 * MATE_CP)
        return rules_result(self._board) or self._adjudicator.verdict(self._board, score_cp)


# ---- Pairs ----


@dataclass(frozen=True)
class PairJob:
    """A pair of games: `first` plays White in the first one.

    number: of the pair in the match, from 1, for the PGN's Round. with_pgn: whether the games are told as PGN.
    """

    first: EngineSpec
    second: EngineSpec
    opening: Opening
    number: int
    rules: Rules
    margin_ms: float
    with_pgn: bool


def play_pair(job: PairJob) -> list[dict[str, Any]]:
    """The two games, as GameRecord.as_json has them, with their PGN where it is wanted. Raises EngineError."""
    results = []
    with running_engines() as engines:
        for game_number, (white, black) in enumerate(((job.first, job.second), (job.second, job.first)), start=1):
            sides = engines.engine(white), engines.engine(black)
            record = Game(*sides, job.opening, job.rules, job.margin_ms).play()
            if record.fault is not None:
                engines.dismiss(white if record.guilty == white.name else black)
            results.append(record.as_json())
            if job.with_pgn:
                results[-1]["pgn"] = record.pgn(f"{job.number}.{game_number}")
    return results
