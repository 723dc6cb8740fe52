"""Limited strength: the levels of `UCI_Elo` and `Skill Level`, and how they choose a move.

A level has a node budget. The search looks at several lines (MultiPV). The level adds random noise to the score of each
line and plays the best one. A line that loses more is chosen less often, and one that loses more than `max_loss_cp`
never. With Gumbel noise this is a softmax choice.

The shortest mate that this search finds is played without noise, and so is one that a mate search then proves.

The noise depends only on the seed of the game, the position and the move. So the same seed gives the same game.

Among moves of like score, one that goes back is chosen less often, because equal scores let a level move to and fro.
With a clock a level also takes as much time as a person may take: `pace`.

`scripts/calibrate.py` measures the levels.

Invariant: the choice never costs more than `max_loss_cp`.
Invariant: a line that is chosen would also be chosen if it had a higher score.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import chess
import chess.polyglot

from uci_engine import score as scores
from uci_engine.board import moves
from uci_engine.search.root_moves import RootMove

# Maximum score loss of the chosen line, in units of the noise. At this loss a line is chosen 20 times less often than
# an equal one.
MAX_LOSS = 3.0
# Scores are clamped to MAX_CP. A mate counts MATE_CP less its plies.
MAX_CP = 1500
MATE_CP = 2000
# The nodes for a search that tries every reply to prove a mate: in two moves in any position, in three in half of them.
MATE_NODES = 3_000
# Against a bare king every level can mate with a queen or a rook: it has at least so many nodes, one line and no noise.
BARE_KING_NODES = 5_000
MAX_SKILL_LEVEL = 20
# What a move that goes back counts less, in units of the noise: it is chosen 20 times less often than an equal one.
GOING_BACK = 3.0
# For how many own moves a square counts as one that the piece comes from.
REMEMBERED_MOVES = 4
# The time for a move, as a part of what full strength takes: at least, and at most. In the opening it begins with
# FIRST_PACE of that and grows until ply OPENING_PLIES.
MIN_PACE = 0.1
MAX_PACE = 0.7
FIRST_PACE = 0.2
OPENING_PLIES = 24
# No longer, however much time there is.
MAX_PACE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Level:
    """How a rating plays: nodes for a move, lines to choose from, and the scale of the noise in centipawns."""

    elo: int
    nodes: int
    lines: int
    noise_cp: float


# The measured levels, weakest first. Between two levels all values are interpolated linearly, nodes on a logarithmic
# scale. To calibrate them again, put the measured rating of each into its first column.
LEVELS = (
    Level(1000, 310, 7, 160.0),
    Level(1100, 350, 7, 115.0),
    Level(1245, 440, 5, 70.0),
    Level(1350, 500, 5, 59.0),
    Level(1520, 640, 4, 47.0),
    Level(1690, 1_200, 4, 33.0),
    Level(2040, 3_600, 4, 18.0),
    Level(2360, 10_000, 4, 12.0),
    Level(2610, 36_000, 4, 7.0),
    Level(2790, 120_000, 4, 4.0),
)
# The range of `UCI_Elo`, within that of the measured levels.
MIN_ELO = 1000
MAX_ELO = 2600


def level_of(elo: int) -> Level:
    """The level of a rating. A rating out of range is clamped."""
    elo = min(max(elo, MIN_ELO), MAX_ELO)
    index = bisect_left(LEVELS, elo, key=lambda level: level.elo)
    above = LEVELS[index]
    below = LEVELS[max(index - 1, 0)]
    share = 1.0 if above is below else (elo - below.elo) / (above.elo - below.elo)

    def between(low: float, high: float) -> float:
        return low + share * (high - low)

    return Level(
        elo=elo,
        nodes=round(math.exp(between(math.log(below.nodes), math.log(above.nodes)))),
        lines=round(between(below.lines, above.lines)),
        noise_cp=between(below.noise_cp, above.noise_cp),
    )


def level_in(board: chess.Board, elo: int) -> Level:
    """The level of a rating in a position. See BARE_KING_NODES."""
    level = level_of(elo)
    own, other = board.occupied_co[board.turn], board.occupied_co[not board.turn]
    if other != board.kings & other or not own & (board.queens | board.rooks):
        return level
    return Level(level.elo, max(level.nodes, BARE_KING_NODES), 1, 0.0)


def elo_of_skill_level(skill_level: int) -> int | None:
    """The rating of `Skill Level`: 0 to 19 are equal steps from the lowest rating to the highest, 20 is None."""
    if skill_level >= MAX_SKILL_LEVEL:
        return None
    return MIN_ELO + round((MAX_ELO - MIN_ELO) * skill_level / (MAX_SKILL_LEVEL - 1))


@dataclass(frozen=True, slots=True)
class Strength:
    """A level in one game. `seed` is the seed of the game."""

    level: Level
    seed: int = 0

    @property
    def max_loss_cp(self) -> float:
        return MAX_LOSS * self.level.noise_cp

    def pace(self, position_key: int, ply: int, has_choice: bool) -> float:
        """The time to take for a move, as a part of what full strength takes, from 0 to 1.

        `ply` counts from the start of the game. `has_choice`: there are several legal moves.
        """
        part = MIN_PACE
        if has_choice:
            part += (MAX_PACE - MIN_PACE) * random.Random(f"pace {self.seed} {position_key}").random()
        return part * min(1.0, FIRST_PACE + (1.0 - FIRST_PACE) * ply / OPENING_PLIES)

    def choose(self, lines: Sequence[RootMove], board: chess.Board) -> RootMove:
        """The line to play, of at least one. The first wins a tie."""
        best = max(lines, key=lambda line: line.score)
        if best.score >= scores.MATE_BOUND:
            return best
        lowest = clamped_score(best.score) - self.max_loss_cp
        position_key = chess.polyglot.zobrist_hash(board)

        def noisy_score(line: RootMove) -> float:
            is_back = goes_back(board, moves.decode(line.move, board.chess960))
            loss_cp = GOING_BACK * self.level.noise_cp if is_back else 0.0
            return clamped_score(line.score) + self._noise(position_key, line.move) - loss_cp

        return max((line for line in lines if clamped_score(line.score) >= lowest), key=noisy_score)

    def _noise(self, position_key: int, move: int) -> float:
        """The noise on the score of a move, in centipawns, Gumbel distributed."""
        # A text as seed gives the same number on every version of Python and every machine.
        uniform = random.Random(f"{self.seed} {position_key} {move}").random()
        return -self.level.noise_cp * math.log(-math.log(max(uniform, 1e-12)))


def goes_back(board: chess.Board, move: chess.Move) -> bool:
    """Whether a piece moves to a square from which it came in one of the last moves, without taking anything."""
    if board.is_zeroing(move):
        return False
    square = move.from_square
    for own in board.move_stack[-2 : -2 * REMEMBERED_MOVES - 1 : -2]:
        if own.to_square == square:
            square = own.from_square
            if square == move.to_square:
                return True
    return False


def clamped_score(score: int) -> int:
    """The score that is compared, in centipawns."""
    if scores.is_mate(score):
        mate_cp = MATE_CP - (scores.MATE - abs(score))
        return mate_cp if score > 0 else -mate_cp
    return min(max(score, -MAX_CP), MAX_CP)
