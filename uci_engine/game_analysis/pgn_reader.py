"""Games out of PGN files that may come from anywhere, one by one and within bounds.

A file is read as a stream, so that its size does not matter. A game that is too long is cut. Text that is no UTF-8 is
read as Latin-1. What cannot be read is told in a sentence, and the next game is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import chess.pgn

from uci_engine.game_analysis.movetext import read_moves
from uci_engine.game_analysis.own_words import forget

# As python-chess writes and reads headers.
HEADER = re.compile(r'\[([A-Za-z0-9][\w+#=:-]*)\s+"(.*)"\]', re.ASCII)
BEGIN_OF_HEADER = re.compile(rb'\[[A-Za-z0-9][\w+#=:-]*\s+"')
# Of UTF-8, ahead of the first game.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_GAME_BYTES = 2**20
MAX_LINE_BYTES = 2**16
SUFFIX = ".pgn"


class PgnError(ValueError):
    """No games can be read. The text is one sentence for the user."""


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
    is_new_line = True
    while line := file.readline(MAX_LINE_BYTES):
        words = line.removeprefix(BYTE_ORDER_MARK).strip()
        is_header = is_new_line and BEGIN_OF_HEADER.match(words) is not None
        if is_header and not in_headers and game:
            yield b"".join(game)
            game, size = [], 0
        # Among headers there may be one that cannot be read, a blank line, or the rest of a long line.
        in_headers = is_header or (in_headers and (not is_new_line or words[:1] in (b"", b"[", b"%", b";")))
        is_new_line = line.endswith(b"\n")
        if size < MAX_GAME_BYTES and not line.isspace():
            game.append(line)
            size += len(line)
    if game:
        yield b"".join(game)


def decoded(text: bytes) -> str:
    """The text, as UTF-8 if it is that, and as Latin-1 if not. What is no character of a text becomes a blank."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError:
        words = text.decode("latin-1")
    return "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in words)


def read_game(text: bytes) -> chess.pgn.Game:
    """The game of these bytes, without what Secateur wrote into it before. What is wrong with it is in its `errors`.

    Raises PgnError if there is no game at all.
    """
    game = chess.pgn.Game()
    lines = decoded(text).split("\n")
    has_headers = False
    first = 0
    while first < len(lines) and (words := lines[first].strip())[:1] in ("", "[", "%", ";"):
        header = HEADER.fullmatch(words)
        if header is not None:
            game.headers[header[1]] = header[2]
            has_headers = True
        first += 1
    try:
        game.board()
    except ValueError:
        # The headers are there. Who analyses the game will find out about its position.
        return game
    try:
        read_moves(game, "\n".join(lines[first:]))
    except Exception as error:  # boards that were not made for hostile positions
        raise PgnError(f"it cannot be read: {type(error).__name__}: {str(error)[:100]}") from None
    if not (game.variations or has_headers):
        raise PgnError("it holds no game")
    forget(game)
    return game
