"""Who counts move sequences: python-chess, or any engine that knows `go perft`. Called by perft and speed.

Each has `divide`: the sequences behind each first move, by that move in UCI's notation. What must stay true: all of
them count the same positions, read by the rules of Chess960 (which standard positions obey too).
"""

from __future__ import annotations

import re
import time
from typing import Protocol

import chess

from lib.engines.engine import Engine, EngineError
from lib.engines.spec import EngineSpec

DIVIDED = re.compile(r"([a-h][1-8][a-h][1-8][nbrq]?)\s*:?\s+(\d+)")
TOTAL = re.compile(r"(?:total\s+)?nodes(?:\s+searched)?\s*[:=]?\s*(\d+)", re.IGNORECASE)
# A count of depth 6 takes Stockfish a minute on a slow machine.
COUNT_SECONDS = 3600.0
# An engine that takes `perft` for an unknown word would search for ever.
RECOGNISE_SECONDS = 5.0


class NoPerftError(EngineError):
    """An engine that does not know `go perft`."""


class MoveCounter(Protocol):
    """Counts the legal move sequences of `depth` plies (at least 1)."""

    name: str

    def count(self, board: chess.Board, depth: int) -> int:
        """All of them."""

    def divide(self, board: chess.Board, depth: int) -> dict[str, int]:
        """Those behind each first move."""

    def close(self) -> None:
        """Free what it holds."""


class OracleCounter:
    """python-chess."""

    name = "python-chess"

    def count(self, board: chess.Board, depth: int) -> int:
        """All of them; about a quarter of a million a second."""
        if depth == 0:
            return 1
        if depth == 1:
            return board.legal_moves.count()
        total = 0
        for move in list(board.legal_moves):
            board.push(move)
            total += self.count(board, depth - 1)
            board.pop()
        return total

    def divide(self, board: chess.Board, depth: int) -> dict[str, int]:
        """Those behind each first move."""
        result = {}
        for move in list(board.legal_moves):
            board.push(move)
            result[move.uci()] = self.count(board, depth - 1)
            board.pop()
        return result

    def close(self) -> None:
        """Nothing is held."""


class EngineCounter:
    """An engine that answers `go perft N` as Stockfish does: a line for each move, then `Nodes searched: N`."""

    def __init__(self, spec: EngineSpec) -> None:
        """Start it. Raises EngineError, NoPerftError."""
        self.name = spec.name
        self.engine = Engine(spec, [("UCI_Chess960", "true")])
        self.is_chess960 = "uci_chess960" in self.engine.options
        try:
            found = self.divide(chess.Board(chess960=True), 2, RECOGNISE_SECONDS)
        except EngineError as error:
            self.engine.close()
            raise NoPerftError(f"{spec.name} does not answer `go perft` ({error})") from error
        if len(found) != 20 or sum(found.values()) != 400:
            self.engine.close()
            raise NoPerftError(f"{spec.name} does not answer `go perft` with the counts of each move")

    def count(self, board: chess.Board, depth: int) -> int:
        """All of them. Raises EngineError."""
        return sum(self.divide(board, depth).values())

    def divide(self, board: chess.Board, depth: int, seconds: float = COUNT_SECONDS) -> dict[str, int]:
        """Those behind each first move. Raises EngineError, also when they do not add up to the engine's total."""
        self.engine.set_position(board if self.is_chess960 else standard(board))
        deadline = self.engine.send(f"go perft {depth}") + seconds
        result: dict[str, int] = {}
        while True:
            text = self.engine.read(deadline - time.perf_counter()).text
            if move := DIVIDED.fullmatch(text):
                result[move[1]] = int(move[2])
            elif total := TOTAL.fullmatch(text):
                if int(total[1]) != sum(result.values()):
                    raise EngineError(f"{self.engine.name}: a total of {total[1]}, but {sum(result.values())} by moves")
                return result if self.is_chess960 else {as_chess960(board, move): n for move, n in result.items()}
            elif text.startswith("bestmove"):
                raise EngineError(f"{self.engine.name} searches instead of counting")

    def close(self) -> None:
        """End the engine."""
        self.engine.close()


def standard(board: chess.Board) -> chess.Board:
    """The same position in the notation of standard chess. Raises EngineError when castling there is not standard."""
    result = chess.Board(board.fen())
    if result.clean_castling_rights() != board.clean_castling_rights():
        raise EngineError(f"only Chess960 castles as in {board.shredder_fen()}")
    return result


def as_chess960(board: chess.Board, move: str) -> str:
    """A move of standard chess as Chess960 writes it: castling takes the rook. What is illegal stays as it is."""
    try:
        return board.parse_uci(move).uci()
    except (chess.IllegalMoveError, chess.InvalidMoveError):
        return move
