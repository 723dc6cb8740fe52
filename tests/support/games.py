"""Games out of PGN files, read by python-chess."""

from __future__ import annotations

from pathlib import Path

import chess.pgn


def read_games(path: Path) -> list[chess.pgn.Game]:
    """Every game, each legal and with a result."""
    games = []
    with path.open(encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            assert not game.errors
            assert game.headers["Result"] in ("1-0", "1/2-1/2", "0-1")
            games.append(game)
    return games
