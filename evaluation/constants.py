"""Numbers of the evaluation that are not weights: they do not enter the sum of terms linearly.

A weight is counted a whole number of times and stands in `weights.toml`; these numbers decide how often, or what
becomes of the sum.
"""

from __future__ import annotations

from typing import Final

# Every score of the evaluation lies strictly within this many centipawns.
STATIC_LIMIT: Final = 30000

# The phase runs from FULL_PHASE with all pieces on the board to 0 with kings and pawns alone. What a piece adds, by
# piece type.
PHASE_WEIGHTS: Final = (0, 0, 1, 1, 2, 4, 0)
FULL_PHASE: Final = 24

# Attack units that a piece adds when it attacks the king zone, by piece type (knight 2 to queen 4), and the most that
# count.
ATTACK_UNITS: Final = (0, 0, 2, 2, 3, 4)
MOST_ATTACK_UNITS: Final = 23

# Endgame scales: how many 64ths of the endgame's value count.
FULL_SCALE: Final = 64
DRAWN_SCALE: Final = 0
DRAWISH_SCALE: Final = 8
PURE_OPPOSITE_BISHOPS_SCALE: Final = 32
OPPOSITE_BISHOPS_SCALE: Final = 52
# Non-pawn material in pawns: without pawns, less than LEAST_WINNING_MATERIAL cannot win, and a lead of no more than
# DRAWISH_LEAD hardly can.
LEAST_WINNING_MATERIAL: Final = 5
DRAWISH_LEAD: Final = 3

# A won king and pawn against king is worth this much more than its sum, and less than the queen it will bring.
WON_KPK_CP: Final = 400
