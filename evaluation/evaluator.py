"""The static evaluation: features, summed, tapered between middlegame and endgame, from the side to move's
view.

Called by the search at almost every node, by `evaluation.evaluate` and by `explain`. What must stay true: the
result depends on the pieces and the side to move alone (the table of pawn structures only saves time); turning
the board and the colours round leaves it unchanged; and it lies strictly within ±STATIC_LIMIT, below every
mate score.
"""

import cython

from evaluation import constants
from evaluation.features import Features

if not cython.compiled:
    from evaluation.bitboards import BISHOP, KNIGHT, LIGHT, PAWN, QUEEN, ROOK, i64, popcount
    from evaluation.kpk import BLACK_WINS, DRAWN, NO_VERDICT, WHITE_WINS, PawnEnding

STATIC_LIMIT = constants.STATIC_LIMIT
FULL_PHASE = constants.FULL_PHASE
FULL_SCALE = constants.FULL_SCALE
DRAWN_SCALE = constants.DRAWN_SCALE
DRAWISH_SCALE = constants.DRAWISH_SCALE
PURE_OPPOSITE_BISHOPS_SCALE = constants.PURE_OPPOSITE_BISHOPS_SCALE
OPPOSITE_BISHOPS_SCALE = constants.OPPOSITE_BISHOPS_SCALE
LEAST_WINNING_MATERIAL = constants.LEAST_WINNING_MATERIAL
DRAWISH_LEAD = constants.DRAWISH_LEAD
WON_KPK_CP = constants.WON_KPK_CP

# Half of what the lower half of a packed number can hold, and its mask.
HALF = 1 << 31
MASK = (1 << 32) - 1

# Pawn structures to remember: each takes four numbers: key, passed pawns, packed score, nothing.
PAWN_ENTRIES = 8192


class Evaluator:
    """The features and their sum, made from an `evaluation.weights.Weights`. One search thread owns one."""

    def __init__(self, weights):
        self.features = Features(weights)
        self.kpk = PawnEnding()
        if not cython.compiled:
            self.remembered = [0] * (4 * PAWN_ENTRIES)

    def evaluate(self, p):
        """Centipawns from the side to move's view, strictly within ±STATIC_LIMIT. `p` has one king a side.

        0 for a king and pawn against king that is drawn; WON_KPK_CP on top of the sum for one that is won.
        """
        verdict = self.kpk.verdict(p) if p.accumulator.phase == 0 else NO_VERDICT
        if verdict == DRAWN:
            return 0
        self.features.begin(p)
        packed = p.accumulator.score + self.pawn_score(p) + self.features.pieces(p)
        value = self.taper(p, packed + (self.features.tempo if p.turn else -self.features.tempo))
        if verdict != NO_VERDICT:
            value = self.with_verdict(value, verdict)
        return value if p.turn else -value

    def is_known_draw(self, p):
        """Whether the position is known to be drawn, whoever is to move and whatever is played. Cheap to ask."""
        return p.accumulator.phase == 0 and self.kpk.verdict(p) == DRAWN

    def with_verdict(self, white_score, verdict):
        """A score from White's view, corrected by what is known of king and pawn against king."""
        if verdict == DRAWN:
            return 0
        bonus = WON_KPK_CP if verdict == WHITE_WINS else -WON_KPK_CP if verdict == BLACK_WINS else 0
        value = white_score + bonus
        if value >= STATIC_LIMIT:
            return STATIC_LIMIT - 1
        return 1 - STATIC_LIMIT if value <= -STATIC_LIMIT else value

    def pawn_score(self, p):
        """What `pawns` gives, remembered by the key of pawns and kings. After `begin`."""
        slot: cython.int = 4 * (p.accumulator.pawn_key & (PAWN_ENTRIES - 1))
        if self.remembered[slot] == p.accumulator.pawn_key:
            self.features.passed = self.remembered[slot + 1]
            return self.remembered[slot + 2]
        score = self.features.pawns(p)
        self.remembered[slot] = p.accumulator.pawn_key
        self.remembered[slot + 1] = self.features.passed
        self.remembered[slot + 2] = score
        return score

    def taper(self, p, packed):
        """A packed sum (White minus Black) as one number, by the material left and how drawish the ending is."""
        middlegame: i64 = ((packed + HALF) & MASK) - HALF
        endgame: i64 = (packed + HALF) >> 32
        phase = p.accumulator.phase if p.accumulator.phase < FULL_PHASE else FULL_PHASE
        # Shares of the two are in 256ths, the scale in 64ths: 14 bits too many. They are taken off the
        # absolute value, so that rounding treats White and Black alike.
        share = phase * 32 // 3
        scale = self.endgame_scale(p, 1 if endgame > 0 else 0)
        value = middlegame * share * FULL_SCALE + endgame * (256 - share) * scale
        size: i64 = (value if value > 0 else -value) >> 14
        if size >= STATIC_LIMIT:
            size = STATIC_LIMIT - 1
        return size if value > 0 else -size

    def endgame_scale(self, p, strong):
        """How much of the endgame's value counts when `strong` is ahead: 64, less where a win is unlikely."""
        bishops = p.by_type[BISHOP]
        ours = bishops & p.by_colour[strong]
        theirs = bishops ^ ours
        if (
            ours
            and theirs
            and not ours & (ours - 1)
            and not theirs & (theirs - 1)
            and (ours & LIGHT == 0) != (theirs & LIGHT == 0)
            and self.non_pawn_material(p, 1) == self.non_pawn_material(p, 0)
        ):
            others = p.by_type[KNIGHT] | p.by_type[ROOK] | p.by_type[QUEEN]
            return OPPOSITE_BISHOPS_SCALE if others else PURE_OPPOSITE_BISHOPS_SCALE
        if p.by_type[PAWN] & p.by_colour[strong]:
            return FULL_SCALE
        non_pawn_material = self.non_pawn_material(p, strong)
        if non_pawn_material < LEAST_WINNING_MATERIAL or self.only_two_knights(p, strong):
            return DRAWN_SCALE
        return FULL_SCALE if non_pawn_material > self.non_pawn_material(p, strong ^ 1) + DRAWISH_LEAD else DRAWISH_SCALE

    def non_pawn_material(self, p, us):
        """The pieces of one colour in pawns: 3, 3, 5, 9."""
        pieces = p.by_colour[us]
        minors = popcount(pieces & (p.by_type[KNIGHT] | p.by_type[BISHOP]))
        return 3 * minors + 5 * popcount(pieces & p.by_type[ROOK]) + 9 * popcount(pieces & p.by_type[QUEEN])

    def only_two_knights(self, p, us):
        """Whether the pieces of one colour are two knights: they cannot force mate."""
        others = p.by_type[BISHOP] | p.by_type[ROOK] | p.by_type[QUEEN]
        return not others & p.by_colour[us] and self.non_pawn_material(p, us) == 6
