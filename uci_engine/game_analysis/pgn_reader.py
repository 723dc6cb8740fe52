"""Games out of PGN files that may come from anywhere, one by one and within bounds.

A file is read as a stream, so that its size does not matter. A game that is too long is cut. Text that is no UTF-8 is
read as Latin-1. What cannot be read is told in a sentence, and the next game is read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import chess.pgn

HEADER = re.compile(rb'\s*\[[A-Za-z0-9_]{1,64}\s+"')
MAX_GAME_BYTES = 2**20
MAX_LINE_BYTES = 2**16
SUFFIX = ".pgn"


class PgnError(ValueError):
    """No games can be read. The text is one sentence for the user."""


class _QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game and keeps what is wrong with it. Python-chess would also log it."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def pgn_files(paths: list[Path]) -> list[Path]:
    """The files, and the PGN files of the folders among them, by name. Raises PgnError."""
    files = []
    for path in paths:
        if path.is_dir():
            inside = sorted(child for child in path.rglob("*") if child.suffix.lower() == SUFFIX and child.is_file())
            if not inside:
                raise PgnError(f"there is no {SUFFIX} file in {path}")
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise PgnError(f"{path} is not a file" if path.exists() else f"there is no file {path}")
    return files


def game_texts(file: BinaryIO) -> Iterator[bytes]:
    """The games of a PGN file, each as its bytes.

    A game begins where headers follow something else, so that an unfinished comment or bracket ends with its game.
    Blank lines are left out: they end a game for python-chess, and some programs write them between moves.
    """
    game: list[bytes] = []
    size = 0
    in_headers = False
    while line := file.readline(MAX_LINE_BYTES):
        is_header = HEADER.match(line) is not None
        if is_header and not in_headers and game:
            yield b"".join(game)
            game, size = [], 0
        in_headers = is_header or (in_headers and line.isspace())
        if size < MAX_GAME_BYTES and not line.isspace():
            game.append(line)
            size += len(line)
    if game:
        yield b"".join(game)


def decoded(text: bytes) -> str:
    """The text, as UTF-8 if it is that, and as Latin-1 if not. What is no character of a text becomes a blank."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError:
        words = text.decode("latin-1")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in words)


def read_game(text: bytes) -> chess.pgn.Game:
    """The game of these bytes. What is wrong with it is in its `errors`. Raises PgnError if there is no game at all."""
    try:
        game = chess.pgn.read_game(io.StringIO(decoded(text)), Visitor=_QuietBuilder)
    except Exception as error:  # a parser that was not made for hostile text
        raise PgnError(f"it cannot be read: {type(error).__name__}: {str(error)[:100]}") from None
    if game is None or not (game.variations or HEADER.search(text)):
        raise PgnError("it holds no game")
    return game
