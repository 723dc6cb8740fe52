"""What a motif is: its kind, the move that makes it, and the squares of the pieces that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import chess


class Kind(Enum):
    """The field's word for each motif. The comment says what `targets` and `others` of such a `Motif` are."""

    FORK = "fork"  # what is attacked by `actor`
    PIN = "pin"  # the pinned piece; what is behind it
    PINNED_GUARD = "pinned guard"  # what is taken; the pinned guard, and what is behind that
    SKEWER = "skewer"  # the piece in front and the one behind
    X_RAY = "x-ray"  # the square of the captures; where the piece stood that `actor` attacked through
    DISCOVERED_ATTACK = "discovered attack"  # what the piece on `actor` attacks, now that the move opened its line
    DISCOVERED_CHECK = "discovered check"  # what is taken under cover of the check, or where it mates
    DOUBLE_CHECK = "double check"  # the king; the two that give check
    HANGING = "hanging piece"  # the piece without a guard
    UNDERDEFENDED = "underdefended piece"  # the piece that is taken at a profit
    GUARDED = "guarded piece"  # what was taken though guarded
    TRAPPED = "trapped piece"  # the piece without a safe square
    REMOVED_GUARD = "removing the defender"  # what was guarded; where its guard is taken
    OVERLOADED = "overloaded piece"  # what was guarded, both; where the guard stood
    DEFLECTION = "deflection"  # what was guarded; where the guard stood
    ATTRACTION = "attraction"  # where the piece is drawn to; where it comes from
    INTERFERENCE = "interference"  # what was guarded; the guard that `actor` cuts off, which may be the answer
    CLEARANCE = "clearance"  # the square that is left; `wins`: the move that goes there
    INTERMEZZO = "intermezzo"  # what is taken one move later
    BACK_RANK_MATE = "back-rank mate"  # the king, as in all mates
    SMOTHERED_MATE = "smothered mate"
    ARABIAN_MATE = "Arabian mate"
    ANASTASIA_MATE = "Anastasia's mate"
    HOOK_MATE = "hook mate"
    BODEN_MATE = "Boden's mate"
    DOUBLE_BISHOP_MATE = "double bishop mate"
    DOVETAIL_MATE = "dovetail mate"
    EPAULETTE_MATE = "epaulette mate"
    SWALLOWS_TAIL_MATE = "swallow's tail mate"
    OPERA_MATE = "opera mate"
    MATE = "mate"
    PERPETUAL_CHECK = "perpetual check"  # the king
    STALEMATE = "stalemate"  # the king without a move
    PROMOTION = "promotion"  # where the pawn becomes a queen
    UNDERPROMOTION = "underpromotion"  # where the pawn becomes something less
    ZUGZWANG = "zugzwang"  # the king of the side that has to move
    OPPOSITION = "opposition"  # the king that has to give way
    OUTSIDE_SQUARE = "outside the square"  # the king that is too late; the pawn

    @property
    def is_mate(self) -> bool:
        return self.name.endswith("MATE") and self is not Kind.STALEMATE


DRAWS = (Kind.PERPETUAL_CHECK, Kind.STALEMATE)
ENDINGS = (Kind.OPPOSITION, Kind.OUTSIDE_SQUARE)
PROMOTIONS = (Kind.PROMOTION, Kind.UNDERPROMOTION)


Squares = tuple[chess.Square, ...]


@dataclass(frozen=True, slots=True)
class Motif:
    """A motif in a line. `ply` is the index of the move that makes it, `move` that move.

    Squares are those of the position after the move, but of a guard that leaves or is taken, that where it stood.
    `actor` is the piece that profits, `targets` and `others` are described with each `Kind`. `wins` is the ply at which
    it wins something: a capture, a promotion, the mate or the draw.
    """

    kind: Kind
    ply: int
    move: chess.Move
    actor: chess.Square
    targets: Squares
    others: Squares = ()
    wins: int = 0
