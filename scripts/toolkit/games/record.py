"""What happened in a game: its moves with scores, depths and times, how it ended, and the same as PGN."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import chess
import chess.engine
import chess.pgn

from toolkit.engines.spec import EngineSpec
from toolkit.games.openings import Opening

FaultKind = Literal["time loss", "illegal move", "crash", "disconnect"]
FAULT_KINDS: tuple[FaultKind, ...] = ("time loss", "illegal move", "crash", "disconnect")
# The words that the PGN standard has for the end of a game.
TERMINATIONS: Mapping[str, str] = {
    "time loss": "time forfeit",
    "illegal move": "rules infraction",
    "crash": "abandoned",
    "disconnect": "abandoned",
}


@dataclass(frozen=True, slots=True)
class Effort:
    """What an engine used: moves, the seconds for them, and the nodes that it reported for them."""

    moves: int = 0
    seconds: float = 0.0
    nodes: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.moves + other.moves, self.seconds + other.seconds, self.nodes + other.nodes)

    def cells(self) -> tuple[str, str]:
        """Mean time of a move, and nodes a second, as text."""
        if not self.moves:
            return "-", "-"
        rate = f"{self.nodes / self.seconds:.0f}" if self.nodes and self.seconds else "-"
        return f"{1000 * self.seconds / self.moves:.1f} ms", rate


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """A move and what its engine said of it.

    seconds: time used; clock_seconds: left after the move, None without a clock; score: from the mover's side.
    """

    move: chess.Move
    seconds: float
    clock_seconds: float | None = None
    score: chess.engine.PovScore | None = None
    depth: int | None = None
    nodes: int | None = None


@dataclass(slots=True)
class GameRecord:
    """One game. `result` as in PGN; `ending` in words; `fault` and `guilty` (an engine's name) for a forfeit.

    detail: what the guilty engine did, in its own words where there are any.
    overstep_ms: how far each engine's slowest move went beyond its limit, zero if none did.
    min_clock_ms: the least that each engine had left on its clock.
    """

    white: EngineSpec
    black: EngineSpec
    opening: Opening
    moves: list[MoveRecord] = field(default_factory=list)
    result: str = "*"
    ending: str = ""
    termination: str = "normal"
    fault: FaultKind | None = None
    guilty: str | None = None
    detail: str = ""
    overstep_ms: dict[str, float] = field(default_factory=dict)
    min_clock_ms: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.time)

    def forfeit(self, fault: FaultKind, color: chess.Color, ending: str, detail: str = "") -> None:
        """End the game to the loss of this colour."""
        self.result = "0-1" if color == chess.WHITE else "1-0"
        self.ending = ending
        self.termination = TERMINATIONS[fault]
        self.fault = fault
        self.guilty = (self.white if color == chess.WHITE else self.black).name
        self.detail = detail

    def as_json(self) -> dict[str, Any]:
        """For the journal, with the PGN left to the caller."""
        return {
            "white": self.white.name,
            "black": self.black.name,
            "result": self.result,
            "ending": self.ending,
            "fault": self.fault,
            "guilty": self.guilty,
            "detail": self.detail,
            "plies": len(self.moves),
            "effort": {self.white.name: self._effort(0), self.black.name: self._effort(1)},
            "overstep_ms": self.overstep_ms,
            "min_clock_ms": self.min_clock_ms,
        }

    def _effort(self, side: int) -> list[float]:
        """The effort of White (0) or Black (1), for JSON."""
        first = (side + (self.opening.board().turn == chess.BLACK)) % 2
        moves = self.moves[first::2]
        return [len(moves), round(sum(move.seconds for move in moves), 6), sum(move.nodes or 0 for move in moves)]

    def pgn(self, round_name: str) -> str:
        """The game as PGN, with `[%eval]` (White's view, and depth), `[%clk]` and `[%emt]` comments."""
        game = chess.pgn.Game()
        headers = game.headers
        headers["Event"] = "match"
        headers["Date"] = time.strftime("%Y.%m.%d", time.localtime(self.started))
        headers["Round"] = round_name
        for side, engine in (("White", self.white), ("Black", self.black)):
            # The PGN standard escapes these in a string, python-chess does not.
            headers[side] = engine.name.replace("\\", "\\\\").replace('"', '\\"')
        headers["Result"] = self.result
        board = chess.Board(self.opening.fen, chess960=self.opening.chess960)
        game.setup(board)
        if self.white.control == self.black.control:
            headers["TimeControl"] = str(self.white.control)
        else:
            headers["WhiteTimeControl"] = str(self.white.control)
            headers["BlackTimeControl"] = str(self.black.control)
        headers["PlyCount"] = str(len(self.opening.moves) + len(self.moves))
        headers["Termination"] = self.termination
        headers["EndReason"] = self.ending
        node: chess.pgn.GameNode = game
        for word in self.opening.moves:
            node = node.add_main_variation(chess.Move.from_uci(word))
        for record in self.moves:
            move = node = node.add_main_variation(record.move)
            move.set_eval(record.score, record.depth)
            move.set_clock(record.clock_seconds)
            move.set_emt(record.seconds)
        closing = self.ending if not self.detail else f"{self.ending}: {self.detail}"
        # A brace would end the comment.
        node.comment = f"{node.comment} {closing}".strip().replace("{", "(").replace("}", ")")
        return str(game) + "\n\n"
