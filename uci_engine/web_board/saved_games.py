"""The file of the games that were played: PGN, written at every move.

Every game has its header GameId. Games of others in the file, and what is no game, stay as they are.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path

import chess.pgn

from evaluation.files import read_start, reason_of, replace_file
from uci_engine import __version__
from uci_engine.game_analysis.pgn import RESULTS
from uci_engine.web_board.desk import Answer
from uci_engine.web_board.requests import Fields

GAME_ID = re.compile("[0-9a-f]{1,16}")
MAX_FILE_BYTES = 16 << 20


class SavedGames:
    """The file of this path. It is read anew each time, because another program may change it."""

    def __init__(self, path: Path) -> None:
        # What a link leads to is written, not the link.
        self._path = path.resolve()
        self._lock = threading.Lock()

    def save(self, fields: Fields) -> Answer:
        """Add a game, or replace the one with the same `id`. `elo` is that of the engine, 0 for full strength.

        Returns the path. ValueError: the file cannot be read or written, or is too large; then it stays as it was.
        """
        number, result, elo = fields.get("id", ""), fields.get("result", "*"), fields.get("elo", 0)
        if not GAME_ID.fullmatch(number) or result not in RESULTS:
            raise ValueError("this is no game to save")
        game = chess.pgn.Game.from_board(fields.board())
        sides = ["Player", f"Secateur {__version__} at {elo}" if elo else f"Secateur {__version__}"]
        white, black = sides if fields.get("color", "white") == "white" else reversed(sides)
        game.headers.update(Event="Game against Secateur", White=white, Black=black, Result=result, GameId=number)
        with self._lock:
            try:
                before = read_start(self._path, MAX_FILE_BYTES + 1, ValueError) if self._path.exists() else b""
                if len(before) > MAX_FILE_BYTES:
                    raise ValueError("it is too large to add games to it")
                replace_file(self._path, _with_game(before, number, f"{game}\n\n".encode()))
            except (OSError, ValueError) as error:
                raise ValueError(f"the game cannot be saved in {self._path}: {reason_of(error)}") from None
        return {"saved": str(self._path)}


def _with_game(text: bytes, number: str, game: bytes) -> bytes:
    """The text of a file with this game at its old place, or at the end."""
    at = text.find(f'[GameId "{number}"]'.encode())
    if at < 0:
        others = text.rstrip()
        return (others + b"\n\n" if others else b"") + game
    # A game begins with its Event, and ends where the next one begins.
    begin, end = text.rfind(b"[Event ", 0, at), text.find(b"\n[Event ", at) + 1
    return text[: max(begin, 0)] + game + (text[end:] if end else b"")
