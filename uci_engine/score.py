"""The scale of scores: one integer axis on which evaluations, tablebase results and mates never overlap.

Invariant, from the middle outwards:

    static eval              |score| <  STATIC_LIMIT
    tablebase win or loss    TABLEBASE_BOUND <= |score| <= TABLEBASE_WIN
    mate                     MATE_BOUND <= |score| <= MATE
    full window              |score| =  INFINITE

A mate in p plies scores MATE - p, so the shorter mate scores more; a tablebase win reached after p plies scores
TABLEBASE_WIN - p. Every score fits in 16 signed bits, also as the transposition table keeps it
(`Searcher.score_to_tt`).
"""

from __future__ import annotations

import math

# Maximum distance from the root that a search may reach, in plies.
MAX_PLY = 128
# Maximum depth of iterative deepening.
MAX_DEPTH = MAX_PLY - 8  # the last plies are for extensions and quiescence search

DRAW = 0
# The same as `evaluation.constants.STATIC_LIMIT`. A test compares them, because this module imports nothing.
STATIC_LIMIT = 30000
TABLEBASE_WIN = 31000
TABLEBASE_BOUND = TABLEBASE_WIN - 2 * MAX_PLY
MATE = 32000
MATE_BOUND = MATE - 2 * MAX_PLY
INFINITE = 32001
# Stands for the eval where there is none: in check, and in a TT entry without eval.
NO_SCORE = -32002

# Piece values by piece type for static exchange evaluation (SEE), in centipawns. They are here and not in
# `search.parameters` because the board needs them too, and must not import the search.
SEE_VALUES = [0, 100, 300, 300, 500, 900, 0]

# The win probability is a logistic curve: at +WIN_MIDPOINT_CP half of the games are won, and WIN_SPREAD_CP
# sets how flat the curve is. A level position comes out as about 18 / 64 / 18 %. Wins plus half of the draws follow the
# curve that the evaluation's weights were fitted to, 1 / (1 + exp(-cp / 167)).
WIN_MIDPOINT_CP = 150.0
WIN_SPREAD_CP = 100.0


def is_mate(score: int) -> bool:
    """Whether the score announces a forced mate, for either side."""
    return abs(score) >= MATE_BOUND


def mate_in_moves(score: int) -> int:
    """Length of the mate that a mate score announces, in moves of the mating side.

    Positive when the side to move mates, negative when it is mated, 0 when it is mated already.
    """
    plies = MATE - abs(score)
    moves = (plies + 1) // 2
    return moves if score > 0 else -moves


def to_uci(score: int) -> str:
    """The score as UCI writes it: `cp 34`, or `mate -3`."""
    if is_mate(score):
        return f"mate {mate_in_moves(score)}"
    return f"cp {score}"


def win_draw_loss(score: int) -> tuple[int, int, int]:
    """Expected wins, draws and losses in permille (they add up to 1000), for the side whose score it is.

    Swapping the sign of the score swaps wins and losses; as the score grows, wins never fall and losses never
    rise.
    """
    if is_mate(score):
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)
    wins = _win_permille(score)
    losses = _win_permille(-score)
    return wins, 1000 - wins - losses, losses


def _win_permille(score_cp: int) -> int:
    return round(1000.0 / (1.0 + math.exp((WIN_MIDPOINT_CP - score_cp) / WIN_SPREAD_CP)))
