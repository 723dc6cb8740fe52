"""Limited strength: the levels of `UCI_Elo` and `Skill Level`, which move as people of a rating do.

A level draws its move from the policy (`uci_engine.policy`), which says how likely people of that rating are to play
each move. The draw depends only on the seed of the game and the position. So the same seed gives the same game.

A bare king is mated with a queen or a rook at every level: there the search's move is played, because people who know
these mates do not have to search for them.

With a clock a level also takes as much time as a person may take: `pace`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import chess
import chess.polyglot

from uci_engine.policy.policy import RATINGS, human_moves

if TYPE_CHECKING:
    from uci_engine.search.search import Searcher

# The nodes of the search that a level reports beside its move, and by which it mates a bare king.
LEVEL_NODES = 5_000
MAX_SKILL_LEVEL = 20
# The time for a move, as a part of what full strength takes: at least, and at most. In the opening it begins with
# FIRST_PACE of that and grows until ply OPENING_PLIES.
MIN_PACE = 0.1
MAX_PACE = 0.7
FIRST_PACE = 0.2
OPENING_PLIES = 24
# No longer, however much time there is.
MAX_PACE_MS = 60_000

# The range of `UCI_Elo`.
MIN_ELO, MAX_ELO = RATINGS[0], RATINGS[-1]


def elo_of_skill_level(skill_level: int) -> int:
    """The rating of `Skill Level`: 0 to 19 are equal steps from the lowest rating to the highest, 20 is no limit."""
    return MIN_ELO + round((MAX_ELO - MIN_ELO) * skill_level / (MAX_SKILL_LEVEL - 1))


@dataclass(frozen=True, slots=True)
class Strength:
    """A level in one game. `seed` is the seed of the game."""

    elo: int
    seed: int = 0

    def pace(self, position_key: int, ply: int, has_choice: bool) -> float:
        """The time to take for a move, as a part of what full strength takes, from 0 to 1.

        `ply` counts from the start of the game. `has_choice`: there are several legal moves.
        """
        part = MIN_PACE
        if has_choice:
            part += (MAX_PACE - MIN_PACE) * random.Random(f"pace {self.seed} {position_key}").random()
        return part * min(1.0, FIRST_PACE + (1.0 - FIRST_PACE) * ply / OPENING_PLIES)

    def choose(self, searcher: Searcher, board: chess.Board, allowed: Sequence[chess.Move]) -> chess.Move | None:
        """The move of the level among those allowed, None to play that of the search. See `human_moves`."""
        own, other = board.occupied_co[board.turn], board.occupied_co[not board.turn]
        if other == board.kings & other and own & (board.queens | board.rooks):
            return None
        shares = {move: share for move, share in human_moves(searcher, board, self.elo).items() if move in allowed}
        # A text as seed gives the same number on every version of Python and every machine.
        position = chess.polyglot.zobrist_hash(board)
        drawn = random.Random(f"{self.seed} {position}")
        return drawn.choices(list(shares), list(shares.values()))[0] if shares else None
