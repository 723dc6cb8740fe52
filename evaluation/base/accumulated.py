"""The sums of the base board, piece by piece: the game phase, and weights by square and by the buckets of both kings.

Invariant: this module stands apart from the kernel, so that weights can be loaded before a core is chosen.
"""

from __future__ import annotations

from typing import Final

from evaluation.base.typed import inline

# The share of a piece in the game phase, by piece type: FULL_PHASE with all pieces on the board, more after promotions,
# and 0 with kings and pawns alone.
PHASE_WEIGHTS: Final = (0, 0, 1, 1, 2, 4, 0)
FULL_PHASE: Final = 24
# The share of the middlegame in a tapered score is in 256ths.
FULL_SHARE: Final = 256

# The bucket of a king, the eighth rank first: three parts of the first two ranks, two parts of the rest.
_BUCKETS: Final = (
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (6, 6, 6, 6, 7, 7, 7, 7),
    (3, 3, 3, 4, 4, 5, 5, 5),
    (0, 0, 0, 1, 1, 2, 2, 2),
)
KING_BUCKETS: Final = 8
# By square, as the king's side sees the board.
KING_BUCKET: Final = tuple(bucket for row in reversed(_BUCKETS) for bucket in row)
# A square for each piece. Pieces run from 2 (a black pawn) to 13 (the white king).
PIECES: Final = 14 * 64


@inline
def middlegame_share(phase: int) -> int:
    """The share of the middlegame in a tapered score, in 256ths; the endgame has the rest."""
    return FULL_SHARE if phase > FULL_PHASE else phase * 32 // 3
