"""Positions with counts of move sequences, and who counts them: python-chess, or an engine that knows `go perft`.

Files are in two formats, which may be mixed: EPD with the counts behind it (`FEN ;D1 20 ;D2 400`), and blocks of lines
(`epd FEN`, then `perft 1 20`, `perft 2 400`). Castling may be X-FEN or Shredder-FEN.

Invariants: a line in neither format is an error. All counters read positions by the rules of Chess960, which standard
positions obey too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess

from lib.engines.engine import Engine, EngineError
from lib.engines.spec import EngineSpec
from lib.errors import ProgramError
from lib.files import read_text

DIVIDED = re.compile(r"([a-h][1-8][a-h][1-8][nbrq]?)\s*:?\s+(\d+)")
TOTAL = re.compile(r"(?:total\s+)?nodes(?:\s+searched)?\s*[:=]?\s*(\d+)", re.IGNORECASE)
# A count of depth 6 takes Stockfish a minute on a slow machine.
COUNT_SECONDS = 3600.0
# An engine that takes `perft` for an unknown word would search for ever.
RECOGNISE_SECONDS = 5.0


@dataclass
class Case:
    """A position with its counts by depth, and where it stands (`file:line`)."""

    where: str
    epd: str
    counts: dict[int, int] = field(default_factory=dict)

    def board(self) -> chess.Board:
        """The position, by the rules of Chess960."""
        board = chess.Board(chess960=True)
        board.set_epd(" ".join(self.epd.split()[:4]))
        return board


def read_cases(path: Path) -> Iterator[Case]:
    """The positions of a file in either format. Raises ProgramError or OSError."""
    case: Case | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(" ")
        if not line.strip() or word == "id" or word.startswith("#"):
            continue
        try:
            if word == "perft":
                if case is None:
                    raise ProgramError(f"{where}: a count before any position")
                _note_count(case, rest)
                continue
            if case is not None:
                yield case
            epd, *counts = (rest,) if word == "epd" else line.split(";")
            case = Case(where, epd.strip())
            case.board()
            for text in counts:
                _note_count(case, text)
        except ValueError as error:
            raise ProgramError(f"{where}: {error}") from error
    if case is not None:
        yield case


def _note_count(case: Case, text: str) -> None:
    """Note a depth and its count, e.g. `D3 8902` or `3 8902`. Raises ValueError."""
    depth, count = text.split()
    plies, sequences = int(depth.removeprefix("D")), int(count)
    if plies < 1 or sequences < 0:
        raise ValueError(f"{text!r} is no depth with its count")
    case.counts[plies] = sequences


class NoPerftError(EngineError):
    """An engine that does not know `go perft`."""


class PythonChessCounter:
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
