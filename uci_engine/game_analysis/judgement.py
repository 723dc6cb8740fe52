"""Marks, losses and accuracy: what each move of a game cost, out of the values of its positions.

A move is judged by the loss of expected result, and not by centipawns: three pawns more or less decide nothing once a
game is won. So a lost position's further errors cost little, and weigh little in the accuracy. But people still lose
what engines win: a move that costs much of the result between people is an inaccuracy, however decided the game. Moves
without an alternative are not judged, and moves of the book only where they cost as much as a mistake: names of
openings are given to bad moves, too.

This module is pure. It knows neither boards nor searches.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import chess

from uci_engine.game_analysis.values import SearchedMove

# The smallest loss of expected result for each mark. From an even position in the middlegame 0.08 is about 0.35 pawns
# as they are shown, 0.15 about 0.65 and 0.30 about 1.3.
# scripts/EXPERIMENTS.md compares the marks with those by Stockfish's scores.
INACCURACY_LOSS = 0.08
MISTAKE_LOSS = 0.15
BLUNDER_LOSS = 0.30
# An inaccuracy costs this much of the expected result between people, or the loss above.
INACCURACY_BETWEEN_PEOPLE = 0.15
# A move is the only one when every other loses this much.
ONLY_MOVE_LOSS = 0.20
# Where even the second best move expects this much, the game is won, and no move deserves an exclamation mark.
WON = 0.90
# After a missed win the side expects at most this.
NO_WIN = 0.70
# The accuracy of a move in percent is 100 * exp(-ACCURACY_DECAY * loss).
ACCURACY_DECAY = 4.0
# The weight of a move in a decided position. In an even one it is 1.
LEAST_WEIGHT = 0.1
# The opening ends after so many plies, or when the pieces weigh less. In an endgame they weigh at most so much.
OPENING_PLIES = 24
LEAST_OPENING_WEIGHT = 20
MOST_ENDGAME_WEIGHT = 8


class Phase(Enum):
    OPENING = "opening"
    MIDDLEGAME = "middlegame"
    ENDGAME = "endgame"


class Mark(Enum):
    """What a move deserves. `nag` is its number in PGN, 0 for none."""

    BOOK = ("book", "", 0)
    FORCED = ("forced", "", 0)
    BRILLIANT = ("brilliant", "!!", 3)
    GOOD = ("good", "!", 1)
    BEST = ("best", "", 0)
    SOUND = ("sound", "", 0)
    INACCURACY = ("inaccuracy", "?!", 6)
    MISTAKE = ("mistake", "?", 2)
    BLUNDER = ("blunder", "??", 4)

    def __init__(self, word: str, sign: str, nag: int) -> None:
        self.word = word
        self.sign = sign
        self.nag = nag

    @property
    def is_error(self) -> bool:
        """Whether it is an inaccuracy, a mistake or a blunder."""
        return self in ERRORS


ERRORS = (Mark.INACCURACY, Mark.MISTAKE, Mark.BLUNDER)
# The marks of PGN for a move. Where a player has given one, it stays.
MARK_NAGS = {**{mark.nag: mark.sign for mark in Mark if mark.nag}, 5: "!?"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one move cost.

    `loss` is the loss of expected result, from 0 to 1. `accuracy` is in percent, and `weight` its weight in averages,
    0 for a move that is not judged. `missed_win`: the move before was won, and after it that is gone. `missed_mate`:
    the moves of the mate that was there, None if there was none or it is still there.
    """

    mark: Mark
    loss: float
    accuracy: float
    weight: float
    missed_win: bool = False
    missed_mate: int | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the move counts: it is no good move of the book, and there was another one."""
        return self.weight > 0


def judge(
    move: SearchedMove,
    color: chess.Color,
    *,
    has_choice: bool,
    is_book: bool = False,
    is_obvious: bool = False,
    is_sacrifice: bool = False,
) -> Judgement:
    """What a move of this side cost. `is_obvious`: it needs no thought, for instance it takes back."""
    best, played = move.best.value.expected_for(color), move.played.value.expected_for(color)
    loss = 0.0 if move.is_best else max(0.0, best - played)
    is_theory = is_book and loss < MISTAKE_LOSS
    if is_theory or not has_choice:
        return Judgement(Mark.BOOK if is_theory else Mark.FORCED, loss, 100.0, 0.0)
    mark = _mark(move, color, loss)
    if mark is Mark.GOOD and is_obvious:
        mark = Mark.BEST
    elif mark is Mark.GOOD and is_sacrifice:
        mark = Mark.BRILLIANT
    mate = move.best.value.mate_for(color)
    return Judgement(
        mark=mark,
        loss=loss,
        accuracy=100.0 * math.exp(-ACCURACY_DECAY * loss),
        weight=max(LEAST_WEIGHT, _openness(best), _openness(played)),
        missed_win=not move.is_best and best >= WON and played <= NO_WIN,
        missed_mate=mate if not move.is_best and move.played.value.mate_for(color) is None else None,
    )


def _mark(move: SearchedMove, color: chess.Color, loss: float) -> Mark:
    if loss >= BLUNDER_LOSS:
        return Mark.BLUNDER
    if loss >= MISTAKE_LOSS:
        return Mark.MISTAKE
    if loss >= INACCURACY_LOSS:
        return Mark.INACCURACY
    if not move.is_best:
        between_people = move.best.value.between_people(color) - move.played.value.between_people(color)
        return Mark.INACCURACY if between_people >= INACCURACY_BETWEEN_PEOPLE else Mark.SOUND
    if move.others is None:
        return Mark.BEST
    played, others = move.played.value.expected_for(color), move.others.expected_for(color)
    # What only delays the loss of a lost game is no good move.
    return Mark.BEST if others >= WON or played - others < ONLY_MOVE_LOSS else Mark.GOOD


def _openness(expected: float) -> float:
    """How open the result is: 1 at an even chance, 0 at a sure win or loss."""
    return 4.0 * expected * (1.0 - expected)


@dataclass(frozen=True, slots=True)
class Summary:
    """The moves of one player, of the whole game or of a phase.

    `accuracy` is in percent, None if no move was judged. `counts` has the number of moves with each mark.
    """

    accuracy: float | None
    counts: Counter[Mark]
    missed_wins: int


def summary_of(judgements: Iterable[Judgement]) -> Summary:
    all_of_them = list(judgements)
    judged = [judgement for judgement in all_of_them if judgement.is_judged]
    weight = sum(judgement.weight for judgement in judged)
    return Summary(
        accuracy=sum(one.accuracy * one.weight for one in judged) / weight if judged else None,
        counts=Counter(judgement.mark for judgement in all_of_them),
        missed_wins=sum(judgement.missed_win for judgement in all_of_them),
    )


def phases_of(piece_weights: Iterable[int]) -> list[Phase]:
    """The phase of each position. `piece_weights`: minor pieces 1, rooks 2, queens 4, added up for both sides.

    A phase never returns.
    """
    phases: list[Phase] = []
    order = list(Phase)
    reached = 0
    for ply, weight in enumerate(piece_weights):
        if weight <= MOST_ENDGAME_WEIGHT:
            now = Phase.ENDGAME
        elif ply < OPENING_PLIES and weight >= LEAST_OPENING_WEIGHT:
            now = Phase.OPENING
        else:
            now = Phase.MIDDLEGAME
        reached = max(reached, order.index(now))
        phases.append(order[reached])
    return phases
