"""The file of the games that were played: PGN, written at every move.

Every game has its header GameId. Games of others in the file, and what is no game, stay as they are.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

GAME_ID = "[0-9a-f]{16}"
MAX_FILE_BYTES = 16 << 20


class SavedGames:
    """The file of this path. It is read anew each time, because another program may change it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, number: str, pgn: str) -> Path:
        """Add a game, or replace the one with this GameId. Afterwards the file is all new, or all old.

        Returns the path. ValueError: the file cannot be read or written, or is too large.
        """
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            before = self.path.read_bytes() if self.path.exists() else b""
            if len(before) > MAX_FILE_BYTES:
                raise ValueError(f"{self.path} is too large to add games to it")
            temporary.write_bytes(_with_game(before, number, pgn.encode() + b"\n\n"))
            temporary.replace(self.path)
        except OSError as error:
            raise ValueError(f"the game cannot be saved in {self.path}: {error.strerror}") from None
        finally:
            temporary.unlink(missing_ok=True)
        return self.path


def _with_game(text: bytes, number: str, game: bytes) -> bytes:
    """The text of a file with this game at its old place, or at the end."""
    header = f'[GameId "{number}"]'.encode()
    at = text.find(header)
    if at < 0:
        return text + (b"\n" if text and not text.endswith(b"\n\n") else b"") + game
    # A game begins with its Event, and ends where the next one begins.
    begin = max(text.rfind(b"[Event ", 0, at), 0)
    following = re.search(rb"^\[Event ", text[at:], re.MULTILINE)
    return text[:begin] + game + (text[at + following.start() :] if following else b"")
