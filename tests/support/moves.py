"""Moves in SAN."""

from __future__ import annotations

import chess


def moves(board: chess.Board, *words: str) -> tuple[chess.Move, ...]:
    """The line of moves that these words are, from a board."""
    after = board.copy()
    return tuple(after.push_san(word) for word in words)
