"""A game of a PGN file, which may come from anywhere: what python-chess finds wrong with it is in its `errors`."""

from __future__ import annotations

import io

import chess.pgn


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
