"""Positions to learn from, made once for all tests of a process."""

from __future__ import annotations

from typing import Any

import chess
import pytest

import evaluation
from tests.support.records import random_records


def learnable(board: chess.Board) -> int:
    """The features in White's view, and what they do not know: a knight's pawn on its fourth rank is worth 150."""
    score = evaluation.evaluate(board, network=None) if board.turn else -evaluation.evaluate(board, network=None)
    ours, theirs = (board.pieces(chess.PAWN, colour) for colour in (chess.WHITE, chess.BLACK))
    return score + 150 * (len(ours & {chess.B4, chess.G4}) - len(theirs & {chess.B5, chess.G5}))


@pytest.fixture(scope="session")
def records() -> Any:
    """All positions of 40 random games, every second one of Chess960, with scores that can be learnt."""
    found = random_records(40, 60, chess960=True, score_of=learnable)
    found.flags.writeable = False
    return found
