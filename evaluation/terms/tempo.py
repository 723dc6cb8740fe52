"""Tempo: a bonus for the side to move."""

from __future__ import annotations

from evaluation.base_board import BaseBoard
from evaluation.context import EvaluationContext
from evaluation.typed import i64
from evaluation.weights import Weights


class TempoWeights:
    """The weight of the group "tempo", packed."""

    tempo: i64

    def __init__(self, weights: Weights) -> None:
        weights.fill(self, "tempo")


def tempo(weights: TempoWeights, context: EvaluationContext, board: BaseBoard, us: int) -> i64:
    """The tempo: it is our move."""
    return weights.tempo if board.turn == us else 0


def total(weights: TempoWeights, context: EvaluationContext, board: BaseBoard) -> i64:
    """The term of this module, White minus Black."""
    score: i64 = 0
    for us in range(2):
        score = tempo(weights, context, board, us) - score
    return score
