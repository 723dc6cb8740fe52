"""Numbers of the evaluation that are not weights: they do not enter the sum of terms linearly.

The weights are in `weights.toml`. These are limits, phase weights, attack units, scale factors and a bonus.
"""

from __future__ import annotations

from typing import Final

# Every score of the evaluation is strictly within ± this, in centipawns.
STATIC_LIMIT: Final = 30000

# What a piece adds to the game phase, by piece type. The phase is FULL_PHASE with all pieces on the board, and 0 with
# kings and pawns alone.
PHASE_WEIGHTS: Final = (0, 0, 1, 1, 2, 4, 0)
FULL_PHASE: Final = 24

# Attack units of a piece that attacks the king zone, by piece type, and the maximum of all units that counts.
ATTACK_UNITS: Final = (0, 0, 2, 2, 3, 4)
MAX_ATTACK_UNITS: Final = 23

# Endgame scale factors, in 64ths.
FULL_SCALE: Final = 64
DRAWN_SCALE: Final = 0
DRAWISH_SCALE: Final = 8
PURE_OPPOSITE_BISHOPS_SCALE: Final = 32
OPPOSITE_BISHOPS_SCALE: Final = 52
# For a side without pawns, in pawn units of non-pawn material: less than MIN_WINNING_MATERIAL cannot win, and a lead
# of at most DRAWISH_LEAD rarely wins.
MIN_WINNING_MATERIAL: Final = 5
DRAWISH_LEAD: Final = 3

# The bonus for a won king and pawn against king: less than what the promotion will gain.
WON_KPK_CP: Final = 400
