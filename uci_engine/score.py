"""The scale of scores: one integer axis on which evaluations, tablebase results and mates never overlap.

The search, the evaluation and the weights use this internal scale. Users see another one: `normalised` turns internal
centipawns into those that are shown.

Invariant of the internal scale, from the middle outwards:

    static eval              |score| <  STATIC_LIMIT
    tablebase win or loss    TABLEBASE_BOUND <= |score| <= TABLEBASE_WIN
    mate                     MATE_BOUND <= |score| <= MATE
    full window              |score| =  INFINITE

A mate in p plies scores MATE - p, so the shorter mate scores more; a tablebase win reached after p plies scores
TABLEBASE_WIN - p. Every score fits in 16 signed bits, also as the transposition table keeps it.
"""

from __future__ import annotations

import math

# The plies that a search has room for.
MAX_PLY = 128
# Maximum depth of iterative deepening.
MAX_DEPTH = MAX_PLY - 8  # the last plies are for extensions and quiescence search

DRAW = 0
# The same as `evaluation.base.constants.STATIC_LIMIT`. A test compares them: this module imports nothing of ours.
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
# The fifty-move rule in plies: the halfmove clock at which the game is drawn, unless the side to move is mated.
FIFTY_MOVES_PLIES = 100

# The model of wins. In positions with a given number of pieces, kings and pawns included, an internal score x wins with
# probability 1 / (1 + exp((midpoint - x) / spread)). A loss is the win of the other side, and the rest is a draw. So at
# x = midpoint half of the games are won. Midpoint and spread, in centipawns, are polynomials of pieces / 32, lowest
# power first. The number of pieces is first clamped to WIN_PIECES. scripts/fit_wdl.py fits the model to games of the
# engine against itself, and prints the next three lines.
WIN_PIECES = (6, 32)
WIN_MIDPOINT_CP = (416.8, -822.9, 554.0)
WIN_SPREAD_CP = (77.9, -165.4, 187.3)
MAX_PIECES = 32


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


def win_curve(pieces: int) -> tuple[float, float]:
    """Midpoint and spread of the model of wins, in internal centipawns, for a position with this many pieces."""
    fewest, most = WIN_PIECES
    share = min(max(pieces, fewest), most) / MAX_PIECES
    (a, b, c), (d, e, f) = WIN_MIDPOINT_CP, WIN_SPREAD_CP
    return a + (b + c * share) * share, d + (e + f * share) * share


def normalised(score: int, pieces: int) -> int:
    """The score that is shown, in centipawns: at +100 half of the games are won. Mate and tablebase scores stay.

    `pieces`: on the board at the root of the search, so that the scores of one search can be compared. As the score
    grows, the shown score never falls. Swapping the sign swaps the sign. Only 0 is shown as 0.
    """
    if abs(score) >= TABLEBASE_BOUND or score == 0:
        return score
    midpoint_cp, _ = win_curve(pieces)
    shown = min(max(math.floor(100.0 * abs(score) / midpoint_cp + 0.5), 1), STATIC_LIMIT - 1)
    return shown if score > 0 else -shown


def win_draw_loss(score: int, pieces: int) -> tuple[int, int, int]:
    """Expected wins, draws and losses in permille (they add up to 1000), for the side whose score it is.

    `pieces`: on the board at the root. Swapping the sign of the score swaps wins and losses. As the score grows, wins
    never fall and losses never rise.
    """
    if abs(score) >= TABLEBASE_BOUND:
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)
    wins, losses = _win_permille(score, pieces), _win_permille(-score, pieces)
    return wins, 1000 - wins - losses, losses


def _win_permille(score: int, pieces: int) -> int:
    midpoint_cp, spread_cp = win_curve(pieces)
    # 1 / (1 + exp(x)) by a function that cannot overflow.
    return round(500.0 * (1.0 - math.tanh((midpoint_cp - score) / spread_cp / 2.0)))
