"""PGN files game by game. They may come from anywhere: nothing is read without bounds, and no error is printed.

What python-chess finds wrong with a game is in the game's `errors`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import chess.pgn

from toolkit.errors import ProgramError

HEADER = re.compile(r'\[[A-Za-z0-9_]{1,64}\s+"')
MAX_GAME_CHARACTERS = 2**20
MAX_PGN_BYTES = 16 * 2**30
MAX_LINE_CHARACTERS = 2**16


class QuietBuilder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Builds a game and keeps what is wrong with it, where python-chess would also write it to a log."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def read_game(text: str) -> chess.pgn.Game:
    """The game of this text. Raises ValueError for what cannot be read at all."""
    try:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=QuietBuilder)
    except Exception as error:  # a parser that was never meant for hostile text
        raise ValueError(f"{type(error).__name__}: {str(error)[:100]}") from None
    if game is None:
        raise ValueError("no game")
    return game


def game_texts(path: Path) -> Iterator[str]:
    """The games of a PGN file one by one, as text. Raises ProgramError for what is no such file, and OSError.

    An endless line or game is cut. What is left of it is not legal, or not complete.
    """
    if not path.is_file():
        raise ProgramError(f"{path} is not a file of games")
    if path.stat().st_size > MAX_PGN_BYTES:
        raise ProgramError(f"{path} is larger than {MAX_PGN_BYTES // 2**30} GiB")
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        yield from split_games(iter(partial(file.readline, MAX_LINE_CHARACTERS), ""), MAX_GAME_CHARACTERS)


def split_games(lines: Iterable[str], max_characters: int | None = None) -> Iterator[str]:
    """The games of a PGN file. A game begins where headers follow something else, so that an unfinished comment or
    bracket ends with its game; what exceeds `max_characters` is cut.

    Blank lines are left out: they end a game for python-chess, and some programs write them between moves.
    """
    game: list[str] = []
    size = 0
    in_headers = False
    for line in lines:
        is_header = HEADER.match(line) is not None
        if is_header and not in_headers and game:
            yield "".join(game)
            game, size = [], 0
        in_headers = is_header or (in_headers and line.isspace())
        if max_characters is None or size < max_characters:
            if not line.isspace():
                game.append(line)
            size += len(line)
    if game:
        yield "".join(game)
