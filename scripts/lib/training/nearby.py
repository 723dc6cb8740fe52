"""Positions a few random moves away from others."""

from __future__ import annotations

import argparse
import random

import chess


def play_at_random(board: chess.Board, chance: random.Random, plies: int) -> bool:
    """Play so many legal moves. False when the game ends, or the side to move is in check then."""
    for _ in range(plies):
        moves = list(board.generate_legal_moves())
        if not moves:
            return False
        board.push(chance.choice(moves))
    return not board.is_check() and any(board.generate_legal_moves())


def parse_plies(text: str) -> tuple[int, int]:
    """The least and the greatest number from `1-3` or `2`, from a command line."""
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last if dash else first).isdecimal()) or int(first) > int(last or first):
        raise argparse.ArgumentTypeError(f"{text!r} is not N or N-N")
    return int(first), int(last or first)
