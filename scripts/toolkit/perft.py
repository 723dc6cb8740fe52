"""An engine that answers `go perft N` as Stockfish does: a line for each move, then `Nodes searched: N`."""

from __future__ import annotations

import re
import time

import chess

from toolkit.engines.engine import Engine, EngineError
from toolkit.engines.spec import EngineSpec

DIVIDED = re.compile(r"([a-h][1-8][a-h][1-8][nbrq]?)\s*:?\s+(\d+)")
TOTAL = re.compile(r"(?:total\s+)?nodes(?:\s+searched)?\s*[:=]?\s*(\d+)", re.IGNORECASE)
# A count of depth 6 takes Stockfish a minute on a slow machine.
COUNT_SECONDS = 3600.0
# An engine that takes `perft` for an unknown word would search for ever.
RECOGNISE_SECONDS = 5.0


class NoPerftError(EngineError):
    """An engine that does not know `go perft`."""


class PerftEngine(Engine):
    """An engine that counts, by the rules of Chess960 where it knows them. Standard positions obey those too."""

    def __init__(self, spec: EngineSpec) -> None:
        """Start it. Raises EngineError, NoPerftError."""
        super().__init__(spec, [("UCI_Chess960", "true")])
        self.is_chess960 = "uci_chess960" in self.options
        try:
            found = self.divide(self.board(chess.STARTING_FEN), 2, RECOGNISE_SECONDS)
        except EngineError as error:
            self.close()
            raise NoPerftError(f"{spec.name} does not answer `go perft` ({error})") from error
        if len(found) != 20 or sum(found.values()) != 400:
            self.close()
            raise NoPerftError(f"{spec.name} does not answer `go perft` with the counts of each move")

    def board(self, epd: str) -> chess.Board:
        """A position, by the rules that the engine knows. Raises ValueError, also for castling that it does not know.

        epd: up to four fields; what follows is left out. Castling may be X-FEN or Shredder-FEN.
        """
        board = chess.Board(None, chess960=True)
        board.set_epd(" ".join(epd.split()[:4]))
        if self.is_chess960:
            return board
        standard = chess.Board(board.fen())
        if standard.clean_castling_rights() != board.clean_castling_rights():
            raise ValueError(f"only Chess960 castles as in {epd}, which {self.name} does not know")
        return standard

    def divide(self, board: chess.Board, depth: int, seconds: float = COUNT_SECONDS) -> dict[str, int]:
        """The counts behind each first move. Raises EngineError, also when they do not add up to the engine's total."""
        self.set_position(board)
        deadline = self.send(f"go perft {depth}") + seconds
        result: dict[str, int] = {}
        while True:
            text = self.read(deadline - time.perf_counter()).text
            if move := DIVIDED.fullmatch(text):
                result[move[1]] = int(move[2])
            elif total := TOTAL.fullmatch(text):
                if int(total[1]) != sum(result.values()):
                    raise EngineError(f"{self.name}: a total of {total[1]}, but {sum(result.values())} by moves")
                return result
            elif text.startswith("bestmove"):
                raise EngineError(f"{self.name} searches instead of counting")
