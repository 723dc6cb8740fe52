"""Numbers of the evaluation that are not weights: the game phase, places of kings, units of danger, scale factors.

Invariant: this module stands apart from the kernel, so that weights can be loaded before a core is chosen.
"""

from __future__ import annotations

from typing import Final

# Every score of the evaluation is strictly within ± this, in centipawns.
STATIC_LIMIT: Final = 30000

# The share of a piece in the game phase, by piece type: FULL_PHASE with all pieces on the board, more after promotions,
# and 0 with kings and pawns alone.
PHASE_WEIGHTS: Final = (0, 0, 1, 1, 2, 4, 0)
FULL_PHASE: Final = 24
# The share of the middlegame in a tapered score is in 256ths.
FULL_SHARE: Final = 256

# The places of a king that piece-square tables tell apart, by square, as the king's side sees the board: three parts of
# the first rank, three of the second, two of the rest.
KING_PLACES: Final = 8
KING_PLACE: Final = (0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, *(6, 6, 6, 6, 7, 7, 7, 7) * 6)
# A square for each piece. Pieces run from 2 (a black pawn) to 13 (the white king).
PIECES: Final = 14 * 64

# How much each fact adds to the danger of an attacked king. By piece type where there are six numbers, by the rank of a
# pawn as the king's side sees the board (0: no pawn) where there are eight. They are not weights, because the danger is
# an index into `king_attack`. Shelter and storm are at least 0, as the pawn hash table packs them.
ATTACKER_UNITS: Final = (0, 0, 8, 6, 7, 5)
SAFE_CHECK_UNITS: Final = (0, 0, 50, 35, 60, 45)
UNSAFE_CHECK_UNITS: Final = (0, 0, 12, 8, 15, 10)
NO_SHELTER_UNITS: Final = (9, 0, 2, 5, 7, 7, 7, 7)
NEAR_STORM_UNITS: Final = (3, 8, 8, 7, 4, 2, 0, 0)
ATTACKED_TWICE_UNITS: Final = 8
WEAK_SQUARE_UNITS: Final = 12
PINNED_UNITS: Final = 8
FLANK_ATTACK_UNITS: Final = 2
FLANK_DEFENCE_UNITS: Final = -2
NO_QUEEN_UNITS: Final = -60
# The sum of the units, shifted right by this, is the index.
KING_DANGER_SHIFT: Final = 2

# Endgame scale factors, in 64ths.
FULL_SCALE: Final = 64
DRAWN_SCALE: Final = 0
DRAWISH_SCALE: Final = 8
# For a side with pawns: by the kind of ending (`terms.endgames.ending`) and the number of its pawns, 1 to 8. More than
# 64 where an advantage counts more than the same weights say with other pieces. From tune_evaluation.py.
ENDGAME_SCALES: Final[dict[str, tuple[int, ...]]] = {
    "pawns": (81, 110, 106, 93, 84, 74, 75, 93),
    "minors": (25, 57, 73, 78, 76, 74, 63, 52),
    "opposite bishops": (5, 15, 29, 32, 38, 43, 33, 25),
    "opposite bishops and others": (20, 48, 60, 68, 69, 72, 68, 65),
    "rooks": (55, 69, 72, 72, 76, 74, 66, 67),
    "rooks and minors": (39, 61, 71, 75, 78, 77, 74, 64),
    "queens": (34, 61, 63, 70, 74, 67, 45, 54),
    "equal": (31, 59, 70, 77, 81, 82, 79, 60),
    "unequal": (59, 64, 63, 61, 58, 54, 49, 40),
}
# For a side without pawns, in pawn units of non-pawn material: less than MIN_WINNING_MATERIAL cannot win, and a lead
# of at most DRAWISH_LEAD rarely wins.
MIN_WINNING_MATERIAL: Final = 5
DRAWISH_LEAD: Final = 3

# The bonus for a won king and pawn against king: less than the gain of the promotion.
WON_KPK_CP: Final = 400
